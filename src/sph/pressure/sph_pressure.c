/* Conjugate directions under P >= -T, preconditioned by the diagonal and the coarse grid. [theory 11.4] */
#include "sph/pressure/sph_pressure.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/pressure/sph_operator.h"

enum { BLOCK = 512 };
enum { CORRECTION_EVERY = 2 }; /* iterations: the coarse grid costs as much as one */

static const float LEAST_DIAGONAL = 1e-3f; /* of particles with hardly a neighbour; a lattice's is 0.3 */
/* Sizes: of a particle between two walls that face each other and are nearer than this no pressure helps. One
 * that tried would grow without bound and blow up the rest. */
static const float NARROWEST = 0.4f;
/* A direction may make pressures negative. From this part of the residual on, and after a direction shorter
 * than this, the next one is a plain projected gradient, which ends with none below 0. */
static const double PLAIN = 0.2;

/* Of the tolerance: where R is below that, and there is no pressure, particles part. Water that falls has an
 * R of 0 but for rounding, and gets its pressure by that of its neighbours. */
static const double PARTING = -0.1;

typedef struct Solve {
    const WadiSphPressureIn *in;
    float *pressure;
    float *residual;   /* R of the pressure */
    uint8_t *is_free;  /* per particle: has a pressure or may get one by that of its neighbours */
    float *direction;  /* change of P */
    float *response;   /* and its change of R */
    WadiF4 *velocity;  /* of the numbers: guess, direction or result */
    float *laplacian;  /* of the same numbers */
    float *correction; /* of the direction, by the coarse grid */
    bool has_v_star;   /* velocities have v*, else forces alone */
    float step;        /* of a projected gradient: 1 / eigenvalue */
    float parting;     /* from this R on particles without a pressure are free */
    float length;      /* of the direction */
    float turn;        /* part of the last direction in the next one */
    bool has_coarse;   /* the next direction has a correction on the coarse grid */
    double *partials;
} Solve;

static inline bool is_idle(const Solve *s, int32_t i)
{
    return s->in->is_idle[i] != 0;
}

static void push_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        WadiF4 push = { 0 };
        s->laplacian[i] = is_idle(s, i) ? 0.0f : wadi_sph_push(s->in, i, &push);
        push *= -s->in->inverse_density[i];
        if (s->has_v_star) {
            push += s->in->v_star[i];
        }
        s->velocity[i] = push;
    }
}

/* Whether a pressure of particle i does anything. */
static inline bool can_press(const Solve *s, int32_t i)
{
    return s->in->inverse[i] > 0.0f && !is_idle(s, i);
}

/* Velocities by the forces of the numbers, with v* or without. */
static void push_all(Solve *s, bool has_v_star)
{
    s->has_v_star = has_v_star;
    wadi_parallel_for(s->in->pairs->count, BLOCK, push_block, s);
}

/* R of the numbers, whose velocities are known, without the source; with the velocity of walls or without. */
static inline __attribute__((always_inline)) float residual_of(const Solve *s, int32_t i, bool is_moving)
{
    if (is_idle(s, i)) {
        return 0.0f;
    }
    const int32_t near = wadi_sph_near(s->in->walls, i);
    const float wall = near >= 0 && !is_moving && !s->in->is_shift ? s->in->walls->gradient[near][3] : 0.0f;
    return wadi_sph_compression(s->in, s->velocity, i) + wall -
           s->in->smooth[s->in->is_sand[i]] * s->laplacian[i];
}

static void residual_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        s->residual[i] = is_idle(s, i) ? 0.0f : residual_of(s, i, true) - s->in->source[i];
    }
}

static inline float least_of(const Solve *s, int32_t i)
{
    return s->in->inverse[i] > 0.0f ? -s->in->tension[i] : 0.0f;
}

/* The change of P by a projected gradient step of this length. */
static inline float step_of(const Solve *s, int32_t i, float length)
{
    const float p = s->pressure[i] + length * s->in->inverse[i] * s->residual[i], least = least_of(s, i);
    return (p > least ? p : least) - s->pressure[i];
}

