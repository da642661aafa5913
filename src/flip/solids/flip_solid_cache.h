/* Results of solids at rest, tile by tile. Private to flip_solid.c and flip_solid_cache.c. */
#ifndef WADI_FLIP_SOLID_CACHE_H
#define WADI_FLIP_SOLID_CACHE_H

#include "flip/solids/flip_solid_tile.h"

enum { WADI_FLIP_SOLID_ROW_FLOATS = 5 * WADI_ROW_CELLS };

/* What is known of a tile: rows of `rows` are like all open or all closed ones, the others follow each other in
 * cache->tile_rows. All rows are asked at once, whether they are in use or not: distances at corners and centres are shared
 * between rows, and neighbours come into use soon. */
typedef struct WadiFlipSolidTile {
    WadiTile tile;
    bool is_known;
    int32_t first; /* in cache->tile_rows */
    WadiFlipTileRows rows;
} WadiFlipSolidTile;

/* A row of the cache. */
WadiFlipSolidRow wadi_flip_solid_row_of(float *values);

/* Know all tiles of in->rows. `in` has the solids at rest alone. */
WadiStatus wadi_flip_solid_cache_follow(WadiFlipSolidCache *cache, const WadiFlipSolidIn *in,
                                        WadiArena *arena, WadiError *error);

#endif
