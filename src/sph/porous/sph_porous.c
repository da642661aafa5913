#include "sph/porous/sph_porous_flow.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "world/water.h"

enum { BLOCK = WADI_SPH_FLOW_BLOCK };

static void gain_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    const WadiSphPairs *pairs = x->in->pairs;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->active[a];
        double gain = 0.0;
        WadiF4 momentum = { 0 };
        for (int64_t n = wadi_sph_flow_first(x, i); n < pairs->start[i + 1]; ++n) {
            const int32_t j = pairs->index[n];
            const double out = (double)x->flow[n];
            if (out == 0.0) {
                continue;
            }
            const double factor =
                out > 0.0 ? smaller(x->give[i], x->take[j]) : smaller(x->give[j], x->take[i]);
            const double mass = wadi_sph_whole_quanta(out * factor);
            gain -= mass;
            if (mass < 0.0 && x->velocity != NULL) {
                momentum += (x->velocity[j] - x->velocity[i]) * (float)-mass;
            }
        }
        x->leak[i] = wadi_sph_whole_quanta(x->leak[i] * x->give[i]);
        x->gain[i] = gain - x->leak[i];
        x->gain_momentum[i] = momentum;
    }
}

static void apply_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->active[a];
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

static void set_active_heads(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int64_t a = first; a < end; ++a) {
        wadi_sph_flow_set_head(x, x->active[a]);
    }
}

/* What the fixed neighbours would take and give if they took part. */
static void seep_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    const WadiSphPairs *pairs = x->in->pairs;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->active[a];
        double sum = 0.0;
        for (int64_t n = wadi_sph_flow_first(x, i); n < pairs->start[i + 1]; ++n) {
            double conductance;
            if (x->in->fixed[pairs->index[n]] != 0) {
                const float slope = wadi_sph_pair_slope(pairs, n);
                sum += fabs(wadi_sph_flux(x, i, pairs->index[n], slope, &conductance));
            }
        }
        x->in->seep[i] = (float)(sum / x->capacity[i]);
    }
}

WadiStatus wadi_sph_porous_exchange(double *water, WadiF4 *velocity, const WadiSphPorousIn *in,
                                    WadiSphPorousReport *report, WadiArena *arena, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WadiSphFlow x = { .in = in, .water = water, .velocity = velocity };
    *report = (WadiSphPorousReport){ 0 };
    WADI_TRY(wadi_sph_flow_begin(&x, &report->substeps, arena, error));
    WADI_TRY(wadi_sph_pore_pressure(&x, report->substeps, &report->iterations, arena, error));
    report->active = x.active_count;
    x.noise = in->noise;
    wadi_sph_flow_order(&x);
    if (in->seep != NULL && in->fixed != NULL) {
        wadi_parallel_for(x.active_count, BLOCK, seep_block, &x);
        for (int32_t a = 0; a < x.active_count; ++a) {
            in->seep[x.active[a]] *= (float)(report->substeps / in->dt);
        }
    }
    for (int n = 0; n < report->substeps; ++n) {
        wadi_sph_flow_limit(&x);
        wadi_parallel_for(x.active_count, BLOCK, gain_block, &x);
        wadi_parallel_for(x.active_count, BLOCK, apply_block, &x);
        wadi_parallel_for(x.active_count, BLOCK, set_active_heads, &x);
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
