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

/* Keep P (per cell, m/s) of the rows that hold an active cell. On failure the memory is empty. */
WadiStatus wadi_flip_pressure_keep(WadiFlipPressureMemory *memory, const WadiRows *rows,
                                   const uint8_t *active, const double *pressure, double dt,
                                   WadiError *error);
/* P on the present rows, scaled to the present dt; 0 where nothing was kept. */
void wadi_flip_pressure_recall(const WadiFlipPressureMemory *memory, const WadiRows *rows, double dt,
                               double *pressure);

/* Checkpoints: arrays named "pressure_...". */
WadiStatus wadi_flip_pressure_memory_save(const WadiFlipPressureMemory *memory, WadiState *state,
                                          WadiError *error);
WadiStatus wadi_flip_pressure_memory_load(WadiFlipPressureMemory *memory, const WadiState *state,
                                          WadiError *error);

#endif
