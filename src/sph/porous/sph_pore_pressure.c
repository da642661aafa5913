/* Pressure in saturated pores: one unilateral problem,
 *   p_i >= 0,  gain_i(p) <= room_i,  p_i = 0 where there is room left
 * by projected steps, each over the particle's own conductance, with Nesterov's acceleration. [theory 11.6]
 * Differs: LAD08 makes it a function of S and density; then it does not carry the weight of water above. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/porous/sph_flux.h"
#include "world/water.h"

enum { BLOCK = WADI_SPH_FLOW_BLOCK, ITERATIONS = 60 };

static const double STEP = 0.5;       /* the operator over its diagonal has eigenvalues below 2 */
static const double TOLERANCE = 0.01; /* mean change of the head, of a spacing of water */

typedef struct Solve {
    WadiSphFlow *flow;
    double *pressure, *last; /* per listed particle */
    double *guess;           /* the extrapolated one, in the heads */
    double momentum;
    double part; /* of the room that a substep may fill */
    double *partials;
    int64_t blocks;
} Solve;

/* Gain of a particle in a substep, and its conductance. */
static double gain_of(const WadiSphFlow *x, int32_t i, double *conductance)
{
    WadiF8 flows = { 0 }, conductances = { 0 };
    for (int kind = 0; kind < 2; ++kind) {
        WadiSphFluxList list;
        wadi_sph_flux_list(x, i, kind == 0, &list);
        for (int64_t n = list.first; n < list.end; n += WADI_SPH_LANES) {
            WadiF8 flow, each;
            wadi_sph_flux_eight(x, &list, n, &flow, &each);
            flows += flow;
            conductances += each;
        }
    }
    double each;
    const double out = wadi_sph_outflow(x, i, &each);
    *conductance = (double)wadi_sph_sum_lanes(&conductances) + each;
    return -(double)wadi_sph_sum_lanes(&flows) - out;
}

static double step_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    const WadiSphFlow *x = s->flow;
    double moved = 0.0, back = 0.0;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->list[a];
        if (!x->in->is_sand[i]) {
            continue;
        }
        double conductance;
        const double gain = gain_of(x, i, &conductance);
        const double room = larger(0.0, x->capacity[i] - x->water[i]) * s->part;
        const double before = s->pressure[a];
        const double step = conductance > 0.0 ? STEP * (gain - room) / conductance : -s->guess[a];
        const double now = larger(0.0, s->guess[a] + step);
        moved += fabs(now - s->guess[a]);
        back += (s->guess[a] - now) * (now - before) * conductance;
        s->last[a] = before;
        s->pressure[a] = now;
    }
    s->partials[s->blocks + first / BLOCK] = back;
    return moved;
}

static void extrapolate_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    const WadiSphFlow *x = s->flow;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->list[a];
        if (x->in->is_sand[i]) {
            const double guess = s->pressure[a] + s->momentum * (s->pressure[a] - s->last[a]);
            x->head[i] += guess - s->guess[a];
            wadi_sph_set_number(x->in->pairs, i, (float)x->head[i]);
            s->guess[a] = guess;
        }
    }
}

static WadiStatus begin(Solve *s, WadiArena *arena, WadiError *error)
{
    const WadiSphFlow *x = s->flow;
    const size_t count = (size_t)x->list_count;
    s->blocks = wadi_parallel_block_count(x->list_count, BLOCK);
    WADI_TRY(WADI_ARENA_NEW(arena, &s->pressure, count, "pore pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->last, count, "pore pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->guess, count, "pore pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->partials, 2 * (size_t)s->blocks, "pore pressure", error));
    for (size_t a = 0; a < count; ++a) {
        s->pressure[a] = s->last[a] = s->guess[a] = x->in->pressure[x->list[a]];
    }
    return WADI_OK;
}

WadiStatus wadi_sph_pore_pressure(WadiSphFlow *x, int substeps, int *iterations, WadiArena *arena,
                                  WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const WadiSphPorousIn *in = x->in;
    const double g = wadi_norm(in->gravity);
    const double tolerance = TOLERANCE * in->water_density * (g > 0.0 ? g : 9.81) * in->spacing;
    Solve s = { .flow = x, .part = 1.0 / substeps };
    WADI_TRY(begin(&s, arena, error));
    double t = 1.0;
    for (*iterations = 0; *iterations < ITERATIONS && x->list_count > 0;) {
        const double moved = wadi_parallel_sum(x->list_count, BLOCK, step_block, &s, s.partials);
        double back = 0.0;
        for (int64_t b = 0; b < s.blocks; ++b) {
            back += s.partials[s.blocks + b];
        }
        *iterations += 1;
        const bool is_done = moved <= STEP * tolerance * x->list_count || *iterations == ITERATIONS;
        const double next = back > 0.0 ? 1.0 : 0.5 * (1.0 + sqrt(1.0 + 4.0 * t * t));
        s.momentum = back > 0.0 || is_done ? 0.0 : (t - 1.0) / next;
        t = next;
        wadi_parallel_for(x->list_count, BLOCK, extrapolate_block, &s);
        if (is_done) {
            break;
        }
    }
    for (int32_t a = 0; a < x->list_count; ++a) {
        in->pressure[x->list[a]] = s.pressure[a];
        wadi_sph_flow_set_head(x, x->list[a]);
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
