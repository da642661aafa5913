/* Solids at rest and walls on the rows of tiles, sampled once. Each distinct row is stored once: walls
 * along the grid give equal layers of rows. */
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
    TILES_AT_ONCE = 64, /* sampled before their rows are stored in the cache */
    OLD_TILES_MAX = 4096
};

void wadi_flip_solid_cache_free(WadiFlipSolidCache *cache)
{
    WADI_DELETE(cache->tiles, (size_t)cache->tile_capacity);
    WADI_DELETE(cache->spare, (size_t)cache->spare_capacity);
    WADI_DELETE(cache->tile_index, (size_t)cache->tile_index_capacity);
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

/* New tiles before they are stored in the cache. */
typedef struct NewTiles {
    const WadiFlipSolidIn *in;
    WadiFlipSolidTile **tile;
    float *values; /* TILE_FLOATS each */
} NewTiles;

static WadiFlipSolidRow target_in_tile(void *user, int row)
{
    float *values = user;
    return wadi_flip_solid_row_of(values + row * ROW_FLOATS);
}

static bool has_same_bits(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

/* A solid may be near enough to be sampled and still leave a row fully open or closed. */
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

static void sample_resting(void *user, int64_t first, int64_t end)
{
    const NewTiles *new_tiles = user;
    for (int64_t n = first; n < end; ++n) {
        WadiFlipSolidTile *tile = new_tiles->tile[n];
        float *values = new_tiles->values + n * TILE_FLOATS;
        tile->rows = (WadiFlipTileRows){ .open = UINT64_MAX };
        if (wadi_flip_solid_is_near_tile(new_tiles->in, tile->tile)) {
            tile->rows =
                wadi_flip_solid_tile(new_tiles->in, tile->tile, UINT64_MAX, false, target_in_tile, values);
            find_plain_rows(tile, values, new_tiles->in->cell_size);
        }
        tile->is_sampled = true;
    }
}

/* The slot of an equal row, or an empty one. */
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

/* Capacity for `more` rows, and twice as many slots. */
static WadiStatus reserve_rows(WadiFlipSolidCache *cache, int32_t more, WadiError *error)
{
    const int32_t needed = cache->row_count + more;
    WADI_TRY(wadi_array_reserve((void **)&cache->rows, &cache->row_capacity, (size_t)needed,
                                ROW_FLOATS * sizeof(float), "solid cells", error));
    WADI_TRY(wadi_array_reserve((void **)&cache->number, &cache->number_capacity, (size_t)needed,
                                sizeof *cache->number, "solid cells", error));
    int32_t slots = cache->slot_count > 0 ? cache->slot_count : WADI_TILE_ROWS;
    while (slots < 2 * needed) {
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

static WadiStatus store_rows(WadiFlipSolidCache *cache, WadiFlipSolidTile *tile, const float *values,
                             WadiError *error)
{
    const uint64_t special = ~(tile->rows.open | tile->rows.closed);
    const int32_t more = __builtin_popcountll(special);
    WADI_TRY(wadi_array_reserve((void **)&cache->tile_rows, &cache->tile_row_capacity,
                                (size_t)(cache->tile_row_count + more), sizeof *cache->tile_rows,
                                "solid cells", error));
    WADI_TRY(reserve_rows(cache, more, error));
    tile->first = cache->tile_row_count;
    for (uint64_t left = special; left != 0; left &= left - 1) {
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

/* A few at a time: the samples of a tile take more memory than its stored rows. */
static WadiStatus sample_new_tiles(const WadiFlipSolidIn *in, WadiFlipSolidCache *cache, WadiArena *arena,
                                   WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const int32_t count = in->rows->tiles->count;
    NewTiles new_tiles = { .in = in };
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &new_tiles.tile, TILES_AT_ONCE, "solid cells", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &new_tiles.values, (size_t)TILES_AT_ONCE * TILE_FLOATS,
                                      "solid cells", error));
    cache->queried_tiles = 0;
    for (int32_t t = 0; t < count;) {
        int32_t new_count = 0;
        for (; t < count && new_count < TILES_AT_ONCE; ++t) {
            WadiFlipSolidTile *tile = &cache->tiles[cache->tile_index[t]];
            if (!tile->is_sampled) {
                new_tiles.tile[new_count++] = tile;
            }
        }
        wadi_parallel_for(new_count, TILE_BLOCK, sample_resting, &new_tiles);
        for (int32_t n = 0; n < new_count; ++n) {
            cache->queried_tiles += new_tiles.tile[n]->rows.open != UINT64_MAX;
            WADI_TRY(store_rows(cache, new_tiles.tile[n], new_tiles.values + n * TILE_FLOATS, error));
        }
    }
    wadi_arena_release_temporaries(arena, mark);
    return WADI_OK;
}

static WadiStatus reserve_tiles(WadiFlipSolidCache *cache, int32_t tiles, int32_t map_tiles, WadiError *error)
{
    if (tiles > cache->spare_capacity) {
        int32_t capacity = tiles + tiles / 2;
        WADI_TRY(WADI_RESIZE(&cache->spare, (size_t)cache->spare_capacity, (size_t)capacity, "solid cells",
                             error));
        cache->spare_capacity = capacity;
    }
    if (map_tiles > cache->tile_index_capacity) {
        int32_t capacity = map_tiles + map_tiles / 2;
        WADI_TRY(WADI_RESIZE(&cache->tile_index, (size_t)cache->tile_index_capacity, (size_t)capacity,
                             "solid cells", error));
        cache->tile_index_capacity = capacity;
    }
    return WADI_OK;
}

/* Merge the tiles of the map into cache->tiles and set cache->tile_index. Tiles of earlier steps stay,
 * because splashes return to them; when they are too many the cache starts again empty. */
static WadiStatus follow_tiles(const WadiFlipSolidIn *in, WadiFlipSolidCache *cache, WadiError *error)
{
    const WadiTileMap *map = in->rows->tiles;
    if (cache->tile_count >= 2 * map->count + OLD_TILES_MAX) {
        cache->tile_count = cache->tile_row_count = cache->row_count = 0;
        if (cache->slot_count > 0) {
            memset(cache->slots, 0, (size_t)cache->slot_count * sizeof *cache->slots);
        }
    }
    WADI_TRY(reserve_tiles(cache, cache->tile_count + map->count, map->count, error));
    int32_t old = 0, count = 0;
    for (int32_t t = 0; t < map->count; ++t) {
        while (old < cache->tile_count && wadi_tile_is_before(cache->tiles[old].tile, map->tiles[t])) {
            cache->spare[count++] = cache->tiles[old++];
        }
        cache->tile_index[t] = count;
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
    return sample_new_tiles(in, cache, arena, error);
}
