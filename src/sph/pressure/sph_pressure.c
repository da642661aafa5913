/* Projected gradient with Nesterov's acceleration, restarted where it would go back. */
#include "sph/pressure/sph_pressure.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"

/* CHAINS: sums over neighbours, so that an addition need not wait for the one before. */
enum { BLOCK = 512, CORRECTION_EVERY = 8, CHAINS = 4 };

static const double WORTH_CORRECTING = 3.0; /* tolerances: less is done by a few iterations */
static const double LONGEST = 2.0;          /* times what the coarse grid says */

typedef struct Solve {
    const WadiSphPressureIn *in;
    const WadiF4 *wanted; /* v* */
    WadiF4 *velocity;
    float *pressure, *last;
    float *rough;             /* of the numbers */
    float step;               /* 1 / eigenvalue */
    float momentum;           /* of the extrapolation */
    float *residual, *change; /* of a correction on the coarse grid */
    double *partials;
} Solve;

static inline float number_at(const WadiSphPairs *pairs, int32_t i)
{
    return ((const float *)pairs->place)[4 * (size_t)i + 3];
}

static inline void set_number(const WadiSphPairs *pairs, int32_t i, float value)
{
    ((float *)pairs->place)[4 * (size_t)i + 3] = value;
}

/* One neighbour of push_of and of compression_of. */
static inline __attribute__((always_inline)) void push_pair(const WadiSphPairs *pairs, const WadiI4 *place,
                                                            float own, int64_t n, WadiF4 *sum, float *rough)
{
    const int32_t j = pairs->index[n];
    const float slope = pairs->slope[n], number = number_at(pairs, j);
    *sum -= WADI_SPH_OFFSET(*place, pairs->place[j]) * (slope * (own + number));
    *rough += slope * (own - number);
}

static inline __attribute__((always_inline)) void compress_pair(const WadiSphPairs *pairs,
                                                                const WadiI4 *place, const WadiF4 *velocity,
                                                                const WadiF4 *v, int64_t n, WadiF4 *sum)
{
    const int32_t j = pairs->index[n];
    *sum -= (WADI_SPH_OFFSET(*place, pairs->place[j]) * pairs->slope[n]) * (*v - velocity[j]);
}

/* sum_j (P_i + P_j) G_ij + P_i w_i of the numbers in `place`; returns sum_j slope_ij (P_i - P_j), how much
 * the number differs from its neighbours'. */
static inline __attribute__((always_inline)) float push_of(const WadiSphPressureIn *in, int32_t i,
                                                           WadiF4 *push)
{
    const WadiSphPairs *pairs = in->pairs;
    const WadiI4 place = pairs->place[i];
    const int64_t first = pairs->start[i], other = first + pairs->same[i], end = pairs->start[i + 1];
    const float own = number_at(pairs, i);
    WadiF4 sums[CHAINS] = { 0 };
    float roughs[CHAINS] = { 0 };
    int64_t at = first;
    for (; at + CHAINS <= other; at += CHAINS) {
        for (int c = 0; c < CHAINS; ++c) {
            push_pair(pairs, &place, own, at + c, &sums[c], &roughs[c]);
        }
    }
    for (; at < other; ++at) {
        push_pair(pairs, &place, own, at, &sums[0], &roughs[0]);
    }
    WadiF4 sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    const float rough = (roughs[0] + roughs[1]) + (roughs[2] + roughs[3]);
    for (int64_t n = other; n < end; ++n) {
        const int32_t j = pairs->index[n];
        sum -= WADI_SPH_OFFSET(place, pairs->place[j]) * (pairs->slope[n] * (own + number_at(pairs, j)));
    }
    const int32_t near = in->walls->of[i];
    if (near >= 0) {
        sum += in->walls->gradient[near] * own;
        for (int64_t n = pairs->mirror_start[near]; n < pairs->mirror_start[near + 1]; ++n) {
            const WadiSphMirror *mirror = &pairs->mirror[n];
            const WadiF4 g = *(const WadiF4 *)mirror->gradient;
            sum += g * (own + number_at(pairs, mirror->index));
        }
    }
    *push = sum;
    return rough * in->lightness[i] * (float)WADI_SPH_PLACES;
}

