/* The stage of the pressure: what may become denser, the solve, and its memory from step to step. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/sph.h"

enum { BLOCK = 4096, FIRST_POWER = 30, POWER = 10, POWER_STEPS = 200, SHIFT_ITERATIONS = 2 };

/* Of the differences between neighbours. Without it patterns that no gradient sees grow in the pressure,
 * and the solve takes twice the iterations. Sand needs more, since friction keeps such patterns from
 * flowing apart. */
static const float SMOOTH[2] = { 0.1f, 0.3f };
/* Where the density is lower by more than this, particles may approach. Less is noise: if it were allowed,
 * all of a tank at rest would sink a little in each step and be lifted again by the shift. */
static const double LOOSE = 0.03;
/* Part of the room by which loose water beside sand may approach in a step. What touched at once would have
 * to be stopped in the next step: under a jet the pressure would be high in every second step. */
static const double APPROACH = 0.3;
/* Denser by more than this is no noise but material that was added: its velocities part as well. A shift
 * alone moves too little at once, and what an emitter pours under water would stay on one spot. */
static const double CROWDED = 0.1;
/* Both of particles of different sizes: two that have merged leave room beside them, which neighbours fill
 * by their shift, and the halves of a split are crowded. If velocities followed, the body would stir. */
static const double LOOSE_MIXED = 0.1, CROWDED_MIXED = 0.3;
/* Part of `density_rate` by which these shift. Faster, what parts two that are crowded brings others nearer,
 * and the pressure is noisy for some forty steps after a split. */
static const double RATE_MIXED = 0.1;
/* Of the shift: the part of its last pressure that it begins with, since water is crowded where it was a step
 * before, and its smoothing. With none of the first and that of the pressure 117,649 falling particles are
 * 0.135 instead of 0.061 % too dense. */
static const float SHIFT_KEPT = 0.7f, SHIFT_SMOOTH = 0.02f;
/* That of a lattice, where there are too few particles to measure. */
static const double EIGENVALUE_MIN = 2.4;
static const double EIGENVALUE_MARGIN = 1.1; /* the power method comes from below */

/* Water that is nearer to a wall than this, in sizes, leaves it by this part of what is missing a step.
 * What arrives fast at a wall in one step would stay on it: neighbours press it against the wall, and the
 * density there is too high to say where to go. */
static const float NEAREST = 0.35f, LEAVING = 0.5f;

/* Of sand: part of the excess density that a step removes, and the fastest rate, in sqrt(g dx). Its
 * velocities part where it is crowded, against friction, and slowly. A shift would let piles creep. */
static const double SAND_RATE = 0.1, SAND_SPEED = 0.05;

typedef struct Sources {
    const WadiSph *sph;
    const WadiSphStep *step;
} Sources;

/* The part of the smoothing term that a pressure has which only carries the weight, g dt over the lightness a
 * spacing: at walls, below the surface and where sand meets water it is not 0. Water would sink by a tenth of
 * g dt a step, and the pressure of sand on a floor be too low by two rows of it. Of pairs that pressed on
 * each other in the last step. At the surface of sand the term stays: with what it adds to the pressure of
 * the outermost row a ridge drifts by a fifth. */
static float weight_part(const WadiSphStep *step, float carried, int32_t i)
{
    return step->is_sand[i] && carried < 0.0f ? 0.0f : SMOOTH[step->is_sand[i]] * carried;
}

/* Loose particles may approach until they touch, water and sand by a part of that; the velocities of crowded
 * water only stop to approach. */
