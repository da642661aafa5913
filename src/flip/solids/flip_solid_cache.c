/* What solids at rest and the walls make of the rows of tiles, asked once.
 *
 * Walls along the grid make the same of whole layers of rows: each distinct row is kept once. */
#include "flip/solids/flip_solid_cache.h"

#include <string.h>

#include "core/array.h"
#include "core/hash.h"
#include "core/parallel.h"

enum {
    LANES = WADI_ROW_CELLS,
    ROW_FLOATS = WADI_FLIP_SOLID_ROW_FLOATS,
    TILE_FLOATS = WADI_TILE_ROWS * ROW_FLOATS,
    TILE_BLOCK = 4,
    TILES_AT_ONCE = 64, /* asked before their rows are put into the cache */
    TILES_KEPT = 4096
};

void wadi_flip_solid_cache_free(WadiFlipSolidCache *cache)
{
    WADI_DELETE(cache->tiles, (size_t)cache->tile_capacity);
    WADI_DELETE(cache->spare, (size_t)cache->spare_capacity);
    WADI_DELETE(cache->place, (size_t)cache->place_capacity);
    WADI_DELETE(cache->tile_rows, cache->tile_row_capacity);
    wadi_free(cache->rows, cache->row_capacity, ROW_FLOATS * sizeof(float));
    WADI_DELETE(cache->number, cache->number_capacity);
    WADI_DELETE(cache->slots, (size_t)cache->slot_count);
    *cache = (WadiFlipSolidCache){ 0 };
}

WadiFlipSolidRow wadi_flip_solid_row_of(float *values)
{
    return (WadiFlipSolidRow){ .open = { values, values + LANES, values + 2 * LANES },
                               .distance = values + 3 * LANES,
                               .fraction = values + 4 * LANES };
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
    return wadi_flip_solid_row_of(values + place * ROW_FLOATS);
}

static bool has_same_bits(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

/* A solid may be near enough to be asked and still leave a row as it is without. */
static void find_plain_rows(WadiFlipSolidTile *tile, const float *values, double cell_size)
{
    float open[ROW_FLOATS], closed[ROW_FLOATS];
    wadi_flip_solid_row_fill(wadi_flip_solid_row_of(open), true, cell_size);
    wadi_flip_solid_row_fill(wadi_flip_solid_row_of(closed), false, cell_size);
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

/* The slot of a row: that of an equal one, or empty. */
static int32_t *slot_of(WadiFlipSolidCache *cache, const float *row)
{
    const uint32_t last = (uint32_t)cache->slot_count - 1;
    uint32_t at = (uint32_t)wadi_hash_bytes(0, row, ROW_FLOATS * sizeof(float)) & last;
    while (cache->slots[at] != 0 &&
           !has_same_bits(cache->rows + (size_t)ROW_FLOATS * (size_t)(cache->slots[at] - 1), row,
                          ROW_FLOATS * sizeof(float))) {
        at = (at + 1) & last;
    }
    return &cache->slots[at];
}

/* Room for `more` rows, and twice as many slots. */
static WadiStatus reserve_rows(WadiFlipSolidCache *cache, int32_t more, WadiError *error)
{
    const int32_t wanted = cache->row_count + more;
    WADI_TRY(wadi_array_reserve((void **)&cache->rows, &cache->row_capacity, (size_t)wanted,
                                ROW_FLOATS * sizeof(float), "solid cells", error));
    WADI_TRY(wadi_array_reserve((void **)&cache->number, &cache->number_capacity, (size_t)wanted,
                                sizeof *cache->number, "solid cells", error));
    int32_t slots = cache->slot_count > 0 ? cache->slot_count : WADI_TILE_ROWS;
    while (slots < 2 * wanted) {
        slots *= 2;
    }
    if (slots > cache->slot_count) {
        WADI_TRY(WADI_RESIZE(&cache->slots, (size_t)cache->slot_count, (size_t)slots, "solid cells", error));
        cache->slot_count = slots;
        memset(cache->slots, 0, (size_t)slots * sizeof *cache->slots);
        for (int32_t r = 0; r < cache->row_count; ++r) {
            *slot_of(cache, cache->rows + (size_t)ROW_FLOATS * (size_t)r) = r + 1;
        }
    }
    return WADI_OK;
}

static WadiStatus keep_rows(WadiFlipSolidCache *cache, WadiFlipSolidTile *tile, const float *values,
                            WadiError *error)
{
    const uint64_t kept = ~(tile->rows.open | tile->rows.closed);
    const int32_t more = __builtin_popcountll(kept);
    WADI_TRY(wadi_array_reserve((void **)&cache->tile_rows, &cache->tile_row_capacity,
                                (size_t)(cache->tile_row_count + more), sizeof *cache->tile_rows,
                                "solid cells", error));
    WADI_TRY(reserve_rows(cache, more, error));
    tile->first = cache->tile_row_count;
    for (uint64_t left = kept; left != 0; left &= left - 1) {
        const float *row = values + __builtin_ctzll(left) * ROW_FLOATS;
        int32_t *slot = slot_of(cache, row);
        if (*slot == 0) {
            memcpy(cache->rows + (size_t)ROW_FLOATS * (size_t)cache->row_count, row,
                   ROW_FLOATS * sizeof(float));
            *slot = ++cache->row_count;
        }
        cache->tile_rows[cache->tile_row_count++] = *slot - 1;
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
        cache->tile_count = cache->tile_row_count = cache->row_count = 0;
        if (cache->slot_count > 0) {
            memset(cache->slots, 0, (size_t)cache->slot_count * sizeof *cache->slots);
        }
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

WadiStatus wadi_flip_solid_cache_follow(WadiFlipSolidCache *cache, const WadiFlipSolidIn *in,
                                        WadiArena *arena, WadiError *error)
{
    WADI_TRY(follow_tiles(in, cache, error));
    return ask_new_tiles(in, cache, arena, error);
}
