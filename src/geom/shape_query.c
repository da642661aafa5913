/* Distance, normal and velocity of a tree of shapes at one point and time.
 * The point is mapped from the parent's into the local frame, the primitive, mesh or children are sampled
 * there, and the result is mapped back. Booleans are minima and maxima of distances, which keeps them
 * lower bounds. */
#include "core/check.h"
#include "geom/sdf_band.h"
#include "geom/shape_internal.h"

static const WadiVec3 up = { 0.0, 0.0, 1.0 };

void wadi_shape_parameters(const WadiShape *shape, double time, WadiVec3 out[WADI_SHAPE_PARAMETER_MAX])
{
    for (int i = 0; i < WADI_SHAPE_PARAMETER_MAX; ++i) {
        out[i] = wadi_curve_value3(&shape->parameter[i], time);
    }
}

const WadiPrimitive *wadi_shape_primitive(const WadiShape *shape, double time, WadiPrimitive *scratch)
{
    if (!shape->has_moving_parameters) {
        return &shape->primitive;
    }
    WadiVec3 value[WADI_SHAPE_PARAMETER_MAX];
    wadi_shape_parameters(shape, time, value);
    *scratch = wadi_primitive_make(shape->kind, value);
    return scratch;
}

/* Quadratic blend of the two distances where they differ by less than k. Its derivatives by a and b are
 * weights that add up to one, so it is C1 and as safe a lower bound as its arguments. */
double wadi_smooth_min(double a, double b, double k, double *weight)
{
    double difference = fabs(a - b);
    bool is_a_smaller = a <= b;
    if (!(difference < k)) {
        *weight = is_a_smaller ? 0.0 : 1.0;
        return is_a_smaller ? a : b;
    }
    double h = 1.0 - difference / k;
    *weight = is_a_smaller ? 0.5 * h : 1.0 - 0.5 * h;
    return (is_a_smaller ? a : b) - 0.25 * k * h * h;
}

/* Upper bound on the distance to the triangles where a band has a distance to within `error`; the surface
 * of a shell is `half` from them. */
static double triangle_distance_max(double distance, double error, double half)
{
    return half > 0.0 ? fmax(distance + error + half, 0.0) : fabs(distance) + error;
}

/* A lower bound with the right sign where the distance in the band exceeds its error; beyond the band the
 * clearance of the mesh is larger. false: too close to the surface, and a triangle lies within
 * *search_radius. */
static bool band_bounds(const WadiShape *shape, WadiVec3 p, double half, double *bound, double *search_radius)
{
    double distance, error, lower = 0.0, upper;
    if (wadi_sdf_band_distance(shape->band, p, &distance, &error)) {
        *search_radius = triangle_distance_max(distance, error, half);
    } else {
        wadi_mesh_clearance_at(&shape->solid->clearance, p, &lower, &upper);
        lower -= half;
    }
    const double least = fmax(wadi_band_least(fabs(distance), error), lower);
    *bound = copysign(least, distance);
    return least > 0.25 * wadi_sdf_band_cell(shape->band);
}

static bool is_outside_mesh(const WadiShape *shape, WadiVec3 p, const WadiMeshNearest *nearest,
                            WadiQueryMode mode)
{
    const WadiMeshSolid *solid = shape->solid;
    int side = 0;
    if (shape->band != NULL && mode != WADI_QUERY_EXACT && solid->topology.is_oriented) {
        side = wadi_sdf_band_side(shape->band, p, nearest->distance);
    }
    if (side == 0 && mode >= WADI_QUERY_WAS_OUTSIDE) {
        side = wadi_mesh_solid_side(solid, p, nearest);
        side = side < 0 ? 0 : side;
    }
    return side != 0 ? side > 0 : !wadi_mesh_solid_contains(solid, p);
}

