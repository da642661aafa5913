/* Projected gradient with Nesterov's acceleration, restarted where it would go back. */
#include "sph/friction/sph_friction.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "math/minmax.h"
#include "math/nesterov.h"
#include "sph/friction/sph_friction_pairs.h"

enum { BLOCK = 512, STRIP = 64 };
enum { MIN_ITERATIONS = 2 }; /* with 1 a pile of sand drifts thirty times as fast */

/* A residual that exceeds the first one by this factor shows that the eigenvalue is too small. It is then
 * raised by it, and so is the residual that raises it again. Over the least one a residual may grow by more:
 * that of an accelerated method is not monotone. */
static const double GROWTH = 1.5;

/* m/s: no stress is larger; a divisor that is not 0. */
static const float LARGE = 1e30f, SMALL = 1e-30f;

typedef struct Solve {
    const WadiSphFrictionIn *in;
    const WadiF4 *v_star;
    WadiF4 *velocity;
    const WadiSphFriction *friction;
    float step; /* 1 / eigenvalue */
    float momentum;
    double *partials;
} Solve;

static inline float dot3(const WadiF4 *a, const WadiF4 *b)
{
    const WadiF4 product = *a * *b;
    return product[0] + product[1] + product[2];
}

/* Step of tractions over that of stresses. With equal steps the contacts of corners, whose eigenvalue is
 * 2.4 against 0.9 inside of sand, would set the step of all. */
static inline float traction_step(const WadiSphWalls *walls, int32_t near)
{
    return 1.0f / (3.0f * (float)walls->contact_count[near]);
}

/* The operator of a stress falls with the square of the size; so its step grows. */
static inline float stress_step(const WadiSphFrictionIn *in, int32_t i)
{
    const float size = wadi_sph_size(in->pairs, i);
    return size * size;
}

/* Sand whose stress and velocity may change. */
static inline bool takes_part(const WadiSphFrictionIn *in, int32_t i)
{
    return in->is_sand[i] && in->role[i] == WADI_SPH_ACTIVE;
}

/* Sand without pressure and cohesion has no stress. */
static inline bool can_carry(const WadiSphFrictionIn *in, int32_t i)
{
    return takes_part(in, i) && in->bound[i] > 0.0f;
}

static void push_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        if (takes_part(s->in, i)) {
            WadiF4 push;
            wadi_sph_friction_push(s->in, s->friction, i, &push);
            s->velocity[i] = push * s->in->inverse_density[i] + s->v_star[i];
        }
    }
}

/* What the projected steps add to the sums: |now - at|^2, and (at - now) . (now - before). */
typedef struct Progress {
    double moved, back;
} Progress;

/* Of particles side by side: the unknowns and D, what bounds and scales the steps, and what they add to the
 * sums. */
typedef struct Strip {
    float now[WADI_SPH_STRESSES][STRIP], strain[WADI_SPH_STRESSES][STRIP];
    float mean[STRIP], rate[STRIP], room[STRIP], slope[STRIP]; /* s, and its largest value */
    float bound[STRIP], share[STRIP];
    float moved[STRIP], back[STRIP];
} Strip;

/* Those that take no part stay: no strain, no bound. Sand without bonds has no isotropic stress: its slope
 * and room are 0, and its rate is. */
static void load_strip(const Solve *s, int32_t first, int count, Strip *t)
{
    for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
        memcpy(t->now[c], s->friction->stress[c] + first, (size_t)count * sizeof(float));
    }
    memcpy(t->mean, s->friction->mean + first, (size_t)count * sizeof(float));
    for (int n = 0; n < count; ++n) {
        const int32_t i = first + n;
        WadiSphStrain d = { 0 };
        if (can_carry(s->in, i)) {
            wadi_sph_friction_strain_of(s->in, s->velocity, i, &d);
            const int32_t near = wadi_sph_near(s->in->walls, i);
            d.rate += s->in->chord[i].rate + (near >= 0 ? s->in->walls->gradient[near][3] : 0.0f);
            for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
                d.strain[c] += s->in->chord[i].strain[c];
            }
        }
        for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
            t->strain[c][n] = d.strain[c];
        }
        const bool is_bonded = can_carry(s->in, i) && s->in->tension[i] > 0.0f;
        t->rate[n] = is_bonded ? d.rate : 0.0f;
        t->room[n] = is_bonded ? wadi_maxf(s->in->pressure[i] + s->in->lift[i], 0.0f) : 0.0f;
        t->slope[n] = is_bonded ? s->in->slope[i] : 0.0f;
        t->bound[n] = takes_part(s->in, i) ? wadi_minf(s->in->bound[i], LARGE) : LARGE;
        t->share[n] = stress_step(s->in, i);
    }
}

