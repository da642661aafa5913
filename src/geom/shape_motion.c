/* Motion of shapes: velocity and displacement of the material, and bounds on rigid motions.
 * With moving parameters the material of boxes, cylinders, cones and capsules is stretched, as by `scale`;
 * that of other primitives follows their centre, plus the normal motion of the surface. Jumps (step
 * curves, the seam of repeating ones) have no speed. */
#include "core/check.h"
#include "geom/shape_internal.h"

/* Displacement of the material at q of a box with corners p that move by `dp`. With the normal motion of
 * the nearest side alone, edges would not displace what the other side sweeps. */
static WadiVec3 stretch_box(const WadiVec3 *p, const WadiVec3 *dp, WadiVec3 q)
{
    const WadiVec3 size = wadi_sub(p[1], p[0]), from = wadi_sub(q, p[0]);
    const WadiVec3 part = { size.x > 0.0 ? from.x / size.x : 0.5, size.y > 0.0 ? from.y / size.y : 0.5,
                            size.z > 0.0 ? from.z / size.z : 0.5 };
    return wadi_vec3(dp[0].x + part.x * (dp[1].x - dp[0].x), dp[0].y + part.y * (dp[1].y - dp[0].y),
                     dp[0].z + part.z * (dp[1].z - dp[0].z));
}

/* The same for a shape with an axis from p[0] to p[1] and radii p[2] and, at the end of a cone, p[3]:
 *   dq = da + s (db - da) + rho dr / r + (u x du) x rho,   q = a + s (b - a) + rho. */
static WadiVec3 stretch_round(WadiShapeKind kind, const WadiVec3 *p, const WadiVec3 *dp, WadiVec3 q)
{
    const WadiVec3 along = wadi_sub(p[1], p[0]), change = wadi_sub(dp[1], dp[0]), from = wadi_sub(q, p[0]);
    const double square = wadi_dot(along, along);
    const double s = square > 0.0 ? fmax(0.0, fmin(wadi_dot(from, along) / square, 1.0)) : 0.5;
    const WadiVec3 across = wadi_add_scaled(from, along, -s);
    const int end = kind == WADI_SHAPE_CONE ? 3 : 2;
    const double radius = p[2].x + s * (p[end].x - p[2].x), growth = dp[2].x + s * (dp[end].x - dp[2].x);
    WadiVec3 moved = wadi_add_scaled(dp[0], change, s);
    moved = wadi_add_scaled(moved, across, radius > 0.0 ? growth / radius : 0.0);
    if (square > 0.0) {
        const WadiVec3 turn = wadi_scale(wadi_cross(along, change), 1.0 / square);
        moved = wadi_add(moved, wadi_cross(turn, across));
    }
    return moved;
}

static bool does_stretch(WadiShapeKind kind)
{
    return kind == WADI_SHAPE_BOX || kind == WADI_SHAPE_CYLINDER || kind == WADI_SHAPE_CONE ||
           kind == WADI_SHAPE_CAPSULE;
}

/* Displacement of the material at the surface point q when the parameters p change by `dp`, to first
 * order. */
static WadiVec3 material_shift(WadiShapeKind kind, const WadiVec3 *p, const WadiVec3 *dp, WadiVec3 q)
{
    if (kind == WADI_SHAPE_BOX) {
        return stretch_box(p, dp, q);
    }
    return does_stretch(kind) ? stretch_round(kind, p, dp, q) : dp[0];
}

WadiVec3 wadi_shape_parameter_velocity(const WadiShape *shape, WadiVec3 q, WadiVec3 normal, double time)
{
    /* Central difference along the slopes at `time`, which are one-sided at keys. */
    const double step = 1e-6;
    WadiVec3 slope[WADI_SHAPE_PARAMETER_MAX], value[WADI_SHAPE_PARAMETER_MAX],
        before[WADI_SHAPE_PARAMETER_MAX], after[WADI_SHAPE_PARAMETER_MAX];
    wadi_shape_parameters(shape, time, value);
    for (int i = 0; i < WADI_SHAPE_PARAMETER_MAX; ++i) {
        slope[i] = wadi_curve_slope3(&shape->parameter[i], time);
        after[i] = wadi_add_scaled(value[i], slope[i], step);
        before[i] = wadi_add_scaled(value[i], slope[i], -step);
    }
    const WadiVec3 u = material_shift(shape->kind, value, slope, q);
    if (does_stretch(shape->kind)) {
        return u;
    }
    WadiPrimitive first = wadi_primitive_make(shape->kind, before);
    WadiPrimitive second = wadi_primitive_make(shape->kind, after);
    double rate = (wadi_primitive_distance(&second, q) - wadi_primitive_distance(&first, q)) / (2.0 * step);
    return wadi_add_scaled(u, normal, -rate - wadi_dot(u, normal));
}

static WadiVec3 carry_primitive(const WadiShape *shape, WadiVec3 p, double t0, double t1)
{
    WadiVec3 value[2][WADI_SHAPE_PARAMETER_MAX], change[WADI_SHAPE_PARAMETER_MAX], normal, unused;
    wadi_shape_parameters(shape, t0, value[0]);
    wadi_shape_parameters(shape, t1, value[1]);
    for (int i = 0; i < WADI_SHAPE_PARAMETER_MAX; ++i) {
        change[i] = wadi_sub(value[1][i], value[0][i]);
    }
    WadiPrimitive before = wadi_primitive_make(shape->kind, value[0]);
    WadiPrimitive after = wadi_primitive_make(shape->kind, value[1]);
    double d = wadi_primitive_sample(&before, p, &normal);
    p = wadi_add(p, material_shift(shape->kind, value[0], change, wadi_add_scaled(p, normal, -d)));
    /* Material near the surface moves with it: its distance does not change. */
    return wadi_add_scaled(p, normal, d - wadi_primitive_sample(&after, p, &unused));
}

