/* Conjugate gradients with the masses as preconditioner, where the viscosity is large: mud in a heap of dry
 * sand may be a small part of the particles. The others take an explicit step. */
#include "sph/viscosity/sph_viscosity.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/pairs/sph_lanes.h"

enum { BLOCK = 1024 };

static const float CENTRAL = 10.0f; /* 2 (d + 2) in three dimensions: the mean over directions is exact */
static const float EXPLICIT_MAX = 0.05f;  /* c below this: one explicit step is stable and accurate */
static const float WALL_DISTANCE = 0.25f; /* sizes: nearer particles are held as if they were here */

typedef struct Solve {
    const WadiSphViscosityIn *in;
    WadiF4 *velocity; /* the iterate */
    WadiF4 *residual; /* m/s: of the equation over the mass */
    WadiF4 *direction;
    WadiF4 *image;        /* of the direction, per listed particle */
    const WadiF4 *wanted; /* v* */
    uint8_t *is_thick;    /* per particle: no explicit step is accurate */
    uint8_t *is_implicit; /* and those beside one */
    int32_t *list;        /* these */
    int32_t list_count;
    float alpha, beta;
    double *partials;
} Solve;

static inline float coefficient_of(const WadiSphViscosityIn *in, int32_t i)
{
    const float own = in->coefficient != NULL ? in->coefficient[i] : 0.0f;
    if (in->pairs->size == NULL) {
        return in->damping + own;
    }
    const float size = in->pairs->size[i];
    return in->damping * size * sqrtf(size) + own;
}

static WadiF4 wall_pull(const WadiSphViscosityIn *in, const WadiF4 v, int32_t i, bool has_velocity)
{
    WadiF4 sum = { 0 };
    const int32_t near = in->walls->of[i];
    if (near < 0 || in->coefficient == NULL || in->coefficient[i] <= 0.0f) {
        return sum;
    }
    for (int c = 0; c < in->walls->contact_count[near]; ++c) {
        const WadiSphContact *contact = &in->walls->contact[near][c];
        const WadiF4 n = contact->normal;
        const float least = WALL_DISTANCE * wadi_sph_size(in->pairs, i);
        const float distance = n[3] > least ? n[3] : least;
        const float rate = -in->coefficient[i] * contact->velocity[3] / distance;
        WadiF4 slip = -v;
        if (has_velocity) {
            slip += contact->velocity;
        }
        const float across = n[0] * slip[0] + n[1] * slip[1] + n[2] * slip[2];
        slip -= n * across;
        sum += slip * rate;
    }
    return sum;
}

/* The change of velocity of i by the forces of the velocities `v`; those of the walls count if
 * `has_velocity`. The numbers of the pairs are the coefficients. */
static WadiF4 pull_of(const WadiSphViscosityIn *in, const WadiF4 *v, int32_t i, bool has_velocity)
{
    const WadiSphPairs *pairs = in->pairs;
    const WadiI4 place = pairs->place[i];
    const WadiF4 own = v[i];
    const float c_own = wadi_sph_number(pairs, i), small = (float)(1e-4 * WADI_SPH_PLACES * WADI_SPH_PLACES);
    const int64_t end = pairs->start[i] + pairs->same[i];
    WadiF8 x = { 0 }, y = { 0 }, z = { 0 };
    for (int64_t n = pairs->start[i]; n < end; n += WADI_SPH_LANES) {
        const uint32_t *j = pairs->offset + n;
        WadiF8 slope;
        WadiSphEight o;
        WadiU8 to[4];
        wadi_sph_load_slopes(pairs, n, end, &slope);
        wadi_sph_load_eight(pairs, &place, j, &o);
        wadi_sph_load_rows(v, j, to);
        const WadiF8 along =
            o.x * ((WadiF8)to[0] - own[0]) + o.y * ((WadiF8)to[1] - own[1]) + o.z * ((WadiF8)to[2] - own[2]);
        const WadiF8 square = o.x * o.x + o.y * o.y + o.z * o.z + small;
        const WadiF8 pull = (c_own + o.number) * slope * along / square;
        x += o.x * pull;
        y += o.y * pull;
        z += o.z * pull;
    }
    WadiF4 sum;
    wadi_sph_sum_four(&x, &y, &z, &z, &sum);
    sum *= 0.5f * wadi_sph_unit(pairs, i) * CENTRAL * (float)WADI_SPH_PLACES;
    sum = (sum + wall_pull(in, own, i, has_velocity)) * in->lightness[i];
    sum[3] = 0.0f;
    return sum;
}

static inline bool does_wait(const WadiSphViscosityIn *in, int32_t i)
{
    return in->waits != NULL && in->waits[i] != 0;
}

static double dot_weighted(const WadiSphViscosityIn *in, int32_t i, WadiF4 a, WadiF4 b)
{
    const double mass = (in->volume != NULL ? (double)in->volume[i] : 1.0) / (double)in->lightness[i];
    return mass * ((double)a[0] * (double)b[0] + (double)a[1] * (double)b[1] + (double)a[2] * (double)b[2]);
}

/* r = v* - v + pull(v) at v = v*. */
static void residual_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        s->residual[i] = does_wait(s->in, i) ? (WadiF4){ 0 } : pull_of(s->in, s->velocity, i, true);
    }
}

