/* Flows of water between a particle and eight of its neighbours, without limits:
 *   J_ij = conductance (Phi_i - Phi_j),  conductance = slope rate mobility of the donor
 * Exactly the opposite from the other side: all that decides on it is the same there, or the opposite. */
#ifndef WADI_SPH_FLUX_H
#define WADI_SPH_FLUX_H

#include "sph/pairs/sph_lanes.h"
#include "sph/porous/sph_porous_flow.h"

/* Of the heads: smaller drops are rounding and move nothing. */
#define WADI_SPH_DROP_EPSILON 4.8e-7f

typedef uint64_t WadiSphTwo __attribute__((aligned(4), may_alias));
typedef uint64_t WadiSphFourTwos __attribute__((vector_size(32), may_alias));

/* A particle and the neighbours of one kind with which it can exchange water. The numbers of the pairs are
 * the heads, Pa. */
typedef struct WadiSphFluxList {
    int32_t i;
    int64_t first, end; /* entries */
    WadiI4 place;
    float head;
    float mobility;      /* where the particle gives */
    const float *others; /* where they give, by particle */
    bool is_other_kind;
    float rate;          /* 1/Pa, times the unit of slopes; NAN: differs from neighbour to neighbour */
    float noise;         /* Pa: smaller drops move nothing */
    const uint8_t *only; /* neighbours to which there is a flow; NULL: all */
} WadiSphFluxList;

/* The rate of a pair with sand in it, 1/Pa: between two sands as two resistances in a row. */
static inline float wadi_sph_flux_rate(const WadiSphFlow *x, int32_t i, int32_t j)
{
    const WadiSphPorousIn *in = x->in;
    const float rate_i = (float)x->rate[in->material[i]], rate_j = (float)x->rate[in->material[j]];
    if (in->is_sand[i] && in->is_sand[j] && rate_i != rate_j) {
        return 2.0f * rate_i * rate_j / (rate_i + rate_j);
    }
    return in->is_sand[i] ? rate_i : rate_j;
}

