/* Conjugate gradients with the masses as preconditioner, for pairs with a particle whose viscosity is large:
 * mud in a heap of dry sand may be a small part. The other pairs take an explicit step. [theory 11.7] */
#include "sph/viscosity/sph_viscosity.h"

#include <math.h>

#include "core/parallel.h"
#include "sph/pairs/sph_lanes.h"

enum { BLOCK = 1024 };

static const float CENTRAL = 10.0f; /* 2 (d + 2) in three dimensions: the mean over directions is exact */
static const float WALL_DISTANCE = 0.25f; /* sizes: nearer particles get the traction of this distance */

typedef struct Solve {
    const WadiSphViscosityIn *in;
    const WadiF4 *v_star;
    WadiF4 *velocity; /* the iterate */
    WadiF4 *drag;     /* per contact, by the velocities that give the forces */
    WadiF4 *residual; /* m/s: of the equation over the mass */
    WadiF4 *direction;
    WadiF4 *image;      /* of the direction, per listed particle */
    uint8_t *is_listed; /* per particle: one of its pairs is implicit */
    int32_t *list;      /* these */
    int32_t list_count;
    float thickest; /* largest c over the square of the size */
    float alpha, beta;
    double *partials;
} Solve;

static inline float coefficient_of(const WadiSphViscosityIn *in, int32_t i)
{
    const float size = in->pairs->size[i];
    return in->damping * size * sqrtf(size) + in->coefficient[i];
}

/* Of a wall, which moves if `has_velocity`; over the inverse density. */
static WadiF4 contact_pull(const WadiSphViscosityIn *in, const WadiF4 v, int32_t i,
                           const WadiSphContact *contact, bool has_velocity)
{
    const WadiF4 n = contact->normal;
    const float least = WALL_DISTANCE * wadi_sph_size(in->pairs, i);
    const float distance = n[3] > least ? n[3] : least;
    const float rate = -in->coefficient[i] * contact->velocity[3] / distance;
    WadiF4 slip = -v;
    if (has_velocity) {
        slip += contact->velocity;
    }
    const float across = n[0] * slip[0] + n[1] * slip[1] + n[2] * slip[2];
    return wadi_sph_xyz((slip - n * across) * rate);
}

/* That of all walls. */
static WadiF4 wall_pull(const WadiSphViscosityIn *in, const WadiF4 v, int32_t i, bool has_velocity)
{
    WadiF4 sum = { 0 };
    const int32_t near = wadi_sph_near(in->walls, i);
    if (near < 0 || in->coefficient[i] <= 0.0f) {
        return sum;
    }
    for (int c = 0; c < in->walls->contact_count[near]; ++c) {
        sum += contact_pull(in, v, i, &in->walls->contact[near][c], has_velocity);
    }
    return sum * in->inverse_density[i];
}

/* Which pairs of a particle count. A pair is implicit where one of its two is thick. The numbers of the pairs
 * are the coefficients, those of thick particles positive, of thin ones negative or 0. */
typedef enum Pairs { ALL, ALL_AND_FLAG, IMPLICIT_OF_THIN, EXPLICIT_OF_THIN } Pairs;

/* Adds the change of velocity of i by the forces of the velocities `v`, without those of walls. Returns
 * whether a neighbour is thick, with ALL_AND_FLAG. */
static inline __attribute__((always_inline)) bool add_pull(const WadiSphViscosityIn *in, const WadiF4 *v,
                                                           int32_t i, Pairs which, WadiF4 *out)
{
    const WadiSphPairs *pairs = in->pairs;
    const WadiI4 place = pairs->place[i];
    const WadiF4 own = v[i];
    const float c_own = fabsf(wadi_sph_number(pairs, i));
    const float small = (float)(1e-4 * WADI_SPH_PLACES * WADI_SPH_PLACES);
    const int64_t end = pairs->start[i] + pairs->same[i];
    WadiF8 x = { 0 }, y = { 0 }, z = { 0 }, thick = { 0 };
    for (int64_t n = pairs->start[i]; n < end; n += WADI_SPH_LANES) {
        const uint32_t *j = pairs->offset + n;
        WadiF8 slope;
        WadiSphEight o;
        WadiU8 to[4];
        wadi_sph_load_slopes(pairs, n, end, &slope);
        wadi_sph_load_eight(pairs, &place, j, &o);
        wadi_sph_load_rows(v, j, to);
        if (which == IMPLICIT_OF_THIN || which == EXPLICIT_OF_THIN) {
            const WadiI8 is_implicit = o.number > 0.0f;
            slope = (WadiF8)((WadiI8)slope & (which == IMPLICIT_OF_THIN ? is_implicit : ~is_implicit));
        }
        if (which == ALL_AND_FLAG) {
            thick = WADI_MAX8(thick, o.number * slope);
        }
        const WadiF8 along =
            o.x * ((WadiF8)to[0] - own[0]) + o.y * ((WadiF8)to[1] - own[1]) + o.z * ((WadiF8)to[2] - own[2]);
        const WadiF8 square = o.x * o.x + o.y * o.y + o.z * o.z + small;
        const WadiF8 pull = (c_own + WADI_MAX8(o.number, -o.number)) * slope * along / square;
        x += o.x * pull;
        y += o.y * pull;
        z += o.z * pull;
    }
    WadiF4 sum;
    wadi_sph_sum_four(&x, &y, &z, &z, &sum);
    sum *= 0.5f * wadi_sph_unit(pairs, i) * CENTRAL * (float)WADI_SPH_PLACES * in->inverse_density[i];
    sum[3] = 0.0f;
    *out += sum;
    const WadiI8 is_thick = thick > 0.0f;
    return which == ALL_AND_FLAG && wadi_row_bits(&is_thick) != 0;
}

