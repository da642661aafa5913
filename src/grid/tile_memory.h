/* Values on the rows of a grid, stored by tile so that they outlive the grid of their step.
 * They are impulses of a step: those of a step twice as long are twice as large. */
#ifndef WADI_GRID_TILE_MEMORY_H
#define WADI_GRID_TILE_MEMORY_H

#include "core/state.h"
#include "grid/rows.h"

/* What is stored per row, and how checkpoints hold it. */
typedef struct WadiTileMemoryKind {
    const char *what; /* for messages, plural: "pressures" */
    const char *name; /* of the array of values, after that of the memory */
    WadiType type;    /* WADI_TYPE_F32 or WADI_TYPE_F64 */
    int row_values;
    int components; /* of that array; row_values is a multiple of it */
} WadiTileMemoryKind;

/* A zeroed memory is valid and empty. Tiles are in the order of tile maps, their rows in the order of the
 * bits of `mask`. */
typedef struct WadiTileMemory {
    double dt; /* s, of the step that stored it; 0: none has */
    WadiTile *tile;
    uint64_t *mask; /* per tile: rows stored */
    int32_t *first; /* per tile: its first stored row */
    void *value;    /* row_values per stored row */
    size_t tile_count, row_count;
    size_t tile_capacity, mask_capacity, first_capacity;
    size_t value_capacity; /* bytes */
} WadiTileMemory;

void wadi_tile_memory_free(WadiTileMemory *memory);

/* Empty, with room for so many. */
WadiStatus wadi_tile_memory_reserve(WadiTileMemory *memory, const WadiTileMemoryKind *kind, size_t tiles,
                                    size_t rows, WadiError *error);
/* Append a tile, after those before it in the order, unless it has no rows. Its values are the caller's to
 * write, and dt. */
void wadi_tile_memory_add(WadiTileMemory *memory, WadiTile tile, uint64_t mask);

/* Finds the stored rows of a grid's rows; fastest when those of a tile follow each other. Begin with tile
 * -1. */
typedef struct WadiTileMemoryFinder {
    const WadiTileMemory *memory;
    const WadiRows *rows;
    int32_t tile; /* of the last row; -1: none */
    int64_t at;   /* number of that tile in the memory, or -1 */
} WadiTileMemoryFinder;

/* Number of the stored row, or -1. */
int32_t wadi_tile_memory_find(WadiTileMemoryFinder *finder, int32_t row);
/* Number of a tile in the memory, or -1; and that of its row at `place` (j + 8 k), or -1. */
static inline int64_t wadi_tile_memory_tile(const WadiTileMemory *memory, WadiTile tile)
{
    return wadi_tile_find(memory->tile, sizeof tile, memory->tile_count, tile);
}
static inline int32_t wadi_tile_memory_row(const WadiTileMemory *memory, int64_t at, int place)
{
    const uint64_t mask = at >= 0 ? memory->mask[at] : 0, bit = UINT64_C(1) << place;
    return (mask & bit) != 0 ? memory->first[at] + __builtin_popcountll(mask & (bit - 1)) : -1;
}

/* dt / memory's dt, or 0 where nothing is stored. */
static inline double wadi_tile_memory_scale(const WadiTileMemory *memory, double dt)
{
    return memory->dt > 0.0 ? dt / memory->dt : 0.0;
}

/* Called for each row of a joined memory, in order: the row that it was copied from, and the factor. */
typedef void (*WadiTileMemoryCopied)(void *user, size_t row, const WadiTileMemory *from, size_t from_row,
                                     double scale);

/* Rows of `a`, and those of `b` that `a` does not have, of the tiles whose flag is not 0 (flags NULL: all).
 * For the dt of `a`, or of `b` where `a` has none. *result may be one of the two; on failure it is as it was.
 * `copied` may be NULL. */
WadiStatus wadi_tile_memory_join(WadiTileMemory *result, const WadiTileMemoryKind *kind,
                                 const WadiTileMemory *a, const uint8_t *flags_a, const WadiTileMemory *b,
                                 const uint8_t *flags_b, WadiTileMemoryCopied copied, void *user,
                                 WadiError *error);

/* Checkpoints: arrays named "NAME_...". A load that fails leaves the memory empty. */
WadiStatus wadi_tile_memory_save(const WadiTileMemory *memory, const WadiTileMemoryKind *kind,
                                 const char *name, WadiState *state, WadiError *error);
WadiStatus wadi_tile_memory_load(WadiTileMemory *memory, const WadiTileMemoryKind *kind, const char *name,
                                 const WadiState *state, WadiError *error);

#endif
