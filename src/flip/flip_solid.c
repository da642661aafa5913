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
    ROW_FLOATS = 5 * LANES,
    TILE_FLOATS = WADI_TILE_ROWS * ROW_FLOATS,
    TILE_BLOCK = 4,
    TILES_AT_ONCE = 64, /* asked before their rows are put into the cache */
    TILES_KEPT = 4096
};

/* What is known of a tile: rows of `rows` are like all open or all closed ones, the others follow each other in the cache. All
 * rows are asked at once, whether they are in use or not: distances at corners and centres are shared between rows, and
 * neighbours come into use soon. */
typedef struct WadiFlipSolidTile {
    WadiTile tile;
    bool is_known;
    int32_t first; /* row of the cache */
    WadiFlipTileRows rows;
} WadiFlipSolidTile;

void wadi_flip_solid_cache_free(WadiFlipSolidCache *cache)
{
    WADI_DELETE(cache->tiles, (size_t)cache->tile_capacity);
    WADI_DELETE(cache->spare, (size_t)cache->spare_capacity);
    WADI_DELETE(cache->place, (size_t)cache->place_capacity);
    WADI_DELETE(cache->rows, (size_t)cache->row_capacity * ROW_FLOATS);
    *cache = (WadiFlipSolidCache){ 0 };
}

static WadiFlipSolidRow row_of(float *values)
{
    return (WadiFlipSolidRow){ .open = { values, values + LANES, values + 2 * LANES },
                               .distance = values + 3 * LANES,
                               .fraction = values + 4 * LANES };
}

/* By its number in the arrays. */
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

/* Rows of a tile of the grid that have values of their own. */
typedef struct TileRows {
    uint64_t asked;   /* by a solid that moves, or because there is no cache */
    uint64_t special; /* all of them */
    int32_t first;    /* the first of them in the arrays; they follow each other */
} TileRows;

typedef struct SolidContext {
    const WadiFlipSolidIn *in;
    const WadiFlipSolidIn *moving; /* the same with the solids that move; not set without a cache */
    WadiFlipSolid *out;
    WadiFlipSolidCache *cache; /* NULL: none */
    TileRows *tiles;
    int32_t tile; /* in work; set in a copy of the context */
} SolidContext;

static const WadiFlipSolidTile *kept_tile(const SolidContext *context, int32_t tile)
{
    return &context->cache->tiles[context->cache->place[tile]];
}

static void find_special_rows(void *user, int64_t first, int64_t end)
{
    const SolidContext *context = user;
    const WadiRows *rows = context->in->rows;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        const uint64_t wanted = rows->mask[t];
        TileRows *tile = &context->tiles[t];
        if (context->cache == NULL) {
            *tile = (TileRows){ .asked = wanted, .special = wanted };
            continue;
        }
        *tile = (TileRows){ 0 };
        if (context->moving->solids->count > 0 &&
            wadi_flip_solid_is_near_tile(context->moving, rows->tiles->tiles[t])) {
            tile->asked = wadi_flip_solid_rows_near(context->moving, rows->tiles->tiles[t], wanted);
        }
        const WadiFlipTileRows kept = kept_tile(context, t)->rows;
        const uint64_t own = context->in->own != NULL ? context->in->own[t] : 0;
        tile->special = tile->asked | (wanted & (own | ~(kept.open | kept.closed)));
    }
}

static WadiFlipSolidRow target_in_output(void *user, int place)
{
    const SolidContext *context = user;
    const TileRows *tile = &context->tiles[context->tile];
    const int before = __builtin_popcountll(tile->special & ((UINT64_C(1) << place) - 1));
    return row_in_output(context->out, tile->first + before);
}