static void mark_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    const WadiSphPairs *pairs = s->in->pairs;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        uint8_t is_implicit = s->is_thick[i];
        const int64_t last = pairs->start[i] + (does_wait(s->in, i) ? 0 : pairs->same[i]);
        for (int64_t n = pairs->start[i]; n < last && is_implicit == 0; ++n) {
            is_implicit = s->is_thick[wadi_sph_other(pairs, n)];
        }
        s->is_implicit[i] = is_implicit;
    }
}

/* The first direction, and the explicit step of the others, whose velocities then stay. */
static double begin_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    double sum = 0.0;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        if (s->is_implicit[i] == 0) {
            s->velocity[i] += s->residual[i];
            s->residual[i] = (WadiF4){ 0 };
        }
        s->direction[i] = s->residual[i];
        sum += dot_weighted(s->in, i, s->residual[i], s->residual[i]);
    }
    return sum;
}

static double image_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    double sum = 0.0;
    for (int64_t n = first; n < end; ++n) {
        const int32_t i = s->list[n];
        s->image[n] = s->direction[i] - pull_of(s->in, s->direction, i, false);
        sum += dot_weighted(s->in, i, s->direction[i], s->image[n]);
    }
    return sum;
}

static double advance_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    double sum = 0.0;
    for (int64_t n = first; n < end; ++n) {
        const int32_t i = s->list[n];
        s->velocity[i] += s->direction[i] * s->alpha;
        s->residual[i] -= s->image[n] * s->alpha;
        sum += dot_weighted(s->in, i, s->residual[i], s->residual[i]);
    }
    return sum;
}

static void turn_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int64_t n = first; n < end; ++n) {
        const int32_t i = s->list[n];
        s->direction[i] = s->residual[i] + s->direction[i] * s->beta;
    }
}

static void add_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        s->velocity[i] += s->residual[i];
    }
}

/* The solved velocities give the forces. As these are opposite for the two particles of a pair, rounding
 * and what is left of the residual move no momentum. */
static void finish_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        s->residual[i] = s->wanted[i];
        if (!does_wait(s->in, i)) {
            s->residual[i] += pull_of(s->in, s->velocity, i, true);
        }
    }
}

static bool is_thick(const WadiSphViscosityIn *in, int32_t i)
{
    const float size = wadi_sph_size(in->pairs, i);
    return coefficient_of(in, i) * in->lightness[i] > EXPLICIT_MAX * size * size;
}

static bool is_explicit(const WadiSphViscosityIn *in)
{
    bool has_thick = false;
    for (int32_t i = 0; i < in->pairs->count && !has_thick; ++i) {
        has_thick = is_thick(in, i);
    }
    return !has_thick;
}

static void iterate(Solve *s, WadiSphViscosityReport *report)
{
    const WadiSphViscosityIn *in = s->in;
    const int32_t count = in->pairs->count;
    /* The root mean square, as the residual of a particle. */
    const double small = in->tolerance * in->tolerance * count;
    double square = wadi_parallel_sum(count, BLOCK, begin_block, s, s->partials);
    while (square > small && report->iterations < in->max_iterations) {
        const double curvature = wadi_parallel_sum(s->list_count, BLOCK, image_block, s, s->partials);
        if (!(curvature > 0.0)) {
            break;
        }
        s->alpha = (float)(square / curvature);
        const double next = wadi_parallel_sum(s->list_count, BLOCK, advance_block, s, s->partials);
        s->beta = (float)(next / square);
        square = next;
        wadi_parallel_for(s->list_count, BLOCK, turn_block, s);
        report->iterations += 1;
    }
    report->residual = sqrt(square / fmax(1.0, count));
}

static WadiStatus solve(Solve *s, WadiSphViscosityReport *report, WadiArena *arena, WadiError *error)
{
    const int32_t count = s->in->pairs->count;
    const size_t size = (size_t)count;
    WadiF4 *wanted = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &wanted, size, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->direction, size, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->is_thick, size, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->is_implicit, size, "viscosity", error));
    memcpy(wanted, s->velocity, size * sizeof *wanted);
    s->wanted = wanted;
    for (int32_t i = 0; i < count; ++i) {
        s->is_thick[i] = is_thick(s->in, i);
    }
    wadi_parallel_for(count, BLOCK, mark_block, s);
    WADI_TRY(WADI_ARENA_NEW(arena, &s->list, size, "viscosity", error));
    for (int32_t i = 0; i < count; ++i) {
        s->list[s->list_count] = i;
        s->list_count += s->is_implicit[i];
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &s->image, (size_t)s->list_count, "viscosity", error));
    iterate(s, report);
    wadi_parallel_for(count, BLOCK, finish_block, s);
    memcpy(s->velocity, s->residual, size * sizeof *s->velocity);
    return WADI_OK;
}

WadiStatus wadi_sph_viscosity(WadiF4 *velocity, const WadiSphViscosityIn *in, WadiSphViscosityReport *report,
                              WadiArena *arena, WadiError *error)
{
    const int32_t count = in->pairs->count;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Solve s = { .in = in, .velocity = velocity };
    *report = (WadiSphViscosityReport){ 0 };
    WADI_TRY(WADI_ARENA_NEW(arena, &s.residual, (size_t)count, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s.partials, (size_t)wadi_parallel_block_count(count, BLOCK), "viscosity",
                            error));
    for (int32_t i = 0; i < count; ++i) {
        wadi_sph_set_number(in->pairs, i, coefficient_of(in, i));
    }
    wadi_parallel_for(count, BLOCK, residual_block, &s);
    if (is_explicit(in)) {
        wadi_parallel_for(count, BLOCK, add_block, &s);
    } else {
        WADI_TRY(solve(&s, report, arena, error));
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