/* A shell is the surface thickened to both sides: its sign does not need the winding number. */
static double mesh_distance(const WadiShape *shape, WadiVec3 p, double time, WadiQueryMode mode)
{
    const WadiMeshSolid *solid = shape->solid;
    const double half = wadi_shape_half_thickness(shape, time);
    double bound, search_radius = INFINITY;
    if (shape->band != NULL && mode == WADI_QUERY_BAND) {
        return wadi_shape_band_distance(shape, p, half, NULL);
    }
    if (shape->band != NULL && mode != WADI_QUERY_EXACT &&
        band_bounds(shape, p, half, &bound, &search_radius)) {
        return bound;
    }
    if (solid != NULL && (mode == WADI_QUERY_BOUND || mode == WADI_QUERY_WAS_OUTSIDE)) {
        WadiMeshNearest nearest;
        bool has_nearest = (shape->band != NULL && wadi_shape_band_nearest(shape, p, &nearest)) ||
                           wadi_mesh_solid_bound(solid, p, search_radius, &nearest);
        if (half > 0.0) {
            return nearest.distance - half;
        }
        bool is_outside =
            has_nearest ? is_outside_mesh(shape, p, &nearest, mode) : !wadi_mesh_solid_contains(solid, p);
        return is_outside ? nearest.distance : -nearest.distance;
    }
    if (half > 0.0) {
        WadiMeshNearest nearest;
        if (solid != NULL) {
            wadi_mesh_solid_nearest(solid, p, search_radius, &nearest);
        } else {
            wadi_mesh_sequence_nearest(shape->sequence, p, time, &nearest);
        }
        return nearest.distance - half;
    }
    return solid != NULL ? wadi_mesh_solid_distance(solid, p, NULL)
                         : wadi_mesh_sequence_distance(shape->sequence, p, time);
}

static WadiSurfacePoint mesh_sample(const WadiShape *shape, WadiVec3 p, double time, WadiQueryMode mode)
{
    WadiSurfacePoint out = { INFINITY, up, { 0, 0, 0 } };
    WadiMeshNearest nearest;
    const double half = wadi_shape_half_thickness(shape, time);
    double bound, search_radius = INFINITY;
    if (shape->band != NULL && mode == WADI_QUERY_BAND) {
        return wadi_shape_band_sample(shape, p, half, NULL);
    }
    if (shape->band != NULL && mode == WADI_QUERY_WAS_OUTSIDE) {
        band_bounds(shape, p, half, &bound, &search_radius);
    }
    if (shape->solid != NULL) {
        if (shape->band == NULL || mode == WADI_QUERY_EXACT || !wadi_shape_band_nearest(shape, p, &nearest)) {
            wadi_mesh_solid_nearest(shape->solid, p, search_radius, &nearest);
        }
        /* A shell has no inward side. */
        bool is_outside = half > 0.0 || is_outside_mesh(shape, p, &nearest, mode);
        out.distance = is_outside ? nearest.distance : -nearest.distance;
        out.normal = wadi_mesh_solid_normal(shape->solid, p, is_outside, &nearest);
    } else {
        out.distance =
            wadi_mesh_sequence_sample(shape->sequence, p, time, &nearest, &out.normal, &out.velocity);
    }
    if (half > 0.0) {
        out.normal = wadi_scale(out.normal, out.distance < 0.0 ? -1.0 : 1.0);
        out.distance = nearest.distance - half;
        double growth = 0.5 * wadi_curve_slope3(&shape->parameter[0], time).x;
        out.velocity = wadi_add_scaled(out.velocity, out.normal, growth);
    }
    return out;
}

static double distance_of(const WadiShape *shape, WadiVec3 x, double time, WadiQueryMode mode);

