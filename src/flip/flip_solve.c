/* The forces inside the material: pressure for water; pressure, friction and pressure again for sand.
 * Source: [ZB05 sec. 3, 4], friction as one global problem instead of the paper's local rule. Differs: with n_outer = 1 and warm
 * starts from the last step, one friction solve between two pressure solves is enough. */
#include <math.h>
#include <string.h>

#include "flip/flip.h"
#include "flip/flip_friction_ask.h"
#include "flip/flip_friction_rate.h"
#include "flip/flip_relax.h"

/* Of each of the first step's friction solves: deep columns start from coarse grids. */
enum { FIRST_ITERATIONS = 300 };

static WadiStatus solve_unilateral(const WadiPoisson *system, const float *b,
                                   const WadiPoissonSettings *settings, double *x, WadiArena *scratch,
                                   WadiPoissonReport *report, WadiError *error)
{
    return wadi_poisson_solve_unilateral(system, b, settings, 2, x, scratch, report, NULL, error);
}

static double gravity_step(const WadiFlip *flip, const WadiFlipStep *step)
{
    return step->kick * wadi_norm(wadi_curve_value3(&flip->context.world->scene->gravity, step->time));
}

WadiFlipProjectIn wadi_flip_projection(const WadiFlip *flip, const WadiFlipStep *step)
{
    const WadiFlipDef *def = &flip->context.world->scene->flip;
    bool has_sand = flip->materials.has_sand;
    bool is_unilateral = def->unilateral == WADI_FLIP_UNILATERAL_ALL ||
                         (def->unilateral == WADI_FLIP_UNILATERAL_SAND && has_sand);
    double tolerance = def->tolerance > 0.0 ? def->tolerance : has_sand ? 1e-4 : 1e-5;
    WadiFlipProjectIn in = {
        .rows = &step->grid.rows,
        .fluid = step->fluid,
        .density = step->mix.density,
        .reference_density = flip->materials.density,
        .expansion = step->expansion,
        .cell_size = step->grid.cell_size,
        .solver = { .tolerance = tolerance,
                    /* Enough for still fluid, which has no divergence to be relative to. */
                    .absolute =
                        (def->tolerance > 0.0 ? fmin(1e-4, def->tolerance) : 1e-4) * gravity_step(flip, step),
                    .max_iterations = 200 },
        .solve = is_unilateral ? solve_unilateral : wadi_poisson_solve,
        .is_unilateral = is_unilateral
    };
    for (int a = 0; a < 3; ++a) {
        in.open[a] = step->solid.open[a];
        in.solid_velocity[a] = step->solid.velocity[a];
        in.theta[a] = step->theta[a];
    }
    return in;
}

