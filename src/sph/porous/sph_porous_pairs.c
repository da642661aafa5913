/* Rates of the pairs of listed particles: what the solve of the heads and the flows read again and
 * again. [theory 11.6] */
#include <string.h>

#include "core/parallel.h"
#include "sph/porous/sph_flux.h"

enum { BLOCK = WADI_SPH_FLOW_BLOCK };

static void put(float *to, const WadiF8 *eight, int64_t count)
{
    if (count >= WADI_SPH_LANES) {
        *(WadiF8 *)to = *eight;
    } else {
        memcpy(to, eight, (size_t)count * sizeof *to);
    }
}

/* Neighbours without a head (NAN) take no part. */
static void fill_list(const WadiSphFlow *x, const WadiSphFluxList *list)
{
    const int64_t shift = x->flow_start[list->i] - wadi_sph_flow_first(x, list->i);
    for (int64_t n = list->first; n < list->end; n += WADI_SPH_LANES) {
        WadiSphFluxTerms terms;
        wadi_sph_flux_terms(x, list, n, &terms);
        const WadiI8 has_head = (terms.head <= 0.0f) | (terms.head > 0.0f);
        terms.rate = (WadiF8)((WadiI8)terms.rate & has_head);
        put(x->rates + n + shift, &terms.rate, list->end - n);
        put(x->fall + n + shift, &terms.fall, list->end - n);
    }
}

static void fill_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    const WadiF8 zero = { 0 };
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->list[a];
        const int64_t room = wadi_sph_flow_room(x, i), last = x->flow_start[i] + room - WADI_SPH_LANES;
        if (room > 0) {
            *(WadiF8 *)(x->rates + last) = *(WadiF8 *)(x->fall + last) = zero;
        }
        for (int kind = 0; kind < 2; ++kind) {
            WadiSphFluxList list;
            wadi_sph_flux_list(x, i, kind == 0, &list);
            fill_list(x, &list);
        }
    }
}

WadiStatus wadi_sph_flow_make(WadiSphFlow *x, WadiArena *arena, WadiError *error)
{
    int64_t total = 0;
    for (int32_t a = 0; a < x->list_count; ++a) {
        const int32_t i = x->list[a];
        x->flow_start[i] = total;
        total += wadi_sph_flow_room(x, i);
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &x->rates, (size_t)total, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->fall, (size_t)total, "porous flow", error));
    x->flow = x->fall;
    wadi_parallel_for(x->list_count, BLOCK, fill_block, x);
    return WADI_OK;
}
