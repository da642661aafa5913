/* Open fractions, solid velocities and solid distances of all rows. Solids at rest are sampled once.
 * Source: [BBB07; NMG09; theory 3.1]. The sampling is in flip_solid_tile.c.
 *
 * The cache holds the solids at rest and the walls. Rows near a moving solid are sampled each step, with
 * all solids. */
#include "flip/solids/flip_solid.h"

#include <string.h>

#include "core/parallel.h"
#include "flip/solids/flip_solid_cache.h"

enum { LANES = WADI_ROW_CELLS, TILE_BLOCK = 16, ROW_BLOCK = 256 };

/* A row of the output by its index in the arrays. */
static WadiFlipSolidRow row_in_output(const WadiFlipSolid *out, int32_t row)
{
    const size_t at = (size_t)LANES * (size_t)row;
    WadiFlipSolidRow result = { .open = { out->open[0] + at, out->open[1] + at, out->open[2] + at },
                                .distance = out->distance + at,
                                .fraction = out->fraction + at };
    for (int axis = 0; axis < 3 && out->velocity[axis] != NULL; ++axis) {
        result.velocity[axis] = out->velocity[axis] + at;
        result.wall[axis] = out->wall[axis] + at;
    }
    return result;
}

/* From the cache, where all velocities are 0. */
static void copy_row(WadiFlipSolidRow to, WadiFlipSolidRow from)
{
    for (int axis = 0; axis < 3; ++axis) {
        memcpy(to.open[axis], from.open[axis], LANES * sizeof(float));
        if (to.velocity[axis] != NULL) {
            memset(to.velocity[axis], 0, LANES * sizeof(float));
            memset(to.wall[axis], 0, LANES * sizeof(float));
        }
    }
    memcpy(to.distance, from.distance, LANES * sizeof(float));
    memcpy(to.fraction, from.fraction, LANES * sizeof(float));
}

/* Rows of a tile of the grid with values of their own in the arrays. */
typedef struct TileRows {
    uint64_t sampled;  /* sampled: a moving solid is near, or there is no cache */
    uint64_t unshared; /* sampled rows, and those the caller will change */
    int32_t first;     /* index of the first of them in the arrays; they are consecutive */
} TileRows;

typedef struct SolidContext {
    const WadiFlipSolidIn *in;
    const WadiFlipSolidIn *moving; /* the same with the moving solids only; not set without a cache */
    WadiFlipSolid *out;
    WadiFlipSolidCache *cache; /* NULL: none */
    TileRows *tiles;
    int32_t tile; /* current tile; set in a copy of the context */
} SolidContext;

static int bits_before(uint64_t bits, int bit_index)
{
    return __builtin_popcountll(bits & ((UINT64_C(1) << bit_index) - 1));
}

static const WadiFlipSolidTile *cached_tile(const SolidContext *context, int32_t tile)
{
    return &context->cache->tiles[context->cache->tile_index[tile]];
}

/* Row of the cache for a row that is neither open nor closed. */
static int32_t cached_row(const SolidContext *context, const WadiFlipSolidTile *cached, int bit_index)
{
    const uint64_t special = ~(cached->rows.open | cached->rows.closed);
    return context->cache->tile_rows[cached->first + bits_before(special, bit_index)];
}

static void find_unshared_rows(void *user, int64_t first, int64_t end)
{
    const SolidContext *context = user;
    const WadiRows *rows = context->in->rows;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        const WadiTile tile = rows->tiles->tiles[t];
        const uint64_t mask = rows->mask[t],
                       unshared = context->in->unshared_rows != NULL ? context->in->unshared_rows[t] : 0;
        uint64_t sampled = 0;
        if (context->cache == NULL) {
            sampled = mask;
        } else if (context->moving->solids->count > 0 &&
                   wadi_flip_solid_is_near_tile(context->moving, tile)) {
            sampled = wadi_flip_solid_rows_near(context->moving, tile, mask);
        }
        context->tiles[t] = (TileRows){ .sampled = sampled, .unshared = sampled | (mask & unshared) };
    }
}