/* Follows the direction, and finds what is free then. Returns the sum of what is wrong in R; the partials of
 * the block get the part of it that negative pressures have. */
static double advance_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    const float length = s->length;
    double wrong = 0.0, negative = 0.0;
    for (int32_t i = (int32_t)first; i < end && length > 0.0f; ++i) {
        s->pressure[i] += length * s->direction[i];
        s->residual[i] += length * s->response[i];
    }
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const float p = s->pressure[i], inverse = s->in->inverse[i], change = s->step * s->residual[i];
        const float above = p - least_of(s, i);
        const bool is_pressed = above + change * inverse > 0.0f, is_counted = can_press(s, i);
        s->is_free[i] = is_counted && (is_pressed || s->residual[i] > s->parting);
        if (is_counted && is_pressed) {
            wrong += fabs((double)change);
        } else if (is_counted && above != 0.0f) {
            wrong += fabs((double)(above / inverse));
        }
        if (above < 0.0f) {
            negative -= (double)(above / inverse);
        }
    }
    s->partials[first / BLOCK] = negative;
    return wrong;
}

/* The operator is symmetric where particles count by their volume. */
static inline double weight_of(const WadiSphPressureIn *in, int32_t i)
{
    return in->pairs->has_sizes ? (double)in->volume[i] : 1.0;
}

/* The gradient over its diagonal, with the correction. */
static inline float gradient_of(const Solve *s, int32_t i)
{
    return is_idle(s, i) ? 0.0f : step_of(s, i, 1.0f) + (s->has_coarse ? s->correction[i] : 0.0f);
}

/* The product of the gradient with the response to the last direction. */
static double turn_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    double sum = 0.0;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        sum += weight_of(s->in, i) * (double)gradient_of(s, i) * (double)s->response[i];
    }
    return sum;
}

static void direct_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const float last = s->is_free[i] != 0 && s->turn != 0.0f ? s->turn * s->direction[i] : 0.0f;
        s->direction[i] = gradient_of(s, i) + last;
        wadi_sph_set_number(s->in->pairs, i, s->direction[i]);
    }
}

/* A plain projected gradient step as the direction. */
static void step_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        s->direction[i] = is_idle(s, i) ? 0.0f : step_of(s, i, s->step);
        wadi_sph_set_number(s->in->pairs, i, s->direction[i]);
    }
}

static void finish_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        s->pressure[i] += is_idle(s, i) ? 0.0f : step_of(s, i, s->step);
        wadi_sph_set_number(s->in->pairs, i, s->pressure[i]);
    }
}

/* The response to the direction. Returns direction . A direction; the partials get direction . R. */
static double respond_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    double energy = 0.0, gain = 0.0;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const float r = residual_of(s, i, false);
        const double along = weight_of(s->in, i) * (double)s->direction[i];
        s->response[i] = r;
        energy -= (double)r * along;
        gain += (double)s->residual[i] * along;
    }
    s->partials[first / BLOCK] = gain;
    return energy;
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

static WadiStatus begin(Solve *s, WadiArena *arena, WadiError *error)
{
    const size_t count = (size_t)s->in->pairs->count;
    const size_t blocks = (size_t)wadi_parallel_block_count(s->in->pairs->count, BLOCK);
    WADI_TRY(WADI_ARENA_NEW(arena, &s->residual, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->is_free, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->direction, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->response, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->correction, count, "pressure", error));
    return WADI_ARENA_NEW(arena, &s->partials, 2 * blocks, "pressure", error);
}

typedef struct Numbers {
    const WadiSphPairs *pairs;
    const float *value;
} Numbers;

static void number_block(void *context, int64_t first, int64_t end)
{
    const Numbers *numbers = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        wadi_sph_set_number(numbers->pairs, i, numbers->value[i]);
    }
}

