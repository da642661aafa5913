/* Eight neighbours at a time. Lists are read in groups of eight from any entry on; lanes beyond the end of
 * a list read entries of the next one, which are valid, and their slope is set to 0. */
#ifndef WADI_SPH_LANES_H
#define WADI_SPH_LANES_H

#include <string.h>

#include "sph/pairs/sph_pairs.h"

enum { WADI_SPH_LANES = 8 };

typedef uint16_t WadiSphShorts __attribute__((vector_size(16), aligned(2), may_alias));

/* Four numbers of a particle, of any kind. */
typedef uint32_t WadiSphRow __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t WadiSphWide __attribute__((vector_size(32), aligned(4), may_alias));

/* The components of eight neighbours: offset x_i - x_j in places, and the number beside the place of j. */
typedef struct WadiSphEight {
    WadiF8 x, y, z, number;
} WadiSphEight;

/* Eight sixteen-bit numbers as integers. Compilers make five instructions of the conversion. */
#ifdef __AVX2__
#define WADI_SPH_WIDEN(shorts) ((WadiI8)_mm256_cvtepu16_epi32((__m128i)(shorts)))
#else
#define WADI_SPH_WIDEN(shorts) __builtin_convertvector(shorts, WadiI8)
#endif

/* Slopes of the entries n .. n + 7, in units; 0 from `end` on. */
static inline __attribute__((always_inline)) void wadi_sph_load_slopes(const WadiSphPairs *pairs, int64_t n,
                                                                       int64_t end, WadiF8 *out)
{
    const WadiSphShorts shorts = *(const WadiSphShorts *)(pairs->slope + n);
    WadiI8 slopes = WADI_SPH_WIDEN(shorts);
    if (n + WADI_SPH_LANES > end) {
        const WadiI8 lane = { 0, 1, 2, 3, 4, 5, 6, 7 };
        slopes &= lane < (int32_t)(end - n);
    }
    *out = __builtin_convertvector(slopes, WadiF8);
}

/* Slopes of the entries n .. n + 7 for neighbours two at a time: out[k] has that of 2 k four times, then that
 * of 2 k + 1. */
static inline __attribute__((always_inline)) void wadi_sph_spread_slopes(const WadiSphPairs *pairs, int64_t n,
                                                                         int64_t end, WadiF8 out[4])
{
    WadiF8 slope;
    wadi_sph_load_slopes(pairs, n, end, &slope);
    out[0] = __builtin_shufflevector(slope, slope, 0, 0, 0, 0, 1, 1, 1, 1);
    out[1] = __builtin_shufflevector(slope, slope, 2, 2, 2, 2, 3, 3, 3, 3);
    out[2] = __builtin_shufflevector(slope, slope, 4, 4, 4, 4, 5, 5, 5, 5);
    out[3] = __builtin_shufflevector(slope, slope, 6, 6, 6, 6, 7, 7, 7, 7);
}

/* Two rows of four in memory, side by side. */
#ifdef __AVX2__
#define WADI_SPH_JOIN(a, b)                                                                                  \
    _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)&(a))),                     \
                            _mm_loadu_si128((const void *)&(b)), 1)
#else
#define WADI_SPH_JOIN(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#endif
#define WADI_SPH_JOIN_INTS(a, b) ((WadiU8)WADI_SPH_JOIN(a, b))
#define WADI_SPH_JOIN_FLOATS(a, b) ((WadiF8)WADI_SPH_JOIN(a, b))

/* The row of four of a neighbour with this offset. */
#define WADI_SPH_ROW(at, offset) (*(const WadiSphRow *)(const void *)((const char *)(at) + (offset)))
/* Those of two neighbours side by side. */
#define WADI_SPH_TWO_ROWS(at, a, b) WADI_SPH_JOIN(WADI_SPH_ROW(at, a), WADI_SPH_ROW(at, b))

