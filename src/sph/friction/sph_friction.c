/* Projected gradient with Nesterov's acceleration, restarted where it would go back. */
#include "sph/friction/sph_friction.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "math/minmax.h"
#include "sph/friction/sph_friction_pairs.h"

enum { BLOCK = 512, MIN_ITERATIONS = 2 };

/* A residual that grows by this factor shows that the eigenvalue is too small; it is then raised by it. */
static const double GROWTH = 1.5;

/* Of the acceleration, at the start: the guess is that of the last step, and short waves are left. With
 * 1 the first two steps would have no momentum; with this four iterations do what five did. */
static const double FIRST_T = 3.0;

/* m/s: no stress is larger; a divisor that is not 0. */
static const float LARGE = 1e30f, SMALL = 1e-30f;

typedef struct Solve {
    const WadiSphFrictionIn *in;
    const WadiF4 *wanted; /* v* */
    WadiF4 *velocity;
    WadiSphFriction now, at; /* `at`: where the gradient is taken, beyond `now` by the momentum */
    float step;              /* 1 / eigenvalue */
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
    return in->is_sand[i] && (in->waits == NULL || in->waits[i] == 0);
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
            wadi_sph_friction_push(s->in, &s->at, i, &push);
            s->velocity[i] = s->wanted[i] + push * s->in->lightness[i];
        }
    }
}

/* What the projected step of one unknown adds to the sums: |now - at|^2, and (at - now) . (now - before). */
typedef struct Progress {
    double moved, back;
} Progress;

/* `strain`: D of particle i, 0 where it can carry no stress. Without branches, which would be mispredicted:
 * half of the sand that moves is at its bound. */
static inline __attribute__((always_inline)) void step_stress(const Solve *s, int32_t i,
                                                              const WadiSphStress *strain, Progress *progress)
{
    const WadiSphStress at = s->at.stress[i], before = s->now.stress[i];
    const float share = stress_step(s->in, i), step = s->step * share;
    WadiSphStress to = { at.normal + step * strain->normal, at.shear + step * strain->shear };
    const float size = sqrtf(0.5f * wadi_sph_stress_square(&to)), bound = wadi_minf(s->in->bound[i], LARGE);
    const float scale = bound / wadi_maxf(wadi_maxf(size, bound), SMALL); /* 1 within the bound */
    to.normal *= scale, to.shear *= scale;
    const WadiF4 moved = to.normal - at.normal, turned = to.shear - at.shear;
    const WadiF4 since = to.normal - before.normal, since_shear = to.shear - before.shear;
    const WadiF4 square = moved * moved + 2.0f * turned * turned;
    const WadiF4 back = moved * since + 2.0f * turned * since_shear;
    progress->moved += (double)(sqrtf(square[0] + square[1] + square[2]) / share);
    progress->back -= (double)((back[0] + back[1] + back[2]) / share);
    s->now.stress[i] = to;
    s->at.stress[i].normal = to.normal + s->momentum * since;
    s->at.stress[i].shear = to.shear + s->momentum * since_shear;
}

static void step_traction(const Solve *s, int32_t i, int32_t near, Progress *progress)
{
    const WadiSphWalls *walls = s->in->walls;
    const size_t first = wadi_sph_first_contact(walls, near);
    WadiF4 *all_at = s->at.traction + first, *all_now = s->now.traction + first;
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
        const float bound = contact->friction * s->in->pressure[i] * -contact->velocity[3];
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

/* First the sums over neighbours of all particles, then their steps: in one loop each particle would wait for
 * the roots and quotients of the one before. */
static double step_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    WadiSphStress strain[BLOCK];
    Progress progress = { 0 };
    for (int32_t i = (int32_t)first; i < end; ++i) {
        strain[i - first] = (WadiSphStress){ 0 };
        if (can_carry(s->in, i)) {
            wadi_sph_friction_strain_of(s->in, s->velocity, i, &strain[i - first]);
        }
    }
    for (int32_t i = (int32_t)first; i < end; ++i) {
        int32_t near;
        if (takes_part(s->in, i)) {
            step_stress(s, i, &strain[i - first], &progress);
        }
        if (takes_part(s->in, i) && wadi_sph_has_traction(s->in, i, &near)) {
            step_traction(s, i, near, &progress);
        }
    }
    s->partials[first / BLOCK] = progress.back;
    return progress.moved;
}

