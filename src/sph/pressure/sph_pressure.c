/* Projected gradient with Nesterov's acceleration, restarted where it would go back. */
#include "sph/pressure/sph_pressure.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/pressure/sph_operator.h"

enum { BLOCK = 512, CORRECTION_EVERY = 8 };

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

static void push_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        WadiF4 push;
        s->rough[i] = wadi_sph_push(s->in, i, &push);
        s->velocity[i] = s->wanted[i] - push * s->in->lightness[i];
    }
}

/* A projected gradient step; the sum of |step of P|, and in `wrong_way` what decides on a restart. */
static double step_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    double moved = 0.0, back = 0.0;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const float from = wadi_sph_number(s->in->pairs, i);
        const float r = wadi_sph_compression(s->in, s->velocity, i) - s->in->source[i] -
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
        wadi_sph_set_number(s->in->pairs, i, s->pressure[i] + s->momentum * (s->pressure[i] - s->last[i]));
    }
}

/* R of the numbers in `place`, 0 where it may be negative. */
static void residual_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const float r = wadi_sph_compression(s->in, s->velocity, i) - s->in->source[i] -
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
        s->rough[i] = wadi_sph_push(s->in, i, &push);
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
        const float r = wadi_sph_compression(s->in, s->velocity, i) + moving -
                        s->in->smooth[s->in->is_sand[i]] * s->rough[i];
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
        wadi_sph_set_number(s->in->pairs, i, s->change[i]);
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
        wadi_sph_set_number(s->in->pairs, i, s->pressure[i]);
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
        wadi_sph_push(s->in, i, &push);
        s->velocity[i] -= push * s->in->lightness[i];
    }
}

void wadi_sph_pressure_apply(WadiF4 *velocity, const float *pressure, const WadiSphPressureIn *in)
{
    Solve s = { .in = in, .velocity = velocity };
    for (int32_t i = 0; i < in->pairs->count; ++i) {
        wadi_sph_set_number(in->pairs, i, pressure[i]);
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
        const float r = wadi_sph_compression(s->in, s->velocity, i) + moving -
                        s->in->smooth[s->in->is_sand[i]] * s->rough[i];
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
        wadi_sph_set_number(in->pairs, i, (float)(mixed >> 8) / 16777216.0f - 0.5f);
    }
    double norm = 1.0;
    for (int n = 0; n < iterations; ++n) {
        wadi_parallel_for(count, BLOCK, push_block, &s);
        norm = sqrt(wadi_parallel_sum(count, BLOCK, square_block, &s, s.partials));
        const float scale = norm > 0.0 ? (float)(1.0 / norm) : 0.0f;
        for (int32_t i = 0; i < count; ++i) {
            wadi_sph_set_number(in->pairs, i, s.last[i] * scale);
        }
    }
    *largest = fmax(norm, 1e-3);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
