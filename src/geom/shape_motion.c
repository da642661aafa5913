/* How shapes move: velocity of the material, where it is carried, and how fast distances can change.
 * Moving parameters have no material of their own: it follows the primitive's reference
 * point, plus what the normal motion of the surface adds. Jumps (step curves, the seam of repeating ones) have no
 * speed. */
#include "core/check.h"
#include "geom/shape_internal.h"

/* The point of a primitive that its material is thought to hang on, as a function of the parameters. Linear, so it maps
 * rates to rates. */
static WadiVec3 reference_point(WadiShapeKind kind, const WadiVec3 *p)
{
    switch (kind) {
    case WADI_SHAPE_BOX:
    case WADI_SHAPE_CYLINDER:
    case WADI_SHAPE_CONE:
    case WADI_SHAPE_CAPSULE: return wadi_scale(wadi_add(p[0], p[1]), 0.5);
    default: return p[0];
    }
}

WadiVec3 wadi_shape_parameter_velocity(const WadiShape *shape, WadiVec3 q, WadiVec3 normal, double time)
{
    /* A difference along the slopes at `time`: second order, and one-sided at keys as the slopes are. */
    const double step = 1e-6;
    WadiVec3 slope[WADI_SHAPE_PARAMETER_MAX], before[WADI_SHAPE_PARAMETER_MAX],
        after[WADI_SHAPE_PARAMETER_MAX];
    wadi_shape_parameters(shape, time, before);
    for (int i = 0; i < WADI_SHAPE_PARAMETER_MAX; ++i) {
        slope[i] = wadi_curve_slope3(&shape->parameter[i], time);
        after[i] = wadi_add_scaled(before[i], slope[i], step);
        before[i] = wadi_add_scaled(before[i], slope[i], -step);
    }
    WadiPrimitive first = wadi_primitive_make(shape->kind, before);
    WadiPrimitive second = wadi_primitive_make(shape->kind, after);
    double rate = (wadi_primitive_distance(&second, q) - wadi_primitive_distance(&first, q)) / (2.0 * step);
    WadiVec3 u = reference_point(shape->kind, slope);
    return wadi_add_scaled(u, normal, -rate - wadi_dot(u, normal));
}

static WadiVec3 carry_primitive(const WadiShape *shape, WadiVec3 p, double t0, double t1)
{
    WadiVec3 value[2][WADI_SHAPE_PARAMETER_MAX], normal, unused;
    wadi_shape_parameters(shape, t0, value[0]);
    wadi_shape_parameters(shape, t1, value[1]);
    WadiPrimitive before = wadi_primitive_make(shape->kind, value[0]);
    WadiPrimitive after = wadi_primitive_make(shape->kind, value[1]);
    WadiVec3 moved = wadi_sub(reference_point(shape->kind, value[1]), reference_point(shape->kind, value[0]));
    double d = wadi_primitive_sample(&before, p, &normal);
    p = wadi_add(p, moved);
    /* Keep the distance: the surface takes with it what is next to it. */
    return wadi_add_scaled(p, normal, d - wadi_primitive_sample(&after, p, &unused));
}

static WadiVec3 carry_own(const WadiShape *shape, WadiVec3 p, double t0, double t1)
{
    if (wadi_shape_kind_is_primitive(shape->kind)) {
        return shape->has_moving_parameters ? carry_primitive(shape, p, t0, t1) : p;
    }
    if (shape->sequence != NULL) {
        return wadi_mesh_sequence_carry(shape->sequence, p, t0, t1);
    }
    if (shape->solid != NULL) {
        return p;
    }
    if (shape->kind == WADI_SHAPE_SMOOTH_UNION) {
        double k = wadi_curve_value(&shape->parameter[0], t0), weight;
        double d = wadi_shape_distance(&shape->children[0], p, t0);
        WadiVec3 carried = wadi_shape_carry(&shape->children[0], p, t0, t1);
        for (int i = 1; i < shape->child_count; ++i) {
            d = wadi_smooth_min(d, wadi_shape_distance(&shape->children[i], p, t0), k, &weight);
            carried = wadi_lerp(carried, wadi_shape_carry(&shape->children[i], p, t0, t1), weight);
        }
        return carried;
    }
    int nearest = 0;
    double best = 0.0;
    for (int i = 0; i < shape->child_count; ++i) {
        double d = wadi_shape_distance(&shape->children[i], p, t0);
        if (shape->kind == WADI_SHAPE_UNION) {
            d = -d;
        } else if (shape->kind == WADI_SHAPE_DIFFERENCE && i > 0) {
            d = -d;
        }
        if (i == 0 || d > best) {
            best = d;
            nearest = i;
        }
    }
    return wadi_shape_carry(&shape->children[nearest], p, t0, t1);
}

WadiVec3 wadi_shape_carry(const WadiShape *shape, WadiVec3 x, double t0, double t1)
{
    if (!shape->is_moving || t0 == t1) {
        return x;
    }
    if (shape->placing == WADI_PLACING_IDENTITY) {
        return carry_own(shape, x, t0, t1);
    }
    WadiPlacement scratch0, scratch1;
    const WadiPlacement *at0 = wadi_shape_placement(shape, t0, &scratch0);
    const WadiPlacement *at1 = wadi_shape_placement(shape, t1, &scratch1);
    WadiVec3 p = carry_own(shape, wadi_affine_point(&at0->inverse, x), t0, t1);
    return wadi_affine_point(&at1->map, p);
}

static bool is_one_piece(const WadiShape *shape)
{
    bool is_one = !shape->has_moving_parameters && shape->sequence == NULL;
    for (int i = 0; i < shape->child_count; ++i) {
        is_one = is_one && !shape->children[i].is_moving;
    }
    return is_one;
}

bool wadi_shape_carry_velocity(const WadiShape *shape, WadiVec3 x, double time, WadiVec3 *velocity)
{
    *velocity = wadi_vec3(0, 0, 0);
    if (!shape->is_moving) {
        return true;
    }
    if (shape->placing != WADI_PLACING_MOVING || !is_one_piece(shape)) {
        return false;
    }
    WadiPlacement scratch;
    const WadiPlacement *at = wadi_shape_placement(shape, time, &scratch);
    WadiAffine rate = wadi_shape_placement_rate(shape, at, time);
    *velocity = wadi_affine_point(&rate, wadi_affine_point(&at->inverse, x));
    return true;
}

bool wadi_shape_is_moving(const WadiShape *shape)
{
    return shape->is_moving;
}

bool wadi_shape_is_convex(const WadiShape *shape)
{
    return shape->is_exact && wadi_shape_kind_is_primitive(shape->kind) && shape->kind != WADI_SHAPE_TORUS;
}
