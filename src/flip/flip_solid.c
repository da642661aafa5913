/* Open fractions, solid velocities and solid distances of all rows; what rests is asked once.
 * Source: [BBB07], [NMG09]; friction notes 7.4. The asking itself is flip_solid_tile.c.
 *
 * The cache knows the solids at rest and the walls. Rows that a moving solid is near are asked anew each step, about all
 * solids; the others are none of its business. */
#include "flip/flip_solid.h"

#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "flip/flip_solid_tile.h"

enum {
    LANES = WADI_ROW_CELLS,
    BLOCK_ARRAYS = 5,
    BLOCK_FLOATS = BLOCK_ARRAYS * WADI_TILE_CELLS,
    TILE_BLOCK = 4,
    TILES_KEPT = 4096
};

/* What is known of a tile: rows of `rows` without values, the others with values in a block. All rows are asked at once, whether
 * they are in use or not: distances at corners and centres are shared between rows, and neighbours come into use soon. */
typedef struct WadiFlipSolidTile {
    WadiTile tile;
    int32_t block; /* -1: no solid near */
    bool is_known;
    WadiFlipTileRows rows;
} WadiFlipSolidTile;

void wadi_flip_solid_cache_free(WadiFlipSolidCache *cache)
{
    WADI_DELETE(cache->tiles, (size_t)cache->tile_capacity);
    WADI_DELETE(cache->spare, (size_t)cache->spare_capacity);
    WADI_DELETE(cache->place, (size_t)cache->place_capacity);
    WADI_DELETE(cache->blocks, (size_t)cache->block_capacity * BLOCK_FLOATS);
    WADI_DELETE(cache->free_blocks, (size_t)cache->block_capacity);
    *cache = (WadiFlipSolidCache){ 0 };
}

static WadiFlipSolidRow row_in_block(float *block, int place)
{
    float *array[BLOCK_ARRAYS];
    for (int n = 0; n < BLOCK_ARRAYS; ++n) {
        array[n] = block + n * WADI_TILE_CELLS + LANES * place;
    }
    return (WadiFlipSolidRow){ .open = { array[0], array[1], array[2] },
                               .distance = array[3],
                               .fraction = array[4] };
}

static WadiFlipSolidRow row_in_output(const WadiFlipSolid *out, int32_t row)
{
    const size_t at = (size_t)LANES * (size_t)row;
    WadiFlipSolidRow made = { .open = { out->open[0] + at, out->open[1] + at, out->open[2] + at },
                              .distance = out->distance + at,
                              .fraction = out->fraction + at };
    for (int axis = 0; axis < 3 && out->velocity[axis] != NULL; ++axis) {
        made.velocity[axis] = out->velocity[axis] + at;
    }
    return made;
}

/* From the cache, where all rests. */
static void copy_row(WadiFlipSolidRow to, WadiFlipSolidRow from)
{
    for (int axis = 0; axis < 3; ++axis) {
        memcpy(to.open[axis], from.open[axis], LANES * sizeof(float));
        if (to.velocity[axis] != NULL) {
            memset(to.velocity[axis], 0, LANES * sizeof(float));
        }
    }
    memcpy(to.distance, from.distance, LANES * sizeof(float));
    memcpy(to.fraction, from.fraction, LANES * sizeof(float));
}

typedef struct SolidContext {
    const WadiFlipSolidIn *in;
    const WadiFlipSolidIn *resting, *moving; /* the same with a part of the solids; not set without a cache */
    const WadiFlipSolid *out;
    WadiFlipSolidCache *cache; /* NULL: none */
    int32_t tile;              /* in work; set in a copy of the context */
} SolidContext;

static WadiFlipSolidRow target_in_output(void *user, int place)
{
    const SolidContext *context = user;
    return row_in_output(context->out, wadi_rows_at(context->in->rows, context->tile, place));
}

static WadiFlipSolidRow target_in_cache(void *user, int place)
{
    const SolidContext *context = user;
    int32_t block = context->cache->tiles[context->cache->place[context->tile]].block;
    return row_in_block(context->cache->blocks + (size_t)block * BLOCK_FLOATS, place);
}

/* Rows of the tile in work straight from the solids of `in`. */
static void ask_rows(SolidContext *context, const WadiFlipSolidIn *in, uint64_t wanted)
{
    WadiFlipTileRows state =
        wadi_flip_solid_tile(in, in->rows->tiles->tiles[context->tile], wanted, target_in_output, context);
    for (uint64_t left = state.open | state.closed; left != 0; left &= left - 1) {
        const int place = __builtin_ctzll(left);
        wadi_flip_solid_row_fill(target_in_output(context, place), (state.open >> place & 1) != 0,
                                 in->cell_size);
    }
}