/* `at` becomes `now`: no momentum. */
static void stop(const Solve *s)
{
    memcpy(s->at.stress, s->now.stress, (size_t)s->in->pairs->count * sizeof *s->at.stress);
    memcpy(s->at.traction, s->now.traction, wadi_sph_contacts(s->in->walls) * sizeof *s->at.traction);
}

WadiStatus wadi_sph_friction_create(WadiSphFriction *friction, const WadiSphPairs *pairs,
                                    const WadiSphWalls *walls, WadiArena *arena, WadiError *error)
{
    const size_t count = (size_t)pairs->count, contacts = wadi_sph_contacts(walls);
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &friction->stress, count, "friction", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &friction->traction, contacts, "friction", error));
    memset(friction->stress, 0, count * sizeof *friction->stress);
    memset(friction->traction, 0, contacts * sizeof *friction->traction);
    return WADI_OK;
}

static WadiStatus begin(Solve *s, WadiArena *arena, WadiError *error)
{
    const size_t blocks = (size_t)wadi_parallel_block_count(s->in->pairs->count, BLOCK);
    WADI_TRY(wadi_sph_friction_create(&s->at, s->in->pairs, s->in->walls, arena, error));
    return WADI_ARENA_NEW(arena, &s->partials, 2 * blocks, "friction", error);
}

void wadi_sph_friction_apply(WadiF4 *to, const WadiF4 *from, const WadiSphFriction *friction,
                             const WadiSphFrictionIn *in)
{
    Solve s = { .in = in, .wanted = from, .velocity = to, .at = *friction };
    if (to != from) {
        memcpy(to, from, (size_t)in->pairs->count * sizeof *to);
    }
    wadi_parallel_for(in->pairs->count, BLOCK, push_block, &s);
}

/* A projected gradient step of all unknowns; *back > 0: the extrapolation went the wrong way. */
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
        loaded += in->is_sand[i] && in->bound[i] > 0.0f; /* also what waits: it is in balance */
    }
    return loaded;
}

WadiStatus wadi_sph_friction_solve(WadiF4 *velocity, const WadiF4 *wanted, WadiSphFriction *friction,
                                   const WadiSphFrictionIn *in, WadiSphFrictionReport *report,
                                   WadiArena *arena, WadiError *error)
{
    const int32_t count = in->pairs->count;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Solve s = { .in = in, .wanted = wanted, .velocity = velocity, .now = *friction };
    WADI_TRY(begin(&s, arena, error));
    *report = (WadiSphFrictionReport){ .largest = in->largest };
    const double loaded = fmax(1.0, count_loaded(in));
    double t = FIRST_T, least = INFINITY;
    bool is_done = false;
    stop(&s);
    while (report->iterations < in->max_iterations && !is_done) {
        if (report->iterations > 0) {
            wadi_parallel_for(count, BLOCK, push_block, &s);
        }
        double back;
        const double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * t * t));
        s.step = (float)(1.0 / report->largest);
        s.momentum = (float)((t - 1.0) / next);
        const double residual = take_step(&s, &back) * report->largest / loaded;
        const bool has_grown = residual > GROWTH * least && residual > in->tolerance;
        least = fmin(least, residual);
        report->residual = residual;
        report->largest *= has_grown ? GROWTH : 1.0;
        report->iterations += 1;
        is_done = residual <= in->tolerance && report->iterations >= MIN_ITERATIONS;
        t = next;
        if (has_grown || back > 0.0) {
            t = 1.0;
            stop(&s);
        }
    }
    s.at = *friction;
    wadi_parallel_for(count, BLOCK, push_block, &s);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