/* Rows of the tile in work straight from the solids. */
static void ask_rows(SolidContext *context)
{
    const WadiFlipSolidIn *in = context->in;
    WadiFlipTileRows state =
        wadi_flip_solid_tile(in, in->rows->tiles->tiles[context->tile], context->tiles[context->tile].asked,
                             target_in_output, context);
    for (uint64_t left = state.open | state.closed; left != 0; left &= left - 1) {
        const int place = __builtin_ctzll(left);
        wadi_flip_solid_row_fill(target_in_output(context, place), (state.open >> place & 1) != 0,
                                 in->cell_size);
    }
}

/* Rows of the tile in work as the resting solids make them. */
static void take_rows(SolidContext *context, uint64_t wanted)
{
    for (uint64_t left = wanted; left != 0; left &= left - 1) {
        const WadiFlipSolidTile *kept = kept_tile(context, context->tile);
        const uint64_t plain = kept->rows.open | kept->rows.closed;
        const int place = __builtin_ctzll(left);
        WadiFlipSolidRow to = target_in_output(context, place);
        if ((plain >> place & 1) != 0) {
            wadi_flip_solid_row_fill(to, (kept->rows.open >> place & 1) != 0, context->in->cell_size);
        } else {
            const int before = __builtin_popcountll(~plain & ((UINT64_C(1) << place) - 1));
            copy_row(to, row_of(context->cache->rows + (size_t)ROW_FLOATS * (size_t)(kept->first + before)));
        }
    }
}

static void fill_table(const SolidContext *context, int32_t t)
{
    const WadiRows *rows = context->in->rows;
    const TileRows *tile = &context->tiles[t];
    const uint64_t wanted = rows->mask[t];
    const uint64_t open = wanted != tile->special ? kept_tile(context, t)->rows.open : 0;
    int32_t *to = context->out->row + rows->first[t], next = tile->first;
    for (uint64_t left = wanted; left != 0; left &= left - 1) {
        const uint64_t bit = left & -left;
        *to++ = (tile->special & bit) != 0 ? next++
                : (open & bit) != 0        ? WADI_FLIP_SOLID_OPEN_ROW
                                           : WADI_FLIP_SOLID_CLOSED_ROW;
    }
}

static void fill_tiles(void *user, int64_t first, int64_t end)
{
    SolidContext context = *(const SolidContext *)user;
    for (context.tile = (int32_t)first; context.tile < end; ++context.tile) {
        const TileRows *tile = &context.tiles[context.tile];
        fill_table(&context, context.tile);
        if (tile->asked != 0) {
            ask_rows(&context);
        }
        take_rows(&context, tile->special & ~tile->asked);
    }
}

/* New tiles on their way into the cache. */
typedef struct Asked {
    const WadiFlipSolidIn *in;
    WadiFlipSolidTile **tile;
    float *values; /* TILE_FLOATS each */
} Asked;

static WadiFlipSolidRow target_in_tile(void *user, int place)
{
    float *values = user;
    return row_of(values + place * ROW_FLOATS);
}

