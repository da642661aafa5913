/* A growing set of tiles, for collecting the tiles of a new grid. */
#ifndef WADI_SURFACE_TILE_SET_H
#define WADI_SURFACE_TILE_SET_H

#include "grid/tile_map.h"

/* Hashed; at least half of the slots are free. A zeroed set is valid and empty. */
typedef struct WadiTileSet {
    WadiTile *slot;
    uint8_t *is_used;
    size_t slot_count, count;
} WadiTileSet;

WadiStatus wadi_tile_set_add(WadiTileSet *set, WadiTile tile, WadiError *error);
/* The tiles of the set in the order of tile maps; memory belongs to the arena. */
WadiStatus wadi_tile_set_sort(const WadiTileSet *set, WadiTile **sorted, WadiArena *arena, WadiError *error);
void wadi_tile_set_free(WadiTileSet *set);

#endif
