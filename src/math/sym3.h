/* Symmetric 3x3 matrices: strain rates, stresses, covariances. */
#ifndef WADI_MATH_SYM3_H
#define WADI_MATH_SYM3_H

#include <math.h>

#include "math/vec3.h"

typedef struct WadiSym3 {
    double xx, yy, zz, xy, xz, yz;
} WadiSym3;

static inline WadiSym3 wadi_sym3_scale(WadiSym3 a, double s)
{
    return (WadiSym3){ a.xx * s, a.yy * s, a.zz * s, a.xy * s, a.xz * s, a.yz * s };
}

static inline double wadi_sym3_trace(WadiSym3 a)
{
    return a.xx + a.yy + a.zz;
}

/* a - tr(a)/3 I */
static inline WadiSym3 wadi_sym3_deviator(WadiSym3 a)
{
    double mean = wadi_sym3_trace(a) / 3.0;
    return (WadiSym3){ a.xx - mean, a.yy - mean, a.zz - mean, a.xy, a.xz, a.yz };
}

static inline double wadi_sym3_frobenius(WadiSym3 a)
{
    return sqrt(a.xx * a.xx + a.yy * a.yy + a.zz * a.zz + 2.0 * (a.xy * a.xy + a.xz * a.xz + a.yz * a.yz));
}

/* Eigenvalues in ascending order, by the trigonometric form of the cubic: accurate to rounding, and to its
 * square root where two nearly coincide. */
void wadi_sym3_eigenvalues(WadiSym3 a, double value[3]);
/* The matrix with the eigenvectors of `a`, whose eigenvalues in ascending order are `value`, and the
 * eigenvalues `target`. Values that differ by less than 1e-7 of the largest count as equal and must have
 * equal targets. */
WadiSym3 wadi_sym3_with_values(WadiSym3 a, const double value[3], const double target[3]);

#endif