static inline bool is_thick(const WadiSphViscosityIn *in, int32_t i)
{
    return wadi_sph_number(in->pairs, i) > 0.0f;
}

static double dot_weighted(const WadiSphViscosityIn *in, int32_t i, WadiF4 a, WadiF4 b)
{
    const double mass = (double)in->volume[i] / (double)in->inverse_density[i];
    return mass * ((double)a[0] * (double)b[0] + (double)a[1] * (double)b[1] + (double)a[2] * (double)b[2]);
}

/* All pairs: r = v* - v + pull(v) at v = v*. */
static void explicit_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        WadiF4 residual = wall_pull(s->in, s->v_star[i], i, true);
        add_pull(s->in, s->v_star, i, ALL, &residual);
        s->residual[i] = residual;
    }
}

static void residual_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        WadiF4 residual = wall_pull(s->in, s->v_star[i], i, true);
        const bool is_beside = add_pull(s->in, s->v_star, i, ALL_AND_FLAG, &residual);
        s->is_listed[i] = is_beside || is_thick(s->in, i);
        s->residual[i] = residual;
    }
}

/* The explicit step of those that are not listed. */
static void explicit_step_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        s->direction[i] = (WadiF4){ 0 };
        if (s->is_listed[i] == 0) {
            s->velocity[i] = s->v_star[i] + s->residual[i];
        }
    }
}

/* By the implicit pairs of a listed particle, and the walls. */
static WadiF4 implicit_pull(const Solve *s, const WadiF4 *v, int32_t i, bool has_velocity)
{
    WadiF4 pull = wall_pull(s->in, v[i], i, has_velocity);
    if (is_thick(s->in, i)) {
        add_pull(s->in, v, i, ALL, &pull);
    } else {
        add_pull(s->in, v, i, IMPLICIT_OF_THIN, &pull);
    }
    return pull;
}

/* Velocity by the forces of the velocities `v`. */
static WadiF4 forced_velocity(const Solve *s, const WadiF4 *v, int32_t i)
{
    WadiF4 pull = implicit_pull(s, v, i, true);
    if (!is_thick(s->in, i)) {
        add_pull(s->in, s->v_star, i, EXPLICIT_OF_THIN, &pull);
    }
    return s->v_star[i] + pull;
}

/* The first direction of the listed ones. */
static double begin_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    double sum = 0.0;
    for (int64_t n = first; n < end; ++n) {
        const int32_t i = s->list[n];
        const WadiF4 residual = wadi_sph_xyz(forced_velocity(s, s->velocity, i) - s->velocity[i]);
        s->residual[i] = s->direction[i] = residual;
        sum += dot_weighted(s->in, i, residual, residual);
    }
    return sum;
}

static double image_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    double sum = 0.0;
    for (int64_t n = first; n < end; ++n) {
        const int32_t i = s->list[n];
        s->image[n] = s->direction[i] - implicit_pull(s, s->direction, i, false);
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
        const WadiF4 residual = s->residual[i] - s->image[n] * s->alpha;
        s->residual[i] = residual;
        sum += dot_weighted(s->in, i, residual, residual);
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
        s->velocity[i] = s->v_star[i] + s->residual[i];
    }
}

static void set_drag(const Solve *s, const WadiF4 *velocity, int32_t i)
{
    const WadiSphWalls *walls = s->in->walls;
    const int32_t near = wadi_sph_near(walls, i);
    for (int c = 0; near >= 0 && c < walls->contact_count[near]; ++c) {
        WadiF4 pull = { 0 };
        if (s->in->coefficient[i] > 0.0f) {
            pull = contact_pull(s->in, velocity[i], i, &walls->contact[near][c], true);
        }
        s->drag[wadi_sph_first_contact(walls, near) + (size_t)c] = pull * s->in->volume[i];
    }
}

