/* Vectors in float, for the rays of the path tracer: directions, colours and positions relative to the
 * picture's origin. */
#ifndef WADI_RENDER_VEC3F_H
#define WADI_RENDER_VEC3F_H

#include "math/minmax.h"
#include "math/vec3.h"

typedef struct WadiVec3f {
    float x, y, z;
} WadiVec3f;

/* Linear light, Rec. 709 primaries: red, green, blue in x, y, z. */
typedef WadiVec3f WadiRgb;

static inline WadiVec3f wadi_vec3f(float x, float y, float z)
{
    return (WadiVec3f){ x, y, z };
}

static inline WadiRgb wadi_grey(float value)
{
    return (WadiRgb){ value, value, value };
}

static inline WadiVec3f wadi_to_vec3f(WadiVec3 a)
{
    return (WadiVec3f){ (float)a.x, (float)a.y, (float)a.z };
}

static inline WadiVec3f wadi_addf(WadiVec3f a, WadiVec3f b)
{
    return (WadiVec3f){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static inline WadiVec3f wadi_subf(WadiVec3f a, WadiVec3f b)
{
    return (WadiVec3f){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static inline WadiVec3f wadi_scalef(WadiVec3f a, float s)
{
    return (WadiVec3f){ a.x * s, a.y * s, a.z * s };
}

static inline WadiVec3f wadi_mulf(WadiVec3f a, WadiVec3f b)
{
    return (WadiVec3f){ a.x * b.x, a.y * b.y, a.z * b.z };
}

/* a + s b */
static inline WadiVec3f wadi_add_scaledf(WadiVec3f a, WadiVec3f b, float s)
{
    return (WadiVec3f){ a.x + s * b.x, a.y + s * b.y, a.z + s * b.z };
}

static inline WadiVec3f wadi_lerpf(WadiVec3f a, WadiVec3f b, float t)
{
    return wadi_add_scaledf(wadi_scalef(a, 1.0f - t), b, t);
}

static inline float wadi_dotf(WadiVec3f a, WadiVec3f b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline WadiVec3f wadi_crossf(WadiVec3f a, WadiVec3f b)
{
    return (WadiVec3f){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

static inline float wadi_normf(WadiVec3f a)
{
    return sqrtf(wadi_dotf(a, a));
}

/* Unit vector; `fallback` when the length is zero or not finite. */
static inline WadiVec3f wadi_normalizedf_or(WadiVec3f a, WadiVec3f fallback)
{
    float length = wadi_normf(a);
    return length > 0.0f && isfinite(length) ? wadi_scalef(a, 1.0f / length) : fallback;
}

static inline bool wadi_is_finitef(WadiVec3f a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

static inline float wadi_largestf(WadiVec3f a)
{
    return wadi_maxf(a.x, wadi_maxf(a.y, a.z));
}

static inline float wadi_luminance(WadiRgb c)
{
    return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
}

/* Two unit vectors that complete n, unit, to a right-handed frame.
 * Source: Duff et al., "Building an Orthonormal Basis, Revisited" (2017). */
static inline void wadi_framef(WadiVec3f n, WadiVec3f *s, WadiVec3f *t)
{
    float sign = n.z < 0.0f ? -1.0f : 1.0f;
    float a = -1.0f / (sign + n.z), b = n.x * n.y * a;
    *s = wadi_vec3f(1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *t = wadi_vec3f(b, sign + n.y * n.y * a, -n.y);
}

#endif
