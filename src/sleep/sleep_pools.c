#include "sleep/sleep_pools.h"

#include <string.h>

#include "grid/tile_bodies.h"

WadiStatus wadi_pools_join(const WadiTileMap *tiles, uint8_t *flags, WadiArena *scratch, WadiError *error)
{
    const size_t count = (size_t)tiles->count;
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    uint8_t *body = NULL;
    int32_t *body_of = NULL;
    WADI_TRY(WADI_ARENA_NEW(scratch, &body, count, "pools", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &body_of, count, "pools", error));
    wadi_tile_bodies_find_touching(tiles, body_of);
    memset(body, 0, count);
    for (size_t t = 0; t < count; ++t) {
        body[body_of[t]] |= flags[t];
    }
    for (size_t t = 0; t < count; ++t) {
        flags[t] = body[body_of[t]];
    }
    wadi_arena_release(scratch, mark);
    return WADI_OK;
}

static bool has_water(const WadiPools *pools, const WadiTileSort *sort, int32_t tile)
{
    const uint8_t *material = pools->particles->material;
    for (int32_t i = sort->tile_start[tile]; i < sort->tile_start[tile + 1]; ++i) {
        if (!pools->is_sand[material[i]]) {
            return true;
        }
    }
    return false;
}

/* Tiles with water are of water alone when they fall asleep. */
static bool is_pool(const WadiPools *pools, int32_t tile)
{
    const WadiSleepTile *sleeping = &pools->sleep->tile[tile];
    return sleeping->count > 0 && !pools->is_sand[pools->particles->material[sleeping->first]];
}

static WadiTile touching_tile(WadiTile tile, int n)
{
    return (WadiTile){ tile.x + n % 3 - 1, tile.y + n / 3 % 3 - 1, tile.z + n / 9 - 1 };
}

static bool touches_sleeping_sand(const WadiPools *pools, WadiTile tile)
{
    for (int n = 0; n < 27; ++n) {
        const int32_t other = wadi_sleep_find(pools->sleep, touching_tile(tile, n));
        if (other >= 0 && !is_pool(pools, other)) {
            return true;
        }
    }
    return false;
}

WadiStatus wadi_pools_hold(const WadiPools *pools, const WadiTileSort *sort, uint8_t **falls,
                           WadiError *error)
{
    const size_t count = (size_t)sort->tiles.count;
    uint8_t *stays = NULL, *flags = *falls;
    int32_t *body_of = NULL;
    bool has_any = false;
    if (flags == NULL || !pools->has_water) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(pools->scratch, &stays, count, "pools", error));
    WADI_TRY(WADI_ARENA_NEW(pools->scratch, &body_of, count, "pools", error));
    wadi_tile_bodies_find_touching(&sort->tiles, body_of);
    memset(stays, 0, count);
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        stays[body_of[t]] |= has_water(pools, sort, t) &&
                             (flags[t] == 0 || touches_sleeping_sand(pools, sort->tiles.tiles[t]));
    }
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        if (stays[body_of[t]] != 0 && has_water(pools, sort, t)) {
            flags[t] = 0;
        }
        has_any = has_any || flags[t] != 0;
    }
    *falls = has_any ? flags : NULL;
    return WADI_OK;
}

/* Flag the pools that awake tiles touch. */
static WadiStatus find_touched(const WadiPools *pools, const WadiTileMap *awake, uint8_t **wakes,
                               WadiError *error)
{
    const WadiSleep *sleep = pools->sleep;
    for (int32_t t = 0; t < awake->count; ++t) {
        for (int n = 0; n < 27; ++n) {
            const int32_t other = wadi_sleep_find(sleep, touching_tile(awake->tiles[t], n));
            if (other < 0 || !is_pool(pools, other)) {
                continue;
            }
            if (*wakes == NULL) {
                WADI_TRY(WADI_ARENA_NEW(pools->scratch, wakes, sleep->tile_count, "sleeping tiles", error));
                memset(*wakes, 0, sleep->tile_count);
            }
            (*wakes)[other] = 1;
        }
    }
    return WADI_OK;
}

WadiStatus wadi_pools_wake(const WadiPools *pools, const WadiTileMap *awake, uint8_t **wakes,
                           WadiError *error)
{
    const WadiSleep *sleep = pools->sleep;
    int32_t *stack = NULL;
    size_t depth = 0;
    if (!pools->has_water || sleep->tile_count == 0) {
        return WADI_OK;
    }
    if (awake != NULL) {
        WADI_TRY(find_touched(pools, awake, wakes, error));
    }
    if (*wakes == NULL) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(pools->scratch, &stack, sleep->tile_count, "pools", error));
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        if ((*wakes)[t] != 0 && is_pool(pools, (int32_t)t)) {
            stack[depth++] = (int32_t)t;
        }
    }
    while (depth > 0) {
        const WadiTile tile = sleep->tile[stack[--depth]].tile;
        for (int n = 0; n < 27; ++n) {
            const int32_t other = wadi_sleep_find(sleep, touching_tile(tile, n));
            if (other >= 0 && (*wakes)[other] == 0 && is_pool(pools, other)) {
                (*wakes)[other] = 1;
                stack[depth++] = other;
            }
        }
    }
    return WADI_OK;
}
