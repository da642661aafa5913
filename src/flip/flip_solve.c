/* Forces inside the material: pressure; with viscosity see flip_solve_viscous.c, for sand flip_solve_sand.c.
 * Source: [ZB05 sec. 4.2.3]. */
#include <math.h>
#include <string.h>

#include "flip/flip.h"
#include "flip/flip_stage.h"
#include "flip/pressure/flip_relax.h"

static WadiStatus solve_unilateral(const WadiPoisson *system, const float *b,
                                   const WadiPoissonSettings *settings, double *x, WadiArena *scratch,
                                   WadiPoissonReport *report, WadiError *error)
{
    return wadi_poisson_solve_unilateral(system, b, settings, 2, x, scratch, report, NULL, error);
}

double wadi_flip_gravity_step(const WadiFlip *flip, const WadiFlipStep *step)
{
    return step->force_dt * wadi_norm(wadi_curve_value3(&flip->context.world->scene->gravity, step->time));
}

WadiFlipProjectIn wadi_flip_projection(const WadiFlip *flip, const WadiFlipStep *step)
{
    const WadiFlipDef *def = wadi_flip_def(flip->context.world->scene);
    bool has_sand = flip->materials.has_sand;
    bool is_unilateral = def->unilateral == WADI_FLIP_UNILATERAL_ALL ||
                         (def->unilateral == WADI_FLIP_UNILATERAL_SAND && has_sand);
    WadiFlipProjectIn in = {
        .rows = &step->grid.rows,
        .fluid = step->cells.pressure_cells,
        .solid_row = step->solid.row,
        .reference_density = flip->materials.density,
        .expansion = step->cells.expansion,
        .fluid_row = step->cells.pressure_row,
        .fluid_rows = step->cells.pressure_rows,
        .cell_size = step->grid.cell_size,
        .solver = { .tolerance = def->tolerance,
                    /* For still fluid, which has no divergence for a relative tolerance. */
                    .absolute = fmin(1e-4, def->tolerance) * wadi_flip_gravity_step(flip, step),
                    .min_iterations = has_sand ? 0 : 1,
                    .max_iterations = 200 },
        .solve = is_unilateral ? solve_unilateral : wadi_poisson_solve,
        .is_unilateral = is_unilateral,
        .tension = step->cells.bonds.tension
    };
    for (int a = 0; a < 3; ++a) {
        in.open[a] = step->solid.open[a];
        in.solid_velocity[a] = step->solid.velocity[a];
        in.theta[a] = step->cells.theta[a];
        in.density[a] = step->cells.mix.face_density[a];
        in.fraction[a] = step->cells.bonds.fraction[a];
    }
    in.surface_distance = step->cells.theta[0] == NULL ? step->cells.surface_distance : NULL;
    return in;
}

/* One projection by the method of the scene; the first call makes *projector, later calls with the same
 * input reuse it. */
WadiStatus wadi_flip_make_projection(const WadiFlip *flip, WadiFlipStep *step, const WadiFlipProjectIn *in,
                                     WadiFlipProjector **projector, WadiFlipProjectOut *out, WadiError *error)
{
    const WadiFlipDef *def = wadi_flip_def(flip->context.world->scene);
    WadiArena *arena = flip->context.scratch;
    WadiFlipProjectReport report = { 0 };
    if (def->pressure == WADI_FLIP_PRESSURE_GAUSS_SEIDEL) {
        WadiFlipProjectIn sweeps = *in;
        sweeps.solver = (WadiPoissonSettings){ .max_iterations = def->sweeps };
        WADI_TRY(wadi_flip_relax(&sweeps, def->over_relaxation, out, arena, &report, error));
    } else {
        if (*projector == NULL) {
            WADI_TRY(wadi_flip_projector_begin(projector, in, arena, error));
        }
        WADI_TRY(wadi_flip_projector_run(*projector, out, arena, &report, error));
    }
    step->max_divergence = report.max_divergence;
    step->pressure_solves += 1;
    step->pressure_iterations += report.solve.iterations;
    return WADI_OK;
}

WadiStatus wadi_flip_project_step(const WadiFlip *flip, WadiFlipStep *step, bool is_last,
                                  WadiFlipProjector **projector, WadiError *error)
{
    WadiFlipProjectIn in = wadi_flip_projection(flip, step);
    WadiFlipProjectOut out = { .pressure = step->cells.pressure, .is_interim = !is_last };
    for (int a = 0; a < 3; ++a) {
        out.velocity[a] = step->grid.velocity[a];
        out.known[a] = step->known[a];
    }
    return wadi_flip_make_projection(flip, step, &in, projector, &out, error);
}

static WadiStatus solve_water(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    WadiFlipProjector *projector = NULL;
    if (wadi_flip_is_viscous(flip)) {
        return wadi_flip_solve_viscous(flip, step, error);
    }
    RUN("pressure", wadi_flip_project_step(flip, step, true, &projector, error));
    return WADI_OK;
}

/* The initial guess of the pressure is that of the last step. */
static WadiStatus begin_pressure(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    const WadiRows *rows = &step->grid.rows;
    const size_t cells = WADI_ROW_CELLS * (size_t)step->cells.pressure_rows;
    WADI_TRY(WADI_ARENA_NEW(arena, &step->cells.pressure, cells, "pressure", error));
    memset(step->cells.pressure, 0, cells * sizeof *step->cells.pressure);
    if (flip->materials.has_sand) {
        WADI_TRY(WADI_ARENA_NEW(arena, &step->cells.rigid, (size_t)rows->count, "rigid cells", error));
        memset(step->cells.rigid, 0, (size_t)rows->count);
    }
    wadi_flip_pressure_recall(&flip->pressure_memory, rows, step->cells.pressure_row, step->force_dt,
                              step->cells.pressure);
    return WADI_OK;
}

WadiStatus wadi_flip_solve(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const bool is_global = wadi_flip_def(flip->context.world->scene)->friction == WADI_FLIP_FRICTION_SOLVE;
    WADI_TRY(begin_pressure(flip, step, error));
    wadi_flip_push_surface(flip, step);
    const WadiArenaMark mark = wadi_arena_mark(flip->context.scratch);
    if (wadi_flip_published(flip) != WADI_FLIP_PUBLISHED_NONE) {
        WADI_TRY(wadi_flip_solve_published(flip, step, error));
    } else if (!flip->materials.has_sand) {
        WADI_TRY(solve_water(flip, step, error));
    } else {
        if (wadi_flip_is_viscous(flip)) {
            RUN("viscosity", wadi_flip_apply_viscosity(flip, step, error));
        }
        WADI_TRY(is_global ? wadi_flip_solve_sand(flip, step, error)
                           : wadi_flip_solve_zb05(flip, step, error));
    }
    if (!flip->materials.has_sand || !is_global) {
        RUN("forces on solids", wadi_flip_add_loads(flip, step, NULL, error));
    }
    wadi_arena_release(flip->context.scratch, mark);
    return wadi_flip_pressure_store(&flip->pressure_memory, &step->grid.rows, step->cells.pressure_row,
                                    step->cells.pressure_rows, step->cells.pressure, step->force_dt, error);
}
