/* Whole quanta of the water that goes to four neighbours, and the momentum that comes with it. */
#ifndef WADI_SPH_QUANTA_H
#define WADI_SPH_QUANTA_H

#include "grid/row_vectors.h"
#include "sph/porous/sph_porous_flow.h"
#include "world/water.h"

/* Sums over the neighbours of a particle. */
typedef struct WadiSphGain {
    WadiD4 mass;
    WadiF4 momentum; /* relative to the particle's velocity */
} WadiSphGain;

#ifdef __AVX__
#define WADI_SPH_TRUNC(four)                                                                                 \
    ((WadiD4)_mm256_round_pd((__m256d)(four), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC))
#else
#define WADI_SPH_TRUNC(four)                                                                                 \
    ((WadiD4){ trunc((four)[0]), trunc((four)[1]), trunc((four)[2]), trunc((four)[3]) })
#endif
/* Rounded towards none: the sums of a donor and of an acceptor stay within their limits. */
#define WADI_SPH_WHOLE_QUANTA(four) (WADI_SPH_TRUNC((four)*WADI_WATER_QUANTA) * (1.0 / WADI_WATER_QUANTA))

/* What four neighbours give, as momentum. `j`: their offsets, `mass`: what they get. */
static inline __attribute__((always_inline)) void wadi_sph_add_momentum(const WadiSphFlow *x, int32_t i,
                                                                        const uint32_t j[4],
                                                                        const WadiD4 *mass, WadiF4 *momentum)
{
    const WadiF4 own = x->velocity[i], flow = WADI_FLOATS(*mass), zero = { 0 };
    const WadiI4 is_into = (WadiI4)(flow < zero);
    const WadiF4 come = (WadiF4)((WadiI4)-flow & is_into);
    for (int l = 0; l < 4; ++l) {
        *momentum += (x->velocity[j[l] >> 4] - own) * come[l];
    }
}

#endif
