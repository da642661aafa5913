/* The forces inside the material: pressure for water; pressure, friction and pressure again for sand.
 * Source: [ZB05 sec. 3, 4], friction as one global problem instead of the paper's local rule. Differs: with n_outer = 1 and warm
 * starts from the last step, one friction solve between two pressure solves is enough. */
#include <math.h>
#include <string.h>

#include "flip/flip.h"
#include "flip/flip_friction_ask.h"

static WadiStatus solve_unilateral(const WadiPoisson *system, const float *b,
                                   const WadiPoissonSettings *settings, double *x, WadiArena *scratch,
                                   WadiPoissonReport *report, WadiError *error)
{
    return wadi_poisson_solve_unilateral(system, b, settings, 2, x, scratch, report, NULL, error);
}

static double gravity_step(const WadiFlip *flip, const WadiFlipStep *step)
{
    return step->dt * wadi_norm(wadi_curve_value3(&flip->context.world->scene->gravity, step->time));
}

static WadiFlipProjectIn project_in(const WadiFlip *flip, const WadiFlipStep *step)
{
    WadiFlipProjectIn in = { .rows = &step->grid.rows,
                             .fluid = step->fluid,
                             .reference_density = flip->density,
                             .expansion = step->expansion,
                             .cell_size = step->grid.cell_size,
                             .solver = { .tolerance = flip->is_sand ? 1e-4 : 1e-5,
                                         .absolute = 1e-4 * gravity_step(flip, step),
                                         .max_iterations = 200 },
                             .solve = flip->is_sand ? solve_unilateral : wadi_poisson_solve,
                             .is_unilateral = flip->is_sand };
    for (int a = 0; a < 3; ++a) {
        in.open[a] = step->solid.open[a];
        in.solid_velocity[a] = step->solid.velocity[a];
        in.theta[a] = step->theta[a];
    }
    return in;
}

static WadiStatus project(const WadiFlip *flip, WadiFlipStep *step, float *const velocity[3],
                          WadiError *error)
{
    WadiFlipProjectIn in = project_in(flip, step);
    WadiFlipProjectOut out = { .pressure = step->pressure };
    for (int a = 0; a < 3; ++a) {
        out.velocity[a] = velocity[a];
        out.known[a] = step->known[a];
    }
    WadiFlipProjectReport report = { 0 };
    WADI_TRY(wadi_flip_project(&in, &out, flip->context.scratch, &report, error));
    step->max_divergence = report.max_divergence;
    return WADI_OK;
}

static WadiStatus copy_faces(const WadiFlipStep *step, float *const from[3], float *to[3], WadiArena *arena,
                             WadiError *error)
{
    size_t floats = wadi_rows_floats(&step->grid.rows);
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &to[a], floats, "face velocities", error));
        memcpy(to[a], from[a], floats * sizeof(float));
    }
    return WADI_OK;
}

/* k in cells of sand. */
static WadiStatus fill_slopes(const WadiFlip *flip, const WadiFlipStep *step, const float **slopes,
                              WadiError *error)
{
    const WadiRows *rows = &step->grid.rows;
    float *k = NULL;
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &k, wadi_rows_floats(rows), "yield slopes", error));
    for (size_t i = 0; i < wadi_rows_floats(rows); ++i) {
        k[i] = (step->fluid[i / 8] >> (i % 8) & 1) != 0 ? flip->yield_slope : 0.0f;
    }
    *slopes = k;
    return WADI_OK;
}

/* u* -> u* + div tau - grad P, divergence-free last. */
static WadiStatus solve_sand(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    WadiStageTimes *times = flip->context.times;
    float *free_flight[3], *loaded[3];
    WADI_TRY(copy_faces(step, step->grid.velocity, free_flight, arena, error));
    WadiFrictionGrid grid = { .rows = &step->grid.rows, .fluid = step->fluid, .solid = step->inside };
    for (int a = 0; a < 3; ++a) {
        grid.solid_speed[a] =
            wadi_solids_are_moving(&flip->context.world->solids) ? step->solid.velocity[a] : NULL;
        grid.open[a] = step->solid.open[a];
    }
    WadiFrictionLoad load = { .pressure = step->pressure };
    WADI_TRY(fill_slopes(flip, step, &load.k, error));
    WADI_STAGE(times, "solids",
               WADI_TRY(wadi_friction_ask_walls(&grid, &load.wall_friction, &flip->context.world->solids,
                                                step->grid.cell_size, step->time + step->dt, arena, error)));
    bool is_first = flip->friction_memory.dt == 0.0;
    WadiFriction *friction = NULL;
    WADI_TRY(wadi_friction_begin(&friction, &grid, &flip->friction_memory, step->dt, arena, error));
    wadi_friction_add(friction, step->grid.velocity);
    WADI_TRY(copy_faces(step, step->grid.velocity, loaded, arena, error));
    WADI_STAGE(times, "pressure", WADI_TRY(project(flip, step, step->grid.velocity, error)));

    int depth = 0;
    WADI_TRY(wadi_friction_depth(friction, 2, &depth, arena, error));
    double g_dt = gravity_step(flip, step);
    WadiFrictionSettings settings =
        is_first ? wadi_friction_cold_settings(depth, g_dt) : wadi_friction_settings(depth, g_dt);
    size_t floats = wadi_rows_floats(&step->grid.rows);
    for (int outer = 0; outer < (is_first ? 4 : 1); ++outer) {
        /* u_b = u* - grad P: what the last projection made, less the stress that went into it. */
        float *before[3];
        for (int a = 0; a < 3; ++a) {
            before[a] = step->grid.velocity[a];
            for (size_t i = 0; i < floats; ++i) {
                before[a][i] -= loaded[a][i] - free_flight[a][i];
            }
        }
        WadiFrictionReport report = { 0 };
        WADI_STAGE(times, "friction",
                   WADI_TRY(wadi_friction_solve(friction, (const float *const *)before, &load, &settings,
                                                arena, &report, error)));
        for (int a = 0; a < 3; ++a) {
            memcpy(loaded[a], free_flight[a], floats * sizeof(float));
        }
        wadi_friction_add(friction, loaded);
        for (int a = 0; a < 3; ++a) {
            memcpy(step->grid.velocity[a], loaded[a], floats * sizeof(float));
        }
        WADI_STAGE(times, "pressure", WADI_TRY(project(flip, step, step->grid.velocity, error)));
    }
    return wadi_friction_keep(friction, &flip->friction_memory, error);
}

WadiStatus wadi_flip_solve(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    const WadiRows *rows = &step->grid.rows;
    WADI_TRY(WADI_ARENA_NEW(arena, &step->pressure, wadi_rows_floats(rows), "pressure", error));
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &step->known[a], (size_t)rows->count, "known faces", error));
    }
    wadi_flip_pressure_recall(&flip->pressure_memory, rows, step->dt, step->pressure);
    if (flip->is_sand) {
        WADI_TRY(solve_sand(flip, step, error));
    } else {
        WADI_STAGE(flip->context.times, "pressure",
                   WADI_TRY(project(flip, step, step->grid.velocity, error)));
    }
    return wadi_flip_pressure_keep(&flip->pressure_memory, rows, step->fluid, step->pressure, step->dt,
                                   error);
}
