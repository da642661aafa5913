/* One step of the sph solver, stage by stage. [LD09; theory 11] */
#include "core/parallel.h"
#include "sph/sph.h"
#include "sph/sph_stage.h"

static WadiStatus begin(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    WadiArena *arena = sph->context.scratch;
    const WadiParticles *p = sph->context.particles;
    WADI_TRY(
        wadi_tile_sort(&step->sort, sph->context.particles, WADI_SPH_SUPPORT * sph->spacing, arena, error));
    step->count = p->count - step->sort.first;
    const size_t count = (size_t)step->count;
    WADI_TRY(WADI_ARENA_NEW(arena, &step->is_sand, count, "particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->lightness, count, "particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->density, count, "particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->pressure, count, "particles", error));
    const float *pressure = wadi_particles_column(p, sph->pressure_column);
    const float from_pascal = (float)(step->dt / (sph->materials.density * sph->spacing));
    for (size_t i = 0; i < count; ++i) {
        const size_t k = (size_t)step->sort.first + i;
        step->is_sand[i] = sph->materials.is_sand[p->material[k]];
        step->lightness[i] = 1.0f / sph->materials.mass[p->material[k]];
        step->pressure[i] = pressure[k] * from_pascal;
    }
    return WADI_OK;
}

static WadiStatus find_walls(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const WadiSphWallsIn in = { .solids = &sph->context.world->solids,
                                .particles = sph->context.particles,
                                .sort = &step->sort,
                                .kernel = &sph->kernel,
                                .spacing = sph->spacing,
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
                                .closed = step->closed };
    return wadi_sph_pairs_find(&step->pairs, step->density, &in, sph->context.scratch, error);
}

WadiStatus wadi_sph_take_step(void *solver, const WadiSolverStep *now, WadiStepReport *report,
                              WadiError *error)
{
    WadiSph *sph = solver;
    WadiSphStep the_step = { .time = now->time, .dt = now->dt, .ends_frame = now->ends_frame };
    WadiSphStep *step = &the_step;
    if (sph->context.particles->count == 0) {
        return WADI_OK;
    }
    RUN("sort", begin(sph, step, error));
    RUN("walls", find_walls(sph, step, error));
    RUN("neighbours", find_pairs(sph, step, error));
    RUN("forces", wadi_sph_add_forces(sph, step, error));
    RUN("viscosity", wadi_sph_apply_viscosity(sph, step, error));
    if (sph->materials.has_sand) {
        WADI_TRY(wadi_sph_solve_sand(sph, step, error));
    } else {
        RUN("pressure", wadi_sph_solve_pressure(sph, step, error));
    }
    RUN("pressure", wadi_sph_solve_shift(sph, step, error));
    RUN("move", wadi_sph_move(sph, step, report, error));
    report->pressure_solves = step->pressure_solves;
    report->pressure_iterations = step->pressure_iterations;
    report->friction_solves = step->friction_solves;
    report->friction_iterations = step->friction_iterations;
    sph->steps += 1;
    return WADI_OK;
}
