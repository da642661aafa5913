/* Limits of the flows between pores: a donor gives no more than it has, an acceptor takes no more than it has
 * room. [theory 11.6] */
#include <string.h>

#include "core/parallel.h"
#include "sph/porous/sph_flux.h"
#include "sph/porous/sph_quanta.h"

enum { BLOCK = WADI_SPH_FLOW_BLOCK, DIGITS = 2048 };

/* Smaller ones wait for room: the suction that makes it is below a hundredth of a spacing of water. */
static const double LEAST_FLOW = 2e-5;
/* Of a sum of products in floats, above its rounding. */
static const double SURE = 1.0 - 2e-6;

/* A full particle and its potential p - P_c - rho g.x, as bits in the order of the numbers. */
typedef struct Full {
    uint32_t key;
    int32_t i;
} Full;

static uint32_t potential_key(const WadiSphFlow *x, int32_t i, const WadiI4 *from)
{
    const WadiI4 d = WADI_SPH_PLACES_BETWEEN(x->in->pairs->place[i], *from);
    const WadiF4 f = __builtin_convertvector(d, WadiF4);
    const float value = x->level[i].head - (f[0] * x->weight[0] + f[1] * x->weight[1] + f[2] * x->weight[2]);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits ^ ((bits >> 31) != 0 ? UINT32_MAX : UINT32_C(1) << 31);
}

/* By digits of eleven bits; equal ones stay in their order. Returns the sorted one of the two arrays. */
static Full *sort_by_potential(Full *from, Full *to, int32_t count)
{
    for (int shift = 0; shift < 32; shift += 11) {
        int32_t start[DIGITS + 1] = { 0 };
        for (int32_t f = 0; f < count; ++f) {
            start[(from[f].key >> shift) % DIGITS + 1] += 1;
        }
        for (int d = 0; d < DIGITS; ++d) {
            start[d + 1] += start[d];
        }
        for (int32_t f = 0; f < count; ++f) {
            to[start[(from[f].key >> shift) % DIGITS]++] = from[f];
        }
        Full *other = from;
        from = to;
        to = other;
    }
    return from;
}

static inline double sum_of(const WadiD4 *four)
{
    return ((*four)[0] + (*four)[2]) + ((*four)[1] + (*four)[3]);
}

/* Flows of a particle, and their sums in double: limits are met to a quantum. */
static void find_flows(const WadiSphFlow *x, int32_t i, WadiD4 *out, WadiD4 *into)
{
    const uint32_t *j = x->in->pairs->offset + wadi_sph_flow_first(x, i);
    const int64_t start = x->flow_start[i], room = wadi_sph_flow_room(x, i);
    const int64_t same = x->in->is_sand[i] ? x->in->pairs->same[i] : 0;
    const WadiF8 zero = { 0 };
    for (int64_t n = 0; n < room; n += WADI_SPH_LANES) {
        WadiF8 other, others, own, drop;
        wadi_sph_load_pairs(x->level, j + n, &other, &others);
        wadi_sph_own_mobility(x, i, n, same, &own);
        for (int l = 0; l < WADI_SPH_LANES && !x->in->is_sand[i]; ++l) {
            others[l] = x->seeping[j[n + l] >> 4];
        }
        wadi_sph_flux_drop(x->level[i].head, &other, (const WadiF8 *)(x->fall + start + n), &drop);
        if (n + WADI_SPH_LANES > same) {
            const WadiI8 lane = { 0, 1, 2, 3, 4, 5, 6, 7 }, is_same = lane < (int32_t)(same - n);
            WadiF8 less = drop;
            wadi_sph_remove_noise(x, i, j + n, (float)x->noise, &less);
            drop = WADI_ROW_SELECT(is_same, drop, less);
        }
        const WadiF8 rate = *(const WadiF8 *)(x->rates + start + n);
        const WadiF8 flow = rate * WADI_ROW_SELECT(drop > 0.0f, own, others) * drop;
        const WadiF8 gone = WADI_MAX8(flow, zero), come = WADI_MAX8(-flow, zero);
        *out += WADI_ROW_LOW_DOUBLE(gone) + WADI_ROW_HIGH_DOUBLE(gone);
        *into += WADI_ROW_LOW_DOUBLE(come) + WADI_ROW_HIGH_DOUBLE(come);
        *(WadiF8 *)(x->flow + start + n) = flow;
    }
}

