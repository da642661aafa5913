/* The particles in and around a cell or block side by side: what its particles are compared with. Ranges have
 * 24 particles in the mean, coarse ones less; one by one, half of the lanes would be empty and the ends
 * mispredicted. */
#ifndef WADI_SPH_CANDIDATES_H
#define WADI_SPH_CANDIDATES_H

#include <string.h>

#include "sph/pairs/sph_ranges.h"
#include "sph/pairs/sph_simd_group.h"

/* More than twice what a cell or a block and those around it hold. */
enum { WADI_SPH_CANDIDATES_MAX = 2048 };

/* Arrays are padded, since whole vectors are written. */
enum { WADI_SPH_CANDIDATES_PADDED = WADI_SPH_CANDIDATES_MAX + 64 };

typedef struct WadiSphCandidates {
    int count;
    /* Places from one of the particles, exact as floats; far away from `count` on. */
    float axis[3][WADI_SPH_CANDIDATES_PADDED];
    float half[WADI_SPH_CANDIDATES_PADDED];      /* half the support, places; of mixed sizes */
    uint32_t offset[WADI_SPH_CANDIDATES_PADDED]; /* as in the lists */
    uint16_t sand[WADI_SPH_CANDIDATES_PADDED / WADI_SPH_SIMD_GROUP]; /* bits: which are sand */
} WadiSphCandidates;

/* What is read of the particles. */
typedef struct WadiSphCandidatesIn {
    int32_t *const *axis; /* places of all, padded */
    const float *half;    /* half their supports, padded; where sizes differ */
    bool has_both_kinds;  /* sand and water */
    const uint8_t *sand;  /* where it has: bit i: particle i is sand; padded by eight bytes */
} WadiSphCandidatesIn;

/* Bits of the candidates' kinds. */
static inline void wadi_sph_candidates_find_sand(WadiSphCandidates *c, const WadiSphRange *ranges,
                                                 int range_count, const uint8_t *sand)
{
    enum { BITS = 2 * WADI_SPH_SIMD_GROUP };
    uint64_t bits = 0;
    int held = 0, groups = 0;
    for (int r = 0; r < range_count; ++r) {
        for (int32_t j = ranges[r].first; j < ranges[r].end; j += BITS) {
            const int count = ranges[r].end - j < BITS ? ranges[r].end - j : BITS;
            uint64_t next;
            memcpy(&next, sand + (j >> 3), sizeof next);
            next = next >> (j & 7) & ((UINT64_C(1) << count) - 1);
            bits |= next << held;
            held += count;
            if (held >= BITS) {
                c->sand[groups++] = (uint16_t)bits;
                c->sand[groups++] = (uint16_t)(bits >> WADI_SPH_SIMD_GROUP);
                bits >>= BITS;
                held -= BITS;
            }
        }
    }
    for (; held > 0; held -= WADI_SPH_SIMD_GROUP) {
        c->sand[groups++] = (uint16_t)bits;
        bits >>= WADI_SPH_SIMD_GROUP;
    }
}

/* Those of the ranges, at most WADI_SPH_CANDIDATES_MAX, with places from the particle `from`. Eight at a
 * time: what is written beyond the end of a range, the next one overwrites. Places and half supports only
 * where the flags say so, which are constants. */
static inline __attribute__((always_inline)) void wadi_sph_candidates_find(WadiSphCandidates *c,
                                                                           const WadiSphRange *ranges,
                                                                           int range_count, int32_t from,
                                                                           const WadiSphCandidatesIn *in,
                                                                           bool has_places, bool has_sizes)
{
    const float far = (float)(64.0 * WADI_SPH_PLACES);
    const WadiU8 lane = { 0, 1, 2, 3, 4, 5, 6, 7 };
    int count = 0;
    for (int r = 0; r < range_count; ++r) {
        const int32_t first = ranges[r].first, length = ranges[r].end - first;
        for (int32_t n = 0; n < length; n += WADI_SPH_LANES) {
            *(WadiU8 *)(c->offset + count + n) = (lane + (uint32_t)(first + n)) * 16;
            for (int a = 0; a < 3 && has_places; ++a) {
                const WadiU8 at = *(const WadiU8 *)(in->axis[a] + first + n) - (uint32_t)in->axis[a][from];
                *(WadiF8 *)(c->axis[a] + count + n) = __builtin_convertvector((WadiI8)at, WadiF8);
            }
            if (has_sizes) {
                *(WadiF8 *)(c->half + count + n) = *(const WadiF8 *)(in->half + first + n);
            }
        }
        count += length;
    }
    c->count = count;
    for (int n = count; n < count + WADI_SPH_SIMD_GROUP; n += WADI_SPH_LANES) {
        *(WadiU8 *)(c->offset + n) = (WadiU8){ 0 };
        for (int a = 0; a < 3 && has_places; ++a) {
            *(WadiF8 *)(c->axis[a] + n) = (WadiF8){ 0 } + far;
        }
        if (has_sizes) {
            *(WadiF8 *)(c->half + n) = (WadiF8){ 0 };
        }
    }
    if (in->has_both_kinds) {
        wadi_sph_candidates_find_sand(c, ranges, range_count, in->sand);
    }
}

/* The number of particle i among the candidates of the ranges. */
static inline int wadi_sph_candidates_number(const WadiSphRange *ranges, int range_count, int32_t i)
{
    int before = 0, number = 0;
    for (int r = 0; r < range_count; ++r) {
        number = ranges[r].first <= i && i < ranges[r].end ? before + i - ranges[r].first : number;
        before += ranges[r].end - ranges[r].first;
    }
    return number;
}

