/* Over-dense particles of water part by a shift of their positions that leaves the velocities alone, so that
 * overlap does not become motion. [CBG19; theory 11.4] */
#include <math.h>

#include "core/parallel.h"
#include "sph/pressure/sph_operator.h"
#include "sph/sph.h"

enum { BLOCK = 4096, EVEN_BLOCK = 512 };
enum { SHIFT_ITERATIONS = 2 }; /* what they leave is parted in the next step */

/* Part of `density_rate` by which particles of different sizes shift. Faster, what parts two that are
 * over-dense brings others nearer, and the pressure is noisy for some forty steps after a split. */
static const double RATE_MIXED = 0.1;
/* The part of its last pressure that the shift begins with, since water is over-dense where it was a step
 * before, and its smoothing. With none of the first and that of the pressure 117,649 falling particles are
 * 0.135 instead of 0.061 % too dense. */
static const float SHIFT_KEPT = 0.7f, SHIFT_SMOOTH = 0.02f;

typedef struct Shifts {
    const WadiSph *sph;
    const WadiSphStep *step;
    float *last;      /* column: P dt / dx of the last step, then of this one */
    float *pressure;  /* P, m/s */
    float *source;    /* m/s: how fast particles may become denser */
    float *laplacian; /* of the pressure */
    float *tension;   /* none */
    uint8_t *is_idle;
    double per_step; /* m/s a spacing */
} Shifts;

static void begin_shifts(void *context, int64_t first, int64_t end)
{
    const Shifts *s = context;
    const WadiSphStep *step = s->step;
    const WadiSphDef *def = wadi_sph_def(s->sph->context.world->scene);
    const double fastest = def->density_speed * s->sph->spacing / s->sph->unit_time;
    const double rate = def->density_rate * (step->has_sizes ? RATE_MIXED : 1.0);
    for (int64_t i = first; i < end; ++i) {
        const double room = step->is_sand[i] ? 1.0 : 1.0 - (double)step->density[i];
        const bool is_dry = step->pairs.start[i] + step->pairs.same[i] == step->pairs.start[i + 1];
        const bool is_idle = step->is_sand[i] && is_dry;
        s->source[i] = (float)(room > 0.0 ? room * s->per_step : fmax(rate * room * s->per_step, -fastest));
        const bool can_press = !is_idle && step->solve.inverse[i] > 0.0f;
        s->is_idle[i] = is_idle;
        s->tension[i] = 0.0f;
        s->pressure[i] = can_press ? SHIFT_KEPT * s->last[i] * (float)s->per_step : 0.0f;
    }
}

/* Water that is nearer to a wall than where its own image pushes most (wadi_sph_nearest) leaves it by the
 * part `density_rate` of what is missing. What arrives fast at a wall in one step would stay on it:
 * neighbours press it against the wall, and the density there is too high to say where to go. */
static void leave_walls(const Shifts *s, int64_t i)
{
    const WadiSphWalls *walls = &s->step->walls;
    const double rate = wadi_sph_def(s->sph->context.world->scene)->density_rate * s->per_step;
    const int32_t near = s->step->is_sand[i] ? -1 : wadi_sph_near(walls, i);
    for (int c = 0; near >= 0 && c < walls->contact_count[near]; ++c) {
        WadiF4 n = walls->contact[near][c].normal;
        const float nearest = wadi_sph_nearest(&s->sph->kernel.of[0]) * s->step->size[i];
        const float away = (nearest - n[3]) * (float)rate;
        const WadiF4 along = s->step->shift[i] * n;
        const float missing = away - (along[0] + along[1] + along[2]);
        n[3] = 0.0f;
        if (away > 0.0f && missing > 0.0f) {
            s->step->shift[i] += n * missing;
        }
    }
}

static void end_shifts(void *context, int64_t first, int64_t end)
{
    const Shifts *s = context;
    for (int64_t i = first; i < end; ++i) {
        s->last[i] = s->pressure[i] / (float)s->per_step;
        leave_walls(s, i);
    }
}

