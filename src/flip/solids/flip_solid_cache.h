/* Samples of solids at rest by tile. Private to flip_solid.c and flip_solid_cache.c. */
#ifndef WADI_FLIP_SOLID_CACHE_H
#define WADI_FLIP_SOLID_CACHE_H

#include "flip/solids/flip_solid_tile.h"

enum { WADI_FLIP_SOLID_ROW_FLOATS = 5 * WADI_ROW_CELLS };

/* A sampled tile: `rows` marks the fully open and closed rows, the others are consecutive in
 * cache->tile_rows. All rows are sampled together, in use or not: they share distances at corners and
 * centres, and neighbours are soon in use. */
typedef struct WadiFlipSolidTile {
    WadiTile tile;
    bool is_sampled;
    int32_t first; /* in cache->tile_rows */
    WadiFlipTileRows rows;
} WadiFlipSolidTile;

/* A row of the cache. */
WadiFlipSolidRow wadi_flip_solid_row_of(float *values);

/* Sample all new tiles of in->rows. `in` has only the solids at rest. */
WadiStatus wadi_flip_solid_cache_follow(WadiFlipSolidCache *cache, const WadiFlipSolidIn *in,
                                        WadiArena *arena, WadiError *error);

#endif