/* A : B of eight tensors, with zz = -xx - yy. */
static inline __attribute__((always_inline)) void product(const WadiF8 a[WADI_SPH_STRESSES],
                                                          const WadiF8 b[WADI_SPH_STRESSES], WadiF8 *out)
{
    *out = 2.0f * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4]) +
           (a[0] * b[1] + a[1] * b[0]);
}

static inline __attribute__((always_inline)) void find_roots(const WadiF8 *square, WadiF8 *root)
{
#ifdef __AVX__
    *root = (WadiF8)_mm256_sqrt_ps((__m256)*square);
#else
    for (int l = 0; l < WADI_SPH_LANES; ++l) {
        (*root)[l] = sqrtf((*square)[l]);
    }
#endif
}

/* Projected gradient steps of the particles n .. n + 7 of a strip, i the first of them. Eight at a time, and
 * without branches: half of the sand that moves is at its bound. */
static inline __attribute__((always_inline)) void step_eight(const Solve *s, int32_t i, int n, Strip *t)
{
    static const uint32_t offset[WADI_SPH_LANES] = { 0, 16, 32, 48, 64, 80, 96, 112 };
    const WadiF8 share = *(const WadiF8 *)(t->share + n);
    WadiF8 at[WADI_SPH_STRESSES], to[WADI_SPH_STRESSES], moved[WADI_SPH_STRESSES], since[WADI_SPH_STRESSES];
    WadiF8 square, size;
    WadiF8 *mean_at = (WadiF8 *)(s->friction->mean_at + i), *mean = (WadiF8 *)(t->mean + n);
    const WadiF8 mean_to = WADI_MIN8(*mean_at + s->step * (1.0f / 3.0f) * share * *(WadiF8 *)(t->rate + n),
                                     *(WadiF8 *)(t->room + n));
    const WadiF8 mean_moved = mean_to - *mean_at, mean_since = mean_to - *mean;
    const WadiF8 lowered = *(WadiF8 *)(t->bound + n) - *(WadiF8 *)(t->slope + n) * mean_to;
    const WadiF8 bound = WADI_MAX8(lowered, (WadiF8){ 0 });
    wadi_sph_load_rows(s->friction->row + i, offset, (WadiU8 *)at);
    at[4] = *(const WadiF8 *)(s->friction->last + i);
    for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
        to[c] = at[c] + s->step * share * *(const WadiF8 *)(t->strain[c] + n);
    }
    product(to, to, &square);
    square *= 0.5f;
    find_roots(&square, &size);
    size = WADI_MAX8(size, bound);
    const WadiF8 scale = bound / WADI_MAX8(size, (WadiF8){ 0 } + SMALL); /* 1 within the bound */
    for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
        WadiF8 *now = (WadiF8 *)(t->now[c] + n);
        to[c] *= scale;
        moved[c] = to[c] - at[c];
        since[c] = to[c] - *now;
        *now = to[c];
        at[c] = to[c] + s->momentum * since[c];
    }
    *mean = mean_to;
    *mean_at = mean_to + s->momentum * mean_since;
    product(moved, moved, &square);
    square += 3.0f * mean_moved * mean_moved;
    find_roots(&square, &size);
    *(WadiF8 *)(t->moved + n) = size / share;
    product(moved, since, &square);
    square += 3.0f * mean_moved * mean_since;
    *(WadiF8 *)(t->back + n) = square / share;
    wadi_sph_store_rows(s->friction->row + i, at);
    *(WadiF8 *)(s->friction->last + i) = at[4];
}