static WadiStatus make_arrays(Shifts *s, WadiArena *arena, WadiError *error)
{
    const size_t count = (size_t)s->step->count;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->pressure, count, "shift", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->source, count, "shift", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->laplacian, count, "shift", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->tension, count, "shift", error));
    return WADI_ARENA_NEW_TEMPORARY(arena, &s->is_idle, count, "shift", error);
}

/* Water of different sizes lies unevenly where sizes change, and where particles were split or merged: a
 * particle then has e = sum_j V_j grad W_ij other than 0, and the pressure moves it by 2 P e. So each step
 * shifts it a little against e, walls and their images counted, without a change of its velocity. [LXSR12;
 * theory 11.9] */
/* Part of its unevenness that the stiffest wave of a lattice loses in a step: with 0.9 the pressure of deep
 * water takes ten times the iterations. The farthest shift of a step, sizes. */
static const float EVEN_PART = 0.5f, FARTHEST = 0.05f;

typedef struct Even {
    const WadiSphStep *step;
    const WadiSphPressureIn *in;
    float rate;     /* shift in sizes over e in 1/sizes */
    float per_step; /* m/s a spacing */
} Even;

/* Neither at the surface nor beside it: e points out of the water there. */
static bool is_inside(const WadiSphStep *step, int32_t i)
{
    const WadiSphPairs *pairs = &step->pairs;
    bool is_inside = !step->is_sand[i] && step->density[i] >= WADI_SPH_INSIDE;
    for (int64_t n = pairs->start[i]; n < pairs->start[i + 1] && is_inside; ++n) {
        is_inside = step->density[wadi_sph_other(pairs, n)] >= WADI_SPH_INSIDE;
    }
    return is_inside;
}

static void even_block(void *context, int64_t first, int64_t end)
{
    const Even *even = context;
    const WadiSphStep *step = even->step;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        if (!is_inside(step, i)) {
            continue;
        }
        WadiF4 e;
        wadi_sph_push(even->in, i, &e);
        e[3] = 0.0f;
        const float size = step->size[i];
        const float length = even->rate * size * sqrtf(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]); /* sizes */
        const float part = length > FARTHEST ? FARTHEST / length : 1.0f;
        step->shift[i] -= e * (part * even->rate * size * size * even->per_step);
    }
}

static void shift_evenly(const WadiSph *sph, const WadiSphStep *step, const WadiSphPressureIn *in)
{
    if (!step->has_sizes) {
        return;
    }
    Even even = { step, in, EVEN_PART / sph->kernel.of[0].stiffness, (float)(sph->spacing / step->dt) };
    for (int32_t i = 0; i < step->count; ++i) {
        wadi_sph_set_number(&step->pairs, i, 0.5f); /* the forces of these pressures are e */
    }
    wadi_parallel_for(step->count, EVEN_BLOCK, even_block, &even);
}

WadiStatus wadi_sph_solve_shift(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    WadiArena *arena = sph->context.scratch;
    Shifts s = { .sph = sph, .step = step, .per_step = sph->spacing / step->dt };
    if (!sph->materials.has_water || def->pressure == WADI_SPH_PRESSURE_TAIT) {
        return WADI_OK;
    }
    const WadiArenaMark mark = wadi_arena_mark(arena);
    s.last = (float *)wadi_particles_column(sph->context.particles, sph->shift_column) + step->sort.first;
    WADI_TRY(make_arrays(&s, arena, error));
    wadi_parallel_for(step->count, BLOCK, begin_shifts, &s);
    WadiSphPressureIn in = wadi_sph_pressure_in(sph, step);
    WadiSphPressureReport report;
    in.source = s.source;
    in.laplacian = s.laplacian;
    in.tension = s.tension;
    in.is_shift = true;
    in.is_idle = s.is_idle;
    in.smooth[0] = SHIFT_SMOOTH;
    in.max_iterations = SHIFT_ITERATIONS;
    wadi_sph_pressure_apply(step->shift, s.pressure, &in);
    WADI_TRY(wadi_sph_pressure_solve(step->shift, s.pressure, &in, &report, arena, error));
    step->shift_iterations += report.iterations;
    shift_evenly(sph, step, &in);
    wadi_parallel_for(step->count, BLOCK, end_shifts, &s);
    wadi_arena_release_temporaries(arena, mark);
    return WADI_OK;
}