static void source_block(void *context, int64_t first, int64_t end)
{
    const Sources *s = context;
    const WadiSphStep *step = s->step;
    const double per_step = s->sph->spacing / step->dt;
    const WadiSphDef *def = wadi_sph_def(s->sph->context.world->scene);
    const double unit_speed = s->sph->spacing / s->sph->unit_time;
    const double fastest = SAND_SPEED * unit_speed, parting = def->density_speed * unit_speed;
    const double loose = step->has_sizes ? LOOSE_MIXED : LOOSE;
    const double crowded = step->has_sizes ? CROWDED_MIXED : CROWDED;
    float *source = step->source;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        if (wadi_sph_does_wait(step, i)) {
            source[i] = 0.0f;
            continue;
        }
        const double room = 1.0 - (double)step->density[i];
        const float weight = weight_part(step, source[i], i);
        if (step->is_sand[i]) {
            source[i] = (float)(room > 0.0 ? room * per_step : fmax(SAND_RATE * room * per_step, -fastest));
        } else {
            const bool has_sand = step->pairs.start[i] + step->pairs.same[i] < step->pairs.start[i + 1];
            const double rate = room > loose      ? (room - loose) * (has_sand ? APPROACH : 1.0)
                                : room < -crowded ? def->density_rate * (room + crowded)
                                                  : 0.0;
            source[i] = (float)fmax(rate * per_step, -parting);
        }
        source[i] -= weight;
    }
}

static WadiStatus measure(WadiSph *sph, const WadiSphPressureIn *in, WadiError *error)
{
    if (sph->largest > 0.0 &&
        (in->is_idle != NULL || sph->steps % POWER_STEPS != 0 || sph->measured == sph->steps)) {
        return WADI_OK;
    }
    double largest;
    sph->measured = sph->steps;
    const int iterations = sph->largest > 0.0 ? POWER : FIRST_POWER;
    WADI_TRY(wadi_sph_pressure_largest(in, iterations, &largest, sph->context.scratch, error));
    sph->largest = fmax(fmax(0.9 * sph->largest, EIGENVALUE_MARGIN * largest), EIGENVALUE_MIN);
    return WADI_OK;
}

static WadiStatus prepare(WadiSph *sph, WadiSphStep *step, WadiSphPressureIn *in, WadiError *error)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    *in = (WadiSphPressureIn){ .pairs = &step->pairs,
                               .walls = &step->walls,
                               .is_sand = step->is_sand,
                               .lightness = step->lightness,
                               .volume = step->volume,
                               .inverse = step->inverse,
                               .is_idle = step->waits,
                               .smooth = { SMOOTH[0], SMOOTH[1] },
                               .tolerance = def->tolerance * wadi_sph_longest_step(sph) * sph->spacing /
                                            (sph->unit_time * sph->unit_time),
                               .max_iterations = def->pressure_iterations };
    if (step->inverse == NULL) {
        float *inverse = NULL;
        WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &inverse, (size_t)step->count, "pressure", error));
        wadi_sph_pressure_invert(inverse, in);
        step->inverse = in->inverse = inverse;
    }
    WADI_TRY(measure(sph, in, error));
    in->largest = sph->largest;
    return WADI_OK;
}

static WadiStatus begin_coarse(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const WadiSphCoarseIn in = { .sort = &step->sort,
                                 .walls = &step->walls,
                                 .pairs = &step->pairs,
                                 .solids = &sph->context.world->solids,
                                 .lightness = step->lightness,
                                 .has_sizes = step->has_sizes,
                                 .volume = step->volume,
                                 .time = step->time };
    return step->coarse.sort != NULL ? WADI_OK
                                     : wadi_sph_coarse_begin(&step->coarse, &in, sph->context.scratch, error);
}

/* Of the shift of crowded water. */
typedef struct Shifts {
    const WadiSph *sph;
    const WadiSphStep *step;
    float *pressure; /* the column: P of the last step dt / dx, meanwhile P */
    uint8_t *is_idle;
    double per_step; /* m/s a spacing */
} Shifts;

