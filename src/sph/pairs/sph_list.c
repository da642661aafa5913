#include "sph/pairs/sph_list.h"

#include <string.h>

#include "sph/pairs/sph_weigh.h"

/* With vectors of sixteen floats half as many instructions are waiting for roots and quotients. */
#if defined __AVX512F__ && defined __AVX512BW__ && defined __AVX512VL__
#define HAS_SIXTEEN 1
#endif

enum { LANES = WADI_SPH_LANES, GROUP = WADI_SPH_SIMD_GROUP };

/* What all neighbours of a particle share. */
typedef struct Own {
    WadiI4 at;
    bool has_sizes;
    const float *sizes;
    float size, number, per_unit;
    WadiSphWeight weight;
} Own;

/* Kernels and slopes of eight neighbours, whose squared distances are given. */
static inline __attribute__((always_inline)) void weigh_eight(const Own *own, const uint32_t *offset,
                                                              const WadiF8 *square, WadiF8 *w, WadiF8 *slope)
{
    if (own->has_sizes) {
        float inverse[LANES];
        for (int l = 0; l < LANES; ++l) {
            inverse[l] = 2.0f / (own->size + own->sizes[offset[l] >> 4]);
        }
        wadi_sph_weigh_sizes((const float *)square, &own->weight, inverse, (float *)w, (float *)slope);
    } else {
        wadi_sph_weigh((const float *)square, &own->weight, (float *)w, (float *)slope);
    }
}

/* Slopes of the first neighbours of a list, at most eight, in units; adds to the sums. The numbers of the
 * pairs are the volumes. */
static inline __attribute__((always_inline)) void measure_eight(const WadiSphPairs *pairs, const Own *own,
                                                                WadiSphListSums *sums, const uint32_t *offset,
                                                                int count, WadiSphShorts *shorts)
{
    WadiSphEight eight;
    wadi_sph_load_eight(pairs, &own->at, offset, &eight);
    const WadiF8 square = eight.x * eight.x + eight.y * eight.y + eight.z * eight.z;
    WadiF8 w, slope;
    weigh_eight(own, offset, &square, &w, &slope);
    const WadiI8 lane = { 0, 1, 2, 3, 4, 5, 6, 7 };
    const WadiF8 part = (WadiF8)((WadiI8)eight.number & (lane < count));
    sums->density += w * part;
    const WadiF8 units = slope * (part * own->number) * own->per_unit + 0.5f;
    const WadiI8 whole = __builtin_convertvector(units, WadiI8);
    *shorts = __builtin_convertvector(whole, WadiSphShorts);
    const WadiF8 rounded = __builtin_convertvector(whole, WadiF8);
    sums->x += rounded * eight.x;
    sums->y += rounded * eight.y;
    sums->z += rounded * eight.z;
    sums->slope += rounded;
}

static inline __attribute__((always_inline)) void write_by_eight(WadiSphPairs *pairs, const Own *own,
                                                                 const WadiSphList *list,
                                                                 WadiSphListSums *sums)
{
    const WadiSphPairs from = *pairs; /* a copy: what is written does not change it */
    uint32_t *to_offset = pairs->offset + list->to;
    uint16_t *to_slope = pairs->slope + list->to;
    const int count = list->count;
    for (int n = 0; n < count; n += LANES) {
        WadiSphShorts shorts;
        measure_eight(&from, own, sums, list->offset + n, count - n, &shorts);
        if (count - n >= LANES) { /* not by a call */
            memcpy(to_offset + n, list->offset + n, LANES * sizeof *to_offset);
            memcpy(to_slope + n, &shorts, sizeof shorts);
        } else {
            memcpy(to_offset + n, list->offset + n, (size_t)(count - n) * sizeof *to_offset);
            memcpy(to_slope + n, &shorts, (size_t)(count - n) * sizeof *to_slope);
        }
    }
}

#ifdef HAS_SIXTEEN
typedef float F16 __attribute__((vector_size(64), aligned(4), may_alias));

/* The rows of four of neighbours 0, 4, 8 and 12 of those from j on. */
static inline __attribute__((always_inline)) __m512i load_four_rows(const void *at, const uint32_t *j)
{
    const char *from = at;
    __m512i rows = _mm512_castsi128_si512(_mm_loadu_si128((const void *)(from + j[0])));
    rows = _mm512_inserti32x4(rows, _mm_loadu_si128((const void *)(from + j[4])), 1);
    rows = _mm512_inserti32x4(rows, _mm_loadu_si128((const void *)(from + j[8])), 2);
    return _mm512_inserti32x4(rows, _mm_loadu_si128((const void *)(from + j[12])), 3);
}

/* x_i - x_j in places. */
static inline __attribute__((always_inline)) F16 places_between(int32_t own, __m512i others)
{
    return (F16)_mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_set1_epi32(own), others));
}

/* Adds sixteen to eight lanes as two groups of eight would be. */
static inline __attribute__((always_inline)) void add_sixteen(WadiF8 *sum, F16 of)
{
    *sum += (WadiF8)_mm512_castps512_ps256((__m512)of);
    *sum += (WadiF8)_mm256_castpd_ps(_mm512_extractf64x4_pd((__m512d)of, 1));
}

