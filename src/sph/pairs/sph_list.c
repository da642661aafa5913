#include "sph/pairs/sph_list.h"

#include <string.h>

#include "sph/pairs/sph_weigh.h"

enum { LANES = WADI_SPH_LANES };

/* Kernels and slopes of eight neighbours, whose squared distances are given. */
static inline __attribute__((always_inline)) void weigh_eight(const WadiSphPairsIn *in, int32_t i,
                                                              const uint32_t *offset, const WadiF8 *square,
                                                              WadiF8 *w, WadiF8 *slope)
{
    if (in->size != NULL) {
        float inverse[LANES];
        for (int l = 0; l < LANES; ++l) {
            inverse[l] = 2.0f / (in->size[i] + in->size[offset[l] >> 4]);
        }
        wadi_sph_weigh_sizes((const float *)square, in->kernel->scale, inverse, (float *)w, (float *)slope);
    } else {
        wadi_sph_weigh((const float *)square, in->kernel->scale, (float *)w, (float *)slope);
    }
}

/* Writes the first neighbours of a list, at most eight, and their slopes. The numbers of the pairs are the
 * volumes. */
static inline __attribute__((always_inline)) void write_eight(const WadiSphPairsIn *in, WadiSphPairs *pairs,
                                                              int32_t i, WadiSphListSums *sums,
                                                              const uint32_t *offset, int64_t to, int count)
{
    WadiSphEight eight;
    wadi_sph_load_eight(pairs, &pairs->place[i], offset, &eight);
    const WadiF8 square = eight.x * eight.x + eight.y * eight.y + eight.z * eight.z;
    WadiF8 w, slope;
    weigh_eight(in, i, offset, &square, &w, &slope);
    const WadiI8 lane = { 0, 1, 2, 3, 4, 5, 6, 7 };
    const WadiF8 part = (WadiF8)((WadiI8)eight.number & (lane < count));
    sums->density += w * part;
    const float own = wadi_sph_number(pairs, i);
    const WadiF8 units = slope * (part * own) * (1.0f / pairs->slope_unit) + 0.5f;
    const WadiI8 whole = __builtin_convertvector(units, WadiI8);
    const WadiSphShorts shorts = __builtin_convertvector(whole, WadiSphShorts);
    const WadiF8 rounded = __builtin_convertvector(whole, WadiF8);
    sums->x += rounded * eight.x;
    sums->y += rounded * eight.y;
    sums->z += rounded * eight.z;
    sums->slope += rounded;
    if (count >= LANES) { /* not by a call */
        memcpy(pairs->offset + to, offset, LANES * sizeof *offset);
        memcpy(pairs->slope + to, &shorts, sizeof shorts);
    } else {
        memcpy(pairs->offset + to, offset, (size_t)count * sizeof *offset);
        memcpy(pairs->slope + to, &shorts, (size_t)count * sizeof *pairs->slope);
    }
}

void wadi_sph_list_write(const WadiSphPairsIn *in, WadiSphPairs *pairs, int32_t i, WadiSphList *list)
{
    WadiSphListSums sums = list->sums;
    for (int l = 0; l < LANES; ++l) {
        list->offset[list->count + l] = 16 * (uint32_t)i; /* lanes beyond the end */
    }
    for (int n = 0; n < list->count; n += LANES) {
        write_eight(in, pairs, i, &sums, list->offset + n, list->to + n, list->count - n);
    }
    list->to += list->count;
    list->count = 0;
    list->sums = sums;
}
