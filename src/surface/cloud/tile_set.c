#include "surface/cloud/tile_set.h"

#include <stdlib.h>

#include "core/alloc.h"
#include "core/hash.h"

void wadi_tile_set_free(WadiTileSet *set)
{
    WADI_DELETE(set->slot, set->slot_count);
    WADI_DELETE(set->is_used, set->slot_count);
    *set = (WadiTileSet){ 0 };
}

static void insert_tile(WadiTileSet *set, WadiTile tile)
{
    uint64_t key = (uint64_t)(uint32_t)tile.x | (uint64_t)(uint32_t)tile.y << 32;
    size_t slot = wadi_hash_mix(key + wadi_hash_mix((uint64_t)(uint32_t)tile.z + 1)) & (set->slot_count - 1);
    while (set->is_used[slot]) {
        if (wadi_tile_is_same(set->slot[slot], tile)) {
            return;
        }
        slot = (slot + 1) & (set->slot_count - 1);
    }
    set->slot[slot] = tile;
    set->is_used[slot] = 1;
    ++set->count;
}

WadiStatus wadi_tile_set_add(WadiTileSet *set, WadiTile tile, WadiError *error)
{
    if (2 * (set->count + 1) > set->slot_count) {
        WadiTileSet grown = { .slot_count = set->slot_count == 0 ? 1024 : 2 * set->slot_count };
        WadiStatus status = WADI_NEW(&grown.slot, grown.slot_count, "tiles of a surface", error);
        if (status == WADI_OK) {
            status = WADI_NEW(&grown.is_used, grown.slot_count, "tiles of a surface", error);
        }
        if (status != WADI_OK) {
            wadi_tile_set_free(&grown);
            return status;
        }
        for (size_t s = 0; s < set->slot_count; ++s) {
            if (set->is_used[s]) {
                insert_tile(&grown, set->slot[s]);
            }
        }
        wadi_tile_set_free(set);
        *set = grown;
    }
    insert_tile(set, tile);
    return WADI_OK;
}

WadiStatus wadi_tile_set_sort(const WadiTileSet *set, WadiTile **sorted, WadiArena *arena, WadiError *error)
{
    WADI_TRY(WADI_ARENA_NEW(arena, sorted, set->count + 1, "tiles of a surface", error));
    size_t count = 0;
    for (size_t s = 0; s < set->slot_count; ++s) {
        if (set->is_used[s]) {
            (*sorted)[count++] = set->slot[s];
        }
    }
    wadi_tiles_sort_unique(*sorted, count);
    return WADI_OK;
}