static void limit_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->list[a];
        WadiD4 out_lanes = { 0 }, into_lanes = { 0 };
        find_flows(x, i, &out_lanes, &into_lanes);
        double conductance;
        x->leak[i] = wadi_sph_outflow(x, i, &conductance);
        const double out = sum_of(&out_lanes) + x->leak[i], into = sum_of(&into_lanes);
        const double room = larger(0.0, x->capacity[i] - x->water[i]);
        x->factor[i].give = out > x->water[i] ? wadi_sph_factor(x->water[i] / out) : WADI_SPH_ALL;
        x->factor[i].take = into > room ? wadi_sph_factor(room / into) : WADI_SPH_ALL;
        x->into[i] = into;
    }
}

/* What i surely loses with the present factors of the others. Without branches: half of the flows go either
 * way. */
static double sure_loss(const WadiSphFlow *x, int32_t i)
{
    const uint32_t *j = x->in->pairs->offset + wadi_sph_flow_first(x, i);
    const int64_t start = x->flow_start[i], room = wadi_sph_flow_room(x, i);
    const WadiI8 own = (WadiI8){ 0 } + x->factor[i].give;
    const WadiF8 zero = { 0 };
    WadiF8 loss = { 0 };
    for (int64_t n = 0; n < room; n += WADI_SPH_LANES) {
        const WadiF8 flow = *(const WadiF8 *)(x->flow + start + n);
        WadiI8 give, take;
        wadi_sph_load_pairs(x->factor, j + n, (WadiF8 *)&give, (WadiF8 *)&take);
        const WadiI8 is_full = take < own, factor = (take & is_full) | (own & ~is_full);
        loss += WADI_MAX8(flow, zero) * __builtin_convertvector(factor, WadiF8);
    }
    /* Each flow is rounded to whole quanta. */
    const double sum = (double)wadi_sph_sum_lanes(&loss) * (SURE / WADI_SPH_ALL);
    const double leak = x->leak[i] * (x->factor[i].give / (double)WADI_SPH_ALL);
    return larger(0.0, sum - (double)room / WADI_WATER_QUANTA) + wadi_sph_whole_quanta(leak);
}

/* Full particles take as much as they lose, so that water flows through saturated sand. In the order of the
 * potential, the lowest first: water flows down it, so what a particle loses is known when it is its turn. */
static void widen(WadiSphFlow *x)
{
    /* In memory that the gains need later. */
    Full *full = (Full *)(void *)x->gain_momentum, *other = full + x->list_count;
    int32_t count = 0;
    for (int32_t a = 0; a < x->list_count; ++a) {
        const int32_t i = x->list[a];
        if (x->factor[i].take < WADI_SPH_ALL && x->into[i] > LEAST_FLOW) {
            full[count++] = (Full){ potential_key(x, i, &x->in->pairs->place[x->list[0]]), i };
        }
    }
    full = sort_by_potential(full, other, count);
    for (int32_t f = 0; f < count; ++f) {
        const int32_t i = full[f].i;
        const double room = larger(0.0, x->capacity[i] - x->water[i]);
        const int32_t take = wadi_sph_factor(smaller(1.0, (room + sure_loss(x, i)) / x->into[i]));
        x->factor[i].take = take > x->factor[i].take ? take : x->factor[i].take;
    }
}

void wadi_sph_flow_limit(WadiSphFlow *x)
{
    wadi_parallel_for(x->list_count, BLOCK, limit_block, x);
    widen(x);
}
