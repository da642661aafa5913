/* The pressure of the last step by tile: the start of the next solve. */
#ifndef WADI_FLIP_PRESSURE_MEMORY_H
#define WADI_FLIP_PRESSURE_MEMORY_H

#include "grid/tile_memory.h"

/* 8 doubles per row: P, m/s. */
extern const WadiTileMemoryKind wadi_flip_pressure_kind;

/* Store P of the rows that `table` (flip_row_table.h) gives a row of their own, in their order; `count` rows with the null row.
 * On failure the memory is empty. */
WadiStatus wadi_flip_pressure_store(WadiTileMemory *memory, const WadiRows *rows, const int32_t *table,
                                    int32_t count, const double *pressure, double dt, WadiError *error);
/* P on the present rows of such a table, scaled to the present dt; rows that are not stored stay as they are. */
void wadi_flip_pressure_recall(const WadiTileMemory *memory, const WadiRows *rows, const int32_t *table,
                               double dt, double *pressure);

#endif