/* sum_j G_ij . (v_i - v_j) + w_i . (v_i - v_wall). */
static inline __attribute__((always_inline)) float compression_of(const WadiSphPressureIn *in,
                                                                  const WadiF4 *velocity, int32_t i)
{
    const WadiSphPairs *pairs = in->pairs;
    const WadiI4 place = pairs->place[i];
    const WadiF4 v = velocity[i];
    const int64_t first = pairs->start[i], end = pairs->start[i + 1];
    WadiF4 sums[CHAINS] = { 0 };
    int64_t at = first;
    for (; at + CHAINS <= end; at += CHAINS) {
        for (int c = 0; c < CHAINS; ++c) {
            compress_pair(pairs, &place, velocity, &v, at + c, &sums[c]);
        }
    }
    for (; at < end; ++at) {
        compress_pair(pairs, &place, velocity, &v, at, &sums[0]);
    }
    WadiF4 sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    const int32_t near = in->walls->of[i];
    float wall = 0.0f;
    if (near >= 0) {
        const WadiF4 w = in->walls->gradient[near];
        wall = w[0] * v[0] + w[1] * v[1] + w[2] * v[2] - (in->is_shift ? 0.0f : w[3]);
        for (int64_t n = pairs->mirror_start[near]; n < pairs->mirror_start[near + 1]; ++n) {
            const WadiSphMirror *mirror = &pairs->mirror[n];
            const WadiF4 g = *(const WadiF4 *)mirror->gradient, b = *(const WadiF4 *)mirror->back;
            sum += g * v - b * velocity[mirror->index];
        }
    }
    return sum[0] + sum[1] + sum[2] + wall;
}

static void push_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        WadiF4 push;
        s->rough[i] = push_of(s->in, i, &push);
        s->velocity[i] = s->wanted[i] - push * s->in->lightness[i];
    }
}

/* A projected gradient step; the sum of |step of P|, and in `wrong_way` what decides on a restart. */
static double step_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    double moved = 0.0, back = 0.0;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const float from = number_at(s->in->pairs, i);
        const float r = compression_of(s->in, s->velocity, i) - s->in->source[i] -
                        s->in->smooth[s->in->is_sand[i]] * s->rough[i];
        const float p = from + s->step * r;
        const float now = p > 0.0f ? p : 0.0f, before = s->pressure[i];
        moved += fabs((double)(now - from));
        back += (double)(from - now) * (double)(now - before);
        s->last[i] = before;
        s->pressure[i] = now;
    }
    s->partials[first / BLOCK] = back;
    return moved;
}

static void extrapolate_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        set_number(s->in->pairs, i, s->pressure[i] + s->momentum * (s->pressure[i] - s->last[i]));
    }
}

/* R of the numbers in `place`, 0 where it may be negative. */
static void residual_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const float r = compression_of(s->in, s->velocity, i) - s->in->source[i] -
                        s->in->smooth[s->in->is_sand[i]] * s->rough[i];
        s->residual[i] = s->pressure[i] > 0.0f || r > 0.0f ? r : 0.0f;
    }
}

/* Velocity by the correction alone. */
static void push_change_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        WadiF4 push;
        s->rough[i] = push_of(s->in, i, &push);
        s->velocity[i] = push * -s->in->lightness[i];
    }
}

/* change . A change, and in the partials change . residual. */
static double energy_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    double energy = 0.0, gain = 0.0;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const int32_t near = s->in->walls->of[i];
        const float moving = near >= 0 ? s->in->walls->gradient[near][3] : 0.0f;
        const float r =
            compression_of(s->in, s->velocity, i) + moving - s->in->smooth[s->in->is_sand[i]] * s->rough[i];
        energy -= (double)r * (double)s->change[i];
        gain += (double)s->residual[i] * (double)s->change[i];
    }
    s->partials[first / BLOCK] = gain;
    return energy;
}

/* A correction on the coarse grid, as long as it lowers the energy most. */
static WadiStatus correct(Solve *s, WadiArena *arena, WadiError *error)
{
    const int32_t count = s->in->pairs->count;
    const int64_t blocks = wadi_parallel_block_count(count, BLOCK);
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(WADI_ARENA_NEW(arena, &s->residual, (size_t)count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->change, (size_t)count, "pressure", error));
    wadi_parallel_for(count, BLOCK, push_block, s);
    wadi_parallel_for(count, BLOCK, residual_block, s);
    WADI_TRY(wadi_sph_coarse_solve(s->in->coarse, s->residual, s->change, arena, error));
    for (int32_t i = 0; i < count; ++i) {
        set_number(s->in->pairs, i, s->change[i]);
    }
    wadi_parallel_for(count, BLOCK, push_change_block, s);
    const double energy = wadi_parallel_sum(count, BLOCK, energy_block, s, s->partials + blocks);
    double gain = 0.0;
    for (int64_t b = 0; b < blocks; ++b) {
        gain += s->partials[b];
    }
    const float length = energy > 0.0 && gain > 0.0 ? (float)fmin(gain / energy, LONGEST) : 0.0f;
    for (int32_t i = 0; i < count; ++i) {
        const float p = s->pressure[i] + length * s->change[i];
        s->pressure[i] = s->last[i] = p > 0.0f ? p : 0.0f;
        set_number(s->in->pairs, i, s->pressure[i]);
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

static WadiStatus begin(Solve *s, WadiArena *arena, WadiError *error)
{
    const size_t count = (size_t)s->in->pairs->count;
    const size_t blocks = (size_t)wadi_parallel_block_count(s->in->pairs->count, BLOCK);
    WadiF4 *wanted = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &wanted, count, "pressure", error));
    memcpy(wanted, s->velocity, count * sizeof *wanted);
    s->wanted = wanted;
    WADI_TRY(WADI_ARENA_NEW(arena, &s->last, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->rough, count, "pressure", error));
    return WADI_ARENA_NEW(arena, &s->partials, 2 * blocks, "pressure", error);
}

