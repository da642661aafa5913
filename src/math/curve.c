#include "math/curve.h"

#include "core/alloc.h"
#include "core/check.h"

WadiCurve wadi_curve_constant(double value)
{
    return (WadiCurve){ .constant = { 0.0, { value, 0.0, 0.0 } }, .components = 1 };
}

WadiCurve wadi_curve_constant3(double x, double y, double z)
{
    return (WadiCurve){ .constant = { 0.0, { x, y, z } }, .components = 3 };
}

WadiStatus wadi_curve_create(WadiCurve *curve, const WadiKey *keys, int key_count, int components,
                             WadiInterpolation interpolation, bool does_repeat, WadiError *error)
{
    WADI_ASSERT_TRY(key_count >= 1 && components >= 1 && components <= 3, error);
    *curve = (WadiCurve){ .constant = keys[0], .components = components };
    if (key_count == 1) {
        return WADI_OK;
    }
    WADI_TRY(WADI_NEW(&curve->keys, (size_t)key_count, "keyframes", error));
    for (int i = 0; i < key_count; ++i) {
        WADI_ASSERT(i == 0 || keys[i].time > keys[i - 1].time);
        curve->keys[i] = keys[i];
    }
    curve->key_count = key_count;
    curve->interpolation = interpolation;
    curve->does_repeat = does_repeat;
    return WADI_OK;
}

WadiStatus wadi_curve_copy(WadiCurve *copy, const WadiCurve *curve, WadiError *error)
{
    *copy = *curve;
    copy->keys = NULL;
    if (curve->key_count == 0) {
        return WADI_OK;
    }
    return wadi_curve_create(copy, curve->keys, curve->key_count, curve->components, curve->interpolation,
                             curve->does_repeat, error);
}

void wadi_curve_free(WadiCurve *curve)
{
    WADI_DELETE(curve->keys, (size_t)curve->key_count);
    curve->keys = NULL;
    curve->key_count = 0;
}

/* The span [i, i+1] that contains `time`, the position in it (0..1), and whether the time lies in the
 * animated range. */