typedef struct Strain {
    const WadiSphFrictionIn *in;
    const WadiF4 *velocity;
    WadiSphStress *strain;
} Strain;

static void strain_block(void *context, int64_t first, int64_t end)
{
    const Strain *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        s->strain[i] = (WadiSphStress){ 0 };
        if (s->in->is_sand[i]) {
            wadi_sph_friction_strain_of(s->in, s->velocity, i, &s->strain[i]);
        }
    }
}

void wadi_sph_friction_strain(WadiSphStress *strain, const WadiF4 *velocity, const WadiSphFrictionIn *in)
{
    Strain s = { in, velocity, strain };
    wadi_parallel_for(in->pairs->count, BLOCK, strain_block, &s);
}

/* The operator from `at` to `now`, and the square of the result. */
static double square_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    const WadiSphWalls *walls = s->in->walls;
    double sum = 0.0;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        int32_t near;
        if (takes_part(s->in, i)) {
            WadiSphStress *strain = &s->now.stress[i];
            wadi_sph_friction_strain_of(s->in, s->velocity, i, strain);
            const float root = -wadi_sph_size(s->in->pairs, i);
            strain->normal *= root, strain->shear *= root;
            sum += (double)wadi_sph_stress_square(strain);
        }
        for (int c = 0; wadi_sph_has_traction(s->in, i, &near) && c < walls->contact_count[near]; ++c) {
            const WadiF4 v = s->velocity[i];
            const WadiF4 *n = &walls->contact[near][c].normal;
            WadiF4 along = v - *n * dot3(&v, n);
            along[3] = 0.0f;
            along *= sqrtf(traction_step(walls, near));
            s->now.traction[wadi_sph_first_contact(walls, near) + (size_t)c] = along;
            sum += (double)dot3(&along, &along);
        }
    }
    return sum;
}

/* `at` becomes `now` times a factor. */
static void scale(const Solve *s, float factor)
{
    for (int32_t i = 0; i < s->in->pairs->count; ++i) {
        const float root = wadi_sph_size(s->in->pairs, i);
        s->at.stress[i].normal = s->now.stress[i].normal * (factor * root);
        s->at.stress[i].shear = s->now.stress[i].shear * (factor * root);
    }
    for (int32_t near = 0; near < s->in->walls->count; ++near) {
        const float root = sqrtf(traction_step(s->in->walls, near));
        const size_t first = wadi_sph_first_contact(s->in->walls, near);
        for (int c = 0; c < s->in->walls->contact_count[near]; ++c) {
            s->at.traction[first + (size_t)c] = s->now.traction[first + (size_t)c] * (factor * root);
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
    WadiF4 *none = NULL, *velocity = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &none, (size_t)count, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &velocity, (size_t)count, "friction", error));
    memset(none, 0, (size_t)count * sizeof *none);
    memset(velocity, 0, (size_t)count * sizeof *velocity);
    Solve s = { .in = in, .wanted = none, .velocity = velocity };
    WADI_TRY(begin(&s, arena, error));
    WADI_TRY(wadi_sph_friction_create(&s.now, in->pairs, in->walls, arena, error));
    uint32_t state = 1;
    for (int32_t i = 0; i < count; ++i) {
        const float a = noise(&state), b = noise(&state);
        s.at.stress[i].normal = (WadiF4){ a, b, -a - b, 0.0f };
        s.at.stress[i].shear = (WadiF4){ noise(&state), noise(&state), noise(&state), 0.0f };
    }
    double norm = 0.0;
    for (int n = 0; n < iterations; ++n) {
        wadi_parallel_for(count, BLOCK, push_block, &s);
        norm = sqrt(wadi_parallel_sum(count, BLOCK, square_block, &s, s.partials));
        scale(&s, norm > 0.0 ? (float)(1.0 / norm) : 0.0f);
    }
    *largest = fmax(norm, 1e-3);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
