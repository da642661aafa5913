/* Projected gradient with Nesterov's acceleration, restarted where it would go back. */
#include "sph/pressure/sph_pressure.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/pressure/sph_operator.h"

enum { BLOCK = 512, CORRECTION_EVERY = 4 };

static const float LEAST_DIAGONAL = 1e-3f; /* of particles with hardly a neighbour; a lattice's is 0.3 */
static const double LONGEST = 2.0;         /* times what the coarse grid says */
/* Of the acceleration, where it begins anew after a correction: after the first one short waves are left, and
 * with 1 the next two steps would have no momentum. With this after all corrections, and an eigenvalue that
 * is a little too small, the iterations may grow. */
static const double AFTER_FIRST = 3.0, AFTER_OTHERS = 1.0;

typedef struct Solve {
    const WadiSphPressureIn *in;
    const WadiF4 *wanted; /* v*; NULL: all 0 */
    WadiF4 *velocity;
    float *pressure, *last;
    float *rough;             /* of the numbers */
    float step;               /* 1 / eigenvalue */
    float momentum;           /* of the extrapolation */
    float *residual, *change; /* of a correction on the coarse grid */
    float length;             /* of it */
    bool is_zero;             /* pressure and velocities are 0 */
    bool is_pushed;           /* the velocities have the forces of the numbers */
    double *partials;
} Solve;

static inline bool is_idle(const Solve *s, int32_t i)
{
    return s->in->is_idle != NULL && s->in->is_idle[i] != 0;
}

static void push_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        WadiF4 push = { 0 };
        s->rough[i] = is_idle(s, i) ? 0.0f : wadi_sph_push(s->in, i, &push);
        push *= -s->in->lightness[i];
        if (s->wanted != NULL) {
            push += s->wanted[i];
        }
        s->velocity[i] = push;
    }
}

/* The velocities by the forces of the numbers. */
static void push_all(Solve *s)
{
    if (!s->is_pushed) {
        wadi_parallel_for(s->in->pairs->count, BLOCK, push_block, s);
    }
    s->is_pushed = false;
}

/* R of the numbers in `place`, whose velocities are known; with the velocity of walls
 * or without. */
static inline __attribute__((always_inline)) float residual_of(const Solve *s, int32_t i, bool is_moving)
{
    if (is_idle(s, i)) {
        return 0.0f;
    }
    const int32_t near = s->in->walls->of[i];
    const float wall = near >= 0 && !is_moving && !s->in->is_shift ? s->in->walls->gradient[near][3] : 0.0f;
    return wadi_sph_compression(s->in, s->velocity, i) + wall -
           s->in->smooth[s->in->is_sand[i]] * s->rough[i];
}

/* What the steps of the particles of a block begin with and add to the sums. */
typedef struct Steps {
    float from[BLOCK], residual[BLOCK]; /* P, and R there */
    float change[BLOCK];                /* of P, over the diagonal's inverse */
    float since[BLOCK];                 /* change of P since the last step */
} Steps;

/* Projected gradient steps of `count` particles from i on. Returns the sum of |change|; the partials of the
 * block get what decides on a restart. In a loop of its own: particles need not wait for each other's
 * quotients. */
static double take_steps(const Solve *s, int64_t i, int count, Steps *steps)
{
    const float *inverse = s->in->inverse + i;
    float *pressure = s->pressure + i, *last = s->last + i;
    double moved = 0.0, back = 0.0;
    for (int n = 0; n < count; ++n) {
        const float p = steps->from[n] + s->step * inverse[n] * steps->residual[n];
        const float now = p > 0.0f ? p : 0.0f, before = pressure[n];
        steps->change[n] = (now - steps->from[n]) / inverse[n];
        steps->since[n] = now - before;
        last[n] = before;
        pressure[n] = now;
    }
    for (int n = 0; n < count; ++n) {
        moved += fabs((double)steps->change[n]);
        back -= (double)steps->change[n] * (double)steps->since[n];
    }
    s->partials[i / BLOCK] = back;
    return moved;
}

static double step_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    Steps steps;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        steps.from[i - first] = wadi_sph_number(s->in->pairs, i);
        steps.residual[i - first] = residual_of(s, i, true) - s->in->source[i];
    }
    return take_steps(s, first, (int)(end - first), &steps);
}

