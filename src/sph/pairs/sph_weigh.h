/* The kernel of eight pairs at a time. */
#ifndef WADI_SPH_WEIGH_H
#define WADI_SPH_WEIGH_H

#include <math.h>

#include "sph/pairs/sph_lanes.h"

/* The largest slope -W'/r, that of r = 0. */
static inline float wadi_sph_steepest(float scale)
{
    return scale * (float)(12.0 / (WADI_SPH_SUPPORT * WADI_SPH_SUPPORT * WADI_SPH_PLACES));
}

/* Kernel W and slope -W'/r of eight squared distances in places. */
static inline __attribute__((always_inline)) void wadi_sph_weigh(const float square[WADI_SPH_LANES],
                                                                 float scale, float w[WADI_SPH_LANES],
                                                                 float slope[WADI_SPH_LANES])
{
    const float to_h = (float)(1.0 / (WADI_SPH_SUPPORT * WADI_SPH_PLACES));
    const float gradient = scale * (float)(6.0 / (WADI_SPH_SUPPORT * WADI_SPH_SUPPORT * WADI_SPH_PLACES));
#pragma omp simd
    for (int l = 0; l < WADI_SPH_LANES; ++l) {
        const float q = sqrtf(square[l]) * to_h;
        const float t = 1.0f - q, m = 0.5f - q < 0.0f ? 0.0f : 0.5f - q;
        w[l] = scale * (2.0f * t * t * t - 8.0f * m * m * m - (float)WADI_SPH_CUT);
        /* (t^2 - 4 m^2) / q, which is a line near 0. */
        slope[l] = gradient * (q < 0.5f ? 2.0f - 3.0f * q : t * t / (q < 0.5f ? 1.0f : q));
    }
}

/* The slope of one squared distance in places, of a pair with the mean size 1 / inverse. */
static inline float wadi_sph_slope_at(float square, float scale, float inverse)
{
    const float to_h = (float)(1.0 / (WADI_SPH_SUPPORT * WADI_SPH_PLACES));
    const float gradient = scale * (float)(6.0 / (WADI_SPH_SUPPORT * WADI_SPH_SUPPORT * WADI_SPH_PLACES));
    const float q = sqrtf(square * inverse * inverse) * to_h, t = 1.0f - q;
    const float per_volume = inverse * inverse * inverse;
    return gradient * (q < 0.5f ? 2.0f - 3.0f * q : t * t / q) * (per_volume * inverse * inverse);
}

/* The same of pairs with the mean size 1 / inverse. */
static inline __attribute__((always_inline)) void wadi_sph_weigh_sizes(const float square[WADI_SPH_LANES],
                                                                       float scale,
                                                                       const float inverse[WADI_SPH_LANES],
                                                                       float w[WADI_SPH_LANES],
                                                                       float slope[WADI_SPH_LANES])
{
    float scaled[WADI_SPH_LANES];
    for (int l = 0; l < WADI_SPH_LANES; ++l) {
        scaled[l] = square[l] * inverse[l] * inverse[l];
    }
    wadi_sph_weigh(scaled, scale, w, slope);
    for (int l = 0; l < WADI_SPH_LANES; ++l) {
        const float per_volume = inverse[l] * inverse[l] * inverse[l];
        w[l] *= per_volume;
        slope[l] *= per_volume * inverse[l] * inverse[l];
    }
}

#endif
