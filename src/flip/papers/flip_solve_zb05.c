/* Forces inside sand by the paper's local rule with its errors corrected (`friction: zb05`), for comparison:
 * pressure, friction at solids, cells that stop and move as rigid groups, sliding stress on the others,
 * pressure again. As printed: flip_solve_published.c.
 * Source: [ZB05 sec. 3; theory 6.12].
 * Differs: see flip_rigid*.c; and a second projection, because neither rigid groups nor the sliding stress
 * conserve volume. */
#include <string.h>

#include "flip/flip_stage.h"
#include "flip/papers/flip_papers.h"
#include "grid/row_lanes.h"

WadiStatus wadi_flip_wall_coefficients(const WadiFlip *flip, const WadiFlipStep *step, float **mu,
                                       WadiError *error)
{
    const WadiRows *rows = &step->grid.rows;
    double h = step->grid.cell_size;
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, mu, wadi_rows_floats(rows), "wall friction", error));
    memset(*mu, 0, wadi_rows_floats(rows) * sizeof(float));
    for (int32_t r = 1; r < rows->count; ++r) {
        unsigned next_to_sand = 0;
        for (int side = 0; side < 6 && step->cells.inside[r] != 0; ++side) {
            next_to_sand |= wadi_row_neighbour_bits(rows, step->cells.pressure_cells, r, side);
        }
        int32_t cell[3];
        wadi_rows_cell(rows, r, cell);
        for (unsigned left = step->cells.inside[r] & next_to_sand; left != 0; left &= left - 1) {
            int l = __builtin_ctz(left);
            WadiVec3 x = { h * (cell[0] + l + 0.5), h * (cell[1] + 0.5), h * (cell[2] + 0.5) };
            (*mu)[8 * r + l] =
                (float)wadi_solids_sample(&flip->context.world->solids, x, step->time).friction;
        }
    }
    return WADI_OK;
}

WadiFrictionGrid wadi_flip_rigid_grid(const WadiFlipStep *step)
{
    WadiFrictionGrid grid = { .rows = &step->grid.rows,
                              .fluid = step->cells.pressure_cells,
                              .solid = step->cells.inside,
                              .solid_row = step->solid.row,
                              .pressure_row = step->cells.pressure_row };
    for (int a = 0; a < 3; ++a) {
        grid.solid_speed[a] = step->solid.velocity[a];
    }
    return grid;
}

/* Friction at solids and inside the sand, on projected velocities; `before` are those before the
 * projection. */
static WadiStatus apply_friction(const WadiFlip *flip, WadiFlipStep *step, float *const before[3],
                                 WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    float *const *velocity = step->grid.velocity;
    const WadiFrictionGrid grid = wadi_flip_rigid_grid(step);
    WadiFrictionLoad load;
    double *grain = NULL;
    float *mu = NULL;
    WADI_TRY(wadi_flip_wall_coefficients(flip, step, &mu, error));
    WADI_TRY(wadi_flip_friction_load(flip, step, &load, &grain, error));
    if (grain != NULL) {
        WADI_TRY(wadi_flip_grain_pressure(flip, step, grain, error));
    }
    const WadiRigidLoad rigid = {
        .pressure = load.pressure, .k = load.k, .cohesion = load.cohesion, .sliding_fraction = 1.0 / 6.0
    };

    const bool is_printed_wall =
        wadi_flip_def(flip->context.world->scene)->wall_friction == WADI_FLIP_WALL_FRICTION_ZB05;
    const float *const into[3] = { before[0], before[1], before[2] };
    const float *const now[3] = { velocity[0], velocity[1], velocity[2] };
    WadiRigidWalls walls = { .wall_friction = mu,
                             .pressure = is_printed_wall ? NULL : load.pressure,
                             .before = into };
    WADI_TRY(wadi_rigid_wall_friction(&grid, &walls, velocity, arena, error));

    WadiRigidCells cells;
    WadiRigidGroups groups;
    WadiRigidMotion *motion = NULL;
    WADI_TRY(wadi_rigid_classify(&grid, now, &rigid, &cells, arena, error));
    WADI_TRY(wadi_rigid_groups(&step->grid.rows, cells.rigid, &groups, arena, error));
    WADI_TRY(wadi_rigid_project(&grid, &groups, velocity, &motion, arena, error));
    WADI_TRY(wadi_rigid_slide(&grid, &cells, &groups, velocity, arena, error));
    memcpy(step->cells.rigid, cells.rigid, (size_t)step->grid.rows.count);
    return WADI_OK;
}

/* Remove the divergence that friction left. This pressure is a correction of either sign; cells that
 * parted in the first projection (P = 0) stay air, or they would be drawn together again. */
static WadiStatus project_again(const WadiFlip *flip, WadiFlipStep *step, bool may_part, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    size_t rows = (size_t)step->grid.rows.count, cells = 8 * (size_t)step->cells.pressure_rows;
    uint8_t *fluid = NULL;
    WadiFlipProjectOut out = { 0 };
    WADI_TRY(WADI_ARENA_NEW(arena, &fluid, rows, "labels", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &out.pressure, cells, "pressure", error));
    memcpy(fluid, step->cells.pressure_cells, rows);
    memset(out.pressure, 0, cells * sizeof *out.pressure);
    for (size_t c = 0; c < 8 * rows && may_part; ++c) {
        if (!(step->cells.pressure[wadi_table_cell(step->cells.pressure_row, c)] > 0.0)) {
            fluid[c / 8] &= (uint8_t)(~(1u << c % 8));
        }
    }
    for (int a = 0; a < 3; ++a) {
        out.velocity[a] = step->grid.velocity[a];
        WADI_TRY(WADI_ARENA_NEW(arena, &out.known[a], rows, "known faces", error));
    }
    WadiFlipProjectIn in = wadi_flip_projection(flip, step);
    in.fluid = fluid;
    in.solve = wadi_poisson_solve;
    in.is_unilateral = false;
    WadiFlipProjector *projector = NULL;
    return wadi_flip_make_projection(flip, step, &in, &projector, &out, error);
}

WadiStatus wadi_flip_solve_zb05(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    size_t floats = wadi_rows_floats(&step->grid.rows);
    WadiFlipProjectIn in = wadi_flip_projection(flip, step);
    WadiFlipProjectOut out = { .pressure = step->cells.pressure };
    float *before[3];
    WadiFlipProjector *projector = NULL;
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &before[a], floats, "face velocities", error));
        memcpy(before[a], step->grid.velocity[a], floats * sizeof(float));
        out.velocity[a] = step->grid.velocity[a];
        out.known[a] = step->known[a];
    }
    RUN("pressure", wadi_flip_make_projection(flip, step, &in, &projector, &out, error));
    RUN("friction", apply_friction(flip, step, before, error));
    RUN("pressure", project_again(flip, step, in.is_unilateral, error));
    return WADI_OK;
}
