/* Distance, normal and velocity of a tree of shapes at one point and time.
 * A shape is asked in its parent's frame; it maps the point into its own, asks its primitive, mesh or children there,
 * and maps the answer back. Booleans are minima and maxima of distances, which keeps them safe lower bounds. */
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

/* Quadratic blend of the two distances where they differ by less than k. Its derivatives by a and b are weights that
 * add up to one, so it is C1 and as safe a bound as its arguments. */
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

/* How far the triangles are at most where a band has the distance to within `error`; a shell's surface is `half` off them. */
static double reach_of(double distance, double error, double half)
{
    return half > 0.0 ? fmax(distance + error + half, 0.0) : fabs(distance) + error;
}

/* The band's answer where its error cannot reach the surface: a bound with the right sign. Beyond the band the coarse bounds of
 * the mesh see farther. Where it is not enough, *reach tells how far the surface is at most. */
static bool band_bounds(const WadiShape *shape, WadiVec3 p, double half, double *bound, double *reach)
{
    double distance, error, lower = 0.0, upper;
    if (wadi_sdf_band_distance(shape->band, p, &distance, &error)) {
        *reach = reach_of(distance, error, half);
    } else {
        wadi_mesh_clearance_at(&shape->solid->clearance, p, &lower, &upper);
        lower -= half;
    }
    const double least = fmax(wadi_band_least(fabs(distance), error), lower);
    *bound = copysign(least, distance);
    return least > 0.25 * wadi_sdf_band_cell(shape->band);
}

bool wadi_shape_band_samples(const WadiShape *shape, WadiVec3 p, double half, struct WadiBandHint *hint,
                             WadiSurfacePoint *out, double *reach)
{
    WadiBandPoint point;
    bool is_in_band = wadi_sdf_band_look(shape->band, p, hint, &point);
    double slope = wadi_norm(point.gradient);
    if (is_in_band && !(point.bend < 0.15 * wadi_sdf_band_cell(shape->band) && fabs(slope - 1.0) < 0.06)) {
        *reach = reach_of(point.distance, point.error, half);
        return false;
    }
    out->distance = point.distance;
    out->normal = wadi_normalized_or(point.gradient, up);
    return true;
}

bool wadi_shape_is_outside_mesh(const WadiShape *shape, WadiVec3 p, const WadiMeshNearest *nearest,
                                struct WadiBandHint *hint, WadiTrust trust)
{
    const WadiMeshSolid *solid = shape->solid;
    int side = 0;
    if (shape->band != NULL && trust != WADI_TRUST_NOTHING && solid->topology.is_oriented) {
        side = wadi_sdf_band_side(shape->band, p, hint, nearest->distance);
    }
    if (side == 0 && trust >= WADI_TRUST_OUTSIDE) {
        side = wadi_mesh_solid_side(solid, p, nearest);
        side = side < 0 && !(trust == WADI_TRUST_BAND && solid->topology.is_oriented) ? 0 : side;
    }
    return side != 0 ? side > 0 : !wadi_mesh_solid_contains(solid, p);
}

/* A shell has no inside of its own: the sheet, grown to both sides. */
static double mesh_distance(const WadiShape *shape, WadiVec3 p, double time, WadiTrust trust)
{
    const WadiMeshSolid *solid = shape->solid;
    const double half = wadi_shape_half_thickness(shape, time);
    double bound, reach = INFINITY;
    if (shape->band != NULL && trust == WADI_TRUST_BAND) {
        WadiSurfacePoint point;
        if (wadi_shape_band_samples(shape, p, half, NULL, &point, &reach)) {
            return point.distance;
        }
        WadiMeshNearest nearest;
        wadi_mesh_solid_nearest(solid, p, reach, &nearest);
        return half > 0.0                                                    ? nearest.distance - half
               : wadi_shape_is_outside_mesh(shape, p, &nearest, NULL, trust) ? nearest.distance
                                                                             : -nearest.distance;
    }
    if (shape->band != NULL && trust != WADI_TRUST_NOTHING && band_bounds(shape, p, half, &bound, &reach)) {
        return bound;
    }
    if (solid != NULL && (trust == WADI_TRUST_BOUND || trust == WADI_TRUST_OUTSIDE)) {
        WadiMeshNearest nearest;
        bool has_nearest = wadi_mesh_solid_bound(solid, p, reach, &nearest);
        if (half > 0.0) {
            return nearest.distance - half;
        }
        bool is_outside = has_nearest ? wadi_shape_is_outside_mesh(shape, p, &nearest, NULL, trust)
                                      : !wadi_mesh_solid_contains(solid, p);
        return is_outside ? nearest.distance : -nearest.distance;
    }
    if (half > 0.0) {
        WadiMeshNearest nearest;
        if (solid != NULL) {
            wadi_mesh_solid_nearest(solid, p, reach, &nearest);
        } else {
            wadi_mesh_sequence_nearest(shape->sequence, p, time, &nearest);
        }
        return nearest.distance - half;
    }
    return solid != NULL ? wadi_mesh_solid_distance(solid, p, NULL)
                         : wadi_mesh_sequence_distance(shape->sequence, p, time);
}