/* Rows of the tile in work as the resting solids make them. */
static void take_rows(SolidContext *context, uint64_t wanted)
{
    WadiFlipSolidTile *kept = &context->cache->tiles[context->cache->place[context->tile]];
    WadiFlipTileRows state = { .open = UINT64_MAX };
    float *block = NULL;
    if (kept->block >= 0) {
        if (!kept->is_known && wanted != 0) {
            kept->rows =
                wadi_flip_solid_tile(context->resting, kept->tile, UINT64_MAX, target_in_cache, context);
            kept->is_known = true;
        }
        state = kept->rows;
        block = context->cache->blocks + (size_t)kept->block * BLOCK_FLOATS;
    }
    for (uint64_t left = wanted; left != 0; left &= left - 1) {
        const int place = __builtin_ctzll(left);
        const bool is_open = (state.open >> place & 1) != 0;
        WadiFlipSolidRow to = target_in_output(context, place);
        if (is_open || (state.closed >> place & 1) != 0) {
            wadi_flip_solid_row_fill(to, is_open, context->in->cell_size);
        } else {
            copy_row(to, row_in_block(block, place));
        }
    }
}

static void ask_tiles(void *user, int64_t first, int64_t end)
{
    SolidContext context = *(const SolidContext *)user;
    const WadiRows *rows = context.in->rows;
    for (context.tile = (int32_t)first; context.tile < end; ++context.tile) {
        WadiTile tile = rows->tiles->tiles[context.tile];
        const uint64_t wanted = rows->mask[context.tile];
        if (context.cache == NULL) {
            ask_rows(&context, context.in, wanted);
            continue;
        }
        uint64_t moving = 0;
        if (context.moving->solids->count > 0 && wadi_flip_solid_is_near_tile(context.moving, tile)) {
            moving = wadi_flip_solid_rows_near(context.moving, tile, wanted);
        }
        ask_rows(&context, context.in, moving);
        take_rows(&context, wanted & ~moving);
    }
}

static void ask_near(void *user, int64_t first, int64_t end)
{
    const SolidContext *context = user;
    for (int64_t t = first; t < end; ++t) {
        WadiFlipSolidTile *tile = &context->cache->tiles[t];
        if (tile->block == -2) {
            tile->block = wadi_flip_solid_is_near_tile(context->resting, tile->tile) ? -2 : -1;
        }
    }
}

static WadiStatus grow_blocks(WadiFlipSolidCache *cache, int32_t wanted, WadiError *error)
{
    if (wanted <= cache->block_capacity) {
        return WADI_OK;
    }
    const size_t old = (size_t)cache->block_capacity;
    const size_t capacity = (size_t)wanted + (size_t)wanted / 2 + 8;
    WADI_TRY(WADI_RESIZE(&cache->free_blocks, old, capacity, "solid cells", error));
    /* On failure the list above is longer than block_capacity says; shrinking it back cannot be relied on, so
     * it goes. */
    WadiStatus status =
        WADI_RESIZE(&cache->blocks, old * BLOCK_FLOATS, capacity * BLOCK_FLOATS, "solid cells", error);
    if (status != WADI_OK) {
        WADI_DELETE(cache->free_blocks, capacity);
        cache->free_blocks = NULL;
        WADI_DELETE(cache->blocks, old * BLOCK_FLOATS);
        cache->blocks = NULL;
        cache->block_capacity = 0;
        return status;
    }
    cache->block_capacity = (int32_t)capacity;
    return WADI_OK;
}

static WadiStatus make_room(WadiFlipSolidCache *cache, int32_t tiles, int32_t places, WadiError *error)
{
    if (tiles > cache->spare_capacity) {
        int32_t capacity = tiles + tiles / 2;
        WADI_TRY(WADI_RESIZE(&cache->spare, (size_t)cache->spare_capacity, (size_t)capacity, "solid cells",
                             error));
        cache->spare_capacity = capacity;
    }
    if (places > cache->place_capacity) {
        int32_t capacity = places + places / 2;
        WADI_TRY(WADI_RESIZE(&cache->place, (size_t)cache->place_capacity, (size_t)capacity, "solid cells",
                             error));
        cache->place_capacity = capacity;
    }
    return WADI_OK;
}

/* An old tile that the map does not have: kept, for splashes come back, or its block is free again. */
static void leave_tile(WadiFlipSolidCache *cache, int32_t old, bool is_kept, int32_t *count)
{
    if (is_kept) {
        cache->spare[(*count)++] = cache->tiles[old];
    } else if (cache->tiles[old].block >= 0) {
        cache->free_blocks[cache->free_count++] = cache->tiles[old].block;
    }
}

/* Make cache->tiles hold the tiles of the map, cache->place tell where, and keep what is known of them and of tiles that were in
 * use before. */