static void extrapolate_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        wadi_sph_set_number(s->in->pairs, i, s->pressure[i] + s->momentum * (s->pressure[i] - s->last[i]));
    }
}

/* R of the pressure, and the part of it that is wrong: 0 where it may be negative. */
static void residual_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const float r = residual_of(s, i, true) - s->in->source[i];
        s->last[i] = r;
        s->residual[i] = s->pressure[i] > 0.0f || r > 0.0f ? r : 0.0f;
    }
}

/* The same where pressure and velocities are 0. */
static void first_residual_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        s->last[i] = -s->in->source[i];
        s->residual[i] = s->last[i] > 0.0f ? s->last[i] : 0.0f;
    }
}

/* The operator is symmetric where particles count by their volume. */
static inline double weight_of(const WadiSphPressureIn *in, int32_t i)
{
    return in->pairs->size != NULL ? (double)in->volume[i] : 1.0;
}

/* Change of R by the correction, in `residual`. Returns change . A change; the partials get change .
 * residual. */
static double energy_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    double energy = 0.0, gain = 0.0;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const float r = residual_of(s, i, false);
        const double change = weight_of(s->in, i) * (double)s->change[i];
        energy -= (double)r * change;
        gain += (double)s->residual[i] * change;
        s->residual[i] = r;
    }
    s->partials[first / BLOCK] = gain;
    return energy;
}

/* The corrected pressure, and a gradient step from there: R is linear, but for what was cut off at 0. */
static double corrected_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    Steps steps;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const float p = s->pressure[i] + s->length * s->change[i];
        s->pressure[i] = steps.from[i - first] = p > 0.0f ? p : 0.0f;
        steps.residual[i - first] = s->last[i] + s->length * s->residual[i];
    }
    return take_steps(s, first, (int)(end - first), &steps);
}

static double sum_partials(const Solve *s)
{
    double sum = 0.0;
    const int64_t blocks = wadi_parallel_block_count(s->in->pairs->count, BLOCK);
    for (int64_t b = 0; b < blocks; ++b) {
        sum += s->partials[b];
    }
    return sum;
}

/* A correction on the coarse grid, as long as it lowers the energy most, and a gradient step. Twice the cost
 * of such a step alone. Returns the same as step_block. */
static WadiStatus correct(Solve *s, double *moved, WadiArena *arena, WadiError *error)
{
    const int32_t count = s->in->pairs->count;
    const int64_t blocks = wadi_parallel_block_count(count, BLOCK);
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(WADI_ARENA_NEW(arena, &s->residual, (size_t)count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->change, (size_t)count, "pressure", error));
    if (s->is_zero) {
        wadi_parallel_for(count, BLOCK, first_residual_block, s);
    } else {
        push_all(s);
        wadi_parallel_for(count, BLOCK, residual_block, s);
    }
    WADI_TRY(wadi_sph_coarse_solve(s->in->coarse, s->in->pairs->place, s->residual, s->change, arena, error));
    for (int32_t i = 0; i < count; ++i) {
        wadi_sph_set_number(s->in->pairs, i, s->change[i]);
    }
    const WadiF4 *wanted = s->wanted;
    s->wanted = NULL; /* velocities by the correction alone */
    wadi_parallel_for(count, BLOCK, push_block, s);
    s->wanted = wanted;
    const double energy = wadi_parallel_sum(count, BLOCK, energy_block, s, s->partials + blocks);
    const double gain = sum_partials(s);
    s->length = energy > 0.0 && gain > 0.0 ? (float)fmin(gain / energy, LONGEST) : 0.0f;
    *moved = wadi_parallel_sum(count, BLOCK, corrected_block, s, s->partials + blocks);
    s->is_zero = false;
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

static WadiStatus begin(Solve *s, WadiArena *arena, WadiError *error)
{
    const size_t count = (size_t)s->in->pairs->count;
    const size_t blocks = (size_t)wadi_parallel_block_count(s->in->pairs->count, BLOCK);
    s->wanted = s->in->wanted;
    s->rough = s->in->rough;
    s->is_pushed = s->wanted != NULL;
    if (!s->in->is_shift && s->wanted == NULL) {
        WadiF4 *wanted = NULL;
        WADI_TRY(WADI_ARENA_NEW(arena, &wanted, count, "pressure", error));
        memcpy(wanted, s->velocity, count * sizeof *wanted);
        s->wanted = wanted;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &s->last, count, "pressure", error));
    if (s->rough == NULL) {
        WADI_TRY(WADI_ARENA_NEW(arena, &s->rough, count, "pressure", error));
    }
    return WADI_ARENA_NEW(arena, &s->partials, 2 * blocks, "pressure", error);
}

