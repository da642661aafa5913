/* Flow between sand far from saturation: so slow that one step is monotone, and that limits hardly ever act.
 * [theory 11.6] */
#include <math.h>

#include "core/parallel.h"
#include "sph/porous/sph_flux.h"
#include "sph/porous/sph_quanta.h"

enum { BLOCK = WADI_SPH_FLOW_BLOCK };

/* Hides the heads of fast and fixed particles: pairs with them do not flow. */
static void hide_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        if (x->is_fast[i] != 0 || (x->in->fixed != NULL && x->in->fixed[i] != 0)) {
            wadi_sph_set_number(x->in->pairs, i, NAN);
        }
    }
}

static void show_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        wadi_sph_set_number(x->in->pairs, i, (float)x->head[i]);
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
        wadi_sph_flux_list(x, i, true, &list);
        for (int64_t n = list.first; n < list.end; n += WADI_SPH_LANES) {
            WadiF8 flow;
            wadi_sph_flux_eight(x, &list, n, &flow);
            const WadiI8 is_moving = flow != (WadiF8){ 0 };
            if (wadi_row_bits(&is_moving) == 0) {
                continue;
            }
            const uint32_t *j = x->in->pairs->offset + n;
            const WadiD4 low = WADI_SPH_WHOLE_QUANTA(WADI_ROW_LOW_DOUBLE(flow));
            const WadiD4 high = WADI_SPH_WHOLE_QUANTA(WADI_ROW_HIGH_DOUBLE(flow));
            gain.mass -= low + high;
            if (x->velocity != NULL) {
                wadi_sph_add_momentum(x, i, j, &low, &gain.momentum);
                wadi_sph_add_momentum(x, i, j + 4, &high, &gain.momentum);
            }
        }
        x->leak[i] = 0.0;
        x->gain[i] = (gain.mass[0] + gain.mass[2]) + (gain.mass[1] + gain.mass[3]);
        x->gain_momentum[i] = gain.momentum;
        const double water = x->water[i] + x->gain[i];
        beyond += water < 0.0 || water > x->capacity[i];
    }
    return beyond;
}

WadiStatus wadi_sph_flow_slow(WadiSphFlow *x, WadiArena *arena, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const int32_t count = x->in->pairs->count;
    double *partials = NULL;
    x->list_count = 0;
    for (int32_t a = 0; a < x->active_count; ++a) {
        x->list[x->list_count] = x->active[a];
        x->list_count += x->is_fast[x->active[a]] == 0;
    }
    if (x->list_count == 0) {
        return WADI_OK;
    }
    const size_t blocks = (size_t)wadi_parallel_block_count(x->list_count, BLOCK);
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, blocks, "porous flow", error));
    wadi_parallel_for(count, BLOCK, hide_block, x);
    if (wadi_parallel_sum(x->list_count, BLOCK, gain_block, x, partials) == 0.0) {
        wadi_sph_flow_apply(x);
    } else {
        WADI_TRY(wadi_sph_flow_make(x, arena, error));
        wadi_sph_flow_exchange(x);
    }
    wadi_parallel_for(count, BLOCK, show_block, x);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
