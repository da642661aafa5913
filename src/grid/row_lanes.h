/* Stencils over rows: the eight neighbours of a row's cells on one side. Missing rows are read as zeros (the
 * null row). */
#ifndef WADI_GRID_ROW_LANES_H
#define WADI_GRID_ROW_LANES_H

#include <string.h>

#include "grid/rows.h"
#include "math/minmax.h"

enum { WADI_ROW_BLOCK = 512 }; /* rows per parallel block: 4096 cells */

/* neighbour[l] = the neighbour of lane l on `side` (WADI_ROW_X_MIN ...), from the row's own lanes and those
 * of the row on that side. */
static inline void wadi_row_join(const float *centre, const float *other, int side,
                                 float neighbour[restrict WADI_ROW_CELLS])
{
    if (side == WADI_ROW_X_MIN) {
        neighbour[0] = other[7];
        memcpy(neighbour + 1, centre, 7 * sizeof(float));
    } else if (side == WADI_ROW_X_MAX) {
        memcpy(neighbour, centre + 1, 7 * sizeof(float));
        neighbour[7] = other[0];
    } else {
        memcpy(neighbour, other, 8 * sizeof(float));
    }
}

static inline void wadi_row_neighbours(const WadiRows *rows, const float *values, int32_t row, int side,
                                       float neighbour[restrict WADI_ROW_CELLS])
{
    wadi_row_join(values + WADI_ROW_CELLS * (size_t)row,
                  values + WADI_ROW_CELLS * (size_t)rows->neighbour[row][side], side, neighbour);
}

/* The same for one bit per cell: bit l of the result belongs to the neighbour of lane l. */
static inline uint8_t wadi_row_neighbour_bits(const WadiRows *rows, const uint8_t *bits, int32_t row,
                                              int side)
{
    unsigned centre = bits[row], other = bits[rows->neighbour[row][side]];
    switch (side) {
    case WADI_ROW_X_MIN: return (uint8_t)(centre << 1 | other >> 7);
    case WADI_ROW_X_MAX: return (uint8_t)(centre >> 1 | other << 7);
    default: return (uint8_t)other;
    }
}

/* One cell, for code that is not vectorized. Row 0: none. */
typedef struct WadiRowCell {
    int32_t row;
    int lane;
} WadiRowCell;

static inline WadiRowCell wadi_row_cell_neighbour(const WadiRows *rows, WadiRowCell cell, int side)
{
    if (side == WADI_ROW_X_MIN && cell.lane > 0) {
        return (WadiRowCell){ cell.row, cell.lane - 1 };
    }
    if (side == WADI_ROW_X_MAX && cell.lane < 7) {
        return (WadiRowCell){ cell.row, cell.lane + 1 };
    }
    int lane = side <= WADI_ROW_X_MAX ? 7 - cell.lane : cell.lane;
    return (WadiRowCell){ rows->neighbour[cell.row][side], lane };
}

/* Cell n of the 27 around a cell and itself, x fastest: `step` is the way to it. Row 0: not there. */
static inline WadiRowCell wadi_row_cell_around(const WadiRows *rows, WadiRowCell cell, int n, int step[3])
{
    step[0] = n % 3 - 1;
    step[1] = n / 3 % 3 - 1;
    step[2] = n / 9 - 1;
    for (int axis = 0; axis < 3; ++axis) {
        if (step[axis] != 0 && cell.row != 0) {
            cell = wadi_row_cell_neighbour(rows, cell, 2 * axis + (step[axis] > 0));
        }
    }
    return cell;
}

static inline size_t wadi_row_cell_index(WadiRowCell cell)
{
    return (size_t)WADI_ROW_CELLS * (size_t)cell.row + (size_t)cell.lane;
}

#endif
