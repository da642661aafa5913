/* Heads at the end of a step, of sand with fast pairs: one monotone problem,
 *   water_i + gain_i(h) = min(capacity_i, water_i + storage_i (h_i + P_c,i))
 * The head of full sand is its pressure, the least with which it takes no more than its room. By steps each
 * over a bound of the particle's own row, with Nesterov's acceleration. [theory 11.6]
 * Differs: LAD08 makes the pressure a function of S and density; then it does not carry the weight of water
 * above. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "math/nesterov.h"
#include "matter/wetting.h"
#include "sph/porous/sph_flux.h"
#include "world/water.h"

enum { BLOCK = WADI_SPH_FLOW_BLOCK };
enum { ITERATIONS = 60 }; /* largest number; what is left flows in the next step */

/* A step is over so many conductances; with neighbours of the other sign it may have to be 2, and in smooth
 * kernels hardly more than 1. */
static const double CONDUCTANCES = 1.5;

/* Per listed particle. Heads are in units of the potential. */
typedef struct Row {
    int32_t now, last;
    int32_t unchanged; /* head with which the water stays as it is */
    float storage;     /* mass over head on the way to saturation */
    float room;
} Row;

typedef struct Solve {
    WadiSphFlow *flow;
    Row *row;
    double momentum;
    double *partials;
    int64_t blocks;
} Solve;

/* Gain of a particle of sand, and its conductance. */
static double gain_of(const WadiSphFlow *x, int32_t i, double *conductance)
{
    WadiSphFluxList list;
    WadiF8 flows = { 0 }, conductances = { 0 };
    wadi_sph_flux_list(x, i, &list);
    for (int64_t n = list.first; n < list.end; n += WADI_SPH_LANES) {
        WadiF8 each, flow;
        wadi_sph_flux_eight(x, &list, n, &each, &flow);
        flows += flow;
        conductances += each;
    }
    double each;
    const double out = wadi_sph_outflow(x, i, &each);
    *conductance = (double)wadi_sph_sum_lanes(&conductances) + each * x->unit;
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
        Row *row = &s->row[a];
        const int32_t guess = x->level[i].potential - x->base[i];
        /* What it would gain with the head 0 beyond its room: it becomes full or not. */
        const double gain = gain_of(x, i, &conductance);
        const bool is_full = gain + conductance * guess >= (double)row->room;
        const double storage = is_full ? 0.0 : (double)row->storage;
        const double stored = is_full ? (double)row->room : storage * (guess - row->unchanged);
        const double diagonal = storage + conductance;
        const double change = diagonal > 0.0 ? (gain - stored) / (storage + CONDUCTANCES * conductance) : 0.0;
        const int32_t now = wadi_sph_cut(x, guess + change);
        moved += fabs(change);
        back -= change * (double)(now - row->now) * diagonal;
        row->last = row->now;
        row->now = now;
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
            const double now = s->row[a].now, guess = now + s->momentum * (now - s->row[a].last);
            x->level[i].potential = x->base[i] + wadi_sph_cut(x, guess);
        }
    }
}

static void finish_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    const WadiSphFlow *x = s->flow;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->list[a];
        if (x->in->is_sand[i]) {
            x->in->pressure[i] = larger(0.0, s->row[a].now * x->unit);
        }
    }
}

/* From the saturation of i straight to a head of 0 at saturation: less than the curve stores, so that no
 * head passes that of its neighbours. */
static double storage_of(const WadiSphFlow *x, int32_t i, double capacity)
{
    const WadiSphPorousIn *in = x->in;
    const WadiPoresDef *pores = &in->materials[in->material[i]].pores;
    const double room = capacity - x->water[i];
    const double suction = wadi_suction(pores, smaller(1.0, x->water[i] / capacity));
    if (room > 1e-6 * capacity && suction > 0.0) {
        return room / suction;
    }
    const double slope = wadi_suction_slope(pores, 1.0);
    return slope > 0.0 ? capacity / slope : 1e30;
}

static void begin_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    const WadiSphFlow *x = s->flow;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->list[a];
        Row row = { 0 };
        if (x->in->is_sand[i]) {
            const double capacity = wadi_sph_water_capacity(x->in, i);
            const double room = capacity - x->water[i]; /* below 0: it has to lose water */
            const double storage = storage_of(x, i, capacity);
            row.now = row.last = x->level[i].potential - x->base[i];
            row.storage = (float)(storage * x->unit);
            row.room = (float)room;
            row.unchanged = wadi_sph_cut(x, -room / storage / x->unit);
        }
        s->row[a] = row;
    }
}

WadiStatus wadi_sph_pore_pressure(WadiSphFlow *x, int *iterations, WadiArena *arena, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const WadiSphPorousIn *in = x->in;
    const double g = wadi_norm(in->gravity);
    const double tolerance =
        WADI_SPH_SLACK * in->water_density * (g > 0.0 ? g : 9.81) * in->spacing / x->unit;
    Solve s = { .flow = x };
    WADI_TRY(WADI_ARENA_NEW(arena, &s.row, (size_t)x->list_count, "pore pressure", error));
    s.blocks = wadi_parallel_block_count(x->list_count, BLOCK);
    WADI_TRY(WADI_ARENA_NEW(arena, &s.partials, 2 * (size_t)s.blocks, "pore pressure", error));
    wadi_parallel_for(x->list_count, BLOCK, begin_block, &s);
    double t = WADI_NESTEROV_WARM;
    for (*iterations = 0; *iterations < ITERATIONS && x->list_count > 0;) {
        const double moved = wadi_parallel_sum(x->list_count, BLOCK, step_block, &s, s.partials);
        double back = 0.0;
        for (int64_t b = 0; b < s.blocks; ++b) {
            back += s.partials[s.blocks + b];
        }
        *iterations += 1;
        const bool is_done = moved <= tolerance * x->list_count || *iterations == ITERATIONS;
        const double momentum = wadi_nesterov_momentum(&t);
        s.momentum = back > 0.0 || is_done ? 0.0 : momentum;
        t = back > 0.0 ? 1.0 : t;
        wadi_parallel_for(x->list_count, BLOCK, extrapolate_block, &s);
        if (is_done) {
            break;
        }
    }
    wadi_parallel_for(x->list_count, BLOCK, finish_block, &s);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