static WadiStatus follow_tiles(const WadiFlipSolidIn *in, WadiFlipSolidCache *cache, WadiError *error)
{
    const WadiTileMap *map = in->rows->tiles;
    WADI_TRY(make_room(cache, cache->tile_count + map->count, map->count, error));
    const bool is_kept = cache->tile_count < 2 * map->count + TILES_KEPT;
    int32_t old = 0, count = 0;
    for (int32_t t = 0; t < map->count; ++t) {
        while (old < cache->tile_count && wadi_tile_is_before(cache->tiles[old].tile, map->tiles[t])) {
            leave_tile(cache, old++, is_kept, &count);
        }
        cache->place[t] = count;
        if (old < cache->tile_count && wadi_tile_is_same(cache->tiles[old].tile, map->tiles[t])) {
            cache->spare[count++] = cache->tiles[old++];
        } else {
            cache->spare[count++] = (WadiFlipSolidTile){ .tile = map->tiles[t], .block = -2 };
        }
    }
    for (; old < cache->tile_count; ++old) {
        leave_tile(cache, old, is_kept, &count);
    }
    WadiFlipSolidTile *tiles = cache->tiles;
    int32_t capacity = cache->tile_capacity;
    cache->tiles = cache->spare;
    cache->tile_capacity = cache->spare_capacity;
    cache->tile_count = count;
    cache->spare = tiles;
    cache->spare_capacity = capacity;

    SolidContext context = { .resting = in, .cache = cache };
    wadi_parallel_for(count, TILE_BLOCK, ask_near, &context);
    int32_t missing = -cache->free_count;
    for (int32_t t = 0; t < count; ++t) {
        missing += cache->tiles[t].block == -2;
    }
    if (missing > 0) {
        WADI_TRY(grow_blocks(cache, cache->block_count + missing, error));
    }
    cache->queried_tiles = 0;
    for (int32_t t = 0; t < map->count; ++t) {
        WadiFlipSolidTile *tile = &cache->tiles[cache->place[t]];
        if (tile->block == -2) {
            tile->block =
                cache->free_count > 0 ? cache->free_blocks[--cache->free_count] : cache->block_count++;
        }
        cache->queried_tiles += tile->block >= 0 && !tile->is_known;
    }
    return WADI_OK;
}

/* part[0]: what rests, and the walls; part[1]: what moves. */
static WadiStatus split_solids(const WadiSolids *solids, WadiSolids part[2], WadiArena *arena,
                               WadiError *error)
{
    for (int n = 0; n < 2; ++n) {
        part[n] = *solids;
        part[n].count = 0;
        WADI_TRY(WADI_ARENA_NEW(arena, &part[n].solids, (size_t)solids->count, "solids", error));
    }
    part[1].closed_sides = 0;
    for (int i = 0; i < solids->count; ++i) {
        WadiSolids *to = &part[wadi_shape_is_moving(solids->solids[i].shape)];
        to->solids[to->count++] = solids->solids[i];
    }
    return WADI_OK;
}

WadiStatus wadi_flip_solid(const WadiFlipSolidIn *in, WadiFlipSolidCache *cache, WadiFlipSolid *out,
                           WadiArena *arena, WadiError *error)
{
    *out = (WadiFlipSolid){ 0 };
    float **array[] = { &out->open[0],  &out->open[1],     &out->open[2],     &out->distance,
                        &out->fraction, &out->velocity[0], &out->velocity[1], &out->velocity[2] };
    const int arrays = wadi_solids_are_moving(in->solids) ? 8 : 5;
    WadiStatus status = WADI_OK;
    for (int n = 0; n < arrays && status == WADI_OK; ++n) {
        const size_t floats = wadi_rows_floats(in->rows);
        status = array[n] == &out->fraction
                     ? WADI_ARENA_NEW_TEMPORARY(arena, array[n], floats, "solid cells", error)
                     : WADI_ARENA_NEW(arena, array[n], floats, "solid cells", error);
        if (status == WADI_OK) {
            memset(*array[n], 0, LANES * sizeof(float));
        }
    }
    WadiSolids part[2];
    WadiFlipSolidIn resting = *in, moving = *in;
    resting.solids = &part[0];
    moving.solids = &part[1];
    if (status == WADI_OK && cache != NULL) {
        status = split_solids(in->solids, part, arena, error);
    }
    if (status == WADI_OK && cache != NULL) {
        status = follow_tiles(&resting, cache, error);
    }
    if (status != WADI_OK) {
        *out = (WadiFlipSolid){ 0 };
        if (cache != NULL) {
            wadi_flip_solid_cache_free(cache);
        }
        return status;
    }
    SolidContext context = { .in = in, .resting = &resting, .moving = &moving, .out = out, .cache = cache };
    wadi_parallel_for(in->rows->tiles->count, TILE_BLOCK, ask_tiles, &context);
    return WADI_OK;
}
