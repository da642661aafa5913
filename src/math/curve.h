/* Keyframed values: a constant is a curve with one key. One to three components. */
#ifndef WADI_MATH_CURVE_H
#define WADI_MATH_CURVE_H

#include "core/status.h"
#include "math/vec3.h"

typedef enum WadiInterpolation {
    WADI_INTERPOLATION_LINEAR,
    WADI_INTERPOLATION_SMOOTH, /* ease in and out of each key: cubic with zero slope at the keys */
    WADI_INTERPOLATION_STEP,   /* holds a key's value until the next key */
} WadiInterpolation;

typedef struct WadiKey {
    double time; /* s */
    double value[3];
} WadiKey;

/* Keys have strictly increasing times. Outside the keys the first or last value holds, unless `does_repeat`:
 * then the span from the first to the last key repeats. Most curves are constants, so that the first key is
 * inline. */
typedef struct WadiCurve {
    WadiKey constant; /* the value when key_count is 0 */
    WadiKey *keys;    /* owned; NULL when key_count is 0 */
    int key_count;    /* 0 or at least 2 */
    int components;   /* 1 or 3 */
    WadiInterpolation interpolation;
    bool does_repeat;
} WadiCurve;

WadiCurve wadi_curve_constant(double value);
WadiCurve wadi_curve_constant3(double x, double y, double z);
/* Copies the keys. One key makes a constant. */
WadiStatus wadi_curve_create(WadiCurve *curve, const WadiKey *keys, int key_count, int components,
                             WadiInterpolation interpolation, bool does_repeat, WadiError *error);
WadiStatus wadi_curve_copy(WadiCurve *copy, const WadiCurve *curve, WadiError *error);
void wadi_curve_free(WadiCurve *curve);

static inline bool wadi_curve_is_constant(const WadiCurve *curve)
{
    return curve->key_count == 0;
}

double wadi_curve_value(const WadiCurve *curve, double time);
static inline double wadi_curve_value_or_zero(const WadiCurve *curve, double time)
{
    return curve != NULL ? wadi_curve_value(curve, time) : 0.0;
}
WadiVec3 wadi_curve_value3(const WadiCurve *curve, double time);
/* d/dt at `time`; at a key that of the following span. Zero for constants and steps. */
WadiVec3 wadi_curve_slope3(const WadiCurve *curve, double time);
/* True only if the value is constant over [t0, t1]. May be false for a repeating curve that happens to be
 * constant there. */
bool wadi_curve_is_steady(const WadiCurve *curve, double t0, double t1);
/* Times in (t0, t1] at which the value jumps: keys of a step curve, and the seam of a repeating one. */
int wadi_curve_jump_count(const WadiCurve *curve, double t0, double t1);
/* Bounds on |d/dt| and |d2/dt2| of each component during [t0, t1]; false: a key or the seam of a repeating
 * curve lies in between, where the slope jumps. */
bool wadi_curve_is_smooth(const WadiCurve *curve, double t0, double t1, WadiVec3 *slope, WadiVec3 *bend);

#endif
