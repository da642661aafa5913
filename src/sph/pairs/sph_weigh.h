/* The kernel of eight pairs at a time, and of one. */
#ifndef WADI_SPH_WEIGH_H
#define WADI_SPH_WEIGH_H

#include <math.h>

#include "sph/pairs/sph_lanes.h"

/* A spline in places. */
typedef struct WadiSphWeight {
    float scale, cut;
    float to_h;     /* 1 over the support */
    float gradient; /* factor of -W'/r */
} WadiSphWeight;

static inline WadiSphWeight wadi_sph_weight(const WadiSphSpline *spline)
{
    const double h = (double)spline->support;
    return (WadiSphWeight){ .scale = spline->scale,
                            .cut = spline->cut,
                            .to_h = (float)(1.0 / (h * WADI_SPH_PLACES)),
                            .gradient = spline->scale * (float)(6.0 / (h * h * WADI_SPH_PLACES)) };
}

/* The largest slope -W'/r, that of r = 0. */
static inline float wadi_sph_steepest(const WadiSphSpline *spline)
{
    return 2.0f * wadi_sph_weight(spline).gradient;
}

/* Kernel W and slope -W'/r of eight squared distances in places. */
static inline __attribute__((always_inline)) void wadi_sph_weigh(const float square[WADI_SPH_LANES],
                                                                 const WadiSphWeight *of,
                                                                 float w[WADI_SPH_LANES],
                                                                 float slope[WADI_SPH_LANES])
{
    const float scale = of->scale, cut = of->cut, to_h = of->to_h, gradient = of->gradient;
#pragma omp simd
    for (int l = 0; l < WADI_SPH_LANES; ++l) {
        const float q = sqrtf(square[l]) * to_h;
        const float t = 1.0f - q, m = 0.5f - q < 0.0f ? 0.0f : 0.5f - q;
        w[l] = scale * (2.0f * t * t * t - 8.0f * m * m * m - cut);
        /* (t^2 - 4 m^2) / q, which is a line near 0. */
        slope[l] = gradient * (q < 0.5f ? 2.0f - 3.0f * q : t * t / (q < 0.5f ? 1.0f : q));
    }
}

/* The same of one squared distance in places, of a pair with the mean size 1 / inverse, within its reach. */
static inline void wadi_sph_weigh_one(float square, const WadiSphWeight *of, float inverse, float *w,
                                      float *slope)
{
    const float q = sqrtf(square * inverse * inverse) * of->to_h, t = 1.0f - q;
    const float m = 0.5f - q < 0.0f ? 0.0f : 0.5f - q, per_volume = inverse * inverse * inverse;
    *w = of->scale * (2.0f * t * t * t - 8.0f * m * m * m - of->cut) * per_volume;
    *slope = of->gradient * (q < 0.5f ? 2.0f - 3.0f * q : t * t / q) * (per_volume * inverse * inverse);
}

/* The same of eight pairs with the mean sizes 1 / inverse. */
static inline __attribute__((always_inline)) void wadi_sph_weigh_sizes(const float square[WADI_SPH_LANES],
                                                                       const WadiSphWeight *of,
                                                                       const float inverse[WADI_SPH_LANES],
                                                                       float w[WADI_SPH_LANES],
                                                                       float slope[WADI_SPH_LANES])
{
    float scaled[WADI_SPH_LANES];
    for (int l = 0; l < WADI_SPH_LANES; ++l) {
        scaled[l] = square[l] * inverse[l] * inverse[l];
    }
    wadi_sph_weigh(scaled, of, w, slope);
    for (int l = 0; l < WADI_SPH_LANES; ++l) {
        const float per_volume = inverse[l] * inverse[l] * inverse[l];
        w[l] *= per_volume;
        slope[l] *= per_volume * inverse[l] * inverse[l];
    }
}

#endif
