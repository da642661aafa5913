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
    const uint32_t *offset = x->in->pairs->offset;
    WadiSphFluxList list;
    wadi_sph_flux_list(x, i, &list);
    for (int64_t n = list.first; n < list.end; n += WADI_SPH_LANES) {
        WadiF8 conductance, flow;
        wadi_sph_flux_eight(x, &list, n, &conductance, &flow);
        const WadiI8 is_moving = flow != (WadiF8){ 0 };
        if (wadi_row_bits(&is_moving) == 0) {
            continue;
        }
        WadiD4 mass[2];
        limit_eight(x, i, offset + n, &flow, mass);
        wadi_sph_add_gain(x, i, offset + n, mass, gain);
    }
}

static void gain_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->list[a];
        WadiSphGain gain = { 0 };
        add_gains(x, i, &gain);
        double each;
        const double give = x->factor[i].give / (double)WADI_SPH_ALL;
        const double leak = wadi_sph_whole_quanta(wadi_sph_outflow(x, i, &each) * give);
        if (leak > 0.0) {
            x->in->film[i] += leak;
        }
        x->gain[a] = wadi_sph_gain_mass(&gain) - leak;
        wadi_sph_gain_momentum(&gain, &x->gain_momentum[a]);
    }
}

static void apply_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->list[a];
        x->water[i] += x->gain[a];
        const double mass = wadi_sph_mass_with_water(x->in, x->water, i);
        if (mass > 0.0) {
            x->velocity[i] += x->gain_momentum[a] * (float)(1.0 / mass);
        }
    }
}

void wadi_sph_flow_apply(WadiSphFlow *x)
{
    wadi_parallel_for(x->list_count, BLOCK, apply_block, x);
}

void wadi_sph_flow_exchange(WadiSphFlow *x)
{
    wadi_sph_flow_limit(x);
    wadi_parallel_for(x->list_count, BLOCK, gain_block, x);
    wadi_sph_flow_apply(x);
}

/* What ghosts beside a particle would take and give if they took part. */
static void seep_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    const WadiSphPairs *pairs = x->in->pairs;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        if (x->is_active[i] == 0) {
            continue;
        }
        float sum = 0.0f;
        WadiSphFluxList list;
        wadi_sph_flux_list(x, i, &list);
        list.is_slow = false;
        for (int64_t n = list.first; n < list.end; n += WADI_SPH_LANES) {
            WadiF8 conductance, flow;
            bool has_ghosts = false;
            for (int l = 0; l < WADI_SPH_LANES; ++l) {
                has_ghosts |= x->in->role[wadi_sph_other(pairs, n + l)] == WADI_SPH_GHOST;
            }
            if (!has_ghosts) {
                continue;
            }
            wadi_sph_flux_eight(x, &list, n, &conductance, &flow);
            for (int l = 0; l < WADI_SPH_LANES; ++l) {
                const int32_t j = wadi_sph_other(pairs, n + l);
                sum += x->in->role[j] == WADI_SPH_GHOST ? fabsf(flow[l]) : 0.0f;
            }
        }
        x->in->seep[i] = (float)((double)sum / (wadi_sph_water_capacity(x->in, i) * x->in->dt));
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
    if (in->has_ghosts) {
        wadi_parallel_for(in->pairs->count, BLOCK, seep_block, &x);
    }
    if (x.list_count > 0) {
        wadi_sph_flow_exchange(&x);
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