static bool has_same_bits(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

/* A solid may be near enough to be asked and still leave a row as it is without. */
static void find_plain_rows(WadiFlipSolidTile *tile, const float *values, double cell_size)
{
    float open[ROW_FLOATS], closed[ROW_FLOATS];
    wadi_flip_solid_row_fill(row_of(open), true, cell_size);
    wadi_flip_solid_row_fill(row_of(closed), false, cell_size);
    for (uint64_t left = ~(tile->rows.open | tile->rows.closed); left != 0; left &= left - 1) {
        const float *row = values + __builtin_ctzll(left) * ROW_FLOATS;
        const uint64_t bit = left & -left;
        tile->rows.open |= has_same_bits(row, open, sizeof open) ? bit : 0;
        tile->rows.closed |= has_same_bits(row, closed, sizeof closed) ? bit : 0;
    }
}

static void ask_resting(void *user, int64_t first, int64_t end)
{
    const Asked *asked = user;
    for (int64_t n = first; n < end; ++n) {
        WadiFlipSolidTile *tile = asked->tile[n];
        float *values = asked->values + n * TILE_FLOATS;
        tile->rows = (WadiFlipTileRows){ .open = UINT64_MAX };
        if (wadi_flip_solid_is_near_tile(asked->in, tile->tile)) {
            tile->rows = wadi_flip_solid_tile(asked->in, tile->tile, UINT64_MAX, target_in_tile, values);
            find_plain_rows(tile, values, asked->in->cell_size);
        }
        tile->is_known = true;
    }
}

static WadiStatus keep_rows(WadiFlipSolidCache *cache, WadiFlipSolidTile *tile, const float *values,
                            WadiError *error)
{
    const uint64_t kept = ~(tile->rows.open | tile->rows.closed);
    const int32_t wanted = cache->row_count + __builtin_popcountll(kept);
    if (wanted > cache->row_capacity) {
        const size_t capacity = (size_t)wanted + (size_t)wanted / 4 + WADI_TILE_ROWS;
        WADI_TRY(WADI_RESIZE(&cache->rows, (size_t)cache->row_capacity * ROW_FLOATS, capacity * ROW_FLOATS,
                             "solid cells", error));
        cache->row_capacity = (int32_t)capacity;
    }
    tile->first = cache->row_count;
    for (uint64_t left = kept; left != 0; left &= left - 1) {
        memcpy(cache->rows + (size_t)ROW_FLOATS * (size_t)cache->row_count++,
               values + __builtin_ctzll(left) * ROW_FLOATS, ROW_FLOATS * sizeof(float));
    }
    return WADI_OK;
}

/* A few at a time: a tile in work takes more memory than what is kept of it. */
static WadiStatus ask_new_tiles(const WadiFlipSolidIn *in, WadiFlipSolidCache *cache, WadiArena *arena,
                                WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const int32_t count = in->rows->tiles->count;
    Asked asked = { .in = in };
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &asked.tile, TILES_AT_ONCE, "solid cells", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &asked.values, (size_t)TILES_AT_ONCE * TILE_FLOATS,
                                      "solid cells", error));
    cache->queried_tiles = 0;
    for (int32_t t = 0; t < count;) {
        int32_t new_tiles = 0;
        for (; t < count && new_tiles < TILES_AT_ONCE; ++t) {
            WadiFlipSolidTile *tile = &cache->tiles[cache->place[t]];
            if (!tile->is_known) {
                asked.tile[new_tiles++] = tile;
            }
        }
        wadi_parallel_for(new_tiles, TILE_BLOCK, ask_resting, &asked);
        for (int32_t n = 0; n < new_tiles; ++n) {
            cache->queried_tiles += asked.tile[n]->rows.open != UINT64_MAX;
            WADI_TRY(keep_rows(cache, asked.tile[n], asked.values + n * TILE_FLOATS, error));
        }
    }
    wadi_arena_release_temporaries(arena, mark);
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

/* Make cache->tiles hold the tiles of the map, cache->place tell where, and keep what is known of them and of tiles that were in
 * use before, for splashes come back. When those become too many all is asked again: as many tiles were new since the last time. */
