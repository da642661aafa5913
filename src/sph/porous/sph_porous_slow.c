/* Flow between sand far from saturation: so slow that one step is monotone, and that limits hardly ever act.
 * [theory 11.6] */
#include <math.h>

#include "core/parallel.h"
#include "sph/porous/sph_flux.h"
#include "sph/porous/sph_quanta.h"

enum { BLOCK = WADI_SPH_FLOW_BLOCK };

/* Pairs with fast particles and ghosts do not flow. */
static void close_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int64_t i = first; i < end; ++i) {
        const bool is_closed = x->is_fast[i] != 0 || x->in->role[i] == WADI_SPH_GHOST;
        x->level[i].mobility = copysignf(x->level[i].mobility, is_closed ? -1.0f : 1.0f);
    }
}

static void set_heads(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int64_t a = first; a < end; ++a) {
        wadi_sph_flow_set_head(x, x->list[a]);
    }
}

/* Gains without limits. Returns how many particles would have less than nothing or more than their room. */
static double gain_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    double beyond = 0.0;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->list[a];
        WadiSphFluxList list;
        WadiSphGain gain = { 0 };
        wadi_sph_flux_list(x, i, &list);
        list.end = list.same;
        for (int64_t n = list.first; n < list.end; n += WADI_SPH_LANES) {
            WadiF8 conductance, flow;
            wadi_sph_flux_eight(x, &list, n, &conductance, &flow);
            const WadiI8 is_moving = flow != (WadiF8){ 0 };
            if (wadi_row_bits(&is_moving) == 0) {
                continue;
            }
            const WadiD4 mass[2] = { WADI_SPH_WHOLE_QUANTA(WADI_ROW_LOW_DOUBLE(flow)),
                                     WADI_SPH_WHOLE_QUANTA(WADI_ROW_HIGH_DOUBLE(flow)) };
            wadi_sph_add_gain(x, i, x->in->pairs->offset + n, mass, &gain);
        }
        x->gain[a] = wadi_sph_gain_mass(&gain);
        wadi_sph_gain_momentum(&gain, &x->gain_momentum[a]);
        const double water = x->water[i] + x->gain[a];
        beyond += water < 0.0 || water > wadi_sph_water_capacity(x->in, i);
    }
    return beyond;
}

WadiStatus wadi_sph_flow_slow(WadiSphFlow *x, WadiArena *arena, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const int32_t count = x->in->pairs->count;
    double *partials = NULL;
    x->list_count = 0;
    for (int32_t i = 0; i < count; ++i) {
        x->list[x->list_count] = i;
        x->list_count += x->is_active[i] != 0 && x->is_fast[i] == 0;
    }
    if (x->list_count == 0) {
        return WADI_OK;
    }
    const size_t blocks = (size_t)wadi_parallel_block_count(x->list_count, BLOCK);
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, blocks, "porous flow", error));
    WADI_TRY(wadi_sph_flow_make(x, arena, error));
    wadi_parallel_for(count, BLOCK, close_block, x);
    if (wadi_parallel_sum(x->list_count, BLOCK, gain_block, x, partials) == 0.0) {
        wadi_sph_flow_apply(x);
    } else {
        wadi_sph_flow_exchange(x);
    }
    wadi_parallel_for(x->list_count, BLOCK, set_heads, x);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
