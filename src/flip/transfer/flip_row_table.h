/* Arrays that hold only some rows of the grid: a table gives, per row of the grid, its row in the array.
 * Several rows may map to one; row 0, the null row, is in every array. A NULL table means that the array
 * holds all rows in order. */
#ifndef WADI_FLIP_ROW_TABLE_H
#define WADI_FLIP_ROW_TABLE_H

#include "grid/row_lanes.h"

static inline int32_t wadi_table_row(const int32_t *table, int32_t row)
{
    return table != NULL ? table[row] : row;
}

/* Index of a cell in such an array, from its index in an array of all rows. */
static inline size_t wadi_table_cell(const int32_t *table, size_t cell)
{
    return table != NULL ? WADI_ROW_CELLS * (size_t)table[cell / WADI_ROW_CELLS] + cell % WADI_ROW_CELLS
                         : cell;
}

/* wadi_row_neighbours for such an array. */
static inline void wadi_table_row_neighbours(const WadiRows *rows, const int32_t *table, const float *values,
                                             int32_t row, int side, float neighbour[restrict WADI_ROW_CELLS])
{
    wadi_row_join(values + WADI_ROW_CELLS * (size_t)wadi_table_row(table, row),
                  values + WADI_ROW_CELLS * (size_t)wadi_table_row(table, rows->neighbour[row][side]), side,
                  neighbour);
}

/* Table of the rows with any bit set, numbered from 1 in order. *count includes the null row. */
WadiStatus wadi_table_of_rows(const WadiRows *rows, const uint8_t *bits, int32_t **table, int32_t *count,
                              WadiArena *arena, WadiError *error);

#endif
