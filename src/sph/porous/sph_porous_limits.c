/* Limits of the flows between pores: a donor gives no more than it has, an acceptor takes no more than it has
 * room. [theory 11.6] */
#include "core/parallel.h"
#include "sph/porous/sph_flux.h"
#include "sph/porous/sph_quanta.h"

enum { BLOCK = WADI_SPH_FLOW_BLOCK, DIGITS = 2048 };

/* Smaller ones wait for room: the suction that makes it is below a hundredth of a spacing of water. */
static const double LEAST_FLOW = 1e-8;
/* Of a sum of products in floats, above its rounding. */
static const double SURE = 1.0 - 2e-6;

/* A full particle, by its index in the list, and its potential in the order of unsigned numbers. */
typedef struct Full {
    uint32_t key;
    int32_t a;
} Full;

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

static double room_of(const WadiSphFlow *x, int32_t i)
{
    const double most = wadi_sph_water_capacity(x->in, i) * (x->in->is_sand[i] ? 1.0 + WADI_SPH_SLACK : 1.0);
    return larger(0.0, wadi_sph_whole_quanta(most) - x->water[i]);
}

/* Sums of flows in double: limits are met to a quantum. */
static void limit_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    const WadiF8 zero = { 0 };
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->list[a];
        WadiSphFluxList list;
        WadiD4 out_lanes = { 0 }, into_lanes = { 0 };
        wadi_sph_flux_list(x, i, &list);
        for (int64_t n = list.first; n < list.end; n += WADI_SPH_LANES) {
            WadiF8 conductance, flow;
            wadi_sph_flux_eight(x, &list, n, &conductance, &flow);
            const WadiF8 gone = WADI_MAX8(flow, zero), come = WADI_MAX8(-flow, zero);
            out_lanes += WADI_ROW_LOW_DOUBLE(gone) + WADI_ROW_HIGH_DOUBLE(gone);
            into_lanes += WADI_ROW_LOW_DOUBLE(come) + WADI_ROW_HIGH_DOUBLE(come);
        }
        double each;
        const double out = sum_of(&out_lanes) + wadi_sph_outflow(x, i, &each), into = sum_of(&into_lanes);
        const double room = room_of(x, i);
        x->factor[i].give = out > x->water[i] ? wadi_sph_factor(x->water[i] / out) : WADI_SPH_ALL;
        x->factor[i].take = into > room ? wadi_sph_factor(room / into) : WADI_SPH_ALL;
        x->into[a] = into;
    }
}

/* What i surely loses with the present factors of the others. Without branches: half of the flows go either
 * way. */
static double sure_loss(const WadiSphFlow *x, int32_t i)
{
    const uint32_t *offset = x->in->pairs->offset;
    const WadiI8 own = (WadiI8){ 0 } + x->factor[i].give;
    const WadiF8 zero = { 0 };
    WadiSphFluxList list;
    WadiF8 loss = { 0 };
    wadi_sph_flux_list(x, i, &list);
    for (int64_t n = list.first; n < list.end; n += WADI_SPH_LANES) {
        WadiF8 conductance, flow;
        WadiI8 give, take;
        wadi_sph_flux_eight(x, &list, n, &conductance, &flow);
        wadi_sph_load_pairs(x->factor, offset + n, (WadiF8 *)&give, (WadiF8 *)&take);
        const WadiI8 is_full = take < own, factor = (take & is_full) | (own & ~is_full);
        loss += WADI_MAX8(flow, zero) * __builtin_convertvector(factor, WadiF8);
    }
    /* Each flow is rounded to whole quanta. */
    const double least = (double)(list.end - list.first) / WADI_WATER_QUANTA;
    const double sum = (double)wadi_sph_sum_lanes(&loss) * (SURE / WADI_SPH_ALL);
    double each;
    const double leak = wadi_sph_outflow(x, i, &each) * (x->factor[i].give / (double)WADI_SPH_ALL);
    return larger(0.0, sum - least) + wadi_sph_whole_quanta(leak);
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
        if (x->factor[i].take < WADI_SPH_ALL && x->into[a] > LEAST_FLOW) {
            full[count++] = (Full){ (uint32_t)x->level[i].potential ^ (UINT32_C(1) << 31), a };
        }
    }
    full = sort_by_potential(full, other, count);
    for (int32_t f = 0; f < count; ++f) {
        const int32_t i = x->list[full[f].a];
        const double most = (room_of(x, i) + sure_loss(x, i)) / x->into[full[f].a];
        const int32_t take = wadi_sph_factor(smaller(1.0, most));
        x->factor[i].take = take > x->factor[i].take ? take : x->factor[i].take;
    }
}

void wadi_sph_flow_limit(WadiSphFlow *x)
{
    wadi_parallel_for(x->list_count, BLOCK, limit_block, x);
    widen(x);
}