/* Velocities wait in their columns. */
static void begin_shifts(void *context, int64_t first, int64_t end)
{
    const Shifts *s = context;
    const WadiSphStep *step = s->step;
    const WadiSphColumns columns = wadi_sph_velocity_columns(s->sph, step);
    const WadiSphDef *def = wadi_sph_def(s->sph->context.world->scene);
    const double fastest = def->density_speed * s->sph->spacing / s->sph->unit_time;
    const double rate = def->density_rate * (step->has_sizes ? RATE_MIXED : 1.0);
    for (int64_t i = first; i < end; ++i) {
        const double room = step->is_sand[i] ? 1.0 : 1.0 - (double)step->density[i];
        const bool is_dry = step->pairs.start[i] + step->pairs.same[i] == step->pairs.start[i + 1];
        const bool is_idle = (step->is_sand[i] && is_dry) || wadi_sph_does_wait(step, i);
        step->source[i] =
            (float)(room > 0.0 ? room * s->per_step : fmax(rate * room * s->per_step, -fastest));
        s->is_idle[i] = is_idle;
        s->pressure[i] = is_idle ? 0.0f : SHIFT_KEPT * s->pressure[i] * (float)s->per_step;
        wadi_sph_set_column_row(&columns, i, step->velocity[i]);
        step->shift[i] = (WadiF4){ 0 };
    }
}

/* Adds what leaves walls. */
static void leave_walls(const Shifts *s, int64_t i)
{
    const WadiSphWalls *walls = &s->step->walls;
    const int32_t near = s->step->is_sand[i] ? -1 : wadi_sph_near(walls, i);
    for (int c = 0; near >= 0 && c < walls->contact_count[near]; ++c) {
        WadiF4 n = walls->contact[near][c].normal;
        const float nearest = NEAREST * wadi_sph_size(&s->step->pairs, (int32_t)i);
        const float wanted = (nearest - n[3]) * LEAVING * (float)s->per_step;
        const WadiF4 along = s->step->shift[i] * n;
        const float missing = wanted - (along[0] + along[1] + along[2]);
        n[3] = 0.0f;
        if (wanted > 0.0f && missing > 0.0f) {
            s->step->shift[i] += n * missing;
        }
    }
}

/* Exchanges shifts and velocities; what waits has its velocity in both. */
static void keep_shifts(void *context, int64_t first, int64_t end)
{
    const Shifts *s = context;
    const WadiSphColumns columns = wadi_sph_velocity_columns(s->sph, s->step);
    for (int64_t i = first; i < end; ++i) {
        s->pressure[i] /= (float)s->per_step;
        leave_walls(s, i);
        const WadiF4 shift = s->step->shift[i];
        s->step->velocity[i] = wadi_sph_column_row(&columns, i);
        if (!wadi_sph_does_wait(s->step, i)) {
            wadi_sph_set_column_row(&columns, i, shift);
        }
    }
}

/* Crowded particles of water part by a shift of their positions that leaves the velocities alone, so that
 * overlap does not become motion [CBG19]. */
WadiStatus wadi_sph_solve_shift(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    WadiArena *arena = sph->context.scratch;
    Shifts s = { .sph = sph, .step = step, .per_step = sph->spacing / step->dt };
    if (!sph->materials.has_water || def->pressure == WADI_SPH_PRESSURE_TAIT) {
        return WADI_OK;
    }
    s.pressure = (float *)wadi_particles_column(sph->context.particles, sph->shift_column) + step->sort.first;
    WADI_TRY(begin_coarse(sph, step, error));
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s.is_idle, (size_t)step->count, "shift", error));
    step->shift = step->velocity;
    wadi_parallel_for(step->count, BLOCK, begin_shifts, &s);
    WadiSphPressureIn in;
    WadiSphPressureReport report;
    WADI_TRY(prepare(sph, step, &in, error));
    in.source = step->source;
    in.is_shift = true;
    in.is_idle = s.is_idle;
    in.coarse = &step->coarse;
    in.smooth[0] = SHIFT_SMOOTH;
    in.max_iterations = SHIFT_ITERATIONS;
    WADI_TRY(wadi_sph_pressure_solve(step->shift, s.pressure, &in, &report, arena, error));
    step->shift_iterations += report.iterations;
    wadi_sph_even_out(sph, step, &in);
    wadi_parallel_for(step->count, BLOCK, keep_shifts, &s);
    step->shift = NULL;
    step->has_shift = true;
    wadi_arena_release_temporaries(arena, mark);
    return WADI_OK;
}

