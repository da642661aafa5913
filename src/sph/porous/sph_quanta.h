/* Whole quanta of the water that goes to four neighbours, and the momentum that comes with it. */
#ifndef WADI_SPH_QUANTA_H
#define WADI_SPH_QUANTA_H

#include "grid/row_vectors.h"
#include "sph/pairs/sph_lanes.h"
#include "sph/porous/sph_porous_flow.h"
#include "world/water.h"

/* Sums over the neighbours of a particle. */
typedef struct WadiSphGain {
    WadiD4 mass;
    WadiF8 momentum[3]; /* relative to the particle's velocity */
} WadiSphGain;

#ifdef __AVX__
#define WADI_SPH_TRUNC(four)                                                                                 \
    ((WadiD4)_mm256_round_pd((__m256d)(four), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC))
#else
#define WADI_SPH_TRUNC(four)                                                                                 \
    ((WadiD4){ trunc((four)[0]), trunc((four)[1]), trunc((four)[2]), trunc((four)[3]) })
#endif
/* Rounded towards none: the sums of a donor and of an acceptor stay within their limits. */
#define WADI_SPH_WHOLE_QUANTA(four) (WADI_SPH_TRUNC(WADI_WATER_QUANTA * (four)) * (1.0 / WADI_WATER_QUANTA))

/* Adds what comes from eight neighbours. `j`: their offsets, `mass`: what they get. */
static inline __attribute__((always_inline)) void wadi_sph_add_gain(const WadiSphFlow *x, int32_t i,
                                                                    const uint32_t *j, const WadiD4 mass[2],
                                                                    WadiSphGain *gain)
{
    gain->mass -= mass[0] + mass[1];
    const WadiF4 own = x->velocity[i], low = WADI_FLOATS(mass[0]), high = WADI_FLOATS(mass[1]);
    const WadiF8 zero = { 0 },
                 come = -WADI_MIN8(__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7), zero);
    WadiU8 of[4];
    wadi_sph_load_rows(x->velocity, j, of);
    for (int c = 0; c < 3; ++c) {
        gain->momentum[c] += ((WadiF8)of[c] - own[c]) * come;
    }
}

static inline __attribute__((always_inline)) double wadi_sph_gain_mass(const WadiSphGain *gain)
{
    return (gain->mass[0] + gain->mass[2]) + (gain->mass[1] + gain->mass[3]);
}

static inline __attribute__((always_inline)) void wadi_sph_gain_momentum(const WadiSphGain *gain, WadiF4 *sum)
{
    const WadiF8 zero = { 0 };
    wadi_sph_sum_four(&gain->momentum[0], &gain->momentum[1], &gain->momentum[2], &zero, sum);
}

#endif