static void set_numbers(const WadiSphPairs *pairs, const float *value)
{
    wadi_parallel_for(pairs->count, BLOCK, number_block, &(Numbers){ pairs, value });
}

/* What walls squeeze has no pressure any more. */
static void release_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int64_t i = first; i < end; ++i) {
        s->pressure[i] = s->in->inverse[i] > 0.0f ? fmaxf(s->pressure[i], -s->in->tension[i]) : 0.0f;
    }
}

/* The next direction, with velocities and response, and its length: a plain one has 1, another the one with
 * the least energy. `energy`: direction . A direction of the last one, then of this one. */
static WadiStatus find_direction(Solve *s, bool is_plain, double *energy, WadiArena *arena, WadiError *error)
{
    const WadiSphPressureIn *in = s->in;
    const int32_t count = in->pairs->count;
    const int64_t blocks = wadi_parallel_block_count(count, BLOCK);
    if (is_plain) {
        wadi_parallel_for(count, BLOCK, step_block, s);
    } else {
        if (s->has_coarse) {
            WADI_TRY(wadi_sph_coarse_solve(in->coarse, in->pairs->place, s->residual, s->is_free,
                                           s->correction, arena, error));
        }
        s->turn = 0.0f;
        if (*energy > 0.0) {
            s->turn = (float)(wadi_parallel_sum(count, BLOCK, turn_block, s, s->partials) / *energy);
        }
        wadi_parallel_for(count, BLOCK, direct_block, s);
    }
    push_all(s, false);
    *energy = wadi_parallel_sum(count, BLOCK, respond_block, s, s->partials + blocks);
    const double gain = sum_partials(s);
    s->length = is_plain ? 1.0f : *energy > 0.0 && gain > 0.0 ? (float)(gain / *energy) : 0.0f;
    return WADI_OK;
}

WadiStatus wadi_sph_pressure_solve(WadiF4 *velocity, float *pressure, const WadiSphPressureIn *in,
                                   WadiSphPressureReport *report, WadiArena *arena, WadiError *error)
{
    const int32_t count = in->pairs->count;
    const int64_t blocks = wadi_parallel_block_count(count, BLOCK);
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Solve s = { .in = in,
                .pressure = pressure,
                .velocity = velocity,
                .laplacian = in->laplacian,
                .step = (float)(1.0 / in->largest),
                .parting = (float)(PARTING * in->tolerance) };
    WADI_TRY(begin(&s, arena, error));
    wadi_parallel_for(count, BLOCK, release_block, &s);
    wadi_parallel_for(count, BLOCK, residual_block, &s);
    *report = (WadiSphPressureReport){ 0 };
    bool is_plain = false;
    double energy = 0.0;
    for (;;) {
        const double wrong = wadi_parallel_sum(count, BLOCK, advance_block, &s, s.partials + blocks);
        const double before = report->residual;
        report->residual = wrong / ((double)s.step * fmax(1.0, count));
        const bool is_done = report->iterations > 0 && report->residual <= in->tolerance;
        if (is_done || report->iterations == in->max_iterations) {
            break;
        }
        if (is_plain && report->residual > before) {
            s.step *= 0.5f; /* the eigenvalue is too low */
        }
        is_plain = report->iterations > 0 && (sum_partials(&s) > PLAIN * wrong || (double)s.length < PLAIN);
        s.has_coarse = in->has_coarse && report->iterations % CORRECTION_EVERY == 0;
        WADI_TRY(find_direction(&s, is_plain, &energy, arena, error));
        report->iterations += 1;
    }
    wadi_parallel_for(count, BLOCK, finish_block, &s);
    push_all(&s, !in->is_shift);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

static void apply_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        WadiF4 push = { 0 };
        s->laplacian[i] = is_idle(s, i) ? 0.0f : wadi_sph_push(s->in, i, &push);
        s->velocity[i] -= push * s->in->inverse_density[i];
    }
}

