/* Heads at the end of a step, of sand with fast pairs: one monotone problem,
 *   water_i + gain_i(h) = min(capacity_i, water_i + storage_i (h_i + P_c,i))
 * The head of full sand is its pressure, the least with which it takes no more than its room. By steps each
 * over a bound of the particle's own row, with Nesterov's acceleration. [theory 11.6]
 * Differs: LAD08 makes the pressure a function of S and density; then it does not carry the weight of water
 * above. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "matter/wetting.h"
#include "sph/porous/sph_flux.h"
#include "world/water.h"

enum { BLOCK = WADI_SPH_FLOW_BLOCK, ITERATIONS = 60 };

static const double TOLERANCE = 0.005; /* mean change of the head, of a spacing of water */

typedef struct Solve {
    WadiSphFlow *flow;
    double *now, *last; /* heads, per listed particle */
    double *guess;      /* the extrapolated ones */
    double *storage;    /* 1/Pa: mass over head on the way to saturation */
    double momentum;
    double *partials;
    int64_t blocks;
} Solve;

/* Gain of a particle of sand, and its conductance. */
static double gain_of(const WadiSphFlow *x, int32_t i, double *conductance)
{
    const uint32_t *j = x->in->pairs->offset + wadi_sph_flow_first(x, i);
    const int64_t start = x->flow_start[i], room = wadi_sph_flow_room(x, i);
    const int64_t same = x->in->pairs->same[i];
    WadiF8 flows = { 0 }, conductances = { 0 };
    for (int64_t n = 0; n < room; n += WADI_SPH_LANES) {
        WadiF8 other, others, own;
        wadi_sph_load_pairs(x->level, j + n, &other, &others);
        wadi_sph_own_mobility(x, i, n, same, &own);
        const WadiF8 drop = (x->level[i].head - other) - *(const WadiF8 *)(x->fall + start + n);
        const WadiF8 rate = *(const WadiF8 *)(x->rates + start + n);
        const WadiF8 each = rate * WADI_ROW_SELECT(drop > 0.0f, own, others);
        flows += each * drop;
        conductances += each;
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
        const double before = s->now[a], guess = s->guess[a];
        /* What it would gain with the head 0 beyond its room: it becomes full or not. */
        const double gain = gain_of(x, i, &conductance);
        const double room = larger(0.0, x->capacity[i] - x->water[i]);
        const double beyond = gain + conductance * guess - room;
        const double storage = beyond < 0.0 ? s->storage[a] : 0.0;
        const double row = storage + conductance;
        const double wanted = row > 0.0 ? beyond / row : guess;
        const double now = guess + (wanted - guess) * (row > 0.0 ? row / (row + conductance) : 0.0);
        moved += fabs(now - guess);
        back += (guess - now) * (now - before) * row;
        s->last[a] = before;
        s->now[a] = now;
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
            s->guess[a] = s->now[a] + s->momentum * (s->now[a] - s->last[a]);
            x->head[i] = s->guess[a];
            x->level[i].head = (float)s->guess[a];
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
            x->in->pressure[i] = larger(0.0, s->now[a]);
            wadi_sph_set_number(x->in->pairs, i, x->level[i].head);
        }
    }
}

/* From the saturation of i straight to a head of 0 at saturation: less than the curve stores, so that no
 * head passes that of its neighbours. */
static double storage_of(const WadiSphFlow *x, int32_t i)
{
    const WadiSphPorousIn *in = x->in;
    const WadiPoresDef *pores = &in->materials[in->material[i]].pores;
    const double room = x->capacity[i] - x->water[i];
    const double suction = wadi_suction(pores, smaller(1.0, x->water[i] / x->capacity[i]));
    if (room > 1e-6 * x->capacity[i] && suction > 0.0) {
        return room / suction;
    }
    const double slope = wadi_suction_slope(pores, 1.0);
    return slope > 0.0 ? x->capacity[i] / slope : 1e30;
}

static void begin_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = s->flow->list[a];
        s->now[a] = s->last[a] = s->guess[a] = s->flow->head[i];
        s->storage[a] = s->flow->in->is_sand[i] ? storage_of(s->flow, i) : 0.0;
    }
}

/* In memory that the flows need later. */
static WadiStatus begin(Solve *s, WadiArena *arena, WadiError *error)
{
    const WadiSphFlow *x = s->flow;
    s->blocks = wadi_parallel_block_count(x->list_count, BLOCK);
    s->now = x->gain;
    s->guess = x->leak;
    s->storage = (double *)(void *)x->gain_momentum;
    s->last = s->storage + x->list_count;
    WADI_TRY(WADI_ARENA_NEW(arena, &s->partials, 2 * (size_t)s->blocks, "pore pressure", error));
    wadi_parallel_for(x->list_count, BLOCK, begin_block, s);
    return WADI_OK;
}

WadiStatus wadi_sph_pore_pressure(WadiSphFlow *x, int *iterations, WadiArena *arena, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const WadiSphPorousIn *in = x->in;
    const double g = wadi_norm(in->gravity);
    const double tolerance = TOLERANCE * in->water_density * (g > 0.0 ? g : 9.81) * in->spacing;
    Solve s = { .flow = x };
    WADI_TRY(begin(&s, arena, error));
    double t = 1.0;
    for (*iterations = 0; *iterations < ITERATIONS && x->list_count > 0;) {
        const double moved = wadi_parallel_sum(x->list_count, BLOCK, step_block, &s, s.partials);
        double back = 0.0;
        for (int64_t b = 0; b < s.blocks; ++b) {
            back += s.partials[s.blocks + b];
        }
        *iterations += 1;
        const bool is_done = moved <= tolerance * x->list_count || *iterations == ITERATIONS;
        const double next = back > 0.0 ? 1.0 : 0.5 * (1.0 + sqrt(1.0 + 4.0 * t * t));
        s.momentum = back > 0.0 || is_done ? 0.0 : (t - 1.0) / next;
        t = next;
        wadi_parallel_for(x->list_count, BLOCK, extrapolate_block, &s);
        if (is_done) {
            break;
        }
    }
    wadi_parallel_for(x->list_count, BLOCK, finish_block, &s);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
