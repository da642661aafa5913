/* Access to rows by cell, for the stages of flip_rigid.h, which are not in the inner loop of a default
 * run. */
#ifndef WADI_FLIP_RIGID_CELLS_H
#define WADI_FLIP_RIGID_CELLS_H

#include "flip/published/flip_rigid.h"
#include "flip/transfer/flip_row_table.h"

/* Index 8 row + lane of the neighbour; a cell of the null row if there is none. */
static inline int32_t wadi_cell_neighbour(const WadiRows *rows, int32_t cell, int side)
{
    int32_t row = cell >> 3, lane = cell & 7;
    if (side == WADI_ROW_X_MIN) {
        return lane > 0 ? cell - 1 : 8 * rows->neighbour[row][side] + 7;
    }
    if (side == WADI_ROW_X_MAX) {
        return lane < 7 ? cell + 1 : 8 * rows->neighbour[row][side];
    }
    return 8 * rows->neighbour[row][side] + lane;
}

static inline int wadi_cell_bit(const uint8_t *mask, int32_t cell)
{
    return mask[cell >> 3] >> (cell & 7) & 1;
}

/* Can the row have free faces? FLUID is in it or in the rows on its low sides. */
static inline bool wadi_row_has_faces(const WadiFrictionGrid *grid, int32_t row)
{
    const int32_t *neighbour = grid->rows->neighbour[row];
    return (grid->fluid[row] | grid->fluid[neighbour[WADI_ROW_X_MIN]] |
            grid->fluid[neighbour[WADI_ROW_Y_MIN]] | grid->fluid[neighbour[WADI_ROW_Z_MIN]]) != 0;
}

/* The next cell from `cell` on that can have free faces; `end` if there is none. */
static inline int32_t wadi_cell_with_faces(const WadiFrictionGrid *grid, int32_t cell, int32_t end)
{
    while ((cell & 7) == 0 && cell < end && !wadi_row_has_faces(grid, cell >> 3)) {
        cell += 8;
    }
    return cell;
}

static inline bool wadi_face_is_free(const WadiFrictionGrid *grid, int32_t cell, int axis)
{
    int32_t low = wadi_cell_neighbour(grid->rows, cell, 2 * axis);
    return cell >= WADI_ROW_CELLS && !wadi_cell_bit(grid->solid, cell) && !wadi_cell_bit(grid->solid, low) &&
           (wadi_cell_bit(grid->fluid, cell) || wadi_cell_bit(grid->fluid, low));
}

/* Velocity of the solid on a face, along its axis. */
static inline float wadi_solid_speed(const WadiFrictionGrid *grid, int axis, int32_t face)
{
    const float *speed = grid->solid_speed[axis];
    return speed != NULL ? speed[wadi_table_cell(grid->solid_row, (size_t)face)] : 0.0f;
}

#endif
