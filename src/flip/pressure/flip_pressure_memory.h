/* The pressure of the last step by tile: the initial guess of the next solve. */
#ifndef WADI_FLIP_PRESSURE_MEMORY_H
#define WADI_FLIP_PRESSURE_MEMORY_H

#include "grid/tile_memory.h"

/* 8 doubles per row: P, m/s. */
extern const WadiTileMemoryKind wadi_flip_pressure_kind;

/* Store P of the rows that have a row of their own by `table` (flip_row_table.h), in order; `count`
 * includes the null row. On failure the memory is empty. */
WadiStatus wadi_flip_pressure_store(WadiTileMemory *memory, const WadiRows *rows, const int32_t *table,
                                    int32_t count, const double *pressure, double dt, WadiError *error);
/* Load P on the current rows of such a table, scaled to the current dt; rows that are not stored are not
 * changed. */
void wadi_flip_pressure_recall(const WadiTileMemory *memory, const WadiRows *rows, const int32_t *table,
                               double dt, double *pressure);

#endif