static double local_distance(const WadiShape *shape, WadiVec3 p, double time, WadiQueryMode mode)
{
    if (wadi_shape_kind_is_primitive(shape->kind)) {
        WadiPrimitive scratch;
        return wadi_primitive_distance(wadi_shape_primitive(shape, time, &scratch), p);
    }
    if (shape->solid != NULL || shape->sequence != NULL) {
        return mesh_distance(shape, p, time, mode);
    }
    const WadiShape *child = shape->children;
    double d = INFINITY;
    if (mode >= WADI_QUERY_WAS_OUTSIDE && shape->kind != WADI_SHAPE_UNION) {
        /* A point outside the whole may be inside a part. */
        mode = mode == WADI_QUERY_BAND ? WADI_QUERY_EXACT : WADI_QUERY_BOUND;
    }
    switch (shape->kind) {
    case WADI_SHAPE_UNION:
        for (int i = 0; i < shape->child_count; ++i) {
            if (wadi_shape_may_be_nearer(&child[i], p, d)) {
                d = fmin(d, distance_of(&child[i], p, time, mode));
            }
        }
        return d;
    case WADI_SHAPE_INTERSECTION:
        d = -INFINITY;
        for (int i = 0; i < shape->child_count; ++i) {
            d = fmax(d, distance_of(&child[i], p, time, mode));
        }
        return d;
    case WADI_SHAPE_DIFFERENCE:
        d = distance_of(&child[0], p, time, mode);
        for (int i = 1; i < shape->child_count; ++i) {
            d = fmax(d, -distance_of(&child[i], p, time, mode));
        }
        return d;
    case WADI_SHAPE_SMOOTH_UNION: {
        double k = wadi_curve_value(&shape->parameter[0], time), weight;
        d = distance_of(&child[0], p, time, mode);
        for (int i = 1; i < shape->child_count; ++i) {
            d = wadi_smooth_min(d, distance_of(&child[i], p, time, mode), k, &weight);
        }
        return d;
    }
    default: WADI_ASSERT(!"a kind without a distance"); return d;
    }
}

static WadiSurfacePoint negated(WadiSurfacePoint point)
{
    return (WadiSurfacePoint){ -point.distance, wadi_scale(point.normal, -1.0), point.velocity };
}

static WadiSurfacePoint sample_of(const WadiShape *shape, WadiVec3 x, double time, WadiQueryMode mode);

static WadiSurfacePoint local_sample(const WadiShape *shape, WadiVec3 p, double time, WadiQueryMode mode)
{
    WadiSurfacePoint out = { INFINITY, up, { 0, 0, 0 } };
    if (wadi_shape_kind_is_primitive(shape->kind)) {
        WadiPrimitive scratch;
        out.distance = wadi_primitive_sample(wadi_shape_primitive(shape, time, &scratch), p, &out.normal);
        if (shape->has_moving_parameters) {
            WadiVec3 q = wadi_add_scaled(p, out.normal, -out.distance);
            out.velocity = wadi_shape_parameter_velocity(shape, q, out.normal, time);
        }
        return out;
    }
    if (shape->solid != NULL || shape->sequence != NULL) {
        return mesh_sample(shape, p, time, mode);
    }
    const WadiShape *child = shape->children;
    double k = wadi_curve_value(&shape->parameter[0], time);
    mode = shape->kind == WADI_SHAPE_UNION ? mode : WADI_QUERY_EXACT;
    for (int i = 0; i < shape->child_count; ++i) {
        if (i > 0 && shape->kind == WADI_SHAPE_UNION &&
            !wadi_shape_may_be_nearer(&child[i], p, out.distance)) {
            continue;
        }
        WadiSurfacePoint next = sample_of(&child[i], p, time, mode);
        if (i == 0) {
            out = next;
            continue;
        }
        switch (shape->kind) {
        case WADI_SHAPE_UNION: out = next.distance < out.distance ? next : out; break;
        case WADI_SHAPE_INTERSECTION: out = next.distance > out.distance ? next : out; break;
        case WADI_SHAPE_DIFFERENCE: out = -next.distance > out.distance ? negated(next) : out; break;
        default: {
            double weight;
            out.distance = wadi_smooth_min(out.distance, next.distance, k, &weight);
            WadiVec3 nearer = weight > 0.5 ? next.normal : out.normal;
            out.normal = wadi_normalized_or(wadi_lerp(out.normal, next.normal, weight), nearer);
            out.velocity = wadi_lerp(out.velocity, next.velocity, weight);
        }
        }
    }
    return out;
}

static double distance_of(const WadiShape *shape, WadiVec3 x, double time, WadiQueryMode mode)
{
    if (shape->placing == WADI_PLACING_IDENTITY) {
        return local_distance(shape, x, time, mode);
    }
    WadiPlacement scratch;
    const WadiPlacement *at = wadi_shape_placement(shape, time, &scratch);
    return at->stretch * local_distance(shape, wadi_affine_point(&at->inverse, x), time, mode);
}

