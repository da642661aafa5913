/* Arrays that do not hold all rows of the grid: a table says, per row of the grid, which row of the array has its values. Rows
 * may share one; row 0, the null row, is in every array. A table that is NULL stands for an array of all rows in their order. */
#ifndef WADI_FLIP_ROW_TABLE_H
#define WADI_FLIP_ROW_TABLE_H

#include "grid/row_lanes.h"

static inline int32_t wadi_table_row(const int32_t *table, int32_t row)
{
    return table != NULL ? table[row] : row;
}

/* Place of a cell, given by its place in an array of all rows. */
static inline size_t wadi_table_cell(const int32_t *table, size_t cell)
{
    return table != NULL ? WADI_ROW_CELLS * (size_t)table[cell / WADI_ROW_CELLS] + cell % WADI_ROW_CELLS
                         : cell;
}

/* wadi_row_beside of such an array. */
static inline void wadi_table_row_beside(const WadiRows *rows, const int32_t *table, const float *values,
                                         int32_t row, int side, float beside[restrict WADI_ROW_CELLS])
{
    wadi_row_join(values + WADI_ROW_CELLS * (size_t)wadi_table_row(table, row),
                  values + WADI_ROW_CELLS * (size_t)wadi_table_row(table, rows->neighbour[row][side]), side,
                  beside);
}

/* A table of the rows that have a bit set, in their order from 1 on. *count: of them and the null row. */
WadiStatus wadi_table_of_rows(const WadiRows *rows, const uint8_t *bits, int32_t **table, int32_t *count,
                              WadiArena *arena, WadiError *error);

#endif