/* Bits of the candidates n .. n + 15 that are nearer to the point `at` than `reach`; of mixed sizes, than
 * `wider` times the sum of it and their half supports. */
#ifdef __AVX512F__
static inline __attribute__((always_inline)) unsigned wadi_sph_candidates_within(const WadiSphCandidates *c,
                                                                                 int n, const float at[3],
                                                                                 float reach, float wider,
                                                                                 bool is_mixed)
{
    const __m512 x = _mm512_sub_ps(_mm512_loadu_ps(c->axis[0] + n), _mm512_set1_ps(at[0]));
    const __m512 y = _mm512_sub_ps(_mm512_loadu_ps(c->axis[1] + n), _mm512_set1_ps(at[1]));
    const __m512 z = _mm512_sub_ps(_mm512_loadu_ps(c->axis[2] + n), _mm512_set1_ps(at[2]));
    const __m512 sum =
        _mm512_add_ps(_mm512_add_ps(_mm512_mul_ps(x, x), _mm512_mul_ps(y, y)), _mm512_mul_ps(z, z));
    __m512 far = _mm512_set1_ps(reach);
    if (is_mixed) {
        far = _mm512_mul_ps(_mm512_add_ps(_mm512_loadu_ps(c->half + n), far), _mm512_set1_ps(wider));
    }
    return _mm512_cmp_ps_mask(sum, _mm512_mul_ps(far, far), _CMP_LT_OQ);
}
#else
static inline __attribute__((always_inline)) unsigned wadi_sph_candidates_within(const WadiSphCandidates *c,
                                                                                 int n, const float at[3],
                                                                                 float reach, float wider,
                                                                                 bool is_mixed)
{
    unsigned bits = 0;
    for (int half = 0; half < WADI_SPH_SIMD_GROUP; half += WADI_SPH_LANES) {
        const WadiF8 x = *(const WadiF8 *)(c->axis[0] + n + half) - at[0];
        const WadiF8 y = *(const WadiF8 *)(c->axis[1] + n + half) - at[1];
        const WadiF8 z = *(const WadiF8 *)(c->axis[2] + n + half) - at[2];
        const WadiF8 sum = x * x + y * y + z * z;
        const WadiF8 far =
            is_mixed ? (*(const WadiF8 *)(c->half + n + half) + reach) * wider : (WadiF8){ 0 } + reach;
        const WadiI8 is_within = sum < far * far;
        bits |= wadi_row_bits(&is_within) << half;
    }
    return bits;
}
#endif

/* Writes the candidates n .. n + 15 whose bits are 1; up to sixteen entries are overwritten. Returns how many
 * are 1. */
static inline __attribute__((always_inline)) int wadi_sph_candidates_append(const WadiSphCandidates *c,
                                                                            const WadiSphLaneTable *table,
                                                                            uint32_t *to, int n,
                                                                            unsigned bits)
{
#ifdef __AVX512F__
    (void)table;
    _mm512_storeu_si512(
        to, _mm512_maskz_compress_epi32((__mmask16)bits, _mm512_loadu_si512((const void *)(c->offset + n))));
#else
    for (int half = 0; half < WADI_SPH_SIMD_GROUP; half += WADI_SPH_LANES) {
        const unsigned eight = bits >> half & 0xffu;
        const uint32_t *from = c->offset + n + half;
#ifdef __AVX2__
        const WadiI8 lanes = __builtin_convertvector(*(const WadiSphBytes *)table->of[eight], WadiI8);
        *(WadiI8 *)to =
            (WadiI8)_mm256_permutevar8x32_epi32(_mm256_loadu_si256((const void *)from), (__m256i)lanes);
#else
        for (int l = 0; l < WADI_SPH_LANES; ++l) {
            to[l] = from[table->of[eight][l]];
        }
#endif
        to += __builtin_popcount(eight);
    }
#endif
    return __builtin_popcount(bits);
}

/* Writes the candidates whose bits in `found` are 1, all of them; up to sixteen entries more are overwritten.
 * Three entries after those of `found` are read. Returns how many are 1. */
static inline __attribute__((always_inline)) int wadi_sph_candidates_collect(const WadiSphCandidates *c,
                                                                             const WadiSphLaneTable *table,
                                                                             const uint16_t *found,
                                                                             uint32_t *to)
{
    const int count = c->count;
    int held = 0;
#ifdef __AVX512F__
    for (int n = 0; n < count; n += WADI_SPH_SIMD_GROUP) {
        held += wadi_sph_candidates_append(c, table, to + held, n, found[n / WADI_SPH_SIMD_GROUP]);
    }
#else
    /* One by one from 64 bits: fewer instructions than a table for each eight. */
    (void)table;
    enum { BITS = 64, UNROLLED = 4 };
    for (int n = 0; n < count; n += BITS) {
        const uint16_t *four = found + n / WADI_SPH_SIMD_GROUP;
        uint64_t bits =
            (uint64_t)four[0] | (uint64_t)four[1] << 16 | (uint64_t)four[2] << 32 | (uint64_t)four[3] << 48;
        bits &= count - n >= BITS ? UINT64_MAX : (UINT64_C(1) << (count - n)) - 1;
        const int number = __builtin_popcountll(bits);
        for (int k = 0; k < number; k += UNROLLED) {
            for (int l = 0; l < UNROLLED; ++l, bits &= bits - 1) {
                to[held + k + l] = c->offset[n + __builtin_ctzll(bits | UINT64_C(1) << (BITS - 1))];
            }
        }
        held += number;
    }
#endif
    return held;
}

#endif
