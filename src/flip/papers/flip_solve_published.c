/* Pressure and friction of a step with `published`. [ZB05 secs. 3.2 to 3.4, 4.2.3; A24 sec. I-B]
 * ZB05: boundary conditions with eq. 4, pressure, extension, rigid groups and sliding stress, extension.
 * The first extension of sec. 4.2.3, before the pressure, changes nothing: every face of a cell with
 * particles has a velocity from them. */
#include <string.h>

#include "flip/flip_stage.h"
#include "flip/papers/flip_papers.h"
#include "flip/published/flip_printed.h"

static WadiPrintedCells printed_cells(const WadiFlipStep *step)
{
    WadiPrintedCells cells = { .rows = &step->grid.rows,
                               .fluid = step->cells.pressure_cells,
                               .solid = step->cells.inside,
                               .solid_row = step->solid.row,
                               .cell_size = step->grid.cell_size };
    for (int a = 0; a < 3; ++a) {
        cells.solid_speed[a] = step->solid.velocity[a];
    }
    return cells;
}

/* Friction along solids as printed, and which cells it holds. */
static WadiStatus wall_friction(const WadiFlip *flip, WadiFlipStep *step, uint8_t **held, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    const size_t cells = wadi_rows_floats(&step->grid.rows);
    const WadiFrictionGrid grid = wadi_flip_rigid_grid(step);
    float *mu = NULL, *before[3] = { NULL };
    WADI_TRY(WADI_ARENA_NEW(arena, held, cells, "contacts", error));
    memset(*held, 0, cells);
    WADI_TRY(wadi_flip_wall_coefficients(flip, step, &mu, error));
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &before[a], cells, "face velocities", error));
        memcpy(before[a], step->grid.velocity[a], cells * sizeof(float));
    }
    const float *const into[3] = { before[0], before[1], before[2] };
    const WadiRigidWalls walls = { .wall_friction = mu, .before = into, .held = *held };
    return wadi_rigid_wall_friction(&grid, &walls, step->grid.velocity, arena, error);
}

/* Closed faces keep the velocity that the boundary condition left them: material may leave a wall. */
static WadiStatus project(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    const size_t floats = wadi_rows_floats(&step->grid.rows);
    WadiFlipProjectIn in = wadi_flip_projection(flip, step);
    WadiFlipProjectOut out = { .pressure = step->cells.pressure };
    for (int a = 0; a < 3; ++a) {
        float *open = NULL, *speed = NULL;
        WADI_TRY(WADI_ARENA_NEW(arena, &open, floats, "open faces", error));
        WADI_TRY(WADI_ARENA_NEW(arena, &speed, floats, "velocities at walls", error));
        for (size_t f = 0; f < floats; ++f) {
            open[f] = in.open[a][wadi_table_cell(in.solid_row, f)];
            speed[f] = open[f] > 0.0f ? 0.0f : step->grid.velocity[a][f];
        }
        in.open[a] = open;
        in.solid_velocity[a] = speed;
        out.velocity[a] = step->grid.velocity[a];
        out.known[a] = step->known[a];
    }
    in.solid_row = NULL;
    WadiFlipProjector *projector = NULL;
    return wadi_flip_make_projection(flip, step, &in, &projector, &out, error);
}

static WadiStatus sand_friction(const WadiFlip *flip, WadiFlipStep *step, const uint8_t *held,
                                WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    float *const *velocity = step->grid.velocity;
    const float *const extended[3] = { velocity[0], velocity[1], velocity[2] };
    const WadiFrictionGrid grid = wadi_flip_rigid_grid(step);
    WadiFrictionLoad load;
    double *grain = NULL; /* the pressure is that of all the material */
    WADI_TRY(wadi_flip_friction_load(flip, step, &load, &grain, error));
    const WadiRigidLoad rigid = { .pressure = step->cells.pressure, .k = load.k, .cohesion = load.cohesion };
    WadiRigidCells cells;
    WadiRigidGroups groups;
    WadiRigidMotion *motion = NULL;
    WADI_TRY(wadi_printed_classify(&grid, extended, &rigid, &cells, arena, error));
    WADI_TRY(wadi_rigid_groups(&step->grid.rows, cells.rigid, &groups, arena, error));
    groups.held = held;
    WADI_TRY(wadi_rigid_project(&grid, &groups, velocity, &motion, arena, error));
    wadi_printed_slide(&grid, &cells, velocity);
    memcpy(step->cells.rigid, cells.rigid, (size_t)step->grid.rows.count);
    return WADI_OK;
}

static WadiStatus solve_zb05(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    const WadiPrintedCells cells = printed_cells(step);
    uint8_t *held = NULL;
    if (flip->materials.has_sand) {
        RUN("wall friction", wall_friction(flip, step, &held, error));
    }
    DO("walls", wadi_printed_stop_at_solids(&cells, step->grid.velocity));
    RUN("pressure", project(flip, step, error));
    RUN("extend", wadi_printed_extend(&cells, step->grid.velocity, arena, error));
    if (flip->materials.has_sand) {
        RUN("friction", sand_friction(flip, step, held, error));
        RUN("extend", wadi_printed_extend(&cells, step->grid.velocity, arena, error));
    }
    return WADI_OK;
}

static WadiStatus solve_a24(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiPrintedCells cells = printed_cells(step);
    const WadiFlipProjectIn in = wadi_flip_projection(flip, step);
    WadiFlipProjectOut out = { .pressure = step->cells.pressure };
    WadiFlipProjectReport report;
    for (int a = 0; a < 3; ++a) {
        out.velocity[a] = step->grid.velocity[a];
        out.known[a] = step->known[a];
    }
    RUN("pressure",
        wadi_printed_sweeps(&in, wadi_flip_def(flip->context.world->scene)->sweeps, &out, &report, error));
    step->max_divergence = report.max_divergence;
    step->pressure_solves += 1;
    step->pressure_iterations += report.solve.iterations;
    DO("walls", wadi_printed_clear_solids(&cells, step->grid.velocity));
    return WADI_OK;
}

WadiStatus wadi_flip_solve_published(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    return wadi_flip_published(flip) == WADI_FLIP_PUBLISHED_ZB05 ? solve_zb05(flip, step, error)
                                                                 : solve_a24(flip, step, error);
}
