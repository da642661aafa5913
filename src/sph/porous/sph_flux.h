/* Flows of water between a particle and eight of its neighbours, without limits:
 *   J_ij = conductance (Phi_i - Phi_j),  conductance = slope rate mobility of the donor
 * Exactly the opposite from the other side: all that decides on it is the same there, or the opposite. */
#ifndef WADI_SPH_FLUX_H
#define WADI_SPH_FLUX_H

#include "sph/pairs/sph_lanes.h"
#include "sph/porous/sph_porous_flow.h"

/* Differences of heads are rounding up to here, that of two bases and two heads, and move nothing. */
#define WADI_SPH_LEAST_DIFFERENCE 2

typedef uint64_t WadiSphTwo __attribute__((aligned(4), may_alias));
typedef uint64_t WadiSphFourTwos __attribute__((vector_size(32), may_alias));

/* A particle and the neighbours with which it can exchange water: of water only sand. */
typedef struct WadiSphFluxList {
    int32_t i;
    int64_t first, same, end; /* entries; those of its own kind end at `same` */
    int32_t potential;
    float mobility;  /* where it gives to its own kind */
    float to_others; /* where it gives to the other kind */
    bool is_sand;
    bool is_slow;   /* has no flow with neighbours of negative mobility */
    float rate;     /* per unit of potential, times that of slopes */
    bool has_rates; /* it differs by the neighbour's material: then there are `rates` */
    const float *rates;
} WadiSphFluxList;

static inline void wadi_sph_flux_list(const WadiSphFlow *x, int32_t i, WadiSphFluxList *list)
{
    const WadiSphPorousIn *in = x->in;
    const WadiSphPairs *pairs = in->pairs;
    const bool is_sand = in->is_sand[i] != 0;
    const int64_t other = pairs->start[i] + pairs->same[i];
    const float mobility = fabsf(x->level[i].mobility);
    *list = (WadiSphFluxList){ .i = i,
                               .first = is_sand ? pairs->start[i] : other,
                               .same = other,
                               .end = pairs->start[i + 1],
                               .potential = x->level[i].potential,
                               .mobility = mobility,
                               .to_others = is_sand ? x->seeping[i] : mobility,
                               .is_sand = is_sand,
                               .is_slow = x->is_fast[i] == 0 };
    list->has_rates = x->has_pair_rates;
    if (x->has_pair_rates) {
        list->rates = x->pair_rate + x->material_count * in->material[i];
    } else {
        list->rate = (float)x->sand_rate * (pairs->slope_unit * (float)x->unit);
    }
}

/* Two numbers of each of eight neighbours with offsets j, from an array of pairs of them. */
static inline __attribute__((always_inline)) void wadi_sph_load_pairs(const void *array, const uint32_t *j,
                                                                      WadiF8 *first, WadiF8 *second)
{
    const WadiSphTwo *at = array;
    const WadiSphFourTwos low = { at[j[0] >> 4], at[j[1] >> 4], at[j[4] >> 4], at[j[5] >> 4] };
    const WadiSphFourTwos high = { at[j[2] >> 4], at[j[3] >> 4], at[j[6] >> 4], at[j[7] >> 4] };
    const WadiF8 a = (WadiF8)low, b = (WadiF8)high;
    *first = __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14);
    *second = __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
}

/* Conductances to the neighbours n .. n + 7, mass per unit of potential, and flows; 0 beyond the list. */
static inline __attribute__((always_inline)) void wadi_sph_flux_eight(const WadiSphFlow *x,
                                                                      const WadiSphFluxList *list, int64_t n,
                                                                      WadiF8 *conductance, WadiF8 *flow)
{
    const WadiSphPairs *pairs = x->in->pairs;
    const uint32_t *j = pairs->offset + n;
    WadiF8 slope, others, rate = (WadiF8){ 0 } + list->rate, own = (WadiF8){ 0 } + list->mobility;
    WadiU8 potential;
    wadi_sph_load_slopes(pairs, n, list->end, &slope);
    wadi_sph_load_pairs(x->level, j, (WadiF8 *)&potential, &others);
    if (list->is_slow) {
        slope = (WadiF8)((WadiI8)slope & ~((WadiI8)others >> 31));
    }
    others = (WadiF8)((WadiI8)others & INT32_MAX);
    for (int l = 0; l < WADI_SPH_LANES && !list->is_sand; ++l) {
        others[l] = x->seeping[j[l] >> 4];
    }
    const WadiI8 down = (WadiI8)((uint32_t)list->potential - potential);
    const WadiI8 is_different = (down > WADI_SPH_LEAST_DIFFERENCE) | (down < -WADI_SPH_LEAST_DIFFERENCE);
    const WadiF8 difference = __builtin_convertvector(down & is_different, WadiF8);
    if (n + WADI_SPH_LANES > list->same && list->same < list->end) {
        const WadiI8 lane = { 0, 1, 2, 3, 4, 5, 6, 7 }, is_same = lane < (int32_t)(list->same - n);
        own = WADI_ROW_SELECT(is_same, own, (WadiF8){ 0 } + list->to_others);
    }
    for (int l = 0; l < WADI_SPH_LANES && list->has_rates; ++l) {
        rate[l] = list->rates[x->in->material[j[l] >> 4]];
    }
    *conductance = slope * rate * WADI_ROW_SELECT(difference > 0.0f, own, others);
    *flow = *conductance * difference;
}

#endif
