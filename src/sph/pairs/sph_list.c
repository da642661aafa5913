#include "sph/pairs/sph_list.h"

#include <string.h>

#include "sph/pairs/sph_weigh.h"

enum { LANES = WADI_SPH_LANES };

/* What all neighbours of a particle share. */
typedef struct Own {
    WadiI4 at;
    const float *sizes;
    float size, number, scale, per_unit;
} Own;

/* Kernels and slopes of eight neighbours, whose squared distances are given. */
static inline __attribute__((always_inline)) void weigh_eight(const Own *own, const uint32_t *offset,
                                                              const WadiF8 *square, WadiF8 *w, WadiF8 *slope)
{
    if (own->sizes != NULL) {
        float inverse[LANES];
        for (int l = 0; l < LANES; ++l) {
            inverse[l] = 2.0f / (own->size + own->sizes[offset[l] >> 4]);
        }
        wadi_sph_weigh_sizes((const float *)square, own->scale, inverse, (float *)w, (float *)slope);
    } else {
        wadi_sph_weigh((const float *)square, own->scale, (float *)w, (float *)slope);
    }
}

/* Writes the first `count` of eight. */
static inline __attribute__((always_inline)) void store_some(uint32_t *to_offset, uint16_t *to_slope,
                                                             const uint32_t *offset,
                                                             const WadiSphShorts *slope, int count)
{
#if defined __AVX512BW__ && defined __AVX512VL__
    const __mmask8 lanes = (__mmask8)((1u << count) - 1);
    _mm256_mask_storeu_epi32(to_offset, lanes, _mm256_loadu_si256((const void *)offset));
    _mm_mask_storeu_epi16(to_slope, lanes, (__m128i)*slope);
#else
    memcpy(to_offset, offset, (size_t)count * sizeof *offset);
    memcpy(to_slope, slope, (size_t)count * sizeof *to_slope);
#endif
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

static inline __attribute__((always_inline)) void write_list(WadiSphPairs *pairs, const Own *own,
                                                             WadiSphList *list)
{
    const WadiSphPairs from = *pairs; /* a copy: what is written does not change it */
    uint32_t *to_offset = pairs->offset + list->to;
    uint16_t *to_slope = pairs->slope + list->to;
    WadiSphListSums sums = list->sums;
    const int count = list->count;
    WadiSphShorts shorts;
    int n = 0;
    for (; n + LANES <= count; n += LANES) {
        measure_eight(&from, own, &sums, list->offset + n, LANES, &shorts);
        memcpy(to_offset + n, list->offset + n, LANES * sizeof *to_offset);
        *(WadiSphShorts *)(to_slope + n) = shorts;
    }
    if (n < count) {
        measure_eight(&from, own, &sums, list->offset + n, count - n, &shorts);
        store_some(to_offset + n, to_slope + n, list->offset + n, &shorts, count - n);
    }
    list->sums = sums;
}

void wadi_sph_list_write(const WadiSphPairsIn *in, WadiSphPairs *pairs, int32_t i, WadiSphList *list)
{
    Own own = { .at = pairs->place[i],
                .number = wadi_sph_number(pairs, i),
                .scale = in->kernel->scale,
                .per_unit = 1.0f / pairs->slope_unit };
    for (int l = 0; l < LANES; ++l) {
        list->offset[list->count + l] = 16 * (uint32_t)i; /* lanes beyond the end */
    }
    if (in->size != NULL) {
        own.sizes = in->size;
        own.size = in->size[i];
        write_list(pairs, &own, list);
    } else {
        write_list(pairs, &own, list);
    }
    list->to += list->count;
    list->count = 0;
}
