/* Smaller and larger of two floats. One instruction each, unlike fminf: NaN as the first argument gives the
 * second. */
#ifndef WADI_MATH_MINMAX_H
#define WADI_MATH_MINMAX_H

static inline float wadi_minf(float a, float b)
{
    return a < b ? a : b;
}

static inline float wadi_maxf(float a, float b)
{
    return a > b ? a : b;
}

#endif
