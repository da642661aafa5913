/* The kernel of eight pairs at a time. */
#ifndef WADI_SPH_WEIGH_H
#define WADI_SPH_WEIGH_H

#include <math.h>

#include "sph/pairs/sph_pairs.h"

enum { WADI_SPH_LANES = 8 };

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
        w[l] = scale * (2.0f * t * t * t - 8.0f * m * m * m);
        slope[l] = gradient * (t * t - 4.0f * m * m) / (q > 1e-6f ? q : 1e-6f);
    }
}

#endif