/* The same as by eight, of particles of one size. */
static inline __attribute__((always_inline)) void write_by_sixteen(WadiSphPairs *pairs, const Own *own,
                                                                   const WadiSphList *list,
                                                                   WadiSphListSums *sums)
{
    const float scale = own->weight.scale, to_h = own->weight.to_h;
    const float gradient = own->weight.gradient, cut = own->weight.cut;
    const WadiI4 *place = pairs->place;
    uint32_t *to_offset = pairs->offset + list->to;
    uint16_t *to_slope = pairs->slope + list->to;
    for (int n = 0; n < list->count; n += GROUP) {
        const uint32_t *j = list->offset + n;
        const __mmask16 lanes =
            (__mmask16)(list->count - n >= GROUP ? 0xffffu : (1u << (list->count - n)) - 1);
        const __m512i a = load_four_rows(place, j), b = load_four_rows(place, j + 1);
        const __m512i c = load_four_rows(place, j + 2), d = load_four_rows(place, j + 3);
        const __m512i ab = _mm512_unpacklo_epi32(a, b), ab_high = _mm512_unpackhi_epi32(a, b);
        const __m512i cd = _mm512_unpacklo_epi32(c, d), cd_high = _mm512_unpackhi_epi32(c, d);
        const F16 x = places_between(own->at[0], _mm512_unpacklo_epi64(ab, cd));
        const F16 y = places_between(own->at[1], _mm512_unpackhi_epi64(ab, cd));
        const F16 z = places_between(own->at[2], _mm512_unpacklo_epi64(ab_high, cd_high));
        const F16 part = (F16)_mm512_maskz_mov_epi32(lanes, _mm512_unpackhi_epi64(ab_high, cd_high));
        const F16 q = (F16)_mm512_sqrt_ps((__m512)(x * x + y * y + z * z)) * to_h, t = 1.0f - q;
        const F16 m = (F16)_mm512_max_ps((__m512)(0.5f - q), _mm512_setzero_ps());
        const F16 w = scale * (2.0f * t * t * t - 8.0f * m * m * m - cut);
        const __mmask16 is_inner = _mm512_cmp_ps_mask((__m512)q, _mm512_set1_ps(0.5f), _CMP_LT_OQ);
        const F16 bent = (F16)_mm512_mask_div_ps((__m512)(2.0f - 3.0f * q), _knot_mask16(is_inner),
                                                 (__m512)(t * t), (__m512)q);
        const F16 units = gradient * bent * (part * own->number) * own->per_unit + 0.5f;
        const __m512i whole = _mm512_cvttps_epi32((__m512)units);
        const F16 rounded = (F16)_mm512_cvtepi32_ps(whole);
        add_sixteen(&sums->density, w * part);
        add_sixteen(&sums->x, rounded * x);
        add_sixteen(&sums->y, rounded * y);
        add_sixteen(&sums->z, rounded * z);
        add_sixteen(&sums->slope, rounded);
        _mm512_mask_storeu_epi32(to_offset + n, lanes, _mm512_loadu_si512(j));
        _mm256_mask_storeu_epi16(to_slope + n, lanes, _mm512_cvtepi32_epi16(whole));
    }
}
#else
static inline __attribute__((always_inline)) void write_by_sixteen(WadiSphPairs *pairs, const Own *own,
                                                                   const WadiSphList *list,
                                                                   WadiSphListSums *sums)
{
    write_by_eight(pairs, own, list, sums);
}
#endif

/* Writes what was collected; the lists' own sums are left alone. */
static inline __attribute__((always_inline)) void write_list(const WadiSphPairsIn *in, WadiSphPairs *pairs,
                                                             int32_t i, WadiSphList *list,
                                                             WadiSphListSums *sums)
{
    Own own = { .at = pairs->place[i],
                .number = wadi_sph_number(pairs, i),
                .weight = list->weight,
                .per_unit = 1.0f / pairs->slope_unit };
    for (int l = 0; l < GROUP; ++l) {
        list->offset[list->count + l] = 16 * (uint32_t)i; /* lanes beyond the end */
    }
    if (in->has_sizes) {
        own.has_sizes = true;
        own.sizes = in->size;
        own.size = in->size[i];
        write_by_eight(pairs, &own, list, sums);
    } else {
        write_by_sixteen(pairs, &own, list, sums);
    }
}

void wadi_sph_list_write(const WadiSphPairsIn *in, WadiSphPairs *pairs, int32_t i, WadiSphList *list)
{
    WadiSphListSums sums = list->sums;
    write_list(in, pairs, i, list, &sums);
    list->sums = sums;
    list->to += list->count;
    list->count = 0;
}

float wadi_sph_list_end(const WadiSphPairsIn *in, WadiSphPairs *pairs, int32_t i, WadiSphList *list,
                        WadiF4 *sum)
{
    WadiSphListSums sums = list->sums;
    write_list(in, pairs, i, list, &sums);
    wadi_sph_sum_four(&sums.x, &sums.y, &sums.z, &sums.slope, sum);
    return wadi_sph_sum_lanes(&sums.density);
}
