/* Sixteen candidates at a time: which of them are within a distance, and the list of those. */
#ifndef WADI_SPH_SIMD_GROUP_H
#define WADI_SPH_SIMD_GROUP_H

#include "sph/pairs/sph_lanes.h"

enum { WADI_SPH_SIMD_GROUP = 16 };

typedef uint8_t WadiSphBytes __attribute__((vector_size(8), aligned(1), may_alias));

/* What the distances of a particle are compared with; held in registers. */
typedef struct WadiSphCentre {
    const int32_t *axis[3]; /* places of all particles, padded by WADI_SPH_SIMD_GROUP */
    bool has_sizes;
    const float *half; /* half the support of particles, places, padded as well; where sizes differ */
    uint32_t at[3];    /* places */
    float reach;       /* places: the support, or half that of this particle */
    float wider;       /* with sizes: factor of the sum of both halves */
} WadiSphCentre;

/* For each set of eight bits the numbers of those that are 1, in order. */
typedef struct WadiSphLaneTable {
    uint8_t of[1 << WADI_SPH_LANES][WADI_SPH_LANES];
} WadiSphLaneTable;

static inline void wadi_sph_lane_table(WadiSphLaneTable *table)
{
    for (unsigned bits = 0; bits < 1u << WADI_SPH_LANES; ++bits) {
        int n = 0;
        for (int lane = 0; lane < WADI_SPH_LANES; ++lane) {
            table->of[bits][n] = (uint8_t)lane;
            n += bits >> lane & 1;
        }
    }
}

#ifdef __AVX512F__
/* Bits of the particles j .. j + 15 that are within the support of the centre. */
static inline __attribute__((always_inline)) unsigned wadi_sph_within(const WadiSphCentre *c, int32_t j)
{
    __m512 sum = _mm512_setzero_ps();
    for (int a = 0; a < 3; ++a) {
        const __m512i to = _mm512_loadu_si512(c->axis[a] + j);
        const __m512 d = _mm512_cvtepi32_ps(_mm512_sub_epi32(to, _mm512_set1_epi32((int32_t)c->at[a])));
        sum = _mm512_add_ps(sum, _mm512_mul_ps(d, d));
    }
    __m512 reach = _mm512_set1_ps(c->reach);
    if (c->has_sizes) {
        reach = _mm512_mul_ps(_mm512_add_ps(_mm512_loadu_ps(c->half + j), reach), _mm512_set1_ps(c->wider));
    }
    return _mm512_cmp_ps_mask(sum, _mm512_mul_ps(reach, reach), _CMP_LT_OQ);
}

/* Writes the offsets of j + the numbers of the bits that are 1; up to sixteen entries are overwritten.
 * Returns how many are 1. */
static inline __attribute__((always_inline)) int wadi_sph_append(const WadiSphLaneTable *table, uint32_t *to,
                                                                 int32_t j, unsigned bits)
{
    (void)table;
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i all = _mm512_slli_epi32(_mm512_add_epi32(lanes, _mm512_set1_epi32(j)), 4);
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)bits, all));
    return __builtin_popcount(bits);
}
#else
static inline __attribute__((always_inline)) unsigned wadi_sph_within_eight(const WadiSphCentre *c, int32_t j)
{
    WadiF8 sum = { 0 };
    for (int a = 0; a < 3; ++a) {
        const WadiU8 from = *(const WadiU8 *)(c->axis[a] + j) - c->at[a];
        const WadiF8 d = __builtin_convertvector((WadiI8)from, WadiF8);
        sum += d * d;
    }
    WadiF8 reach = (WadiF8){ 0 } + c->reach;
    if (c->has_sizes) {
        reach = (*(const WadiF8 *)(c->half + j) + reach) * c->wider;
    }
    const WadiI8 is_within = sum < reach * reach;
    return wadi_row_bits(&is_within);
}

static inline __attribute__((always_inline)) unsigned wadi_sph_within(const WadiSphCentre *c, int32_t j)
{
    return wadi_sph_within_eight(c, j) | wadi_sph_within_eight(c, j + WADI_SPH_LANES) << WADI_SPH_LANES;
}

static inline __attribute__((always_inline)) int wadi_sph_append(const WadiSphLaneTable *table, uint32_t *to,
                                                                 int32_t j, unsigned bits)
{
    for (int half = 0; half < 2; ++half) {
        const unsigned eight = bits >> (WADI_SPH_LANES * half) & 0xffu;
        const WadiSphBytes lanes = *(const WadiSphBytes *)table->of[eight];
        *(WadiI8 *)to = (__builtin_convertvector(lanes, WadiI8) + (j + WADI_SPH_LANES * half)) * 16;
        to += __builtin_popcount(eight);
    }
    return __builtin_popcount(bits);
}
#endif

#endif