void wadi_sph_pressure_apply(WadiF4 *velocity, const float *pressure, const WadiSphPressureIn *in)
{
    Solve s = { .in = in, .velocity = velocity, .laplacian = in->laplacian };
    set_numbers(in->pairs, pressure);
    wadi_parallel_for(in->pairs->count, BLOCK, apply_block, &s);
}

typedef struct Carry {
    Solve solve;
    WadiF4 fall;
    float *carried;
} Carry;

static void carry_block(void *context, int64_t first, int64_t end)
{
    const Carry *c = context;
    const Solve *s = &c->solve;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        WadiF4 push = { 0 };
        float laplacian = 0.0f, carried = 0.0f;
        if (!is_idle(s, i)) {
            laplacian = wadi_sph_push_and_carry(s->in, i, c->fall, true, &push, &carried);
        }
        s->velocity[i] -= push * s->in->inverse_density[i];
        s->laplacian[i] = laplacian;
        c->carried[i] = carried;
    }
}

void wadi_sph_pressure_apply_and_carry(WadiF4 *velocity, const float *pressure, WadiF4 fall, float *carried,
                                       const WadiSphPressureIn *in)
{
    Carry carry = { { .in = in, .velocity = velocity, .laplacian = in->laplacian }, fall, carried };
    set_numbers(in->pairs, pressure);
    wadi_parallel_for(in->pairs->count, BLOCK, carry_block, &carry);
}

static double square_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    double sum = 0.0;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const float r = residual_of(s, i, false);
        s->response[i] = -r * s->in->inverse[i];
        sum += (double)s->response[i] * (double)s->response[i];
    }
    return sum;
}

/* Whether two walls that face each other leave a particle hardly any room. */
static bool is_squeezed(const WadiSphPressureIn *in, int32_t i)
{
    const WadiSphWalls *walls = in->walls;
    const int32_t near = wadi_sph_near(walls, i);
    const int count = near >= 0 ? walls->contact_count[near] : 0;
    const float narrowest = NARROWEST * wadi_sph_size(in->pairs, i);
    for (int c = 1; c < count; ++c) {
        for (int o = 0; o < c; ++o) {
            const WadiF4 a = walls->contact[near][c].normal, b = walls->contact[near][o].normal;
            if (wadi_sph_face_each_other(a, b) && a[3] + b[3] < narrowest) {
                return true;
            }
        }
    }
    return false;
}

static void invert_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const float diagonal = is_idle(s, i) ? 1.0f : wadi_sph_diagonal(s->in, i);
        const bool is_fixed = !(s->in->inverse_density[i] > WADI_SPH_FIXED_INVERSE_DENSITY);
        s->response[i] = !is_fixed && is_squeezed(s->in, i) ? 0.0f : 1.0f / fmaxf(diagonal, LEAST_DIAGONAL);
    }
}

static void number_by_inverse_density(void *context, int64_t first, int64_t end)
{
    const WadiSphPressureIn *in = ((const Solve *)context)->in;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        wadi_sph_set_number(in->pairs, i, in->inverse_density[i] / in->volume[i]);
    }
}

void wadi_sph_pressure_invert(float *inverse, const WadiSphPressureIn *in)
{
    Solve s = { .in = in, .response = inverse };
    wadi_parallel_for(in->pairs->count, BLOCK, number_by_inverse_density, &s);
    wadi_parallel_for(in->pairs->count, BLOCK, invert_block, &s);
}

WadiStatus wadi_sph_pressure_largest(const WadiSphPressureIn *in, int iterations, double *largest,
                                     WadiArena *arena, WadiError *error)
{
    const int32_t count = in->pairs->count;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const size_t blocks = (size_t)wadi_parallel_block_count(count, BLOCK);
    Solve s = { .in = in };
    WADI_TRY(WADI_ARENA_NEW(arena, &s.velocity, (size_t)count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s.response, (size_t)count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s.laplacian, (size_t)count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s.partials, blocks, "pressure", error));
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
            wadi_sph_set_number(in->pairs, i, s.response[i] * scale);
        }
    }
    *largest = fmax(norm, 1e-3);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