static void store_strip(const Solve *s, int32_t first, int count, const Strip *t, Progress *progress)
{
    for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
        memcpy(s->friction->stress[c] + first, t->now[c], (size_t)count * sizeof(float));
    }
    memcpy(s->friction->mean + first, t->mean, (size_t)count * sizeof(float));
    for (int n = 0; n < count; ++n) {
        progress->moved += (double)t->moved[n];
        progress->back -= (double)t->back[n];
    }
}

static void step_traction(const Solve *s, int32_t i, int32_t near, Progress *progress)
{
    const WadiSphWalls *walls = s->in->walls;
    const size_t first = wadi_sph_first_contact(walls, near);
    WadiF4 *all_at = s->friction->traction_at + first, *all_now = s->friction->traction + first;
    for (int c = 0; c < walls->contact_count[near]; ++c) {
        const WadiSphContact *contact = &walls->contact[near][c];
        const WadiF4 at = all_at[c], before = all_now[c];
        const WadiF4 n = { contact->normal[0], contact->normal[1], contact->normal[2], 0.0f };
        const WadiF4 slip = s->velocity[i] - contact->velocity;
        const float share = traction_step(walls, near);
        WadiF4 to = at - s->step * share * (slip - n * dot3(&slip, &n));
        to -= n * dot3(&to, &n); /* the guess is of another step */
        to[3] = 0.0f;
        const float size = sqrtf(dot3(&to, &to));
        const float bound = contact->friction * wadi_maxf(s->in->pressure[i], 0.0f) * -contact->velocity[3];
        if (size > bound) {
            to *= bound / size;
        }
        const WadiF4 moved = to - at, since = to - before;
        progress->moved += sqrt((double)dot3(&moved, &moved)) / (double)share;
        progress->back -= (double)dot3(&moved, &since) / (double)share;
        all_now[c] = to;
        all_at[c] = to + s->momentum * since;
    }
}

static double step_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    Strip strip = { 0 };
    Progress progress = { 0 };
    for (int32_t i = (int32_t)first; i < end; i += STRIP) {
        const int count = end - i < STRIP ? (int)(end - i) : STRIP;
        load_strip(s, i, count, &strip);
        for (int n = 0; n < count; n += WADI_SPH_LANES) {
            step_eight(s, i + n, n, &strip);
        }
        store_strip(s, i, count, &strip, &progress);
    }
    for (int32_t i = (int32_t)first; i < end; ++i) {
        int32_t near;
        if (takes_part(s->in, i) && wadi_sph_has_traction(s->in, i, &near)) {
            step_traction(s, i, near, &progress);
        }
    }
    s->partials[first / BLOCK] = progress.back;
    return progress.moved;
}

/* What forces read of the stresses. */
static void torque_free_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    const WadiSphFriction *f = s->friction;
    for (int64_t i = first; i < end; ++i) {
        WadiF4 force[3];
        wadi_sph_torque_free(&s->in->moment[i], f->row[i], f->last[i], f->mean_at[i], force);
        for (int c = 0; c < 3; ++c) {
            f->force[c][i] = force[c];
        }
    }
}

/* Velocities by the forces where the gradient is taken. */
static void push_all(Solve *s)
{
    wadi_parallel_for(s->in->pairs->count, BLOCK, torque_free_block, s);
    wadi_parallel_for(s->in->pairs->count, BLOCK, push_block, s);
}

static void stop_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    const WadiSphFriction *f = s->friction;
    for (int64_t i = first; i < end; ++i) {
        f->row[i] = (WadiF4){ f->stress[0][i], f->stress[1][i], f->stress[2][i], f->stress[3][i] };
        f->last[i] = f->stress[4][i];
        f->mean_at[i] = f->mean[i];
    }
}

/* The gradient is taken at the unknowns: no momentum. */
static void stop(Solve *s)
{
    wadi_parallel_for(s->in->pairs->count, BLOCK, stop_block, s);
    memcpy(s->friction->traction_at, s->friction->traction,
           wadi_sph_contacts(s->in->walls) * sizeof *s->friction->traction);
}