/* The list of sand among the neighbours of i, or that of water; the second is empty for water. */
static inline void wadi_sph_flux_list(const WadiSphFlow *x, int32_t i, bool of_sand, WadiSphFluxList *list)
{
    const WadiSphPorousIn *in = x->in;
    const WadiSphPairs *pairs = in->pairs;
    const bool is_sand = in->is_sand[i] != 0, is_same = is_sand && of_sand;
    const int64_t other = pairs->start[i] + pairs->same[i], end = pairs->start[i + 1];
    *list = (WadiSphFluxList){ .i = i,
                               .first = is_same ? pairs->start[i] : other,
                               .end = is_same              ? other
                                      : is_sand || of_sand ? end
                                                           : other,
                               .place = pairs->place[i],
                               .head = wadi_sph_number(pairs, i),
                               .mobility = of_sand ? x->mobility[i] : x->seeping[i],
                               .others = is_sand ? x->mobility : x->seeping,
                               .is_other_kind = !is_same,
                               .noise = is_same ? 0.0f : (float)x->noise,
                               .only = x->is_split && x->is_fast[i] == 0 ? x->is_fast : NULL };
    const float rate = is_sand ? (float)x->rate[in->material[i]] : (float)x->sand_rate;
    const bool is_even = x->sand_rate >= 0.0 || (is_sand && !of_sand);
    list->rate = is_even ? rate * pairs->slope_unit : NAN;
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

/* The mobilities that count where the particle i gives to its neighbours n .. n + 7: other ones towards those
 * of the other kind, which begin with number `same`. */
static inline __attribute__((always_inline)) void wadi_sph_own_mobility(const WadiSphFlow *x, int32_t i,
                                                                        int64_t n, int64_t same, WadiF8 *out)
{
    *out = (WadiF8){ 0 } + x->mobility[i];
    if (n + WADI_SPH_LANES > same && x->in->is_sand[i]) {
        const WadiI8 lane = { 0, 1, 2, 3, 4, 5, 6, 7 }, is_same = lane < (int32_t)(same - n);
        *out = WADI_ROW_SELECT(is_same, *out, (WadiF8){ 0 } + x->seeping[i]);
    }
}

/* The pressure of single particles of water is noisy: without this, water and saturated sand would exchange
 * it for ever. */
static inline __attribute__((always_inline)) void wadi_sph_remove_noise(const WadiSphFlow *x, int32_t i,
                                                                        const uint32_t *j, float least,
                                                                        WadiF8 *drop)
{
    WadiF8 noise = (WadiF8){ 0 } + least;
    for (int l = 0; l < WADI_SPH_LANES && x->in->pairs->size != NULL; ++l) {
        const float other = wadi_sph_size(x->in->pairs, (int32_t)(j[l] >> 4));
        noise[l] = least * 0.5f * (wadi_sph_size(x->in->pairs, i) + other);
    }
    const WadiF8 zero = { 0 }, down = *drop - noise, up = *drop + noise;
    *drop = WADI_MAX8(down, zero) + WADI_MIN8(up, zero);
}

/* What the flows to the neighbours n .. n + 7 are made of. Rates are 0 beyond the end of the list. */
typedef struct WadiSphFluxTerms {
    WadiF8 rate;   /* 1/Pa: conductance over the mobility of the donor */
    WadiF8 others; /* mobility where the neighbour gives */
    WadiF8 fall;   /* Pa */
    WadiF8 head;   /* Pa, of the neighbours */
} WadiSphFluxTerms;

static inline __attribute__((always_inline)) void wadi_sph_flux_terms(const WadiSphFlow *x,
                                                                      const WadiSphFluxList *list, int64_t n,
                                                                      WadiSphFluxTerms *terms)
{
    const WadiSphPairs *pairs = x->in->pairs;
    const uint32_t *j = pairs->offset + n;
    WadiSphEight eight;
    WadiF8 slope, others, rate = (WadiF8){ 0 } + list->rate;
    wadi_sph_load_slopes(pairs, n, list->end, &slope);
    wadi_sph_load_eight(pairs, &list->place, j, &eight);
    for (int l = 0; l < WADI_SPH_LANES; ++l) {
        others[l] = list->others[j[l] >> 4];
    }
    if (list->only != NULL) {
        WadiI8 is_flowing;
        for (int l = 0; l < WADI_SPH_LANES; ++l) {
            is_flowing[l] = -(int32_t)list->only[j[l] >> 4];
        }
        slope = (WadiF8)((WadiI8)slope & is_flowing);
    }
    if (!(list->rate == list->rate)) {
        for (int l = 0; l < WADI_SPH_LANES; ++l) {
            rate[l] = wadi_sph_flux_rate(x, list->i, (int32_t)(j[l] >> 4)) * pairs->slope_unit;
        }
    }
    const float *weight = x->weight;
    terms->fall = eight.x * weight[0] + eight.y * weight[1] + eight.z * weight[2];
    terms->head = eight.number;
    terms->rate = slope * rate;
    terms->others = others;
}

/* head - other - fall, and 0 where that is rounding. */
static inline __attribute__((always_inline)) void wadi_sph_flux_drop(float head, const WadiF8 *other,
                                                                     const WadiF8 *fall, WadiF8 *drop)
{
    const WadiF8 raw = (head - *other) - *fall, size = WADI_MAX8(raw, -raw);
    const WadiF8 heads = fabsf(head) + WADI_MAX8(*other, -*other);
    *drop = (WadiF8)((WadiI8)raw & (size > WADI_SPH_DROP_EPSILON * heads));
}

/* Flows to the neighbours n .. n + 7. */
static inline __attribute__((always_inline)) void wadi_sph_flux_eight(const WadiSphFlow *x,
                                                                      const WadiSphFluxList *list, int64_t n,
                                                                      WadiF8 *flow)
{
    WadiSphFluxTerms terms;
    WadiF8 drop;
    wadi_sph_flux_terms(x, list, n, &terms);
    wadi_sph_flux_drop(list->head, &terms.head, &terms.fall, &drop);
    if (list->is_other_kind) {
        wadi_sph_remove_noise(x, list->i, x->in->pairs->offset + n, list->noise, &drop);
    }
    const WadiF8 own = (WadiF8){ 0 } + list->mobility;
    *flow = terms.rate * WADI_ROW_SELECT(drop > 0.0f, own, terms.others) * drop;
}

#endif
