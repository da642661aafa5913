/* One step of the sph solver, stage by stage. [LD09; theory 11] */
#include <math.h>

#include "core/check.h"
#include "core/parallel.h"
#include "math/cbrt.h"
#include "sph/sph.h"
#include "sph/sph_stage.h"
#include "sph/viscosity/sph_viscosity.h"

enum { BLOCK = 4096 };

typedef struct Begin {
    const WadiSph *sph;
    WadiSphStep *step;
} Begin;

static void begin_block(void *context, int64_t first, int64_t end)
{
    const Begin *begin = context;
    const WadiSph *sph = begin->sph;
    const WadiSphStep *step = begin->step;
    const WadiParticles *p = sph->context.particles;
    const int32_t base = step->sort.first;
    const uint8_t *material = p->material + base;
    const float *pressure = (const float *)wadi_particles_column(p, sph->pressure_column) + base;
    const float from_pascal = (float)(step->dt / (sph->materials.density * sph->spacing));
    for (int64_t i = first; i < end; ++i) {
        step->is_sand[i] = sph->materials.is_sand[material[i]];
        const bool is_ghost = step->role[i] == WADI_SPH_GHOST;
        step->inverse_density[i] =
            is_ghost ? WADI_SPH_FIXED_INVERSE_DENSITY : 1.0f / sph->materials.mass[material[i]];
        step->pressure[i] = pressure[i] * from_pascal;
        step->velocity[i] = (WadiF4){ p->vx[base + i], p->vy[base + i], p->vz[base + i], 0.0f };
        step->density[i] = 1.0f;
        step->shift[i] = (WadiF4){ 0 };
        step->seep[i] = 0.0f;
        step->pore_pressure[i] = 0.0f;
        step->viscosity[i] = 0.0f;
        step->rest_volume[i] = 1.0;
        step->size[i] = step->volume[i] = 1.0f;
    }
    if (step->has_sizes) {
        const double *volume = (const double *)wadi_particles_column(p, sph->volume_column) + base;
        for (int64_t i = first; i < end; ++i) {
            step->rest_volume[i] = volume[i];
            step->size[i] = (float)wadi_cbrt(volume[i]);
            step->volume[i] = (float)volume[i];
        }
    }
}

/* The arrays of the whole step. Where sand has pores, the volumes of water follow its mass later. */
static WadiStatus begin(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    WadiArena *arena = sph->context.scratch;
    step->count = sph->context.particles->count - step->sort.first;
    step->has_pores = sph->has_pores;
    step->has_sizes = sph->volume_column >= 0;
    const size_t count = (size_t)step->count;
    WADI_TRY(WADI_ARENA_NEW(arena, &step->role, count, "step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->is_sand, count, "step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->size, count, "step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->rest_volume, count, "step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->volume, count, "step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->inverse_density, count, "step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->density, count, "step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->velocity, count, "step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->pressure, count, "step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->shift, count, "step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->seep, count, "step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->pore_pressure, count, "step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->viscosity, count, "step", error));
    wadi_sph_find_ghosts(sph, step);
    wadi_parallel_for(step->count, BLOCK, begin_block, &(Begin){ sph, step });
    return WADI_OK;
}

static WadiStatus find_walls(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const WadiSphWallsIn in = { .solids = &sph->context.world->solids,
                                .particles = sph->context.particles,
                                .sort = &step->sort,
                                .kernel = &sph->kernel,
                                .spacing = sph->spacing,
                                .has_sizes = step->has_sizes,
                                .size = step->size,
                                .is_sand = step->is_sand,
                                .time = step->time };
    return wadi_sph_walls_find(&step->walls, &in, sph->context.scratch, error);
}

static WadiStatus find_pairs(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const WadiSphPairsIn in = { .sort = &step->sort,
                                .particles = sph->context.particles,
                                .kernel = &sph->kernel,
                                .walls = &step->walls,
                                .spacing = sph->spacing,
                                .is_sand = step->is_sand,
                                .volume = step->volume,
                                .has_sizes = step->has_sizes,
                                .size = step->size,
                                .role = step->role };
    return wadi_sph_pairs_find(&step->pairs, step->density, &in, sph->context.scratch, error);
}

static void scope_open(const WadiSph *sph, WadiSphStep *step, WadiSphScope scope)
{
    step->scope[scope] = wadi_arena_mark(sph->context.scratch);
}

/* The forces release temporaries only: walls and lists of neighbours outlive them. */
static void scope_close(const WadiSph *sph, WadiSphStep *step, WadiSphScope scope)
{
    WadiArena *arena = sph->context.scratch;
    switch (scope) {
    case WADI_SPH_SCOPE_STEP:
        wadi_arena_release(arena, step->scope[scope]);
        *step = (WadiSphStep){ .time = step->time, .dt = step->dt };
        break;
    case WADI_SPH_SCOPE_FORCES:
        wadi_arena_release_temporaries(arena, step->scope[scope]);
        step->pairs.sum = NULL;
        step->pairs.mirror_start = NULL;
        step->pairs.mirror = NULL;
        break;
    case WADI_SPH_SCOPE_SOLVE:
        wadi_arena_release(arena, step->scope[scope]);
        step->solve = (WadiSphSolve){ 0 };
        step->sand = (WadiSphSand){ 0 };
        break;
    case WADI_SPH_SCOPES: WADI_ASSERT(false);
    }
}

