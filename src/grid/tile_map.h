/* The tiles of an unbounded sparse grid: tile coordinate -> dense index. Tiles are in the order of (z, y, x),
 * x fastest, for any input order, so that everything stored by index has the same bytes on every run. */
#ifndef WADI_GRID_TILE_MAP_H
#define WADI_GRID_TILE_MAP_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/status.h"

enum { WADI_TILE_SIDE = 8, WADI_TILE_CELLS = 512 };

typedef struct WadiTile {
    int32_t x, y, z; /* the tile holds cells 8 x .. 8 x + 7 */
} WadiTile;

static inline bool wadi_tile_is_same(WadiTile a, WadiTile b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* The order of tile maps: by z, then y, then x. */
static inline bool wadi_tile_is_before(WadiTile a, WadiTile b)
{
    return a.z != b.z ? a.z < b.z : a.y != b.y ? a.y < b.y : a.x < b.x;
}

/* In a list in that order of items of `size` bytes that begin with their tile: the first, from `from` on,
 * that is not before `tile`, or `count`. */
size_t wadi_tile_search(const void *items, size_t size, size_t from, size_t count, WadiTile tile);
/* The one with that tile, or -1. */
int64_t wadi_tile_find(const void *items, size_t size, size_t count, WadiTile tile);
/* True when such a list is in order and its cells have 32-bit coordinates, with space for a neighbour: a
 * forged checkpoint may violate it. */
bool wadi_tiles_are_sound(const void *items, size_t size, size_t count);

/* tiles[0..count) are sorted without repetitions; slot_count is a power of two, and at least half of the
 * slots are free. A zeroed map is valid and empty. */
typedef struct WadiTileMap {
    WadiTile *tiles;
    int32_t count;
    int32_t *slots; /* index + 1; 0: free */
    size_t slot_count;
    int32_t (*neighbours)[27]; /* index or -1, by (dz + 1) * 9 + (dy + 1) * 3 + dx + 1; NULL until linked */
} WadiTileMap;

/* Sorts tiles and removes repetitions; returns how many are left. */
size_t wadi_tiles_sort_unique(WadiTile *tiles, size_t count);
/* Copies, sorts and removes repetitions. */
WadiStatus wadi_tile_map_create(WadiTileMap *map, const WadiTile *tiles, size_t count, WadiError *error);
WadiStatus wadi_tile_map_link(WadiTileMap *map, WadiError *error); /* makes `neighbours` */
/* From sorted tiles without repetitions; with neighbours, and all memory in the arena: the grid of one step.
 * Copies `tiles`. Not to be freed. */
WadiStatus wadi_tile_map_create_in_arena(WadiTileMap *map, const WadiTile *tiles, size_t count,
                                         WadiArena *arena, WadiError *error);
void wadi_tile_map_free(WadiTileMap *map);
size_t wadi_tile_map_bytes(const WadiTileMap *map);

/* Index or -1. */
int32_t wadi_tile_map_find(const WadiTileMap *map, WadiTile tile);
/* The last tile of the same row (y, z) with x at most tile.x, or -1. */
int32_t wadi_tile_map_find_before(const WadiTileMap *map, WadiTile tile);

/* Sorted, no repetitions, and every tile is found: for WADI_VALIDATE and tests. */
bool wadi_tile_map_validate(const WadiTileMap *map);

#endif