WadiStatus wadi_sph_pressure_solve(WadiF4 *velocity, float *pressure, const WadiSphPressureIn *in,
                                   WadiSphPressureReport *report, WadiArena *arena, WadiError *error)
{
    const int32_t count = in->pairs->count;
    const int64_t blocks = wadi_parallel_block_count(count, BLOCK);
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Solve s = { .in = in,
                .velocity = velocity,
                .pressure = pressure,
                .step = (float)(1.0 / in->largest),
                .is_zero = in->is_shift };
    WADI_TRY(begin(&s, arena, error));
    memcpy(s.last, pressure, (size_t)count * sizeof(float));
    wadi_parallel_for(count, BLOCK, extrapolate_block, &s);
    *report = (WadiSphPressureReport){ 0 };
    double t = 1.0;
    while (report->iterations < in->max_iterations) {
        double moved;
        if (in->coarse != NULL && report->iterations % CORRECTION_EVERY == 0) {
            s.momentum = 0.0f;
            wadi_parallel_for(count, BLOCK, extrapolate_block, &s);
            WADI_TRY(correct(&s, &moved, arena, error));
            t = report->iterations == 0 ? AFTER_FIRST : AFTER_OTHERS;
        } else {
            push_all(&s);
            moved = wadi_parallel_sum(count, BLOCK, step_block, &s, s.partials + blocks);
        }
        report->iterations += 1;
        report->residual = moved * in->largest / fmax(1.0, count);
        report->first = report->iterations == 1 ? report->residual : report->first;
        const bool is_back = sum_partials(&s) > 0.0, is_done = report->residual <= in->tolerance;
        const double next = is_back ? 1.0 : 0.5 * (1.0 + sqrt(1.0 + 4.0 * t * t));
        s.momentum = is_back || is_done ? 0.0f : (float)((t - 1.0) / next);
        t = next;
        wadi_parallel_for(count, BLOCK, extrapolate_block, &s);
        if (is_done) {
            break;
        }
    }
    report->has_diverged = report->residual > in->tolerance && report->residual > 2.0 * report->first;
    if (report->has_diverged && s.wanted != NULL) {
        memcpy(velocity, s.wanted, (size_t)count * sizeof *velocity);
    } else {
        s.momentum = 0.0f;
        wadi_parallel_for(count, BLOCK, extrapolate_block, &s);
        push_all(&s);
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

static void apply_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        WadiF4 push = { 0 };
        const float rough = is_idle(s, i) ? 0.0f : wadi_sph_push(s->in, i, &push);
        s->velocity[i] -= push * s->in->lightness[i];
        if (s->in->rough != NULL) {
            s->in->rough[i] = rough;
        }
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
        const float r = residual_of(s, i, false);
        s->last[i] = -r * s->in->inverse[i];
        sum += (double)s->last[i] * (double)s->last[i];
    }
    return sum;
}

static void invert_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        s->last[i] = is_idle(s, i) ? 1.0f : 1.0f / fmaxf(wadi_sph_diagonal(s->in, i), LEAST_DIAGONAL);
    }
}

void wadi_sph_pressure_invert(float *inverse, const WadiSphPressureIn *in)
{
    Solve s = { .in = in, .last = inverse };
    for (int32_t i = 0; i < in->pairs->count; ++i) {
        wadi_sph_set_number(in->pairs, i, in->lightness[i] / (in->volume != NULL ? in->volume[i] : 1.0f));
    }
    wadi_parallel_for(in->pairs->count, BLOCK, invert_block, &s);
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