/* One projection by the method of the scene; *projector is made by the first call with these settings and serves the next ones. */
WadiStatus wadi_flip_make_projection(const WadiFlip *flip, WadiFlipStep *step, const WadiFlipProjectIn *in,
                                     WadiFlipProjector **projector, WadiFlipProjectOut *out, WadiError *error)
{
    const WadiFlipDef *def = &flip->context.world->scene->flip;
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

/* Project the velocities of the step. */
static WadiStatus project(const WadiFlip *flip, WadiFlipStep *step, WadiFlipProjector **projector,
                          WadiError *error)
{
    WadiFlipProjectIn in = wadi_flip_projection(flip, step);
    WadiFlipProjectOut out = { .pressure = step->pressure };
    for (int a = 0; a < 3; ++a) {
        out.velocity[a] = step->grid.velocity[a];
        out.known[a] = step->known[a];
    }
    return wadi_flip_make_projection(flip, step, &in, projector, &out, error);
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

/* Sand that shears fast, where its material says so; the first sand decides for all. */
static void make_rate_dependent(const WadiFlip *flip, const WadiFlipStep *step, float *slope)
{
    const WadiScene *scene = flip->context.world->scene;
    int m = 0;
    while (m < scene->material_count && !flip->materials.is_sand[m]) {
        ++m;
    }
    double slow =
        m < scene->material_count ? wadi_curve_value(&scene->materials[m].friction_angle, step->time) : 0.0;
    if (!(slow > 0.0) || !(scene->materials[m].friction_angle_fast > slow)) {
        return;
    }
    const double degree = 0.017453292519943295;
    WadiFrictionRateIn in = {
        .rows = &step->grid.rows,
        .fluid = step->fluid,
        .velocity = { step->saved[0], step->saved[1], step->saved[2] },
        .pressure = step->pressure,
        .cell_size = step->grid.cell_size,
        .dt = step->kick,
        .gravity_dt = gravity_step(flip, step),
        .ratio = tan(degree * scene->materials[m].friction_angle_fast) / tan(degree * slow),
        .grain_size = scene->materials[m].grain_size,
        .inertial_number = 0.3,
    };
    wadi_friction_rate(&in, slope);
}

WadiStatus wadi_flip_friction_load(const WadiFlip *flip, const WadiFlipStep *step, WadiFrictionLoad *load,
                                   double **grain, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    size_t floats = wadi_rows_floats(&step->grid.rows);
    float *slope = step->mix.slope, *cohesion = step->mix.cohesion;
    *grain = NULL;
    if (slope == NULL) {
        WADI_TRY(WADI_ARENA_NEW(arena, &slope, floats, "yield slopes", error));
        for (size_t i = 0; i < floats; ++i) {
            slope[i] = flip->materials.slope[0];
        }
    }
    if (cohesion == NULL && flip->materials.cohesion[0] > 0.0f) {
        WADI_TRY(WADI_ARENA_NEW(arena, &cohesion, floats, "cohesion", error));
        for (size_t i = 0; i < floats; ++i) {
            cohesion[i] = flip->materials.cohesion[0];
        }
    }
    make_rate_dependent(flip, step, slope);
    if (flip->materials.has_water) {
        WADI_TRY(WADI_ARENA_NEW(arena, grain, floats, "grain pressure", error));
    }
    *load = (WadiFrictionLoad){ .pressure = *grain != NULL ? *grain : step->pressure,
                                .k = slope,
                                .cohesion = cohesion };
    return WADI_OK;
}

/* Sand whose stress is inside the yield set. */
static WadiStatus mark_rigid(const WadiFlip *flip, WadiFlipStep *step, const WadiFriction *friction,
                             const WadiFrictionLoad *load, WadiError *error)
{
    const WadiRows *rows = &step->grid.rows;
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &step->rigid, (size_t)rows->count, "rigid cells", error));
    step->rigid[0] = 0;
    for (int32_t r = 1; r < rows->count; ++r) {
        step->rigid[r] = 0;
        for (unsigned left = step->fluid[r]; left != 0; left &= left - 1) {
            int l = __builtin_ctz(left);
            size_t cell = 8 * (size_t)r + (size_t)l;
            double yield = (double)load->k[cell] * fmax(load->pressure[cell], 0.0) +
                           (load->cohesion != NULL ? (double)load->cohesion[cell] : 0.0);
            step->rigid[r] |= (uint8_t)((wadi_friction_stress(friction, r, l) < 0.999 * yield) << l);
        }
    }
    return WADI_OK;
}

