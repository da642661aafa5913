/* A bound on |d distance / d time| near a point during an interval, from bounds on the slopes of the curves.
 * With d(x, t) = s(t) d_local(A(t)^-1 x, t) and |grad d_local| <= 1, s |A^-1| <= 1:
 *   |d'| <= |s'/s| |d| + s |d_local'| + |velocity of the material at x|. */
#include "geom/shape_internal.h"
#include "math/exp.h"

/* Largest |slope| of each component during [t0, t1]. */
static WadiVec3 slope_bound(const WadiCurve *curve, double t0, double t1)
{
    WadiVec3 bound = { 0, 0, 0 };
    if (curve->key_count < 2 || curve->interpolation == WADI_INTERPOLATION_STEP) {
        return bound;
    }
    double factor = curve->interpolation == WADI_INTERPOLATION_SMOOTH ? 1.5 : 1.0;
    for (int i = 0; i + 1 < curve->key_count; ++i) {
        const WadiKey *a = &curve->keys[i], *b = &curve->keys[i + 1];
        if (!curve->does_repeat && (b->time < t0 || a->time > t1)) {
            continue;
        }
        double scale = factor / (b->time - a->time);
        bound = wadi_max(bound, wadi_vec3(scale * fabs(b->value[0] - a->value[0]),
                                          scale * fabs(b->value[1] - a->value[1]),
                                          scale * fabs(b->value[2] - a->value[2])));
    }
    return bound;
}

/* Smallest and largest |component| during [t0, t1]: curves are monotone between keys. */
static void value_range(const WadiCurve *curve, double t0, double t1, double *smallest, double *largest)
{
    *smallest = INFINITY;
    *largest = 0.0;
    for (int i = -2; i < curve->key_count; ++i) {
        double time = i == -2 ? t0 : i == -1 ? t1 : curve->keys[i].time;
        if (i >= 0 && !curve->does_repeat && (time < t0 || time > t1)) {
            continue;
        }
        WadiVec3 v = wadi_abs(wadi_curve_value3(curve, time));
        double low = curve->components == 1 ? v.x : fmin(v.x, fmin(v.y, v.z));
        *smallest = fmin(*smallest, low);
        *largest = fmax(*largest, fmax(v.x, fmax(v.y, v.z)));
    }
}

/* Angular speed of a direction given by a vector that need not be unit. */
static double turning_bound(const WadiCurve *direction, double t0, double t1)
{
    double speed = wadi_norm(slope_bound(direction, t0, t1));
    double length = wadi_norm(wadi_curve_value3(direction, t0));
    return speed > 0.0 ? speed / fmax(length - speed * (t1 - t0), 1e-3 * length) : 0.0;
}

static double primitive_bound(const WadiShape *shape, WadiVec3 p, double radius, double t0, double t1)
{
    WadiVec3 slope[WADI_SHAPE_PARAMETER_MAX], value[WADI_SHAPE_PARAMETER_MAX];
    double speed[WADI_SHAPE_PARAMETER_MAX];
    wadi_shape_parameters(shape, t0, value);
    for (int i = 0; i < WADI_SHAPE_PARAMETER_MAX; ++i) {
        slope[i] = slope_bound(&shape->parameter[i], t0, t1);
        speed[i] = wadi_norm(slope[i]);
    }
    double smallest, largest;
    switch (shape->kind) {
    case WADI_SHAPE_BOX: return wadi_norm(wadi_max(slope[0], slope[1]));
    case WADI_SHAPE_SPHERE: return speed[0] + speed[1];
    case WADI_SHAPE_ELLIPSOID: return speed[0] + fmax(slope[1].x, fmax(slope[1].y, slope[1].z));
    case WADI_SHAPE_CAPSULE: return fmax(speed[0], speed[1]) + speed[2];
    case WADI_SHAPE_CYLINDER:
    case WADI_SHAPE_CONE: {
        value_range(&shape->parameter[2], t0, t1, &smallest, &largest);
        double arm = largest;
        if (shape->kind == WADI_SHAPE_CONE) {
            value_range(&shape->parameter[3], t0, t1, &smallest, &largest);
            arm = fmax(arm, largest);
        }
        double ends = speed[0] + speed[1], length = wadi_norm(wadi_sub(value[1], value[0]));
        double turning = ends > 0.0 ? ends / fmax(length - ends * (t1 - t0), 1e-3 * length) : 0.0;
        return fmax(speed[0], speed[1]) + arm * turning + fmax(speed[2], speed[3]);
    }
    case WADI_SHAPE_TORUS:
        value_range(&shape->parameter[2], t0, t1, &smallest, &largest);
        return speed[0] + 2.0 * largest * turning_bound(&shape->parameter[1], t0, t1) + speed[2] + speed[3];
    default: { /* half-space: the speed of its plane grows with the distance from its point */
        double arm = wadi_norm(wadi_sub(p, value[0])) + radius + speed[0] * (t1 - t0);
        return speed[0] + arm * turning_bound(&shape->parameter[1], t0, t1);
    }
    }
}