/* Number the rows of the arrays: rows of the cache that are in use, in the order of first use, and rows
 * with values of their own. Returns their number. */
static int32_t number_rows(const SolidContext *context)
{
    const WadiRows *rows = context->in->rows;
    WadiFlipSolidCache *cache = context->cache;
    int32_t count = WADI_FLIP_SOLID_PLAIN_ROWS;
    for (int32_t r = 0; cache != NULL && r < cache->row_count; ++r) {
        cache->number[r] = WADI_FLIP_SOLID_NONE;
    }
    for (int32_t t = 0; t < rows->tiles->count; ++t) {
        const uint64_t shared = rows->mask[t] & ~context->tiles[t].unshared;
        for (uint64_t left = shared; left != 0 && cache != NULL; left &= left - 1) {
            const WadiFlipSolidTile *cached = cached_tile(context, t);
            left &= ~(cached->rows.open | cached->rows.closed);
            if (left != 0) {
                int32_t *number = &cache->number[cached_row(context, cached, __builtin_ctzll(left))];
                *number = *number == WADI_FLIP_SOLID_NONE ? count++ : *number;
            }
        }
        context->tiles[t].first = count;
        count += __builtin_popcountll(context->tiles[t].unshared);
    }
    return count;
}

static WadiStatus make_arrays(const WadiFlipSolidIn *in, int32_t count, WadiFlipSolid *out, WadiArena *arena,
                              WadiError *error)
{
    WADI_TRY(WADI_ARENA_NEW(arena, &out->row, (size_t)in->rows->count, "solid cells", error));
    float **array[] = { &out->open[0],  &out->open[1],     &out->open[2],     &out->distance,
                        &out->fraction, &out->velocity[0], &out->velocity[1], &out->velocity[2],
                        &out->wall[0],  &out->wall[1],     &out->wall[2] };
    const int arrays = wadi_solids_are_moving(in->solids) ? 11 : 5;
    for (int n = 0; n < arrays; ++n) {
        const size_t floats = LANES * (size_t)count;
        WADI_TRY(array[n] == &out->fraction || n >= 8
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

static WadiFlipSolidRow row_in_cache(const SolidContext *context, int32_t row)
{
    return wadi_flip_solid_row_of(context->cache->rows + (size_t)WADI_FLIP_SOLID_ROW_FLOATS * (size_t)row);
}

static void copy_cached_rows(void *user, int64_t first, int64_t end)
{
    const SolidContext *context = user;
    for (int32_t r = (int32_t)first; r < end; ++r) {
        if (context->cache->number[r] != WADI_FLIP_SOLID_NONE) {
            copy_row(row_in_output(context->out, context->cache->number[r]), row_in_cache(context, r));
        }
    }
}

static WadiFlipSolidRow target_in_output(void *user, int bit_index)
{
    const SolidContext *context = user;
    const TileRows *tile = &context->tiles[context->tile];
    return row_in_output(context->out, tile->first + bits_before(tile->unshared, bit_index));
}

/* Sample the solids on the rows of the current tile. */
static void sample_rows(SolidContext *context)
{
    const WadiFlipSolidIn *in = context->in;
    WadiFlipTileRows state =
        wadi_flip_solid_tile(in, in->rows->tiles->tiles[context->tile], context->tiles[context->tile].sampled,
                             context->cache != NULL, target_in_output, context);
    for (uint64_t left = state.open | state.closed; left != 0; left &= left - 1) {
        const int bit_index = __builtin_ctzll(left);
        wadi_flip_solid_row_fill(target_in_output(context, bit_index), (state.open >> bit_index & 1) != 0,
                                 in->cell_size);
    }
}

static void fill_tiles(void *user, int64_t first, int64_t end)
{
    SolidContext context = *(const SolidContext *)user;
    const WadiRows *rows = context.in->rows;
    for (context.tile = (int32_t)first; context.tile < end; ++context.tile) {
        const TileRows *tile = &context.tiles[context.tile];
        const WadiFlipSolidTile *cached = context.cache != NULL ? cached_tile(&context, context.tile) : NULL;
        if (tile->sampled != 0) {
            sample_rows(&context);
        }
        int32_t *number = context.out->row + rows->first[context.tile], next = tile->first;
        for (uint64_t left = rows->mask[context.tile]; left != 0; left &= left - 1, ++number) {
            const uint64_t bit = left & -left;
            const int bit_index = __builtin_ctzll(left);
            const bool is_open = cached != NULL && (cached->rows.open & bit) != 0;
            const bool is_plain = is_open || (cached != NULL && (cached->rows.closed & bit) != 0);
            if ((tile->unshared & bit) == 0) {
                *number = is_open    ? WADI_FLIP_SOLID_OPEN_ROW
                          : is_plain ? WADI_FLIP_SOLID_CLOSED_ROW
                                     : context.cache->number[cached_row(&context, cached, bit_index)];
                continue;
            }
            *number = next++;
            if ((tile->sampled & bit) == 0 && is_plain) {
                wadi_flip_solid_row_fill(row_in_output(context.out, *number), is_open, context.in->cell_size);
            } else if ((tile->sampled & bit) == 0) {
                copy_row(row_in_output(context.out, *number),
                         row_in_cache(&context, cached_row(&context, cached, bit_index)));
            }
        }
    }
}

/* subset[0]: solids at rest and the walls; subset[1]: moving solids. */
static WadiStatus split_solids(const WadiSolids *solids, WadiSolids subset[2], WadiArena *arena,
                               WadiError *error)
{
    for (int n = 0; n < 2; ++n) {
        subset[n] = *solids;
        subset[n].count = 0;
        WADI_TRY(WADI_ARENA_NEW(arena, &subset[n].solids, (size_t)solids->count, "solids", error));
    }
    subset[1].closed_sides = 0;
    for (int i = 0; i < solids->count; ++i) {
        WadiSolids *to = &subset[wadi_shape_is_moving(solids->solids[i].shape)];
        to->solids[to->count++] = solids->solids[i];
    }
    return WADI_OK;
}

static WadiStatus find_solid(const WadiFlipSolidIn *in, WadiFlipSolidCache *cache, WadiFlipSolid *out,
                             WadiArena *arena, WadiError *error)
{
    const int32_t tiles = in->rows->tiles->count;
    WadiSolids subset[2];
    WadiFlipSolidIn resting = *in, moving = *in;
    resting.solids = &subset[0];
    moving.solids = &subset[1];
    SolidContext context = { .in = in, .moving = &moving, .out = out, .cache = cache };
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &context.tiles, (size_t)tiles, "solid cells", error));
    if (cache != NULL) {
        WADI_TRY(split_solids(in->solids, subset, arena, error));
        WADI_TRY(wadi_flip_solid_cache_follow(cache, &resting, arena, error));
    }
    wadi_parallel_for(tiles, TILE_BLOCK, find_unshared_rows, &context);
    WADI_TRY(make_arrays(in, number_rows(&context), out, arena, error));
    if (cache != NULL) {
        wadi_parallel_for(cache->row_count, ROW_BLOCK, copy_cached_rows, &context);
    }
    wadi_parallel_for(tiles, TILE_BLOCK, fill_tiles, &context);
    return WADI_OK;
}

WadiStatus wadi_flip_solid(const WadiFlipSolidIn *in, WadiFlipSolidCache *cache, WadiFlipSolid *out,
                           WadiArena *arena, WadiError *error)
{
    *out = (WadiFlipSolid){ .time = in->time };
    WadiStatus status = find_solid(in, cache, out, arena, error);
    if (status != WADI_OK) {
        *out = (WadiFlipSolid){ 0 };
        if (cache != NULL) {
            wadi_flip_solid_cache_free(cache);
        }
    }
    return status;
}
