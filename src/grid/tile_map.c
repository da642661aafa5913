#include "grid/tile_map.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "core/parallel.h"

static WadiTile tile_of(const void *items, size_t size, size_t index)
{
    WadiTile tile;
    memcpy(&tile, (const char *)items + size * index, sizeof tile);
    return tile;
}

size_t wadi_tile_search(const void *items, size_t size, size_t from, size_t count, WadiTile tile)
{
    size_t low = from, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (wadi_tile_is_before(tile_of(items, size, middle), tile)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int64_t wadi_tile_find(const void *items, size_t size, size_t count, WadiTile tile)
{
    const size_t at = wadi_tile_search(items, size, 0, count, tile);
    return at < count && wadi_tile_is_same(tile_of(items, size, at), tile) ? (int64_t)at : -1;
}

bool wadi_tiles_are_sound(const void *items, size_t size, size_t count)
{
    const int32_t most = (1 << 28) - 2;
    bool is_sound = true;
    for (size_t i = 0; i < count && is_sound; ++i) {
        const WadiTile tile = tile_of(items, size, i);
        is_sound = tile.x >= -most && tile.x <= most && tile.y >= -most && tile.y <= most &&
                   tile.z >= -most && tile.z <= most &&
                   (i == 0 || wadi_tile_is_before(tile_of(items, size, i - 1), tile));
    }
    return is_sound;
}

static int compare_tiles(const void *left, const void *right)
{
    const WadiTile *a = left, *b = right;
    return wadi_tile_is_before(*a, *b) ? -1 : wadi_tile_is_before(*b, *a);
}

size_t wadi_tiles_sort_unique(WadiTile *tiles, size_t count)
{
    size_t kept = 0;
    qsort(tiles, count, sizeof *tiles, compare_tiles);
    for (size_t i = 0; i < count; ++i) {
        if (kept == 0 || !wadi_tile_is_same(tiles[i], tiles[kept - 1])) {
            tiles[kept++] = tiles[i];
        }
    }
    return kept;
}

static size_t first_slot(const WadiTileMap *map, WadiTile tile)
{
    uint64_t low = (uint64_t)(uint32_t)tile.x | (uint64_t)(uint32_t)tile.y << 32;
    return wadi_hash_mix(low + wadi_hash_mix((uint64_t)(uint32_t)tile.z + 1)) & (map->slot_count - 1);
}

/* Before (x, y, z) in the order of the map; the coordinates may be one beyond those of any tile. */
static bool is_before_tile(WadiTile a, int64_t x, int64_t y, int64_t z)
{
    return a.z != z ? a.z < z : a.y != y ? a.y < y : a.x < x;
}

static void fill_slots(WadiTileMap *map)
{
    for (int32_t i = 0; i < map->count; ++i) {
        size_t slot = first_slot(map, map->tiles[i]);
        while (map->slots[slot] != 0) {
            slot = (slot + 1) & (map->slot_count - 1);
        }
        map->slots[slot] = i + 1;
    }
}

WadiStatus wadi_tile_map_create(WadiTileMap *map, const WadiTile *tiles, size_t count, WadiError *error)
{
    *map = (WadiTileMap){ 0 };
    if (count == 0) {
        return WADI_OK;
    }
    if (count > INT32_MAX / 2) {
        return wadi_fail(error, WADI_ERR_MEMORY, "%zu tiles: a grid may have up to 2^30", count);
    }
    WadiTile *sorted;
    WADI_TRY(WADI_NEW(&sorted, count, "tiles", error));
    memcpy(sorted, tiles, count * sizeof *tiles);
    const size_t kept = wadi_tiles_sort_unique(sorted, count);
    WadiTileMap made = { .count = (int32_t)kept, .slot_count = 4 };
    while (made.slot_count < 2 * kept) {
        made.slot_count *= 2;
    }
    WadiStatus status = WADI_RESIZE(&sorted, count, kept, "tiles", error);
    size_t held = status == WADI_OK ? kept : count;
    if (status == WADI_OK) {
        status = WADI_NEW(&made.slots, made.slot_count, "tile table", error);
    }
    if (status != WADI_OK) {
        WADI_DELETE(sorted, held);
        return status;
    }
    made.tiles = sorted;
    fill_slots(&made);
    *map = made;
    return WADI_OK;
}

/* Neighbours of sorted tiles without hashing: nine cursors, one per row (y + dy, z + dz), only move
 * forward. */
static void link_sorted_tiles(void *context, int64_t first, int64_t end)
{
    WadiTileMap *map = context;
    int32_t cursor[9];
    for (int row = 0; row < 9; ++row) {
        WadiTile from = map->tiles[first];
        int64_t y = (int64_t)from.y + row % 3 - 1, z = (int64_t)from.z + row / 3 - 1;
        int32_t low = 0, high = map->count;
        while (low < high) {
            int32_t middle = low + (high - low) / 2;
            bool is_before = is_before_tile(map->tiles[middle], (int64_t)from.x - 1, y, z);
            low = is_before ? middle + 1 : low;
            high = is_before ? high : middle;
        }
        cursor[row] = low;
    }
    for (int64_t t = first; t < end; ++t) {
        WadiTile tile = map->tiles[t];
        for (int row = 0; row < 9; ++row) {
            int64_t y = (int64_t)tile.y + row % 3 - 1, z = (int64_t)tile.z + row / 3 - 1;
            int32_t at = cursor[row];
            while (at < map->count && is_before_tile(map->tiles[at], (int64_t)tile.x - 1, y, z)) {
                ++at;
            }
            cursor[row] = at;
            int32_t *to = map->neighbours[t] + 3 * row;
            to[0] = to[1] = to[2] = -1;
            for (; at < map->count && map->tiles[at].y == y && map->tiles[at].z == z; ++at) {
                int64_t dx = (int64_t)map->tiles[at].x - tile.x;
                if (dx > 1) {
                    break;
                }
                to[dx + 1] = at;
            }
        }
    }
}

WadiStatus wadi_tile_map_create_in_arena(WadiTileMap *map, const WadiTile *tiles, size_t count,
                                         WadiArena *arena, WadiError *error)
{
    *map = (WadiTileMap){ 0 };
    if (count == 0) {
        return WADI_OK;
    }
    if (count > INT32_MAX / 2) {
        return wadi_fail(error, WADI_ERR_MEMORY, "%zu tiles: a grid may have up to 2^30", count);
    }
    WadiTileMap made = { .count = (int32_t)count, .slot_count = 4 };
    while (made.slot_count < 2 * count) {
        made.slot_count *= 2;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &made.tiles, count, "tiles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &made.slots, made.slot_count, "tile table", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &made.neighbours, count, "tile neighbours", error));
    memcpy(made.tiles, tiles, count * sizeof *tiles);
    memset(made.slots, 0, made.slot_count * sizeof *made.slots);
    fill_slots(&made);
    wadi_parallel_for(made.count, 4096, link_sorted_tiles, &made);
    *map = made;
    return WADI_OK;
}

void wadi_tile_map_free(WadiTileMap *map)
{
    WADI_DELETE(map->tiles, (size_t)map->count);
    WADI_DELETE(map->slots, map->slot_count);
    WADI_DELETE(map->neighbours, (size_t)map->count);
    *map = (WadiTileMap){ 0 };
}

size_t wadi_tile_map_bytes(const WadiTileMap *map)
{
    size_t links = map->neighbours != NULL ? sizeof *map->neighbours : 0;
    return (size_t)map->count * (sizeof(WadiTile) + links) + map->slot_count * sizeof(int32_t);
}

int32_t wadi_tile_map_find(const WadiTileMap *map, WadiTile tile)
{
    if (map->count == 0) {
        return -1;
    }
    for (size_t slot = first_slot(map, tile);; slot = (slot + 1) & (map->slot_count - 1)) {
        int32_t index = map->slots[slot] - 1;
        if (index < 0 || wadi_tile_is_same(map->tiles[index], tile)) {
            return index;
        }
    }
}

int32_t wadi_tile_map_find_before(const WadiTileMap *map, WadiTile tile)
{
    int32_t low = -1, high = map->count; /* tiles[low] <= tile < tiles[high] */
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (!wadi_tile_is_before(tile, map->tiles[middle])) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low >= 0 && map->tiles[low].y == tile.y && map->tiles[low].z == tile.z ? low : -1;
}

static void link_tiles(void *context, int64_t first, int64_t end)
{
    WadiTileMap *map = context;
    for (int64_t t = first; t < end; ++t) {
        for (int c = 0; c < 27; ++c) {
            WadiTile tile = map->tiles[t];
            int64_t x = (int64_t)tile.x + c % 3 - 1, y = (int64_t)tile.y + c / 3 % 3 - 1;
            int64_t z = (int64_t)tile.z + c / 9 - 1;
            bool is_valid = x == (int32_t)x && y == (int32_t)y && z == (int32_t)z;
            WadiTile next = { (int32_t)x, (int32_t)y, (int32_t)z };
            map->neighbours[t][c] = is_valid ? wadi_tile_map_find(map, next) : -1;
        }
    }
}

WadiStatus wadi_tile_map_link(WadiTileMap *map, WadiError *error)
{
    if (map->neighbours == NULL) {
        WADI_TRY(WADI_NEW(&map->neighbours, (size_t)map->count, "tile neighbours", error));
        wadi_parallel_for(map->count, 256, link_tiles, map);
    }
    return WADI_OK;
}

bool wadi_tile_map_validate(const WadiTileMap *map)
{
    for (int32_t i = 0; i < map->count; ++i) {
        if (i > 0 && !wadi_tile_is_before(map->tiles[i - 1], map->tiles[i])) {
            return false;
        }
        if (wadi_tile_map_find(map, map->tiles[i]) != i) {
            return false;
        }
        if (map->neighbours != NULL && map->neighbours[i][13] != i) {
            return false;
        }
    }
    return true;
}
