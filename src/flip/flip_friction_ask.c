/* One question to the solids for each cell that holds a wall of the friction solve, at its centre. */
#include "flip/flip_friction_ask.h"

#include <string.h>

#include "core/parallel.h"
#include "grid/row_lanes.h"

typedef struct Ask {
    const WadiFrictionGrid *grid;
    const WadiSolids *solids;
    double cell_size, time;
    float *mu, *speed[3]; /* speed: NULL where solids rest */
} Ask;

/* Cells of a row at which walls are asked for. */
static uint8_t wall_cells(const WadiFrictionGrid *grid, int32_t row)
{
    unsigned beside = 0, fluid = grid->fluid[row], cut = 0;
    for (int side = 0; side < 6; ++side) {
        beside |= wadi_row_bits_beside(grid->rows, grid->fluid, row, side);
    }
    for (int side = 0; side < 6 && fluid != 0 && grid->open[0] != NULL; ++side) {
        const float *open = grid->open[side >> 1];
        float value[WADI_ROW_CELLS];
        memcpy(value, open + 8 * (size_t)row, sizeof value);
        if (side & 1) {
            wadi_row_beside(grid->rows, open, row, side, value);
        }
        for (int lane = 0; lane < 8; ++lane) {
            cut |= (unsigned)(value[lane] < 1.0f) << lane;
        }
    }
    return (uint8_t)((grid->solid[row] & beside) | (fluid & cut));
}

static void ask_rows(void *context, int64_t first, int64_t end)
{
    const Ask *ask = context;
    double h = ask->cell_size;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        uint8_t wanted = row > 0 ? wall_cells(ask->grid, row) : 0;
        size_t at = 8 * (size_t)row;
        memset(ask->mu + at, 0, 8 * sizeof(float));
        for (int axis = 0; axis < 3 && ask->speed[0] != NULL; ++axis) {
            memset(ask->speed[axis] + at, 0, 8 * sizeof(float));
        }
        int32_t cell[3] = { 0, 0, 0 };
        if (wanted != 0) {
            wadi_rows_cell(ask->grid->rows, row, cell);
        }
        for (int lane = 0; lane < 8 && wanted != 0; ++lane) {
            if ((wanted >> lane & 1) == 0) {
                continue;
            }
            WadiVec3 x = { h * (cell[0] + lane + 0.5), h * (cell[1] + 0.5), h * (cell[2] + 0.5) };
            WadiSolidPoint point = wadi_solids_sample(ask->solids, x, ask->time);
            ask->mu[at + (size_t)lane] = (float)point.friction;
            for (int axis = 0; axis < 3 && ask->speed[0] != NULL; ++axis) {
                ask->speed[axis][at + (size_t)lane] = (float)wadi_component(point.surface.velocity, axis);
            }
        }
    }
}

WadiStatus wadi_friction_ask_walls(WadiFrictionGrid *grid, const float **mu, const WadiSolids *solids,
                                   double cell_size, double time, WadiArena *arena, WadiError *error)
{
    Ask ask = { .grid = grid, .solids = solids, .cell_size = cell_size, .time = time };
    size_t floats = wadi_rows_floats(grid->rows);
    WADI_TRY(WADI_ARENA_NEW(arena, &ask.mu, floats, "wall friction", error));
    for (int axis = 0; axis < 3 && wadi_solids_are_moving(solids); ++axis) {
        WADI_TRY(WADI_ARENA_NEW(arena, &ask.speed[axis], floats, "wall friction", error));
    }
    wadi_parallel_for(grid->rows->count, WADI_ROW_BLOCK, ask_rows, &ask);
    *mu = ask.mu;
    for (int axis = 0; axis < 3; ++axis) {
        grid->wall_speed[axis] = ask.speed[axis];
    }
    return WADI_OK;
}