static WadiSurfacePoint mesh_sample(const WadiShape *shape, WadiVec3 p, double time, WadiTrust trust)
{
    WadiSurfacePoint out = { INFINITY, up, { 0, 0, 0 } };
    WadiMeshNearest nearest;
    const double half = wadi_shape_half_thickness(shape, time);
    double bound, reach = INFINITY;
    if (shape->band != NULL && trust == WADI_TRUST_BAND &&
        wadi_shape_band_samples(shape, p, half, NULL, &out, &reach)) {
        return out;
    }
    if (shape->band != NULL && trust == WADI_TRUST_OUTSIDE) {
        band_bounds(shape, p, half, &bound, &reach);
    }
    if (shape->solid != NULL) {
        wadi_mesh_solid_nearest(shape->solid, p, reach, &nearest);
        /* A shell is looked at from either side. */
        bool is_outside = half > 0.0 || wadi_shape_is_outside_mesh(shape, p, &nearest, NULL, trust);
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

static double distance_of(const WadiShape *shape, WadiVec3 x, double time, WadiTrust trust);

static double own_distance(const WadiShape *shape, WadiVec3 p, double time, WadiTrust trust)
{
    if (wadi_shape_kind_is_primitive(shape->kind)) {
        WadiPrimitive scratch;
        return wadi_primitive_distance(wadi_shape_primitive(shape, time, &scratch), p);
    }
    if (shape->solid != NULL || shape->sequence != NULL) {
        return mesh_distance(shape, p, time, trust);
    }
    const WadiShape *child = shape->children;
    double d = INFINITY;
    if (trust >= WADI_TRUST_OUTSIDE && shape->kind != WADI_SHAPE_UNION) {
        /* Outside the whole is not outside its parts. */
        trust = trust == WADI_TRUST_BAND ? WADI_TRUST_NOTHING : WADI_TRUST_BOUND;
    }
    switch (shape->kind) {
    case WADI_SHAPE_UNION:
        for (int i = 0; i < shape->child_count; ++i) {
            if (wadi_shape_may_be_nearer(&child[i], p, d)) {
                d = fmin(d, distance_of(&child[i], p, time, trust));
            }
        }
        return d;
    case WADI_SHAPE_INTERSECTION:
        d = -INFINITY;
        for (int i = 0; i < shape->child_count; ++i) {
            d = fmax(d, distance_of(&child[i], p, time, trust));
        }
        return d;
    case WADI_SHAPE_DIFFERENCE:
        d = distance_of(&child[0], p, time, trust);
        for (int i = 1; i < shape->child_count; ++i) {
            d = fmax(d, -distance_of(&child[i], p, time, trust));
        }
        return d;
    case WADI_SHAPE_SMOOTH_UNION: {
        double k = wadi_curve_value(&shape->parameter[0], time), weight;
        d = distance_of(&child[0], p, time, trust);
        for (int i = 1; i < shape->child_count; ++i) {
            d = wadi_smooth_min(d, distance_of(&child[i], p, time, trust), k, &weight);
        }
        return d;
    }
    default: WADI_ASSERT(!"a kind without a distance"); return d;
    }
}

static WadiSurfacePoint flipped(WadiSurfacePoint point)
{
    return (WadiSurfacePoint){ -point.distance, wadi_scale(point.normal, -1.0), point.velocity };
}

static WadiSurfacePoint sample_of(const WadiShape *shape, WadiVec3 x, double time, WadiTrust trust);

static WadiSurfacePoint own_sample(const WadiShape *shape, WadiVec3 p, double time, WadiTrust trust)
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
        return mesh_sample(shape, p, time, trust);
    }
    const WadiShape *child = shape->children;
    double k = wadi_curve_value(&shape->parameter[0], time);
    trust = shape->kind == WADI_SHAPE_UNION ? trust : WADI_TRUST_NOTHING;
    for (int i = 0; i < shape->child_count; ++i) {
        if (i > 0 && shape->kind == WADI_SHAPE_UNION &&
            !wadi_shape_may_be_nearer(&child[i], p, out.distance)) {
            continue;
        }
        WadiSurfacePoint next = sample_of(&child[i], p, time, trust);
        if (i == 0) {
            out = next;
            continue;
        }
        switch (shape->kind) {
        case WADI_SHAPE_UNION: out = next.distance < out.distance ? next : out; break;
        case WADI_SHAPE_INTERSECTION: out = next.distance > out.distance ? next : out; break;
        case WADI_SHAPE_DIFFERENCE: out = -next.distance > out.distance ? flipped(next) : out; break;
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

static double distance_of(const WadiShape *shape, WadiVec3 x, double time, WadiTrust trust)
{
    if (shape->placing == WADI_PLACING_IDENTITY) {
        return own_distance(shape, x, time, trust);
    }
    WadiPlacement scratch;
    const WadiPlacement *at = wadi_shape_placement(shape, time, &scratch);
    return at->stretch * own_distance(shape, wadi_affine_point(&at->inverse, x), time, trust);
}

double wadi_shape_distance(const WadiShape *shape, WadiVec3 x, double time)
{
    return distance_of(shape, x, time, WADI_TRUST_NOTHING);
}

double wadi_shape_clearance(const WadiShape *shape, WadiVec3 x, double time)
{
    return distance_of(shape, x, time, WADI_TRUST_BOUND);
}

double wadi_shape_clearance_from_outside(const WadiShape *shape, WadiVec3 x, double time)
{
    return distance_of(shape, x, time, WADI_TRUST_OUTSIDE);
}

double wadi_shape_distance_for_grid(const WadiShape *shape, WadiVec3 x, double time)
{
    return distance_of(shape, x, time, WADI_TRUST_BAND);
}

WadiSurfacePoint wadi_shape_sample(const WadiShape *shape, WadiVec3 x, double time)
{
    return sample_of(shape, x, time, WADI_TRUST_NOTHING);
}

WadiSurfacePoint wadi_shape_sample_for_grid(const WadiShape *shape, WadiVec3 x, double time)
{
    return sample_of(shape, x, time, WADI_TRUST_BAND);
}

WadiSurfacePoint wadi_shape_sample_from_outside(const WadiShape *shape, WadiVec3 x, double time)
{
    return sample_of(shape, x, time, WADI_TRUST_OUTSIDE);
}

static WadiSurfacePoint sample_of(const WadiShape *shape, WadiVec3 x, double time, WadiTrust trust)
{
    if (shape->placing == WADI_PLACING_IDENTITY) {
        return own_sample(shape, x, time, trust);
    }
    WadiPlacement scratch;
    const WadiPlacement *at = wadi_shape_placement(shape, time, &scratch);
    WadiVec3 p = wadi_affine_point(&at->inverse, x);
    WadiSurfacePoint own = own_sample(shape, p, time, trust);
    WadiSurfacePoint out = {
        .distance = at->stretch * own.distance,
        .normal = wadi_normalized_or(wadi_affine_transposed_vector(&at->inverse, own.normal), up),
        .velocity = wadi_affine_vector(&at->map, own.velocity),
    };
    if (shape->placing == WADI_PLACING_MOVING) {
        WadiAffine rate = wadi_shape_placement_rate(shape, at, time);
        WadiVec3 nearest = wadi_add_scaled(p, own.normal, -own.distance);
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
        return own_distance(shape, x, time, WADI_TRUST_BOUND) < 0.0;
    default: return own_distance(shape, x, time, WADI_TRUST_BOUND) < 0.0;
    }
}
