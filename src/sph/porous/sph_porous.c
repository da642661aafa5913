#include "sph/porous/sph_porous_flow.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "world/water.h"

enum { BLOCK = WADI_SPH_FLOW_BLOCK, ROUNDS = 16 };

/* Smaller ones wait for room: the suction that makes it is below a hundredth of a spacing of water. */
static const double LEAST_FLOW = 2e-5;
static const double LEAST_GAIN = 1e-3; /* of a factor in a round */

/* Whole quanta, rounded towards none: the sums of a donor and of an acceptor stay within their limits. */
static double whole(double mass)
{
    return trunc(mass * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
}

static void limit_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    const WadiSphPairs *pairs = x->in->pairs;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->active[a];
        double out = 0.0, into = 0.0;
        for (int64_t n = wadi_sph_flow_first(x, i); n < pairs->start[i + 1]; ++n) {
            double conductance;
            const double mass = wadi_sph_flux(x, i, pairs->index[n], wadi_sph_slope(pairs, n), &conductance);
            x->flow[n] = mass;
            out += mass > 0.0 ? mass : 0.0;
            into += mass < 0.0 ? -mass : 0.0;
        }
        double conductance;
        x->leak[i] = wadi_sph_outflow(x, i, &conductance);
        out += x->leak[i];
        const double room = larger(0.0, x->capacity[i] - x->water[i]);
        x->give[i] = out > x->water[i] ? x->water[i] / out : 1.0;
        x->take[i] = into > room ? room / into : 1.0;
        x->into[i] = into;
    }
}

/* What i surely loses with the present factors. */
static double sure_loss(const WadiSphFlow *x, int32_t i)
{
    const WadiSphPairs *pairs = x->in->pairs;
    double loss = whole(x->leak[i] * x->give[i]);
    for (int64_t n = wadi_sph_flow_first(x, i); n < pairs->start[i + 1]; ++n) {
        const int32_t j = pairs->index[n];
        const double out = x->flow[n];
        loss += out > 0.0 ? whole(out * smaller(x->give[i], x->take[j])) : 0.0;
    }
    return loss;
}

static void round_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int64_t f = first; f < end; ++f) {
        const int32_t i = x->full[f];
        const double room = larger(0.0, x->capacity[i] - x->water[i]) + sure_loss(x, i);
        x->next[f] = smaller(1.0, room / x->into[i]);
    }
}

/* Full particles take as much as they lose, so that water flows through saturated sand. The factors grow
 * from round to round and are valid after each: what is lost with the last ones is a lower bound. */
static void widen(WadiSphFlow *x)
{
    x->full_count = 0;
    for (int32_t a = 0; a < x->active_count; ++a) {
        x->full[x->full_count] = x->active[a];
        x->full_count += x->take[x->active[a]] < 1.0 && x->into[x->active[a]] > LEAST_FLOW;
    }
    for (int round = 0; round < ROUNDS && x->full_count > 0; ++round) {
        wadi_parallel_for(x->full_count, BLOCK, round_block, x);
        double most = 0.0;
        for (int32_t f = 0; f < x->full_count; ++f) {
            const int32_t i = x->full[f];
            most = larger(most, x->next[f] - x->take[i]);
            x->take[i] = larger(x->take[i], x->next[f]);
        }
        if (most < LEAST_GAIN) {
            return;
        }
    }
}

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
            const double out = x->flow[n];
            if (out == 0.0) {
                continue;
            }
            const double factor =
                out > 0.0 ? smaller(x->give[i], x->take[j]) : smaller(x->give[j], x->take[i]);
            const double mass = whole(out * factor);
            gain -= mass;
            if (mass < 0.0 && x->velocity != NULL) {
                momentum += (x->velocity[j] - x->velocity[i]) * (float)-mass;
            }
        }
        x->leak[i] = whole(x->leak[i] * x->give[i]);
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
    for (int n = 0; n < report->substeps; ++n) {
        wadi_parallel_for(x.active_count, BLOCK, limit_block, &x);
        widen(&x);
        wadi_parallel_for(x.active_count, BLOCK, gain_block, &x);
        wadi_parallel_for(x.active_count, BLOCK, apply_block, &x);
        wadi_parallel_for(x.active_count, BLOCK, set_active_heads, &x);
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