/* Rows of four of eight neighbours with offsets j, turned into four vectors of eight. */
static inline __attribute__((always_inline)) void wadi_sph_load_rows(const void *at, const uint32_t *j,
                                                                     WadiU8 out[4])
{
    const WadiU8 a = (WadiU8)WADI_SPH_TWO_ROWS(at, j[0], j[4]), b = (WadiU8)WADI_SPH_TWO_ROWS(at, j[1], j[5]);
    const WadiU8 c = (WadiU8)WADI_SPH_TWO_ROWS(at, j[2], j[6]), d = (WadiU8)WADI_SPH_TWO_ROWS(at, j[3], j[7]);
    const WadiSphWide ab = (WadiSphWide)__builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
    const WadiSphWide cd = (WadiSphWide)__builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
    const WadiSphWide ab_high = (WadiSphWide)__builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    const WadiSphWide cd_high = (WadiSphWide)__builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
    out[0] = (WadiU8)__builtin_shufflevector(ab, cd, 0, 4, 2, 6);
    out[1] = (WadiU8)__builtin_shufflevector(ab, cd, 1, 5, 3, 7);
    out[2] = (WadiU8)__builtin_shufflevector(ab_high, cd_high, 0, 4, 2, 6);
    out[3] = (WadiU8)__builtin_shufflevector(ab_high, cd_high, 1, 5, 3, 7);
}

/* Four vectors of eight, turned into eight rows of four. */
static inline __attribute__((always_inline)) void wadi_sph_store_rows(WadiF4 *at, const WadiF8 in[4])
{
    const WadiSphWide ab = (WadiSphWide)__builtin_shufflevector(in[0], in[1], 0, 8, 1, 9, 4, 12, 5, 13);
    const WadiSphWide cd = (WadiSphWide)__builtin_shufflevector(in[2], in[3], 0, 8, 1, 9, 4, 12, 5, 13);
    const WadiSphWide ab_high =
        (WadiSphWide)__builtin_shufflevector(in[0], in[1], 2, 10, 3, 11, 6, 14, 7, 15);
    const WadiSphWide cd_high =
        (WadiSphWide)__builtin_shufflevector(in[2], in[3], 2, 10, 3, 11, 6, 14, 7, 15);
    const WadiF8 rows[4] = { (WadiF8)__builtin_shufflevector(ab, cd, 0, 4, 2, 6),
                             (WadiF8)__builtin_shufflevector(ab, cd, 1, 5, 3, 7),
                             (WadiF8)__builtin_shufflevector(ab_high, cd_high, 0, 4, 2, 6),
                             (WadiF8)__builtin_shufflevector(ab_high, cd_high, 1, 5, 3, 7) };
    for (int n = 0; n < 4; ++n) {
        at[n] = WADI_ROW_LOW(rows[n]);
        at[n + 4] = WADI_ROW_HIGH(rows[n]);
    }
}

/* The neighbours of the entries n .. n + 7 of a particle at the place `own`. */
static inline __attribute__((always_inline)) void wadi_sph_load_eight(const WadiSphPairs *pairs,
                                                                      const WadiI4 *own, const uint32_t *j,
                                                                      WadiSphEight *out)
{
    WadiU8 at[4];
    wadi_sph_load_rows(pairs->place, j, at);
    out->x = __builtin_convertvector((WadiI8)((uint32_t)(*own)[0] - at[0]), WadiF8);
    out->y = __builtin_convertvector((WadiI8)((uint32_t)(*own)[1] - at[1]), WadiF8);
    out->z = __builtin_convertvector((WadiI8)((uint32_t)(*own)[2] - at[2]), WadiF8);
    out->number = (WadiF8)at[3];
}

/* The number beside the place of a particle. */
static inline float wadi_sph_number(const WadiSphPairs *pairs, int32_t i)
{
    return ((const float *)pairs->place)[4 * (size_t)i + 3];
}

static inline void wadi_sph_set_number(const WadiSphPairs *pairs, int32_t i, float value)
{
    ((float *)pairs->place)[4 * (size_t)i + 3] = value;
}

static inline __attribute__((always_inline)) float wadi_sph_sum_lanes(const WadiF8 *lanes)
{
    const WadiF4 four = WADI_ROW_LOW(*lanes) + WADI_ROW_HIGH(*lanes);
    return (four[0] + four[2]) + (four[1] + four[3]);
}

/* The sums of the lanes of four. */
static inline __attribute__((always_inline)) void wadi_sph_sum_four(const WadiF8 *x, const WadiF8 *y,
                                                                    const WadiF8 *z, const WadiF8 *w,
                                                                    WadiF4 *sums)
{
    const WadiF4 a = WADI_ROW_LOW(*x) + WADI_ROW_HIGH(*x), b = WADI_ROW_LOW(*y) + WADI_ROW_HIGH(*y);
    const WadiF4 c = WADI_ROW_LOW(*z) + WADI_ROW_HIGH(*z), d = WADI_ROW_LOW(*w) + WADI_ROW_HIGH(*w);
    const WadiF4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const WadiF4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *sums = __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

#endif