static WadiStatus follow_tiles(const WadiFlipSolidIn *in, WadiFlipSolidCache *cache, WadiError *error)
{
    const WadiTileMap *map = in->rows->tiles;
    if (cache->tile_count >= 2 * map->count + TILES_KEPT) {
        cache->tile_count = cache->row_count = 0;
    }
    WADI_TRY(make_room(cache, cache->tile_count + map->count, map->count, error));
    int32_t old = 0, count = 0;
    for (int32_t t = 0; t < map->count; ++t) {
        while (old < cache->tile_count && wadi_tile_is_before(cache->tiles[old].tile, map->tiles[t])) {
            cache->spare[count++] = cache->tiles[old++];
        }
        cache->place[t] = count;
        if (old < cache->tile_count && wadi_tile_is_same(cache->tiles[old].tile, map->tiles[t])) {
            cache->spare[count++] = cache->tiles[old++];
        } else {
            cache->spare[count++] = (WadiFlipSolidTile){ .tile = map->tiles[t] };
        }
    }
    while (old < cache->tile_count) {
        cache->spare[count++] = cache->tiles[old++];
    }
    WadiFlipSolidTile *tiles = cache->tiles;
    int32_t capacity = cache->tile_capacity;
    cache->tiles = cache->spare;
    cache->tile_capacity = cache->spare_capacity;
    cache->tile_count = count;
    cache->spare = tiles;
    cache->spare_capacity = capacity;
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

/* Room for the rows that are special, and the others. */
static WadiStatus make_output(const WadiFlipSolidIn *in, TileRows *tiles, WadiFlipSolid *out,
                              WadiArena *arena, WadiError *error)
{
    int32_t count = WADI_FLIP_SOLID_PLAIN_ROWS;
    for (int32_t t = 0; t < in->rows->tiles->count; ++t) {
        tiles[t].first = count;
        count += __builtin_popcountll(tiles[t].special);
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &out->row, (size_t)in->rows->count, "solid cells", error));
    float **array[] = { &out->open[0],  &out->open[1],     &out->open[2],     &out->distance,
                        &out->fraction, &out->velocity[0], &out->velocity[1], &out->velocity[2] };
    const int arrays = wadi_solids_are_moving(in->solids) ? 8 : 5;
    for (int n = 0; n < arrays; ++n) {
        const size_t floats = LANES * (size_t)count;
        WADI_TRY(array[n] == &out->fraction
                     ? WADI_ARENA_NEW_TEMPORARY(arena, array[n], floats, "solid cells", error)
                     : WADI_ARENA_NEW(arena, array[n], floats, "solid cells", error));
        memset(*array[n], 0, LANES * sizeof(float));
    }
    out->row_count = count;
    out->row[0] = WADI_FLIP_SOLID_NONE;
    wadi_flip_solid_row_fill(row_in_output(out, WADI_FLIP_SOLID_OPEN_ROW), true, in->cell_size);
    wadi_flip_solid_row_fill(row_in_output(out, WADI_FLIP_SOLID_CLOSED_ROW), false, in->cell_size);
    return WADI_OK;
}

static WadiStatus find_solid(const WadiFlipSolidIn *in, WadiFlipSolidCache *cache, WadiFlipSolid *out,
                             WadiArena *arena, WadiError *error)
{
    const int32_t tiles = in->rows->tiles->count;
    WadiSolids part[2];
    WadiFlipSolidIn resting = *in, moving = *in;
    resting.solids = &part[0];
    moving.solids = &part[1];
    SolidContext context = { .in = in, .moving = &moving, .out = out, .cache = cache };
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &context.tiles, (size_t)tiles, "solid cells", error));
    if (cache != NULL) {
        WADI_TRY(split_solids(in->solids, part, arena, error));
        WADI_TRY(follow_tiles(&resting, cache, error));
        WADI_TRY(ask_new_tiles(&resting, cache, arena, error));
    }
    wadi_parallel_for(tiles, TILE_BLOCK, find_special_rows, &context);
    WADI_TRY(make_output(in, context.tiles, out, arena, error));
    wadi_parallel_for(tiles, TILE_BLOCK, fill_tiles, &context);
    return WADI_OK;
}

WadiStatus wadi_flip_solid(const WadiFlipSolidIn *in, WadiFlipSolidCache *cache, WadiFlipSolid *out,
                           WadiArena *arena, WadiError *error)
{
    *out = (WadiFlipSolid){ 0 };
    WadiStatus status = find_solid(in, cache, out, arena, error);
    if (status != WADI_OK) {
        *out = (WadiFlipSolid){ 0 };
        if (cache != NULL) {
            wadi_flip_solid_cache_free(cache);
        }
    }
    return status;
}