/* Each has its own stages: pressure, friction. */
static WadiStatus solve(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    if (def->pressure == WADI_SPH_PRESSURE_TAIT) {
        return wadi_sph_solve_tait(sph, step, error);
    }
    if (!sph->materials.has_sand) {
        return step->thickest > WADI_SPH_THICK ? wadi_sph_solve_viscous(sph, step, error)
                                               : wadi_sph_solve_water(sph, step, error);
    }
    return wadi_sph_solve_sand(sph, step, error);
}

static void fill_report(const WadiSphStep *step, WadiStepReport *report)
{
    report->pressure_solves = step->pressure_solves;
    report->pressure_iterations = step->pressure_iterations;
    report->friction_solves = step->friction_solves;
    report->friction_iterations = step->friction_iterations;
}

/* The published methods: from forces and stickiness to the move. */
static WadiStatus run_published(WadiSph *sph, WadiSphStep *step, WadiStepReport *report, WadiError *error)
{
    RUN("sort", begin(sph, step, error));
    scope_open(sph, step, WADI_SPH_SCOPE_FORCES);
    RUN("walls", find_walls(sph, step, error));
    RUN("walls", wadi_sph_begin_loads(sph, step, error));
    RUN("forces", wadi_sph_add_forces(sph, step));
    RUN("forces", wadi_sph_add_wall_adhesion(sph, step));
    WADI_TRY(wadi_sph_solve_published(sph, step, error));
    scope_close(sph, step, WADI_SPH_SCOPE_FORCES);
    RUN("move", wadi_sph_move(sph, step, report, error));
    RUN("porous", wadi_sph_spawn_and_remove(sph, step, error));
    sph->steps += 1;
    return WADI_OK;
}

/* Stages that appear twice under a name are parts of it, timed together. Pores are emptied and filled before
 * the move, when lists of neighbours hold; particles of water appear and vanish after it. */
static WadiStatus run_stages(WadiSph *sph, WadiSphStep *step, WadiStepReport *report, WadiError *error)
{
    RUN("sort", begin(sph, step, error));
    scope_open(sph, step, WADI_SPH_SCOPE_FORCES);
    RUN("wet", wadi_sph_wet(sph, step));
    RUN("walls", find_walls(sph, step, error));
    RUN("walls", wadi_sph_begin_loads(sph, step, error));
    RUN("neighbours", find_pairs(sph, step, error));
    RUN("forces", wadi_sph_add_forces(sph, step));
    RUN("forces", wadi_sph_add_wall_adhesion(sph, step));
    RUN("tension", wadi_sph_apply_tension(sph, step, error));
    RUN("viscosity", wadi_sph_find_viscosity(sph, step, error));
    WADI_TRY(wadi_sph_begin_overfull(sph, step, &report->overfull, error));

    scope_open(sph, step, WADI_SPH_SCOPE_SOLVE);
    WADI_TRY(solve(sph, step, error));
    RUN("loads", wadi_sph_add_loads(sph, step, error));
    RUN("pressure", wadi_sph_solve_shift(sph, step, error));
    RUN("pressure", wadi_sph_find_overfull(sph, step, &report->overfull, error));
    scope_close(sph, step, WADI_SPH_SCOPE_SOLVE);
    scope_close(sph, step, WADI_SPH_SCOPE_FORCES);

    RUN("porous", wadi_sph_flow_in_pores(sph, step, report, error));
    RUN("sleep", wadi_sph_check_loads(sph, step, error));
    RUN("move", wadi_sph_move(sph, step, report, error));
    RUN("loads", wadi_sph_end_loads(sph, step, error));
    RUN("porous", wadi_sph_spawn_and_remove(sph, step, error));
    RUN("sleep", wadi_sph_watch(sph, step, error));
    fill_report(step, report);
    sph->steps += 1;
    return WADI_OK;
}

WadiStatus wadi_sph_take_step(void *solver, const WadiSolverStep *now, WadiStepReport *report,
                              WadiError *error)
{
    WadiSph *sph = solver;
    const WadiParticles *particles = sph->context.particles;
    WadiSphStep *step = &(WadiSphStep){ .time = now->time, .dt = now->dt };
    if (particles->count == 0) {
        return WADI_OK;
    }
    RUN("resample", wadi_sph_adapt_bodies(sph, now->time, error));
    scope_open(sph, step, WADI_SPH_SCOPE_STEP);
    WadiStatus status = wadi_sph_sort_awake(sph, step, error);
    if (status == WADI_OK && sph->sleep.count < particles->count) {
        status = wadi_sph_is_published(sph) ? run_published(sph, step, report, error)
                                            : run_stages(sph, step, report, error);
    } else {
        wadi_solid_loads_repeat(sph->context.loads);
    }
    WadiStatus removed = WADI_OK;
    WADI_STAGE(sph->context.times, "sleep", removed = wadi_sph_remove_copies(sph, step, error));
    report->sleeping_particles = sph->sleep.count;
    WADI_TRY(status);
    WADI_TRY(removed);
    if (sph->volume_column >= 0) { /* then there is no list of overfull regions, which outlives the step */
        scope_close(sph, step, WADI_SPH_SCOPE_STEP);
        RUN("resample", wadi_sph_adapt(sph, now->time + now->dt, error));
    }
    return WADI_OK;
}
