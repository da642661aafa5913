/* The pressure of the last step by tile, so that it outlives its rows: the warm start of the next one. */
#ifndef WADI_FLIP_PRESSURE_MEMORY_H
#define WADI_FLIP_PRESSURE_MEMORY_H

#include "core/state.h"
#include "grid/rows.h"

/* A zeroed memory is valid and empty. Tiles are in the order of tile maps. */
typedef struct WadiFlipPressureMemory {
    double dt; /* s, of the step that kept it */
    WadiTile *tile;
    uint64_t *mask; /* per tile: rows kept */
    double *value;  /* 8 a kept row */
    size_t tile_count, row_count;
    size_t tile_capacity, mask_capacity, value_capacity;
} WadiFlipPressureMemory;

void wadi_flip_pressure_memory_free(WadiFlipPressureMemory *memory);

/* Keep P (per cell, m/s) of the rows that `table` (flip_row_table.h) gives a row of their own, in their order; `count` rows with
 * the null row. On failure the memory is empty. */
WadiStatus wadi_flip_pressure_store(WadiFlipPressureMemory *memory, const WadiRows *rows,
                                    const int32_t *table, int32_t count, const double *pressure, double dt,
                                    WadiError *error);
/* P on the present rows of such a table, scaled to the present dt; those that were not kept are left alone. */
void wadi_flip_pressure_recall(const WadiFlipPressureMemory *memory, const WadiRows *rows,
                               const int32_t *table, double dt, double *pressure);

/* Rows of `a`, and those of `b` that `a` does not have, of the tiles whose flag is not 0 (NULL: all). For the dt of `a`, or
 * of `b` where `a` is empty. *result may be one of the two; on failure it is as it was. */
WadiStatus wadi_flip_pressure_memory_join(WadiFlipPressureMemory *result, const WadiFlipPressureMemory *a,
                                          const uint8_t *keeps_a, const WadiFlipPressureMemory *b,
                                          const uint8_t *keeps_b, WadiError *error);

/* Checkpoints: arrays named "NAME_...". */
WadiStatus wadi_flip_pressure_memory_save(const WadiFlipPressureMemory *memory, const char *name,
                                          WadiState *state, WadiError *error);
WadiStatus wadi_flip_pressure_memory_load(WadiFlipPressureMemory *memory, const char *name,
                                          const WadiState *state, WadiError *error);

#endif