WadiStatus wadi_sph_friction_create(WadiSphFriction *friction, const WadiSphPairs *pairs,
                                    const WadiSphWalls *walls, WadiArena *arena, WadiError *error)
{
    const size_t count = (size_t)pairs->count, contacts = wadi_sph_contacts(walls);
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &friction->row, count + WADI_SPH_LANES, "friction", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &friction->last, count + WADI_SPH_LANES, "friction", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &friction->mean, count + WADI_SPH_LANES, "friction", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &friction->mean_at, count + WADI_SPH_LANES, "friction", error));
    for (int c = 0; c < 3; ++c) {
        WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &friction->force[c], count, "friction", error));
    }
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &friction->traction, contacts, "friction", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &friction->traction_at, contacts, "friction", error));
    memset(friction->row + count, 0, WADI_SPH_LANES * sizeof *friction->row);
    memset(friction->last + count, 0, WADI_SPH_LANES * sizeof *friction->last);
    memset(friction->mean, 0, (count + WADI_SPH_LANES) * sizeof *friction->mean);
    memset(friction->mean_at, 0, (count + WADI_SPH_LANES) * sizeof *friction->mean_at);
    memset(friction->traction, 0, contacts * sizeof *friction->traction);
    return WADI_OK;
}

static WadiStatus begin(Solve *s, WadiArena *arena, WadiError *error)
{
    const size_t blocks = (size_t)wadi_parallel_block_count(s->in->pairs->count, BLOCK);
    return WADI_ARENA_NEW(arena, &s->partials, 2 * blocks, "friction", error);
}

void wadi_sph_friction_apply(WadiF4 *to, const WadiF4 *from, const WadiSphFriction *friction,
                             const WadiSphFrictionIn *in)
{
    Solve s = { .in = in, .v_star = from, .velocity = to, .friction = friction };
    if (to != from) {
        memcpy(to, from, (size_t)in->pairs->count * sizeof *to);
    }
    stop(&s);
    push_all(&s);
}

/* A projected gradient step of all unknowns; *back > 0: the extrapolation increased the energy. */
static double take_step(Solve *s, double *back)
{
    const int32_t count = s->in->pairs->count;
    const int64_t blocks = wadi_parallel_block_count(count, BLOCK);
    const double moved = wadi_parallel_sum(count, BLOCK, step_block, s, s->partials + blocks);
    *back = 0.0;
    for (int64_t b = 0; b < blocks; ++b) {
        *back += s->partials[b];
    }
    return moved;
}

static int32_t count_loaded(const WadiSphFrictionIn *in)
{
    int32_t loaded = 0;
    for (int32_t i = 0; i < in->pairs->count; ++i) {
        loaded += in->is_sand[i] && in->bound[i] > 0.0f;
    }
    return loaded;
}