/* By the velocities before an explicit step, of all particles. */
static void explicit_drag_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int64_t i = first; i < end; ++i) {
        set_drag(s, s->v_star, (int32_t)i);
    }
}

/* By the solved velocities, of the listed ones. */
static void implicit_drag_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int64_t n = first; n < end; ++n) {
        set_drag(s, s->velocity, s->list[n]);
    }
}

/* The solved velocities give the forces. As these are opposite for the two particles of a pair, rounding
 * and what is left of the residual move no momentum. */
static void force_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int64_t n = first; n < end; ++n) {
        s->image[n] = forced_velocity(s, s->velocity, s->list[n]);
    }
}

static void finish_block(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int64_t n = first; n < end; ++n) {
        s->velocity[s->list[n]] = s->image[n];
    }
}

/* Sets the numbers of the pairs. Returns the largest c over the square of the size. */
static double number_block(void *context, int64_t first, int64_t end)
{
    const WadiSphViscosityIn *in = ((const Solve *)context)->in;
    float thickest = 0.0f;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const float size = wadi_sph_size(in->pairs, i), c = coefficient_of(in, i);
        const float thickness = c * in->inverse_density[i] / (size * size);
        wadi_sph_set_number(in->pairs, i, thickness > WADI_SPH_THICK ? c : -c);
        thickest = thickness > thickest ? thickness : thickest;
    }
    return (double)thickest;
}

/* Ends where the residual, a bound on the error, is at most the tolerance: the last pass adds it. */
static void iterate(Solve *s, WadiSphViscosityReport *report)
{
    const WadiSphViscosityIn *in = s->in;
    const int32_t count = in->pairs->count;
    const double small = in->tolerance * in->tolerance * count; /* of the root mean square */
    double square = wadi_parallel_sum(s->list_count, BLOCK, begin_block, s, s->partials), left = square;
    while (left > small && report->iterations < in->max_iterations) {
        const double curvature = wadi_parallel_sum(s->list_count, BLOCK, image_block, s, s->partials);
        if (!(curvature > 0.0)) {
            break;
        }
        s->alpha = (float)(square / curvature);
        const double next = wadi_parallel_sum(s->list_count, BLOCK, advance_block, s, s->partials);
        s->beta = (float)(next / square);
        left = square = next;
        wadi_parallel_for(s->list_count, BLOCK, turn_block, s);
        report->iterations += 1;
    }
    report->residual = sqrt(square / fmax(1.0, count));
}

static WadiStatus solve(Solve *s, WadiSphViscosityReport *report, WadiArena *arena, WadiError *error)
{
    const int32_t count = s->in->pairs->count;
    const size_t size = (size_t)count;
    WADI_TRY(WADI_ARENA_NEW(arena, &s->direction, size, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->is_listed, size, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->list, size, "viscosity", error));
    wadi_parallel_for(count, BLOCK, residual_block, s);
    for (int32_t i = 0; i < count; ++i) {
        s->list[s->list_count] = i;
        s->list_count += s->is_listed[i];
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &s->image, (size_t)s->list_count, "viscosity", error));
    wadi_parallel_for(count, BLOCK, explicit_step_block, s);
    iterate(s, report);
    wadi_parallel_for(s->list_count, BLOCK, implicit_drag_block, s);
    wadi_parallel_for(s->list_count, BLOCK, force_block, s);
    wadi_parallel_for(s->list_count, BLOCK, finish_block, s);
    return WADI_OK;
}

WadiStatus wadi_sph_viscosity(WadiF4 *velocity, WadiF4 *drag, const WadiF4 *v_star,
                              const WadiSphViscosityIn *in, WadiSphViscosityReport *report, WadiArena *arena,
                              WadiError *error)
{
    const int32_t count = in->pairs->count;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Solve s = { .in = in, .velocity = velocity, .drag = drag, .v_star = v_star };
    *report = (WadiSphViscosityReport){ 0 };
    WADI_TRY(WADI_ARENA_NEW(arena, &s.residual, (size_t)count, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s.partials, (size_t)wadi_parallel_block_count(count, BLOCK), "viscosity",
                            error));
    s.thickest = (float)wadi_parallel_max(count, BLOCK, number_block, &s, s.partials);
    wadi_parallel_for(count, BLOCK, explicit_drag_block, &s);
    if (s.thickest > WADI_SPH_THICK) {
        WADI_TRY(solve(&s, report, arena, error));
    } else {
        wadi_parallel_for(count, BLOCK, explicit_block, &s);
        wadi_parallel_for(count, BLOCK, add_block, &s);
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