double wadi_shape_distance(const WadiShape *shape, WadiVec3 x, double time)
{
    return distance_of(shape, x, time, WADI_QUERY_EXACT);
}

double wadi_shape_clearance(const WadiShape *shape, WadiVec3 x, double time)
{
    return distance_of(shape, x, time, WADI_QUERY_BOUND);
}

double wadi_shape_clearance_from_outside(const WadiShape *shape, WadiVec3 x, double time)
{
    return distance_of(shape, x, time, WADI_QUERY_WAS_OUTSIDE);
}

double wadi_shape_distance_for_grid(const WadiShape *shape, WadiVec3 x, double time)
{
    return distance_of(shape, x, time, WADI_QUERY_BAND);
}

WadiSurfacePoint wadi_shape_sample(const WadiShape *shape, WadiVec3 x, double time)
{
    return sample_of(shape, x, time, WADI_QUERY_EXACT);
}

WadiSurfacePoint wadi_shape_sample_for_grid(const WadiShape *shape, WadiVec3 x, double time)
{
    return sample_of(shape, x, time, WADI_QUERY_BAND);
}

WadiSurfacePoint wadi_shape_sample_from_outside(const WadiShape *shape, WadiVec3 x, double time)
{
    return sample_of(shape, x, time, WADI_QUERY_WAS_OUTSIDE);
}

static WadiSurfacePoint sample_of(const WadiShape *shape, WadiVec3 x, double time, WadiQueryMode mode)
{
    if (shape->placing == WADI_PLACING_IDENTITY) {
        return local_sample(shape, x, time, mode);
    }
    WadiPlacement scratch;
    const WadiPlacement *at = wadi_shape_placement(shape, time, &scratch);
    WadiVec3 p = wadi_affine_point(&at->inverse, x);
    WadiSurfacePoint local = local_sample(shape, p, time, mode);
    WadiSurfacePoint out = {
        .distance = at->stretch * local.distance,
        .normal = wadi_normalized_or(wadi_affine_transposed_vector(&at->inverse, local.normal), up),
        .velocity = wadi_affine_vector(&at->map, local.velocity),
    };
    if (shape->placing == WADI_PLACING_MOVING) {
        WadiAffine rate = wadi_shape_placement_rate(shape, at, time);
        WadiVec3 nearest = wadi_add_scaled(p, local.normal, -local.distance);
        out.velocity = wadi_add(out.velocity, wadi_affine_point(&rate, nearest));
    }
    return out;
}

bool wadi_shape_contains(const WadiShape *shape, WadiVec3 x, double time)
{
    if (!shape->is_moving && !wadi_box_contains(shape->bounds, x)) {
        return false;
    }
    WadiPlacement scratch;
    if (shape->placing != WADI_PLACING_IDENTITY) {
        x = wadi_affine_point(&wadi_shape_placement(shape, time, &scratch)->inverse, x);
    }
    const WadiShape *child = shape->children;
    switch (shape->kind) {
    case WADI_SHAPE_UNION:
        for (int i = 0; i < shape->child_count; ++i) {
            if (wadi_shape_contains(&child[i], x, time)) {
                return true;
            }
        }
        return false;
    case WADI_SHAPE_INTERSECTION:
        for (int i = 0; i < shape->child_count; ++i) {
            if (!wadi_shape_contains(&child[i], x, time)) {
                return false;
            }
        }
        return true;
    case WADI_SHAPE_DIFFERENCE:
        for (int i = 1; i < shape->child_count; ++i) {
            if (wadi_shape_contains(&child[i], x, time)) {
                return false;
            }
        }
        return wadi_shape_contains(&child[0], x, time);
    case WADI_SHAPE_HEIGHTMAP: return wadi_mesh_solid_contains(shape->solid, x);
    case WADI_SHAPE_MESH:
        if (!(wadi_curve_value(&shape->parameter[0], time) > 0.0)) {
            return wadi_mesh_solid_contains(shape->solid, x);
        }
        return local_distance(shape, x, time, WADI_QUERY_BOUND) < 0.0;
    default: return local_distance(shape, x, time, WADI_QUERY_BOUND) < 0.0;
    }
}
