/* The stages of the pressure: what may become denser, the pressure of the last step, and the solve. [theory
 * 11.4] */
#include <math.h>

#include "core/parallel.h"
#include "sph/sph.h"
#include "sph/viscosity/sph_viscosity.h"

enum { BLOCK = 4096 };

/* Of the differences between neighbours. Without it patterns that no gradient sees grow in the pressure,
 * and the solve takes twice the iterations. Sand needs more, since friction keeps such patterns from
 * flowing apart. */
static const float SMOOTH[2] = { 0.1f, 0.3f };
/* Part of the room by which loose water beside sand may approach in a step. What touched at once would have
 * to be stopped in the next step: under a jet the pressure would be high in every second step. */
static const double APPROACH = 0.3;
/* Factor of both bounds of the noise where sizes differ: two that have merged leave room beside them, which
 * neighbours fill by their shift, and the halves of a split are over-dense. If velocities followed, the body
 * would stir. */
static const double MIXED = 3.0;
/* Where there are too few particles to measure: that of a cubic lattice of water, at its wave of 0.29, 0.29
 * and 0.25 a spacing, (0.819 + 0.1 x 0.89) / (0.208 + 0.1 x 1.75) with SMOOTH = 0.1. */
static const double EIGENVALUE_MIN = 2.4;

/* Of sand: part of the excess density that a step removes, and the fastest rate, in sqrt(g dx). Its
 * velocities part where it is over-dense, against friction, and slowly. A shift would let piles creep. */
static const double SAND_RATE = 0.1, SAND_SPEED = 0.1;

typedef struct Sources {
    const WadiSph *sph;
    const WadiSphStep *step;
} Sources;

/* The part of the smoothing term that a pressure has which only carries the weight, g dt over the inverse
 * density a spacing: at walls, below the surface and where sand meets water it is not 0. Water would sink by
 * a tenth of g dt a step, and the pressure of sand on a floor be too low by two rows of it. Of pairs that
 * had a pressure in the last step. At the surface of sand the term stays: with what it adds to the
 * pressure of the outermost row a ridge drifts by a fifth. In bonded sand, whose pressure is not smooth at an
 * edge that carries all the weight, the term acts on changes of the pressure alone. */
static float weight_part(const WadiSphStep *step, float carried, int32_t i)
{
    if (step->solve.is_bonded[i] != 0) {
        return SMOOTH[1] * step->solve.laplacian[i];
    }
    return step->is_sand[i] && carried < 0.0f ? 0.0f : SMOOTH[step->is_sand[i]] * carried;
}

/* Loose particles may approach until they touch, water and sand by a part of that; the velocities of
 * over-dense water only stop to approach. Bonds keep the density that sand has. */
static void source_block(void *context, int64_t first, int64_t end)
{
    const Sources *s = context;
    const WadiSphStep *step = s->step;
    const double per_step = s->sph->spacing / step->dt;
    const WadiSphDef *def = wadi_sph_def(s->sph->context.world->scene);
    const double unit_speed = s->sph->spacing / s->sph->unit_time;
    const double fastest = SAND_SPEED * unit_speed, parting = def->density_speed * unit_speed;
    const double loose = WADI_SPH_UNDER_DENSE * (step->has_sizes ? MIXED : 1.0);
    const double dense = WADI_SPH_OVER_DENSE * (step->has_sizes ? MIXED : 1.0);
    float *source = step->solve.source;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const double room = 1.0 - (double)step->density[i];
        const float weight = weight_part(step, step->solve.carried[i], i);
        if (step->is_sand[i]) {
            const bool is_bonded = step->solve.is_bonded[i] != 0;
            const double excess = is_bonded ? fmin(0.0, room + dense) : fmin(0.0, room);
            const double rate = room > 0.0 && !is_bonded ? room * per_step : SAND_RATE * excess * per_step;
            source[i] = (float)fmax(rate, -fastest) + step->solve.chord[i];
        } else {
            const bool has_sand = step->pairs.start[i] + step->pairs.same[i] < step->pairs.start[i + 1];
            const double overlap = dense / (1.0 + (double)(step->viscosity[i] / WADI_SPH_THICK));
            const double rate = room > loose      ? (room - loose) * (has_sand ? APPROACH : 1.0)
                                : room < -overlap ? def->density_rate * (room + overlap)
                                                  : 0.0;
            source[i] = (float)fmax(rate * per_step, -parting);
        }
        source[i] -= weight;
    }
}