static int find_span(const WadiCurve *curve, double time, double *position, bool *is_inside)
{
    const WadiKey *keys = curve->keys;
    int last = curve->key_count - 1;
    double begin = keys[0].time, end = keys[last].time;
    if (curve->does_repeat) {
        time = begin + (time - begin) - (end - begin) * floor((time - begin) / (end - begin));
    }
    *is_inside = time >= begin && time < end;
    if (time < begin) {
        *position = 0.0;
        return 0;
    }
    if (time >= end) {
        *position = 1.0;
        return last - 1;
    }
    int low = 0, high = last;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (keys[middle].time <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *position = (time - keys[low].time) / (keys[low + 1].time - keys[low].time);
    return low;
}

static void evaluate(const WadiCurve *curve, double time, double out[3])
{
    if (curve->key_count == 0) {
        for (int c = 0; c < 3; ++c) {
            out[c] = curve->constant.value[c];
        }
        return;
    }
    double s;
    bool is_inside;
    int i = find_span(curve, time, &s, &is_inside);
    if (curve->interpolation == WADI_INTERPOLATION_SMOOTH) {
        s = s * s * (3.0 - 2.0 * s);
    } else if (curve->interpolation == WADI_INTERPOLATION_STEP) {
        s = s < 1.0 ? 0.0 : 1.0;
    }
    for (int c = 0; c < 3; ++c) {
        double a = curve->keys[i].value[c], b = curve->keys[i + 1].value[c];
        out[c] = s <= 0.0 ? a : s >= 1.0 ? b : a + s * (b - a);
    }
}

double wadi_curve_value(const WadiCurve *curve, double time)
{
    double out[3];
    evaluate(curve, time, out);
    return out[0];
}

WadiVec3 wadi_curve_value3(const WadiCurve *curve, double time)
{
    double out[3];
    evaluate(curve, time, out);
    return (WadiVec3){ out[0], out[1], out[2] };
}

WadiVec3 wadi_curve_slope3(const WadiCurve *curve, double time)
{
    WadiVec3 zero = { 0, 0, 0 };
    if (curve->key_count == 0 || curve->interpolation == WADI_INTERPOLATION_STEP) {
        return zero;
    }
    double s;
    bool is_inside;
    int i = find_span(curve, time, &s, &is_inside);
    if (!is_inside) {
        return zero;
    }
    const WadiKey *a = &curve->keys[i], *b = &curve->keys[i + 1];
    double rate =
        (curve->interpolation == WADI_INTERPOLATION_SMOOTH ? 6.0 * s * (1.0 - s) : 1.0) / (b->time - a->time);
    return (WadiVec3){ rate * (b->value[0] - a->value[0]), rate * (b->value[1] - a->value[1]),
                       rate * (b->value[2] - a->value[2]) };
}

bool wadi_curve_is_steady(const WadiCurve *curve, double t0, double t1)
{
    bool does_jump = curve->interpolation == WADI_INTERPOLATION_STEP;
    for (int i = 0; i + 1 < curve->key_count; ++i) {
        const WadiKey *a = &curve->keys[i], *b = &curve->keys[i + 1];
        double begin = does_jump ? b->time : a->time;
        bool is_overlapping = curve->does_repeat || (begin <= t1 && b->time >= t0);
        for (int c = 0; c < curve->components && is_overlapping; ++c) {
            if (a->value[c] != b->value[c]) {
                return false;
            }
        }
    }
    return true;
}

static bool is_same_key(const WadiCurve *curve, int a, int b)
{
    bool is_same = true;
    for (int c = 0; c < curve->components; ++c) {
        is_same = is_same && curve->keys[a].value[c] == curve->keys[b].value[c];
    }
    return is_same;
}

int wadi_curve_jump_count(const WadiCurve *curve, double t0, double t1)
{
    const int last = curve->key_count - 1;
    const bool is_step = curve->interpolation == WADI_INTERPOLATION_STEP;
    double count = 0.0;
    for (int i = 1; i <= last; ++i) {
        const double key = curve->keys[i].time;
        const bool is_seam = curve->does_repeat && i == last;
        /* Up to the seam a step curve has the value of the key before the last. */
        const bool jumps = is_seam ? !is_same_key(curve, is_step ? last - 1 : last, 0)
                                   : is_step && !is_same_key(curve, i - 1, i);
        if (jumps && curve->does_repeat) {
            const double period = curve->keys[last].time - curve->keys[0].time;
            count += floor((t1 - key) / period) - floor((t0 - key) / period);
        } else if (jumps && key > t0 && key <= t1) {
            count += 1.0;
        }
    }
    return (int)fmin(count, 1e6);
}

/* The slope of a linear curve jumps at its keys, a step curve's value does; a smooth curve goes on with slope
 * zero. */
static bool does_jump_within(const WadiCurve *curve, double t0, double t1, double hair)
{
    const double end = curve->keys[curve->key_count - 1].time;
    bool does_jump = curve->does_repeat && t1 >= end - hair;
    for (int i = 0; i < curve->key_count; ++i) {
        const double key = curve->keys[i].time;
        does_jump |=
            (curve->interpolation == WADI_INTERPOLATION_LINEAR && key > t0 + hair && key < t1 - hair) ||
            (curve->interpolation == WADI_INTERPOLATION_STEP && key > t0 && key <= t1);
    }
    return does_jump;
}

bool wadi_curve_is_smooth(const WadiCurve *curve, double t0, double t1, WadiVec3 *slope, WadiVec3 *bend)
{
    *slope = *bend = wadi_vec3(0, 0, 0);
    if (curve->key_count == 0) {
        return true;
    }
    const double hair = 1e-6 * (t1 - t0), begin = curve->keys[0].time;
    if (curve->does_repeat) {
        const double length = curve->keys[curve->key_count - 1].time - begin;
        const double shift = length * floor((t0 - begin) / length);
        t0 -= shift;
        t1 -= shift;
    }
    if (does_jump_within(curve, t0, t1, hair)) {
        return false;
    }
    const bool is_cubic = curve->interpolation == WADI_INTERPOLATION_SMOOTH;
    for (int i = 0; i + 1 < curve->key_count && curve->interpolation != WADI_INTERPOLATION_STEP; ++i) {
        const WadiKey *a = &curve->keys[i], *b = &curve->keys[i + 1];
        if (b->time > t0 + hair && a->time < t1 - hair) {
            const double rate = 1.0 / (b->time - a->time);
            const WadiVec3 way = { fabs(b->value[0] - a->value[0]), fabs(b->value[1] - a->value[1]),
                                   fabs(b->value[2] - a->value[2]) };
            *slope = wadi_max(*slope, wadi_scale(way, (is_cubic ? 1.5 : 1.0) * rate));
            *bend = wadi_max(*bend, wadi_scale(way, is_cubic ? 6.0 * rate * rate : 0.0));
        }
    }
    return true;
}