static WadiVec3 carry_local(const WadiShape *shape, WadiVec3 p, double t0, double t1)
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
        return carry_local(shape, x, t0, t1);
    }
    WadiPlacement scratch0, scratch1;
    const WadiPlacement *at0 = wadi_shape_placement(shape, t0, &scratch0);
    const WadiPlacement *at1 = wadi_shape_placement(shape, t1, &scratch1);
    WadiVec3 p = carry_local(shape, wadi_affine_point(&at0->inverse, x), t0, t1);
    return wadi_affine_point(&at1->map, p);
}

static bool is_at_rest_locally(const WadiShape *shape)
{
    bool is_one = !shape->has_moving_parameters && shape->sequence == NULL;
    for (int i = 0; i < shape->child_count; ++i) {
        is_one = is_one && !shape->children[i].is_moving;
    }
    return is_one;
}

typedef struct CachedMotion {
    uint64_t serial; /* of the shape; 0: empty */
    double t0, t1;
    bool is_rigid;
    WadiShapeMotion motion;
} CachedMotion;

enum { CACHE_SIZE = 4 };

/* With Euler rates r the angular velocity is at most w = sum |r|, and its rate at most w^2 + sum |r'|:
 * |Q''| <= 2 w^2 + sum |r'|. */
static bool make_rigid_motion(const WadiShape *shape, double t0, double t1, WadiShapeMotion *motion)
{
    WadiVec3 speed, acceleration, turn, angular_acceleration;
    if (!is_at_rest_locally(shape) || !wadi_curve_is_steady(&shape->scale, t0, t1) ||
        !wadi_curve_is_steady(&shape->pivot, t0, t1) ||
        !wadi_curve_is_smooth(&shape->translate, t0, t1, &speed, &acceleration) ||
        !wadi_curve_is_smooth(&shape->rotate, t0, t1, &turn, &angular_acceleration)) {
        return false;
    }
    const double radians = 3.14159265358979323846 / 180.0;
    const double w = radians * (turn.x + turn.y + turn.z);
    *motion = (WadiShapeMotion){
        .center = wadi_add(wadi_curve_value3(&shape->translate, t0), wadi_curve_value3(&shape->pivot, t0)),
        .angular_speed = w,
        .speed = wadi_norm(speed),
        .angular_acceleration = 2.0 * w * w + radians * (angular_acceleration.x + angular_acceleration.y +
                                                         angular_acceleration.z),
        .acceleration = wadi_norm(acceleration),
        .duration = t1 - t0
    };
    return true;
}

bool wadi_shape_carry_velocity(const WadiShape *shape, WadiVec3 x, double time, WadiVec3 *velocity)
{
    *velocity = wadi_vec3(0, 0, 0);
    if (!shape->is_moving) {
        return true;
    }
    if (shape->placing != WADI_PLACING_MOVING || !is_at_rest_locally(shape)) {
        return false;
    }
    WadiPlacement scratch;
    const WadiPlacement *at = wadi_shape_placement(shape, time, &scratch);
    WadiAffine rate = wadi_shape_placement_rate(shape, at, time);
    *velocity = wadi_affine_point(&rate, wadi_affine_point(&at->inverse, x));
    return true;
}

bool wadi_shape_rigid_motion(const WadiShape *shape, double t0, double t1, WadiShapeMotion *motion)
{
    static _Thread_local CachedMotion cache[CACHE_SIZE];
    if (shape->placing != WADI_PLACING_MOVING || shape->serial == 0) {
        return false;
    }
    CachedMotion *last = &cache[shape->serial % CACHE_SIZE];
    if (last->serial != shape->serial || last->t0 != t0 || last->t1 != t1) {
        *last = (CachedMotion){ .serial = shape->serial, .t0 = t0, .t1 = t1 };
        last->is_rigid = make_rigid_motion(shape, t0, t1, &last->motion);
    }
    *motion = last->motion;
    return last->is_rigid;
}

/* With c the center, Q the rotation from now to the end of the step and y = Q (x - c) + c(t1) the path in
 * the frame of the shape: y'' = Q'' (x - c) + 2 Q' (x' - c') - Q c''. A curve is at most |y''| seconds^2 /
 * 8 from its chord. */
double wadi_shape_motion_sag(const WadiShapeMotion *motion, WadiVec3 x, double radius, double length,
                             double seconds)
{
    double arm = wadi_norm(wadi_sub(x, motion->center)) + radius + motion->speed * motion->duration;
    double y_rate = (motion->angular_acceleration * arm + 2.0 * motion->angular_speed * motion->speed +
                     motion->acceleration) *
                    seconds;
    return 0.125 * (y_rate + 2.0 * motion->angular_speed * length) * seconds;
}

bool wadi_shape_is_moving(const WadiShape *shape)
{
    return shape->is_moving;
}

bool wadi_shape_is_mesh(const WadiShape *shape)
{
    return shape->solid != NULL;
}

bool wadi_shape_is_convex(const WadiShape *shape)
{
    return shape->is_exact && wadi_shape_kind_is_primitive(shape->kind) && shape->kind != WADI_SHAPE_TORUS;
}

bool wadi_shape_may_have_corners(const WadiShape *shape)
{
    return !wadi_shape_kind_is_primitive(shape->kind);
}