/* u* -> u* + div tau - grad P, divergence-free last. */
static WadiStatus solve_sand(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    WadiStageTimes *times = flip->context.times;
    float *free_flight[3], *loaded[3];
    WADI_TRY(copy_faces(step, step->grid.velocity, free_flight, arena, error));
    WadiFrictionSolids solids = { &flip->context.world->solids, step->grid.cell_size, step->time + step->dt };
    WadiFrictionGrid grid = { .rows = &step->grid.rows,
                              .fluid = step->fluid,
                              .solid = step->inside,
                              .ask = wadi_friction_ask_solids,
                              .ask_context = &solids,
                              .density = step->mix.density,
                              .reference_density = flip->materials.density };
    for (int a = 0; a < 3; ++a) {
        grid.open[a] = step->solid.open[a];
    }
    bool is_first = flip->friction_memory.dt == 0.0;
    WadiFriction *friction = NULL;
    WADI_TRY(wadi_friction_begin(&friction, &grid, &flip->friction_memory, step->kick, arena, error));
    wadi_friction_add(friction, step->grid.velocity);
    WADI_TRY(copy_faces(step, step->grid.velocity, loaded, arena, error));
    WadiFlipProjector *projector = NULL;
    WADI_STAGE(times, "pressure", WADI_TRY(project(flip, step, &projector, error)));

    int depth = 0;
    WADI_TRY(wadi_friction_depth(friction, 2, &depth, arena, error));
    double g_dt = gravity_step(flip, step);
    WadiFrictionSettings settings =
        is_first ? wadi_friction_cold_settings(depth, g_dt) : wadi_friction_settings(depth, g_dt);
    if (is_first && settings.max_iterations > FIRST_ITERATIONS) {
        settings.max_iterations = FIRST_ITERATIONS;
    }
    const WadiFlipDef *def = &flip->context.world->scene->flip;
    if (def->friction_iterations > 0 && !is_first) {
        settings.max_iterations = def->friction_iterations;
    }
    size_t floats = wadi_rows_floats(&step->grid.rows);
    WadiFrictionLoad load;
    double *grain;
    WADI_TRY(wadi_flip_friction_load(flip, step, &load, &grain, error));
    int rounds = is_first && def->friction_rounds < 4 ? 4 : def->friction_rounds;
    for (int round = 0; round < rounds; ++round) {
        /* u_b = u* - grad P: what the last projection made, less the stress that went into it. */
        float *before[3];
        for (int a = 0; a < 3; ++a) {
            before[a] = step->grid.velocity[a];
            for (size_t i = 0; i < floats; ++i) {
                before[a][i] -= loaded[a][i] - free_flight[a][i];
            }
        }
        if (grain != NULL) {
            WADI_STAGE(times, "grain pressure", WADI_TRY(wadi_flip_grain_pressure(flip, step, grain, error)));
        }
        if (is_first && round == 0) {
            WADI_STAGE(times, "friction",
                       WADI_TRY(wadi_friction_start(friction, (const float *const *)before, &load, depth,
                                                    g_dt, arena, error)));
        }
        WADI_STAGE(times, "friction",
                   WADI_TRY(wadi_friction_solve(friction, (const float *const *)before, &load, &settings,
                                                arena, &flip->friction_report, error)));
        step->friction_solves += 1;
        step->friction_iterations += flip->friction_report.iterations;
        for (int a = 0; a < 3; ++a) {
            memcpy(loaded[a], free_flight[a], floats * sizeof(float));
        }
        wadi_friction_add(friction, loaded);
        for (int a = 0; a < 3; ++a) {
            memcpy(step->grid.velocity[a], loaded[a], floats * sizeof(float));
        }
        WADI_STAGE(times, "pressure", WADI_TRY(project(flip, step, &projector, error)));
    }
    WADI_TRY(mark_rigid(flip, step, friction, &load, error));
    return wadi_friction_keep(friction, &flip->friction_memory, error);
}

/* Viscosity between two projections: it must not see the fall that the pressure stops, or walls would drag at water at rest.
 * The second pressure is small; both together are the step's. */
static WadiStatus solve_viscosity(const WadiFlip *flip, WadiFlipStep *step, WadiFlipProjector **projector,
                                  WadiError *error)
{
    const size_t floats = wadi_rows_floats(&step->grid.rows);
    double *whole = step->pressure;
    WADI_STAGE(flip->context.times, "viscosity", WADI_TRY(wadi_flip_apply_viscosity(flip, step, error)));
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &step->pressure, floats, "pressure", error));
    memset(step->pressure, 0, floats * sizeof *step->pressure);
    WADI_STAGE(flip->context.times, "pressure", WADI_TRY(project(flip, step, projector, error)));
    for (size_t i = 0; i < floats; ++i) {
        whole[i] += step->pressure[i];
    }
    step->pressure = whole;
    return WADI_OK;
}

WadiStatus wadi_flip_solve(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    const WadiRows *rows = &step->grid.rows;
    WADI_TRY(WADI_ARENA_NEW(arena, &step->pressure, wadi_rows_floats(rows), "pressure", error));
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &step->known[a], (size_t)rows->count, "known faces", error));
    }
    wadi_flip_pressure_recall(&flip->pressure_memory, rows, step->kick, step->pressure);
    wadi_flip_push_surface(flip, step);
    if (flip->materials.has_sand) {
        if (wadi_flip_is_viscous(flip)) {
            WADI_STAGE(flip->context.times, "viscosity",
                       WADI_TRY(wadi_flip_apply_viscosity(flip, step, error)));
        }
        bool is_global = flip->context.world->scene->flip.friction == WADI_FLIP_FRICTION_SOLVE;
        WADI_TRY(is_global ? solve_sand(flip, step, error) : wadi_flip_solve_zb05(flip, step, error));
    } else {
        const WadiArenaMark mark = wadi_arena_mark(arena);
        WadiFlipProjector *projector = NULL;
        WADI_STAGE(flip->context.times, "pressure", WADI_TRY(project(flip, step, &projector, error)));
        if (wadi_flip_is_viscous(flip)) {
            WADI_TRY(solve_viscosity(flip, step, &projector, error));
        }
        wadi_arena_release(arena, mark);
    }
    return wadi_flip_pressure_keep(&flip->pressure_memory, rows, step->fluid, step->pressure, step->kick,
                                   error);
}
