#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/porous/sph_flux.h"
#include "sph/porous/sph_quanta.h"
#include "world/water.h"

enum { BLOCK = WADI_SPH_FLOW_BLOCK };

/* Masses that go to eight neighbours j: whole quanta, with the factors of donors and acceptors. Without
 * branches: half of the flows go either way. */
static inline __attribute__((always_inline)) void limit_eight(const WadiSphFlow *x, int32_t i,
                                                              const uint32_t *j, const WadiF8 *flow,
                                                              WadiD4 mass[2])
{
    const WadiI8 own_give = (WadiI8){ 0 } + x->factor[i].give, own_take = (WadiI8){ 0 } + x->factor[i].take;
    WadiI8 give, take;
    wadi_sph_load_pairs(x->factor, j, (WadiF8 *)&give, (WadiF8 *)&take);
    const WadiI8 is_out = *flow > (WadiF8){ 0 }, is_full = take < own_give, is_empty = give < own_take;
    const WadiI8 forth = (take & is_full) | (own_give & ~is_full);
    const WadiI8 back = (give & is_empty) | (own_take & ~is_empty);
    const WadiI8 factor = (forth & is_out) | (back & ~is_out);
    const WadiD4 low = __builtin_convertvector(WADI_ROW_LOW(factor), WadiD4);
    const WadiD4 high = __builtin_convertvector(WADI_ROW_HIGH(factor), WadiD4);
    mass[0] = WADI_SPH_WHOLE_QUANTA(WADI_ROW_LOW_DOUBLE(*flow) * (low * (1.0 / WADI_SPH_ALL)));
    mass[1] = WADI_SPH_WHOLE_QUANTA(WADI_ROW_HIGH_DOUBLE(*flow) * (high * (1.0 / WADI_SPH_ALL)));
}

static void add_gains(const WadiSphFlow *x, int32_t i, WadiSphGain *gain)
{
    const uint32_t *j = x->in->pairs->offset + wadi_sph_flow_first(x, i);
    const int64_t start = x->flow_start[i], room = wadi_sph_flow_room(x, i);
    for (int64_t n = 0; n < room; n += WADI_SPH_LANES) {
        const WadiF8 flow = *(const WadiF8 *)(x->flow + start + n);
        const WadiI8 is_moving = flow != (WadiF8){ 0 };
        if (wadi_row_bits(&is_moving) == 0) {
            continue;
        }
        WadiD4 mass[2];
        limit_eight(x, i, j + n, &flow, mass);
        gain->mass -= mass[0] + mass[1];
        if (x->velocity != NULL) {
            wadi_sph_add_momentum(x, i, j + n, &mass[0], &gain->momentum);
            wadi_sph_add_momentum(x, i, j + n + 4, &mass[1], &gain->momentum);
        }
    }
}

static void gain_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->list[a];
        WadiSphGain gain = { 0 };
        add_gains(x, i, &gain);
        x->leak[i] = wadi_sph_whole_quanta(x->leak[i] * (x->factor[i].give / (double)WADI_SPH_ALL));
        x->gain[i] = (gain.mass[0] + gain.mass[2]) + (gain.mass[1] + gain.mass[3]) - x->leak[i];
        x->gain_momentum[i] = gain.momentum;
    }
}

static void apply_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->list[a];
        x->water[i] += x->gain[i];
        if (x->leak[i] > 0.0) {
            x->in->film[i] += x->leak[i];
        }
        const double mass = wadi_sph_mass_with_water(x->in, x->water, i);
        if (x->velocity != NULL && mass > 0.0) {
            x->velocity[i] += x->gain_momentum[i] * (float)(1.0 / mass);
        }
    }
}

static void set_listed_heads(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int64_t a = first; a < end; ++a) {
        wadi_sph_flow_set_head(x, x->list[a]);
    }
}

void wadi_sph_flow_apply(WadiSphFlow *x)
{
    wadi_parallel_for(x->list_count, BLOCK, apply_block, x);
    wadi_parallel_for(x->list_count, BLOCK, set_listed_heads, x);
}

void wadi_sph_flow_exchange(WadiSphFlow *x)
{
    wadi_sph_flow_limit(x);
    wadi_parallel_for(x->list_count, BLOCK, gain_block, x);
    wadi_sph_flow_apply(x);
}

/* What the fixed neighbours would take and give if they took part. */
static void seep_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    const WadiSphPairs *pairs = x->in->pairs;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->active[a];
        float sum = 0.0f;
        for (int kind = 0; kind < 2; ++kind) {
            WadiSphFluxList list;
            wadi_sph_flux_list(x, i, kind == 0, &list);
            for (int64_t n = list.first; n < list.end; n += WADI_SPH_LANES) {
                WadiF8 flow;
                unsigned has_fixed = 0;
                for (int l = 0; l < WADI_SPH_LANES; ++l) {
                    has_fixed |= x->in->fixed[wadi_sph_other(pairs, n + l)];
                }
                if (has_fixed == 0) {
                    continue;
                }
                wadi_sph_flux_eight(x, &list, n, &flow);
                for (int l = 0; l < WADI_SPH_LANES; ++l) {
                    sum += x->in->fixed[wadi_sph_other(pairs, n + l)] != 0 ? fabsf(flow[l]) : 0.0f;
                }
            }
        }
        x->in->seep[i] = sum / (float)x->capacity[i];
    }
}

WadiStatus wadi_sph_porous_exchange(double *water, WadiF4 *velocity, const WadiSphPorousIn *in,
                                    WadiSphPorousReport *report, WadiArena *arena, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WadiSphFlow x = { .in = in, .water = water, .velocity = velocity };
    *report = (WadiSphPorousReport){ 0 };
    WADI_TRY(wadi_sph_flow_begin(&x, arena, error));
    WADI_TRY(wadi_sph_flow_slow(&x, arena, error));
    WADI_TRY(wadi_sph_flow_list_fast(&x, arena, error));
    WADI_TRY(wadi_sph_pore_pressure(&x, &report->iterations, arena, error));
    report->active = x.active_count;
    report->fast = x.list_count;
    x.noise = in->noise;
    if (in->seep != NULL && in->fixed != NULL) {
        x.is_split = false;
        wadi_parallel_for(x.active_count, BLOCK, seep_block, &x);
        for (int32_t a = 0; a < x.active_count; ++a) {
            in->seep[x.active[a]] *= (float)(1.0 / in->dt);
        }
        x.is_split = true;
    }
    if (x.list_count > 0) {
        wadi_sph_flow_exchange(&x);
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
