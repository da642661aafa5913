/* Is sand thrown by moving solids? [theory 6.9]
 * Pressure and friction are solved in turns. Beside a wall that cuts other cells in every step the stresses
 * of the last one are a poor guess: one turn may leave them far from balance, and grains fly. Friction and
 * the pressure between grains only take energy, so sand beside such a wall is no faster than the fastest of
 *   - twice the wall, as flow around a cylinder, and a fall of half a cell: (2 V)^2 + g dx,
 *   - the sand around it before the forces between grains: |u*|^2.
 * Source: none. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "grid/row_lanes.h"

/* Speed of flow around a solid over that of the solid. */
#define FLOW_AROUND 2.0f

typedef struct Thrown {
    const WadiFlipStep *step;
    float *const *before; /* u* */
    float fall;           /* g dx, m^2/s^2 */
    float *wall;          /* per cell: square of the speed of the moving solid on its faces; 0: none */
    uint8_t *has_wall;    /* per row: has a cell with such a solid */
} Thrown;

static size_t high_face(const Thrown *thrown, WadiRowCell cell, int axis)
{
    return wadi_row_cell_index(wadi_row_cell_neighbour(&thrown->step->grid.rows, cell, 2 * axis + 1));
}

static void find_walls(void *user, int64_t first, int64_t end)
{
    const Thrown *thrown = user;
    const WadiFlipSolid *solid = &thrown->step->solid;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        float *wall = thrown->wall + 8 * (size_t)row;
        memset(wall, 0, 8 * sizeof *wall);
        thrown->has_wall[row] = 0;
        for (int l = 0; l < 8 && row > 0 && solid->row[row] >= WADI_FLIP_SOLID_PLAIN_ROWS; ++l) {
            const WadiRowCell cell = { row, l };
            for (int axis = 0; axis < 3; ++axis) {
                const float *v = solid->velocity[axis];
                const float low = v[wadi_table_cell(solid->row, wadi_row_cell_index(cell))],
                            high = v[wadi_table_cell(solid->row, high_face(thrown, cell, axis))];
                wall[l] += wadi_maxf(low * low, high * high);
            }
            thrown->has_wall[row] |= wall[l] > 0.0f;
        }
    }
}

/* Square of the velocity of a cell, by the faster open face of each axis. */
static float square_of_cell(const Thrown *thrown, float *const velocity[3], WadiRowCell cell)
{
    const WadiFlipSolid *solid = &thrown->step->solid;
    float square = 0.0f;
    for (int axis = 0; axis < 3; ++axis) {
        const size_t at[2] = { wadi_row_cell_index(cell), high_face(thrown, cell, axis) };
        float fastest = 0.0f;
        for (int n = 0; n < 2; ++n) {
            const bool is_open = solid->open[axis][wadi_table_cell(solid->row, at[n])] > 0.0f;
            fastest = is_open ? wadi_maxf(fastest, fabsf(velocity[axis][at[n]])) : fastest;
        }
        square += fastest * fastest;
    }
    return square;
}

static WadiRowCell cell_around(const Thrown *thrown, WadiRowCell cell, int n)
{
    int step[3];
    return wadi_row_cell_around(&thrown->step->grid.rows, cell, n, step);
}

static bool is_cell_thrown(const Thrown *thrown, WadiRowCell cell)
{
    const float square = square_of_cell(thrown, thrown->step->grid.velocity, cell);
    float wall = 0.0f;
    for (int n = 0; n < 27 && square > thrown->fall; ++n) {
        wall = wadi_maxf(wall, thrown->wall[wadi_row_cell_index(cell_around(thrown, cell, n))]);
    }
    bool is_thrown = wall > 0.0f && square > FLOW_AROUND * FLOW_AROUND * wall + thrown->fall;
    for (int n = 0; n < 27 && is_thrown; ++n) {
        const WadiRowCell at = cell_around(thrown, cell, n);
        const bool is_sand = (thrown->step->cells.pressure_cells[at.row] >> at.lane & 1) != 0;
        is_thrown = !is_sand || square > square_of_cell(thrown, thrown->before, at);
    }
    return is_thrown;
}

/* Is there a moving solid in the row or in one of the eight along its sides? */
static bool is_near_wall(const Thrown *thrown, int32_t row)
{
    bool is_near = false;
    for (int n = 0; n < 27 && !is_near; ++n) {
        const WadiRowCell end = { row, n % 3 == 0 ? 0 : 7 };
        is_near = thrown->has_wall[cell_around(thrown, end, n).row] != 0;
    }
    return is_near;
}

/* 1 if a cell of the rows is thrown. */
static double find_thrown(void *user, int64_t first, int64_t end)
{
    const Thrown *thrown = user;
    bool is_thrown = false;
    for (int32_t row = (int32_t)first + (first == 0); row < end && !is_thrown; ++row) {
        const unsigned cells = thrown->step->cells.pressure_cells[row];
        for (unsigned left = cells != 0 && is_near_wall(thrown, row) ? cells : 0; left != 0 && !is_thrown;
             left &= left - 1) {
            is_thrown = is_cell_thrown(thrown, (WadiRowCell){ row, __builtin_ctz(left) });
        }
    }
    return is_thrown ? 1.0 : 0.0;
}

WadiStatus wadi_flip_is_thrown(const WadiFlip *flip, const WadiFlipStep *step, float *const before[3],
                               bool *is_thrown, WadiError *error)
{
    *is_thrown = false;
    if (step->solid.velocity[0] == NULL || flip->materials.has_water) {
        return WADI_OK;
    }
    WadiArena *arena = flip->context.scratch;
    const WadiRows *rows = &step->grid.rows;
    const double g = wadi_norm(wadi_curve_value3(&flip->context.world->scene->gravity, step->time));
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const size_t blocks = (size_t)wadi_parallel_block_count(rows->count, WADI_ROW_BLOCK);
    Thrown thrown = { .step = step, .before = before, .fall = (float)(g * step->grid.cell_size) };
    double *partials = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &thrown.wall, wadi_rows_floats(rows), "moving walls", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &thrown.has_wall, (size_t)rows->count, "moving walls", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, blocks, "moving walls", error));
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, find_walls, &thrown);
    *is_thrown = wadi_parallel_max(rows->count, WADI_ROW_BLOCK, find_thrown, &thrown, partials) > 0.0;
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
