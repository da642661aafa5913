/* Placement of a shape at a time, and its rate of change.
 * The transform p -> translate + pivot + M (p - pivot), M = R S, has the exact rate M' = [w] M + R S',
 * with w the angular velocity of the Euler angles.
 *
 * The placement of a moving shape is needed millions of times a step at one or two times: each thread
 * caches the last ones. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "geom/shape_internal.h"

enum { CACHE_SIZE = 16 };

typedef struct CachedPlacement {
    uint64_t serial; /* of the shape; 0: empty */
    double time;
    bool has_rate;
    WadiPlacement placement;
    WadiAffine rate;
} CachedPlacement;

static _Thread_local CachedPlacement cache[CACHE_SIZE];

uint64_t wadi_shape_new_serial(void)
{
    static atomic_ullong last;
    return atomic_fetch_add(&last, 1) + 1;
}

static CachedPlacement *cache_entry(const WadiShape *shape, double time)
{
    uint64_t bits;
    memcpy(&bits, &time, sizeof bits);
    return &cache[(shape->serial + (bits >> 52 ^ bits >> 40 ^ bits >> 28 ^ bits)) % CACHE_SIZE];
}

static const double radians = 3.14159265358979323846 / 180.0;

/* w = z' ez + Rz (y' ey + Ry x' ex), 1/s. */
static WadiVec3 angular_velocity(const WadiShape *shape, double time)
{
    WadiVec3 angle = wadi_curve_value3(&shape->rotate, time);
    WadiVec3 rate = wadi_scale(wadi_curve_slope3(&shape->rotate, time), radians);
    WadiVec3 one = { 1, 1, 1 }, zero = { 0, 0, 0 };
    WadiAffine turn_y = wadi_affine_compose(zero, wadi_vec3(0, angle.y, 0), one, zero);
    WadiAffine turn_z = wadi_affine_compose(zero, wadi_vec3(0, 0, angle.z), one, zero);
    WadiVec3 w = wadi_affine_vector(&turn_y, wadi_vec3(rate.x, 0, 0));
    w = wadi_affine_vector(&turn_z, wadi_add(w, wadi_vec3(0, rate.y, 0)));
    return wadi_add(w, wadi_vec3(0, 0, rate.z));
}

static WadiAffine make_rate(const WadiShape *shape, const WadiPlacement *placement, double time)
{
    WadiVec3 w = angular_velocity(shape, time);
    WadiVec3 s = wadi_shape_scale_at(shape, time);
    WadiVec3 s_rate = wadi_curve_slope3(&shape->scale, time);
    if (shape->scale.components == 1) {
        s_rate = wadi_vec3(s_rate.x, s_rate.x, s_rate.x);
    }
    WadiAffine rate = { 0 };
    const double growth[3] = { s_rate.x / s.x, s_rate.y / s.y, s_rate.z / s.z };
    for (int j = 0; j < 3; ++j) {
        WadiVec3 column = { placement->map.m[0][j], placement->map.m[1][j], placement->map.m[2][j] };
        WadiVec3 d = wadi_add_scaled(wadi_cross(w, column), column, growth[j]);
        rate.m[0][j] = d.x;
        rate.m[1][j] = d.y;
        rate.m[2][j] = d.z;
    }
    WadiVec3 pivot = wadi_curve_value3(&shape->pivot, time),
             pivot_rate = wadi_curve_slope3(&shape->pivot, time);
    rate.t = wadi_add(wadi_curve_slope3(&shape->translate, time), pivot_rate);
    rate.t = wadi_sub(rate.t, wadi_affine_vector(&rate, pivot));
    rate.t = wadi_sub(rate.t, wadi_affine_vector(&placement->map, pivot_rate));
    return rate;
}

static void make_placement(const WadiShape *shape, double time, WadiPlacement *out)
{
    WadiVec3 s = wadi_shape_scale_at(shape, time);
    out->map = wadi_affine_compose(wadi_curve_value3(&shape->translate, time),
                                   wadi_curve_value3(&shape->rotate, time), s,
                                   wadi_curve_value3(&shape->pivot, time));
    wadi_affine_inverse(&out->map, &out->inverse);
    /* The columns of the map are orthogonal, so its stretches are the scale factors themselves. */
    out->stretch = fmin(fabs(s.x), fmin(fabs(s.y), fabs(s.z)));
}

const WadiPlacement *wadi_shape_placement(const WadiShape *shape, double time, WadiPlacement *scratch)
{
    if (shape->placing != WADI_PLACING_MOVING) {
        return &shape->fixed;
    }
    CachedPlacement *last = cache_entry(shape, time);
    if (shape->serial == 0) { /* still being built */
        make_placement(shape, time, scratch);
        return scratch;
    }
    if (last->serial != shape->serial || last->time != time) {
        *last = (CachedPlacement){ .serial = shape->serial, .time = time };
        make_placement(shape, time, &last->placement);
    }
    *scratch = last->placement; /* the next query may overwrite the cache */
    return scratch;
}

WadiAffine wadi_shape_placement_rate(const WadiShape *shape, const WadiPlacement *placement, double time)
{
    CachedPlacement *last = cache_entry(shape, time);
    if (last->serial != shape->serial || last->time != time || shape->serial == 0) {
        return make_rate(shape, placement, time);
    }
    if (!last->has_rate) {
        last->rate = make_rate(shape, placement, time);
        last->has_rate = true;
    }
    return last->rate;
}
