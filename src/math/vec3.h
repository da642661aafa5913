/* Vectors in double, for geometry and set-up. Particle columns are separate arrays and do not use this
 * type. */
#ifndef WADI_MATH_VEC3_H
#define WADI_MATH_VEC3_H

#include <math.h>
#include <stdbool.h>

typedef struct WadiVec3 {
    double x, y, z;
} WadiVec3;

static inline WadiVec3 wadi_vec3(double x, double y, double z)
{
    return (WadiVec3){ x, y, z };
}

static inline WadiVec3 wadi_add(WadiVec3 a, WadiVec3 b)
{
    return (WadiVec3){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static inline WadiVec3 wadi_sub(WadiVec3 a, WadiVec3 b)
{
    return (WadiVec3){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static inline WadiVec3 wadi_scale(WadiVec3 a, double s)
{
    return (WadiVec3){ a.x * s, a.y * s, a.z * s };
}

/* a + s b */
static inline WadiVec3 wadi_add_scaled(WadiVec3 a, WadiVec3 b, double s)
{
    return (WadiVec3){ a.x + s * b.x, a.y + s * b.y, a.z + s * b.z };
}

static inline WadiVec3 wadi_mul(WadiVec3 a, WadiVec3 b)
{
    return (WadiVec3){ a.x * b.x, a.y * b.y, a.z * b.z };
}

static inline WadiVec3 wadi_min(WadiVec3 a, WadiVec3 b)
{
    return (WadiVec3){ fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z) };
}

static inline WadiVec3 wadi_max(WadiVec3 a, WadiVec3 b)
{
    return (WadiVec3){ fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z) };
}

static inline WadiVec3 wadi_abs(WadiVec3 a)
{
    return (WadiVec3){ fabs(a.x), fabs(a.y), fabs(a.z) };
}

static inline WadiVec3 wadi_lerp(WadiVec3 a, WadiVec3 b, double t)
{
    return wadi_add_scaled(a, wadi_sub(b, a), t);
}

static inline double wadi_dot(WadiVec3 a, WadiVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline WadiVec3 wadi_cross(WadiVec3 a, WadiVec3 b)
{
    return (WadiVec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

static inline double wadi_norm(WadiVec3 a)
{
    return sqrt(wadi_dot(a, a));
}

/* Unit vector; `fallback` when the length is zero or not finite. */
static inline WadiVec3 wadi_normalized_or(WadiVec3 a, WadiVec3 fallback)
{
    double length = wadi_norm(a);
    return length > 0.0 && isfinite(length) ? wadi_scale(a, 1.0 / length) : fallback;
}

static inline bool wadi_is_finite(WadiVec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

static inline double wadi_component(WadiVec3 a, int axis)
{
    return axis == 0 ? a.x : axis == 1 ? a.y : a.z;
}

/* Axis-aligned box. Empty when any min exceeds its max. */
typedef struct WadiBox {
    WadiVec3 min, max;
} WadiBox;

static inline WadiBox wadi_box_empty(void)
{
    return (WadiBox){ { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
}

static inline bool wadi_box_is_empty(WadiBox b)
{
    return !(b.min.x <= b.max.x && b.min.y <= b.max.y && b.min.z <= b.max.z);
}

static inline WadiBox wadi_box_add_point(WadiBox b, WadiVec3 p)
{
    return (WadiBox){ wadi_min(b.min, p), wadi_max(b.max, p) };
}

static inline WadiBox wadi_box_union(WadiBox a, WadiBox b)
{
    return (WadiBox){ wadi_min(a.min, b.min), wadi_max(a.max, b.max) };
}

static inline WadiBox wadi_box_intersection(WadiBox a, WadiBox b)
{
    return (WadiBox){ wadi_max(a.min, b.min), wadi_min(a.max, b.max) };
}

static inline WadiBox wadi_box_grown(WadiBox b, double margin)
{
    WadiVec3 m = { margin, margin, margin };
    return (WadiBox){ wadi_sub(b.min, m), wadi_add(b.max, m) };
}

static inline WadiVec3 wadi_box_size(WadiBox b)
{
    return wadi_sub(b.max, b.min);
}

static inline bool wadi_box_contains(WadiBox b, WadiVec3 p)
{
    return p.x >= b.min.x && p.x <= b.max.x && p.y >= b.min.y && p.y <= b.max.y && p.z >= b.min.z &&
           p.z <= b.max.z;
}

#endif
