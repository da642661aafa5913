/* Limits of the flows between pores: a donor gives no more than it has, an acceptor takes no more than it has
 * room. [theory 11.6] */
#include <string.h>

#include "core/parallel.h"
#include "sph/porous/sph_flux.h"
#include "sph/porous/sph_quanta.h"

enum { BLOCK = WADI_SPH_FLOW_BLOCK, ROUNDS = 16 };

/* Smaller ones wait for room: the suction that makes it is below a hundredth of a spacing of water. */
static const double LEAST_FLOW = 2e-5;
/* Of all that full particles take, in a round; the rest waits for the next step. */
static const double LEAST_GAIN = 0.01;

/* p - P_c - rho g.x from another particle's position, Pa. */
static double potential(const WadiSphFlow *x, int32_t i, int32_t from)
{
    const WadiI4 d = WADI_SPH_PLACES_BETWEEN(x->in->pairs->place[i], x->in->pairs->place[from]);
    return x->head[i] - (double)d[0] * (double)x->weight[0] - (double)d[1] * (double)x->weight[1] -
           (double)d[2] * (double)x->weight[2];
}

/* Shell's sort: in place, and fast enough for a block. Equal ones stay in an order that only they decide. */
static void order_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    int32_t *list = x->full + first;
    const int32_t count = (int32_t)(end - first), from = list[0];
    double key[BLOCK];
    for (int32_t a = 0; a < count; ++a) {
        key[a] = potential(x, list[a], from);
    }
    for (int32_t gap = 701; gap > 0; gap = (int32_t)((gap + 1) / 2.25)) {
        for (int32_t a = gap; a < count; ++a) {
            const double moving = key[a];
            const int32_t i = list[a];
            int32_t at = a;
            for (; at >= gap && key[at - gap] > moving; at -= gap) {
                key[at] = key[at - gap], list[at] = list[at - gap];
            }
            key[at] = moving, list[at] = i;
        }
    }
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
        wadi_sph_load_levels(x, j + n, &other, &others);
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
        x->give[i] = out > x->water[i] ? x->water[i] / out : 1.0;
        x->take[i] = into > room ? room / into : 1.0;
        x->into[i] = into;
    }
}

/* What i surely loses with the present factors; those of the full particles from `first` to `end` are the
 * new ones. Without branches: half of the flows go either way. */
static double sure_loss(const WadiSphFlow *x, int32_t i, uint32_t first, uint32_t end)
{
    const WadiSphPairs *pairs = x->in->pairs;
    const double *const factors[2] = { x->take, x->next };
    const WadiD4 give = (WadiD4){ 0 } + x->give[i];
    const int64_t pair = wadi_sph_flow_first(x, i), room = wadi_sph_flow_room(x, i);
    const WadiF4 zero = { 0 };
    WadiD4 loss = { 0 };
    for (int64_t n = 0; n < room; n += 4) {
        const WadiF4 all = *(const WadiF4 *)(x->flow + x->flow_start[i] + n);
        const WadiI4 is_out = (WadiI4)(all > zero);
        const WadiF4 out = (WadiF4)((WadiI4)all & is_out);
        WadiD4 factor;
        for (int l = 0; l < 4; ++l) {
            const int32_t j = wadi_sph_other(pairs, pair + n + l);
            factor[l] = factors[x->rank[j] - first < end - first][j];
        }
        const WadiL4 is_full = factor < give;
        factor = (WadiD4)(((WadiL4)factor & is_full) | ((WadiL4)give & ~is_full));
        loss += WADI_SPH_WHOLE_QUANTA(WADI_DOUBLES(out) * factor);
    }
    return sum_of(&loss) + wadi_sph_whole_quanta(x->leak[i] * x->give[i]);
}

/* Water flows down the potential, and so is the order: within a block one round follows it all the way. */
static void round_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int64_t f = first; f < end; ++f) {
        const int32_t i = x->full[f];
        const double room = larger(0.0, x->capacity[i] - x->water[i]);
        const double take = (room + sure_loss(x, i, (uint32_t)first, (uint32_t)end)) / x->into[i];
        x->next[i] = larger(x->take[i], smaller(1.0, take));
    }
}

/* Those of each block in the order of their potential, the lowest first. */
static void list_full(WadiSphFlow *x)
{
    for (int32_t f = 0; f < x->full_count; ++f) {
        x->rank[x->full[f]] = UINT32_MAX;
    }
    x->full_count = 0;
    for (int32_t a = 0; a < x->list_count; ++a) {
        const int32_t i = x->list[a];
        if (x->take[i] < 1.0 && x->into[i] > LEAST_FLOW) {
            x->next[i] = x->take[i];
            x->full[x->full_count++] = i;
        }
    }
    wadi_parallel_for(x->full_count, BLOCK, order_block, x);
    for (int32_t f = 0; f < x->full_count; ++f) {
        x->rank[x->full[f]] = (uint32_t)f;
    }
}

/* Full particles take as much as they lose, so that water flows through saturated sand. The factors grow
 * from round to round and are valid after each: what is lost with the last ones is a lower bound. */
static void widen(WadiSphFlow *x)
{
    list_full(x);
    for (int round = 0; round < ROUNDS && x->full_count > 0; ++round) {
        wadi_parallel_for(x->full_count, BLOCK, round_block, x);
        double taken = 0.0, gained = 0.0;
        for (int32_t f = 0; f < x->full_count; ++f) {
            const int32_t i = x->full[f];
            taken += x->next[i] * x->into[i];
            gained += (x->next[i] - x->take[i]) * x->into[i];
            x->take[i] = x->next[i];
        }
        if (gained <= LEAST_GAIN * taken) {
            return;
        }
    }
}

void wadi_sph_flow_limit(WadiSphFlow *x)
{
    wadi_parallel_for(x->list_count, BLOCK, limit_block, x);
    widen(x);
}
