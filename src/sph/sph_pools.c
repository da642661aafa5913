/* Pools: bodies of water alone. Particles of water never come to rest on their own, so a pool falls asleep
 * where each of its tiles is slow, and all of it wakes at once: a part that stayed asleep would be a step in
 * its level. [theory 11.8] */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "grid/tile_bodies.h"
#include "sph/sph.h"

enum { TILE_BLOCK = 2 };

/* Bounds of the largest and the mean speed in a tile of a pool at rest, in sqrt(g dx). A wave with this mean
 * is lower than a tenth of a spacing. */
static const double LARGEST = 0.5, MEAN = 0.025;

enum { IS_FAST = 1, HAS_SAND = 2, HAS_WATER = 4 };

typedef struct Pools {
    const WadiSphStep *step;
    double largest, mean; /* m/s */
    uint8_t *flags;       /* per tile of the awake */
} Pools;

static void look_at_tiles(void *context, int64_t first, int64_t end)
{
    const Pools *pools = context;
    const WadiSphStep *step = pools->step;
    for (int64_t t = first; t < end; ++t) {
        const int32_t at = wadi_tile_map_find(&step->sort.tiles, step->awake_sort.tiles.tiles[t]);
        const int32_t from = step->sort.tile_start[at], to = step->sort.tile_start[at + 1];
        double largest = 0.0, sum = 0.0;
        uint8_t flags = 0;
        for (int32_t i = from - step->sort.first; i < to - step->sort.first; ++i) {
            const WadiF4 v = step->velocity[i];
            const double speed = sqrt((double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
            largest = fmax(largest, speed);
            sum += speed;
            flags |= step->is_sand[i] ? HAS_SAND : HAS_WATER;
        }
        const bool is_fast = largest > pools->largest || sum > pools->mean * (to - from);
        pools->flags[t] = (uint8_t)(flags | (is_fast ? IS_FAST : 0));
    }
}

/* Tiles of bodies with water are slow where the whole body is water and slow; then they count as still. */
WadiStatus wadi_sph_watch_pools(const WadiSph *sph, const WadiSphStep *step, uint8_t *is_slow, double *push,
                                WadiError *error)
{
    const WadiTileMap *tiles = &step->awake_sort.tiles;
    const size_t count = (size_t)tiles->count;
    WadiArena *arena = sph->context.scratch;
    const double unit = sph->spacing / sph->unit_time;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Pools pools = { .step = step, .largest = LARGEST * unit, .mean = MEAN * unit };
    uint8_t *body = NULL;
    int32_t *body_of = NULL;
    if (!sph->materials.has_water) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &pools.flags, count, "pools", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &body, count, "pools", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &body_of, count, "pools", error));
    wadi_parallel_for(tiles->count, TILE_BLOCK, look_at_tiles, &pools);
    wadi_tile_bodies_find(tiles, body_of);
    memset(body, 0, count);
    for (size_t t = 0; t < count; ++t) {
        body[body_of[t]] |= pools.flags[t];
    }
    for (size_t t = 0; t < count; ++t) {
        const uint8_t flags = body[body_of[t]];
        if ((flags & HAS_WATER) != 0) {
            is_slow[t] = flags == HAS_WATER;
            push[t] = flags == HAS_WATER ? 0.0 : push[t];
        }
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

static bool has_water(const WadiSph *sph, const WadiTileSort *sort, int32_t tile)
{
    const uint8_t *material = sph->context.particles->material;
    for (int32_t i = sort->tile_start[tile]; i < sort->tile_start[tile + 1]; ++i) {
        if (!sph->materials.is_sand[material[i]]) {
            return true;
        }
    }
    return false;
}

/* Of the tiles that may fall asleep: those of a body with water do only if all of it does. `falls` may be
 * NULL: none does, as it is after this. */
WadiStatus wadi_sph_hold_pools(const WadiSph *sph, const WadiTileSort *sort, uint8_t **falls,
                               WadiError *error)
{
    const size_t count = (size_t)sort->tiles.count;
    WadiArena *arena = sph->context.scratch;
    uint8_t *stays = NULL, *flags = *falls;
    int32_t *body_of = NULL;
    bool has_any = false;
    if (flags == NULL || !sph->materials.has_water) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &stays, count, "pools", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &body_of, count, "pools", error));
    wadi_tile_bodies_find(&sort->tiles, body_of);
    memset(stays, 0, count);
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        stays[body_of[t]] |= flags[t] == 0 && has_water(sph, sort, t);
    }
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        if (stays[body_of[t]] != 0 && has_water(sph, sort, t)) {
            flags[t] = 0;
        }
        has_any = has_any || flags[t] != 0;
    }
    *falls = has_any ? flags : NULL;
    return WADI_OK;
}

static bool is_pool(const WadiSph *sph, size_t tile)
{
    const WadiSleepTile *sleeping = &sph->sleep.tile[tile];
    return sleeping->count > 0 && !sph->materials.is_sand[sph->context.particles->material[sleeping->first]];
}

/* With a tile of a pool wakes all of the pool. `wakes` may be NULL: none does. */
WadiStatus wadi_sph_wake_pools(const WadiSph *sph, uint8_t *wakes, WadiError *error)
{
    const WadiSleep *sleep = &sph->sleep;
    WadiArena *arena = sph->context.scratch;
    int32_t *stack = NULL;
    size_t depth = 0;
    if (wakes == NULL || !sph->materials.has_water) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &stack, sleep->tile_count, "pools", error));
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        if (wakes[t] != 0 && is_pool(sph, t)) {
            stack[depth++] = (int32_t)t;
        }
    }
    while (depth > 0) {
        const WadiTile tile = sleep->tile[stack[--depth]].tile;
        for (int side = 0; side < 6; ++side) {
            WadiTile next = tile;
            int32_t *along = side < 2 ? &next.x : side < 4 ? &next.y : &next.z;
            *along += (side & 1) != 0 ? 1 : -1;
            const int32_t other = wadi_sleep_find(sleep, next);
            if (other >= 0 && wakes[other] == 0 && is_pool(sph, (size_t)other)) {
                wakes[other] = 1;
                stack[depth++] = other;
            }
        }
    }
    return WADI_OK;
}