static WadiStatus make_source(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    return step->source != NULL
               ? WADI_OK
               : WADI_ARENA_NEW(sph->context.scratch, &step->source, (size_t)step->count, "pressure", error);
}

/* Velocities with the forces of the pressure of the last step, how rough that is, and in the source what
 * source_block needs of the pairs. */
static void apply_guess(const WadiSph *sph, WadiSphStep *step, float *rough)
{
    const WadiVec3 g = wadi_world_gravity(sph->context.world, step->time);
    const float dt = (float)step->dt;
    const WadiSphPressureIn in = { .pairs = &step->pairs,
                                   .walls = &step->walls,
                                   .is_sand = step->is_sand,
                                   .lightness = step->lightness,
                                   .is_idle = step->waits,
                                   .rough = rough,
                                   .carried = step->source,
                                   .fall = { dt * (float)g.x, dt * (float)g.y, dt * (float)g.z, 0.0f } };
    wadi_sph_pressure_apply(step->velocity, step->pressure, &in);
    step->has_source = false;
}

WadiStatus wadi_sph_apply_pressure(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    WADI_TRY(make_source(sph, step, error));
    apply_guess(sph, step, step->rough);
    return WADI_OK;
}

typedef struct Copy {
    WadiSphColumns to;
    const WadiF4 *from;
} Copy;

static void copy_block(void *context, int64_t first, int64_t end)
{
    const Copy *copy = context;
    for (int64_t i = first; i < end; ++i) {
        wadi_sph_set_column_row(&copy->to, i, copy->from[i]);
    }
}

/* Where the velocities are v*, puts these aside and adds the forces of the guess. Without sand their columns
 * are idle. */
static WadiStatus add_guess(const WadiSph *sph, WadiSphStep *step, WadiSphPressureIn *in, WadiError *error)
{
    WadiArena *arena = sph->context.scratch;
    const size_t count = (size_t)step->count;
    WadiSphColumns wanted = wadi_sph_velocity_columns(sph, step);
    float *rough = step->rough;
    if (sph->materials.has_sand) {
        WADI_TRY(WADI_ARENA_NEW(arena, &wanted.x, count, "pressure", error));
        WADI_TRY(WADI_ARENA_NEW(arena, &wanted.y, count, "pressure", error));
        WADI_TRY(WADI_ARENA_NEW(arena, &wanted.z, count, "pressure", error));
    }
    if (rough == NULL) {
        WADI_TRY(WADI_ARENA_NEW(arena, &rough, count, "pressure", error));
    }
    wadi_parallel_for(step->count, BLOCK, copy_block, &(Copy){ wanted, step->velocity });
    in->wanted = wanted;
    in->rough = rough;
    apply_guess(sph, step, rough);
    return WADI_OK;
}

WadiStatus wadi_sph_solve_pressure(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    WadiArena *arena = sph->context.scratch;
    WadiSphPressureIn in;
    WADI_TRY(begin_coarse(sph, step, error));
    WADI_TRY(make_source(sph, step, error));
    WADI_TRY(prepare(sph, step, &in, error));
    const WadiArenaMark mark = wadi_arena_mark(arena);
    in.wanted = step->wanted;
    in.rough = step->rough;
    if (step->wanted.x == NULL) {
        WADI_TRY(add_guess(sph, step, &in, error));
    }
    if (!step->has_source) {
        wadi_parallel_for(step->count, BLOCK, source_block, &(Sources){ sph, step });
        step->has_source = true;
    }
    in.source = step->source;
    in.coarse = &step->coarse;
    WadiSphPressureReport report;
    WADI_TRY(wadi_sph_pressure_solve(step->velocity, step->pressure, &in, &report, arena, error));
    step->pressure_solves += 1;
    step->pressure_iterations += report.iterations;
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