WadiStatus wadi_sph_friction_solve(WadiF4 *velocity, const WadiF4 *v_star, const WadiSphFriction *friction,
                                   const WadiSphFrictionIn *in, WadiSphFrictionReport *report,
                                   WadiArena *arena, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Solve s = { .in = in, .v_star = v_star, .velocity = velocity, .friction = friction };
    WADI_TRY(begin(&s, arena, error));
    *report = (WadiSphFrictionReport){ .largest = in->largest };
    const double loaded = fmax(1.0, count_loaded(in));
    double t = WADI_NESTEROV_WARM, limit = INFINITY;
    bool is_done = false;
    stop(&s);
    while (report->iterations < in->max_iterations && !is_done) {
        if (report->iterations > 0) {
            push_all(&s);
        }
        double back;
        s.step = (float)(1.0 / report->largest);
        s.momentum = (float)wadi_nesterov_momentum(&t);
        const double residual = take_step(&s, &back) * report->largest / loaded;
        limit = report->iterations == 0 ? GROWTH * fmax(residual, in->tolerance) : limit;
        const bool has_grown = residual > limit;
        limit *= has_grown ? GROWTH : 1.0;
        report->residual = residual;
        report->largest *= has_grown ? GROWTH : 1.0;
        report->iterations += 1;
        is_done = residual <= in->tolerance && report->iterations >= MIN_ITERATIONS;
        if (has_grown || back > 0.0) {
            t = 1.0;
            stop(&s);
        }
    }
    stop(&s);
    push_all(&s);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

/* The operator, from rows and tractions where the gradient is taken to these, and the square of the result.
 */
static double square_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    const WadiSphWalls *walls = s->in->walls;
    double sum = 0.0;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        int32_t near;
        WadiSphStrain d = { 0 };
        if (takes_part(s->in, i)) {
            const float *t = d.strain;
            const float root = -wadi_sph_size(s->in->pairs, i);
            wadi_sph_friction_strain_of(s->in, s->velocity, i, &d);
            const float mean = s->in->tension[i] > 0.0f ? d.rate * (1.0f / 3.0f) * root : 0.0f;
            s->friction->row[i] = (WadiF4){ t[0], t[1], t[2], t[3] } * root;
            s->friction->last[i] = t[4] * root;
            s->friction->mean_at[i] = mean;
            sum += (double)(wadi_sph_stress_square(t) * root * root + 3.0f * mean * mean);
        }
        for (int c = 0; wadi_sph_has_traction(s->in, i, &near) && c < walls->contact_count[near]; ++c) {
            const WadiF4 *n = &walls->contact[near][c].normal;
            const WadiF4 v = s->velocity[i];
            WadiF4 along = v - *n * dot3(&v, n);
            along[3] = 0.0f;
            along *= sqrtf(traction_step(walls, near));
            s->friction->traction_at[wadi_sph_first_contact(walls, near) + (size_t)c] = along;
            sum += (double)dot3(&along, &along);
        }
    }
    return sum;
}

/* The result times a factor. */
static void scale(const Solve *s, float factor)
{
    for (int32_t i = 0; i < s->in->pairs->count; ++i) {
        const float root = wadi_sph_size(s->in->pairs, i);
        s->friction->row[i] *= factor * root;
        s->friction->last[i] *= factor * root;
        s->friction->mean_at[i] *= factor * root;
    }
    for (int32_t near = 0; near < s->in->walls->count; ++near) {
        const float root = sqrtf(traction_step(s->in->walls, near));
        const size_t first = wadi_sph_first_contact(s->in->walls, near);
        for (int c = 0; c < s->in->walls->contact_count[near]; ++c) {
            s->friction->traction_at[first + (size_t)c] *= factor * root;
        }
    }
}

static float noise(uint32_t *state)
{
    *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
    return (float)(*state >> 8) / 16777216.0f - 0.5f;
}

WadiStatus wadi_sph_friction_largest(const WadiSphFrictionIn *in, int iterations, double *largest,
                                     WadiArena *arena, WadiError *error)
{
    const int32_t count = in->pairs->count;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const size_t contacts = wadi_sph_contacts(in->walls);
    WadiSphFriction friction;
    WadiF4 *zero = NULL;
    Solve s = { .in = in, .friction = &friction };
    WADI_TRY(WADI_ARENA_NEW(arena, &zero, (size_t)count, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s.velocity, (size_t)count, "friction", error));
    memset(zero, 0, (size_t)count * sizeof *zero);
    memset(s.velocity, 0, (size_t)count * sizeof *s.velocity);
    s.v_star = zero;
    WADI_TRY(begin(&s, arena, error));
    WADI_TRY(wadi_sph_friction_create(&friction, in->pairs, in->walls, arena, error));
    memset(friction.traction_at, 0, contacts * sizeof *friction.traction_at);
    uint32_t state = 1;
    for (int32_t i = 0; i < count; ++i) {
        const float size = takes_part(in, i) ? 1.0f : 0.0f;
        friction.row[i] = (WadiF4){ noise(&state), noise(&state), noise(&state), noise(&state) } * size;
        friction.last[i] = noise(&state) * size;
    }
    double norm = 0.0;
    for (int n = 0; n < iterations; ++n) {
        push_all(&s);
        norm = sqrt(wadi_parallel_sum(count, BLOCK, square_block, &s, s.partials));
        scale(&s, norm > 0.0 ? (float)(1.0 / norm) : 0.0f);
    }
    *largest = fmax(norm, 1e-3);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