static double local_bound(const WadiShape *shape, WadiVec3 p, double radius, double t0, double t1)
{
    if (wadi_shape_kind_is_primitive(shape->kind)) {
        return shape->has_moving_parameters ? primitive_bound(shape, p, radius, t0, t1) : 0.0;
    }
    if (shape->solid != NULL || shape->sequence != NULL) {
        double growth =
            shape->kind == WADI_SHAPE_HEIGHTMAP ? 0.0 : 0.5 * slope_bound(&shape->parameter[0], t0, t1).x;
        return growth + (shape->sequence != NULL ? wadi_mesh_sequence_speed(shape->sequence, t0, t1) : 0.0);
    }
    double bound = 0.0;
    for (int i = 0; i < shape->child_count; ++i) {
        bound = fmax(bound, wadi_shape_speed_bound(&shape->children[i], p, radius, t0, t1));
    }
    if (shape->kind == WADI_SHAPE_SMOOTH_UNION) {
        /* |d smooth_min / dk| <= 1/4 for each smooth minimum. */
        bound += 0.25 * slope_bound(&shape->parameter[0], t0, t1).x * (shape->child_count - 1);
    }
    return bound;
}

/* Bounds on the motion of a placement during an interval. */
typedef struct Motion {
    uint64_t serial; /* of the shape; 0: empty */
    double t0, t1;
    double smallest, largest, growth; /* of the scale; growth rate in 1/s, relative */
    double turn, center_speed;        /* rad/s; m/s, of the pivot in the parent frame */
    WadiVec3 center;                  /* position of the pivot at t0: translate + pivot */
} Motion;

enum { CACHE_SIZE = 4 };

static Motion make_motion(const WadiShape *shape, double t0, double t1)
{
    Motion made = { .serial = shape->serial, .t0 = t0, .t1 = t1 };
    value_range(&shape->scale, t0, t1, &made.smallest, &made.largest);
    WadiVec3 turn = wadi_scale(slope_bound(&shape->rotate, t0, t1), 3.14159265358979323846 / 180.0);
    WadiVec3 s_slope = slope_bound(&shape->scale, t0, t1);
    made.turn = turn.x + turn.y + turn.z;
    made.growth = fmax(s_slope.x, fmax(s_slope.y, s_slope.z)) / made.smallest;
    double pivot_speed = wadi_norm(slope_bound(&shape->pivot, t0, t1));
    made.center_speed =
        wadi_norm(slope_bound(&shape->translate, t0, t1)) + (1.0 + made.largest) * pivot_speed;
    made.center = wadi_add(wadi_curve_value3(&shape->translate, t0), wadi_curve_value3(&shape->pivot, t0));
    return made;
}

/* All queries of a step are for the same interval, so that the last bounds are cached. */
static const Motion *motion_during(const WadiShape *shape, double t0, double t1, Motion *scratch)
{
    static _Thread_local Motion cache[CACHE_SIZE];
    Motion *last = &cache[shape->serial % CACHE_SIZE];
    if (shape->serial == 0) { /* still being built */
        *scratch = make_motion(shape, t0, t1);
        return scratch;
    }
    if (last->serial != shape->serial || last->t0 != t0 || last->t1 != t1) {
        *last = make_motion(shape, t0, t1);
    }
    *scratch = *last; /* the next query may overwrite the cache */
    return scratch;
}

double wadi_shape_speed_bound(const WadiShape *shape, WadiVec3 x, double radius, double t0, double t1)
{
    if (!shape->is_moving) {
        return 0.0;
    }
    if (shape->placing == WADI_PLACING_IDENTITY) {
        return local_bound(shape, x, radius, t0, t1);
    }
    WadiPlacement scratch;
    const WadiPlacement *at = wadi_shape_placement(shape, t0, &scratch);
    WadiVec3 p = wadi_affine_point(&at->inverse, x);
    if (shape->placing == WADI_PLACING_FIXED) {
        return at->stretch * local_bound(shape, p, radius / at->stretch, t0, t1);
    }
    Motion motion_scratch;
    const Motion *motion = motion_during(shape, t0, t1, &motion_scratch);
    const double duration = t1 - t0, growth = motion->growth;
    double arm = wadi_norm(wadi_sub(x, motion->center)) + radius + motion->center_speed * duration;
    double material = motion->center_speed + (motion->turn + growth) * arm;
    /* In the local frame, points near x stay within this radius. */
    double local_radius = (radius + material * duration) / motion->smallest;
    double bound = material + motion->largest * local_bound(shape, p, local_radius, t0, t1);
    if (growth > 0.0) {
        /* d' <= growth |d| + bound, over the interval. */
        double d = fabs(wadi_shape_distance(shape, x, t0)) + radius + bound * duration;
        bound += growth * d * wadi_exp(growth * duration);
    }
    return bound;
}

int wadi_shape_jump_count(const WadiShape *shape, double t0, double t1)
{
    if (!shape->is_moving) {
        return 0;
    }
    int count = wadi_curve_jump_count(&shape->translate, t0, t1) +
                wadi_curve_jump_count(&shape->rotate, t0, t1) + wadi_curve_jump_count(&shape->scale, t0, t1) +
                wadi_curve_jump_count(&shape->pivot, t0, t1);
    for (int i = 0; i < WADI_SHAPE_PARAMETER_MAX; ++i) {
        count += wadi_curve_jump_count(&shape->parameter[i], t0, t1);
    }
    for (int i = 0; i < shape->child_count; ++i) {
        count += wadi_shape_jump_count(&shape->children[i], t0, t1);
    }
    return count;
}