static WadiStatus measure(WadiSph *sph, const WadiSphStep *step, WadiError *error)
{
    if (wadi_sph_knows_eigenvalue(sph, sph->largest)) {
        return WADI_OK;
    }
    double largest;
    const WadiSphPressureIn in = wadi_sph_pressure_in(sph, step);
    WADI_TRY(wadi_sph_pressure_largest(&in, WADI_SPH_POWER, &largest, sph->context.scratch, error));
    sph->largest = fmax(WADI_SPH_POWER_MARGIN * largest, EIGENVALUE_MIN);
    return WADI_OK;
}

WadiSphPressureIn wadi_sph_pressure_in(const WadiSph *sph, const WadiSphStep *step)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    return (WadiSphPressureIn){ .pairs = &step->pairs,
                                .walls = &step->walls,
                                .is_sand = step->is_sand,
                                .inverse_density = step->inverse_density,
                                .volume = step->volume,
                                .inverse = step->solve.inverse,
                                .is_idle = step->solve.is_idle,
                                .v_star = step->solve.v_star,
                                .source = step->solve.source,
                                .tension = step->solve.tension,
                                .laplacian = step->solve.laplacian,
                                .smooth = { SMOOTH[0], SMOOTH[1] },
                                .largest = sph->largest,
                                .tolerance = (step->sand.has_bonds ? WADI_SPH_BONDED_TOLERANCE : 1.0) *
                                             wadi_sph_tolerance(sph),
                                .max_iterations = def->pressure_iterations,
                                .has_coarse = true,
                                .coarse = &step->solve.coarse };
}

WadiStatus wadi_sph_begin_pressure(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    WadiArena *arena = sph->context.scratch;
    WadiSphSolve *solve = &step->solve;
    const size_t count = (size_t)step->count;
    const WadiSphCoarseIn coarse = { .sort = &step->sort,
                                     .spacing = sph->spacing,
                                     .walls = &step->walls,
                                     .pairs = &step->pairs,
                                     .solids = &sph->context.world->solids,
                                     .inverse_density = step->inverse_density,
                                     .has_sizes = step->has_sizes,
                                     .volume = step->volume,
                                     .time = step->time };
    WADI_TRY(wadi_sph_coarse_begin(&solve->coarse, &coarse, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &solve->inverse, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &solve->is_idle, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &solve->v_star, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &solve->source, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &solve->laplacian, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &solve->carried, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &solve->tension, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &solve->chord, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &solve->is_bonded, count, "pressure", error));
    for (int32_t i = 0; i < step->count; ++i) {
        solve->is_idle[i] = 0;
        solve->v_star[i] = (WadiF4){ 0 };
        solve->source[i] = solve->laplacian[i] = solve->carried[i] = 0.0f;
        solve->tension[i] = solve->chord[i] = 0.0f;
        solve->is_bonded[i] = 0;
    }
    const WadiSphPressureIn in = wadi_sph_pressure_in(sph, step);
    wadi_sph_pressure_invert(solve->inverse, &in);
    return measure(sph, step, error);
}

static void save_block(void *context, int64_t first, int64_t end)
{
    const WadiSphStep *step = context;
    for (int64_t i = first; i < end; ++i) {
        step->solve.v_star[i] = wadi_sph_xyz(step->velocity[i]);
    }
}

WadiStatus wadi_sph_save_v_star(WadiSphStep *step)
{
    wadi_parallel_for(step->count, BLOCK, save_block, step);
    return WADI_OK;
}

WadiStatus wadi_sph_add_pressure(const WadiSph *sph, WadiSphStep *step, const float *pressure)
{
    const WadiVec3 g = wadi_world_gravity(sph->context.world, step->time);
    const float dt = (float)step->dt;
    const WadiF4 fall = { dt * (float)g.x, dt * (float)g.y, dt * (float)g.z, 0.0f };
    const WadiSphPressureIn in = wadi_sph_pressure_in(sph, step);
    wadi_sph_pressure_apply_and_carry(step->velocity, pressure, fall, step->solve.carried, &in);
    wadi_parallel_for(step->count, BLOCK, source_block, &(Sources){ sph, step });
    return WADI_OK;
}

WadiStatus wadi_sph_solve_pressure(WadiSph *sph, WadiSphStep *step, float *pressure, WadiError *error)
{
    const WadiSphPressureIn in = wadi_sph_pressure_in(sph, step);
    WadiSphPressureReport report;
    WADI_TRY(wadi_sph_pressure_solve(step->velocity, pressure, &in, &report, sph->context.scratch, error));
    step->pressure_solves += 1;
    step->pressure_iterations += report.iterations;
    return WADI_OK;
}