WadiStatus wadi_sph_pressure_solve(WadiF4 *velocity, float *pressure, const WadiSphPressureIn *in,
                                   WadiSphPressureReport *report, WadiArena *arena, WadiError *error)
{
    const int32_t count = in->pairs->count;
    const int64_t blocks = wadi_parallel_block_count(count, BLOCK);
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Solve s = { .in = in, .velocity = velocity, .pressure = pressure, .step = (float)(1.0 / in->largest) };
    WADI_TRY(begin(&s, arena, error));
    memcpy(s.last, pressure, (size_t)count * sizeof(float));
    wadi_parallel_for(count, BLOCK, extrapolate_block, &s);
    *report = (WadiSphPressureReport){ 0 };
    double t = 1.0;
    while (report->iterations < in->max_iterations) {
        if (in->coarse != NULL && report->iterations % CORRECTION_EVERY == 1 &&
            report->residual > WORTH_CORRECTING * in->tolerance) {
            WADI_TRY(correct(&s, arena, error));
            t = 1.0;
        }
        wadi_parallel_for(count, BLOCK, push_block, &s);
        const double moved = wadi_parallel_sum(count, BLOCK, step_block, &s, s.partials + blocks);
        double back = 0.0;
        for (int64_t b = 0; b < blocks; ++b) {
            back += s.partials[b];
        }
        report->iterations += 1;
        report->residual = moved * in->largest / fmax(1.0, count);
        report->first = report->iterations == 1 ? report->residual : report->first;
        const double next = back > 0.0 ? 1.0 : 0.5 * (1.0 + sqrt(1.0 + 4.0 * t * t));
        s.momentum = back > 0.0 ? 0.0f : (float)((t - 1.0) / next);
        t = next;
        if (report->residual <= in->tolerance) {
            s.momentum = 0.0f;
        }
        wadi_parallel_for(count, BLOCK, extrapolate_block, &s);
        if (report->residual <= in->tolerance) {
            break;
        }
    }
    s.momentum = 0.0f;
    wadi_parallel_for(count, BLOCK, extrapolate_block, &s);
    wadi_parallel_for(count, BLOCK, push_block, &s);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

static void apply_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        WadiF4 push;
        push_of(s->in, i, &push);
        s->velocity[i] -= push * s->in->lightness[i];
    }
}

void wadi_sph_pressure_apply(WadiF4 *velocity, const float *pressure, const WadiSphPressureIn *in)
{
    Solve s = { .in = in, .velocity = velocity };
    for (int32_t i = 0; i < in->pairs->count; ++i) {
        set_number(in->pairs, i, pressure[i]);
    }
    wadi_parallel_for(in->pairs->count, BLOCK, apply_block, &s);
}

static double square_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    double sum = 0.0;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const int32_t near = s->in->walls->of[i];
        /* The walls' velocity is no part of the operator. */
        const float moving = near >= 0 && !s->in->is_shift ? s->in->walls->gradient[near][3] : 0.0f;
        const float r =
            compression_of(s->in, s->velocity, i) + moving - s->in->smooth[s->in->is_sand[i]] * s->rough[i];
        s->last[i] = -r;
        sum += (double)r * (double)r;
    }
    return sum;
}

WadiStatus wadi_sph_pressure_largest(const WadiSphPressureIn *in, int iterations, double *largest,
                                     WadiArena *arena, WadiError *error)
{
    const int32_t count = in->pairs->count;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WadiF4 *velocity = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &velocity, (size_t)count, "pressure", error));
    memset(velocity, 0, (size_t)count * sizeof *velocity);
    Solve s = { .in = in, .velocity = velocity };
    WADI_TRY(begin(&s, arena, error));
    for (int32_t i = 0; i < count; ++i) {
        const uint32_t mixed = (uint32_t)i * UINT32_C(2654435761);
        set_number(in->pairs, i, (float)(mixed >> 8) / 16777216.0f - 0.5f);
    }
    double norm = 1.0;
    for (int n = 0; n < iterations; ++n) {
        wadi_parallel_for(count, BLOCK, push_block, &s);
        norm = sqrt(wadi_parallel_sum(count, BLOCK, square_block, &s, s.partials));
        const float scale = norm > 0.0 ? (float)(1.0 / norm) : 0.0f;
        for (int32_t i = 0; i < count; ++i) {
            set_number(in->pairs, i, s.last[i] * scale);
        }
    }
    *largest = fmax(norm, 1e-3);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
