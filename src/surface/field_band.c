#include "surface/field_band.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/check.h"
#include "core/hash.h"
#include "core/parallel.h"

static const int32_t NODE_LIMIT = INT32_C(1) << 28;
static const uint64_t LOW_LANES = UINT64_C(0x0101010101010101);

enum { TILE_BLOCK = 64 };

/* A growing set of tiles; at least half of its slots are free. */
typedef struct TileSet {
    WadiTile *slot;
    uint8_t *is_used;
    size_t slot_count, count;
} TileSet;

static void free_set(TileSet *set)
{
    WADI_DELETE(set->slot, set->slot_count);
    WADI_DELETE(set->is_used, set->slot_count);
    *set = (TileSet){ 0 };
}

static void put_tile(TileSet *set, WadiTile tile)
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

static WadiStatus add_tile(TileSet *set, WadiTile tile, WadiError *error)
{
    if (2 * (set->count + 1) > set->slot_count) {
        TileSet grown = { .slot_count = set->slot_count == 0 ? 1024 : 2 * set->slot_count };
        WadiStatus status = WADI_NEW(&grown.slot, grown.slot_count, "tiles of a surface", error);
        if (status == WADI_OK) {
            status = WADI_NEW(&grown.is_used, grown.slot_count, "tiles of a surface", error);
        }
        if (status != WADI_OK) {
            free_set(&grown);
            return status;
        }
        for (size_t s = 0; s < set->slot_count; ++s) {
            if (set->is_used[s]) {
                put_tile(&grown, set->slot[s]);
            }
        }
        free_set(set);
        *set = grown;
    }
    put_tile(set, tile);
    return WADI_OK;
}

static int compare_tiles(const void *left, const void *right)
{
    const WadiTile *a = left, *b = right;
    return wadi_tile_is_before(*a, *b) ? -1 : wadi_tile_is_before(*b, *a);
}

/* The tiles of the set in the order of tile maps. */
static WadiStatus sort_set(const TileSet *set, WadiTile **sorted, WadiArena *arena, WadiError *error)
{
    WADI_TRY(WADI_ARENA_NEW(arena, sorted, set->count + 1, "tiles of a surface", error));
    size_t count = 0;
    for (size_t s = 0; s < set->slot_count; ++s) {
        if (set->is_used[s]) {
            (*sorted)[count++] = set->slot[s];
        }
    }
    qsort(*sorted, count, sizeof **sorted, compare_tiles);
    return WADI_OK;
}

/* Tiles with a node in a box, m. */
static WadiStatus add_box(TileSet *set, WadiBox box, double cell, WadiError *error)
{
    int32_t low[3], high[3];
    for (int a = 0; a < 3; ++a) {
        double first = ceil(wadi_component(box.min, a) / cell),
               last = floor(wadi_component(box.max, a) / cell);
        if (!(first > -NODE_LIMIT && last < NODE_LIMIT)) {
            double need = fmax(-wadi_component(box.min, a), wadi_component(box.max, a)) / NODE_LIMIT;
            return wadi_fail(error, WADI_ERR_ARGUMENT,
                             "cells of %g m are too small for a particle that far from the origin; "
                             "cells of %.2g m would do",
                             cell, 1.01 * need);
        }
        low[a] = (int32_t)first >> 3;
        high[a] = last >= first ? (int32_t)last >> 3 : low[a] - 1;
    }
    for (int32_t z = low[2]; z <= high[2]; ++z) {
        for (int32_t y = low[1]; y <= high[1]; ++y) {
            for (int32_t x = low[0]; x <= high[0]; ++x) {
                WADI_TRY(add_tile(set, (WadiTile){ x, y, z }, error));
            }
        }
    }
    return WADI_OK;
}

static bool has_own_beside(const WadiFilling *filling, int32_t cube)
{
    for (int n = 0; n < 27; ++n) {
        int32_t beside = filling->map.neighbours[cube][n];
        if (beside >= 0 && filling->has_own[beside]) {
            return true;
        }
    }
    return false;
}

/* Where particles of a bin reach: the box of their places, grown by the largest reach. */
static WadiBox reached_box(const WadiBins *bins, int level, WadiTile at)
{
    const WadiCells *cells = &bins->level[level];
    int32_t bin = wadi_cells_find(cells, at.x, at.y, at.z);
    float low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY },
          reach = 0.0f;
    for (int32_t n = cells->start[bin]; n < cells->start[bin + 1]; ++n) {
        const float *place = bins->place[bins->first[level] + n];
        for (int a = 0; a < 3; ++a) {
            low[a] = place[a] < low[a] ? place[a] : low[a];
            high[a] = place[a] > high[a] ? place[a] : high[a];
        }
        reach = place[3] > reach ? place[3] : reach;
    }
    WadiVec3 corner = { at.x * cells->cell_size, at.y * cells->cell_size, at.z * cells->cell_size };
    WadiBox box = { wadi_add(corner, wadi_vec3((double)low[0], (double)low[1], (double)low[2])),
                    wadi_add(corner, wadi_vec3((double)high[0], (double)high[1], (double)high[2])) };
    return wadi_box_grown(box, (double)reach * (1.0 + 0x1p-20));
}

/* Does the cube lie across the planes of the box? */
static bool is_cut(const WadiFieldDef *def, WadiBox cube)
{
    WadiBox grown = wadi_box_grown(cube, def->cell);
    bool is_within = wadi_box_contains(def->clip, grown.min) && wadi_box_contains(def->clip, grown.max);
    return def->is_clipped && !is_within && !wadi_box_is_empty(wadi_box_intersection(def->clip, grown));
}

/* Tiles that a row to be sampled may lie in. A node within reach of a particle lies in the particle's cube or beside it, so that
 * either the particle's cube is not inside and its reach is added here, or the node's own cube is filled and is added when it
 * is not inside. Where the box cuts through what is inside there is surface too. */
static WadiStatus add_candidates(const WadiFieldBand *band, TileSet *set, WadiError *error)
{
    const WadiBins *bins = band->sampler->bins;
    double cell = band->sampler->def->cell;
    for (int level = 0; level < band->filling_count; ++level) {
        const WadiFilling *filling = &band->filling[level];
        for (int32_t c = 0; c < filling->map.count; ++c) {
            WadiTile at = filling->map.tiles[c];
            WadiVec3 low = { at.x * filling->size, at.y * filling->size, at.z * filling->size };
            WadiBox cube = { low, wadi_add(low, wadi_vec3(filling->size, filling->size, filling->size)) };
            if (is_cut(band->sampler->def, cube)) {
                WADI_TRY(add_box(set, wadi_box_grown(cube, cell), cell, error));
            }
            if (filling->is_inside[c]) {
                continue;
            }
            if (filling->has_own[c]) {
                WadiBox box = reached_box(bins, level, at);
                WADI_TRY(add_box(set, wadi_box_union(box, cube), cell, error));
            } else if (has_own_beside(filling, c)) {
                WADI_TRY(add_box(set, cube, cell, error));
            }
        }
    }
    return WADI_OK;
}

typedef struct FreshTiles {
    WadiFieldBand *band;
    const WadiFieldBand *old;
    uint64_t *wanted;
} FreshTiles;

/* A tile that the band had keeps what it has; of a new one all that is not inside is to be sampled. */
static void lay_tiles(void *context, int64_t first, int64_t end)
{
    FreshTiles *job = context;
    WadiFieldBand *band = job->band;
    for (int64_t t = first; t < end; ++t) {
        int32_t from = wadi_tile_map_find(&job->old->tiles, band->tiles.tiles[t]);
        job->wanted[t] = 0;
        if (from >= 0) {
            band->tile[t] = job->old->tile[from];
            band->negative[t] = job->old->negative[from];
            band->positive[t] = job->old->positive[from];
        } else {
            band->tile[t] = (WadiFieldTile){ .inside = wadi_field_rows_inside(band, band->tiles.tiles[t]) };
            job->wanted[t] = ~band->tile[t].inside;
            memset(&band->negative[t], 0xff, sizeof band->negative[t]);
            memset(&band->positive[t], 0, sizeof band->positive[t]);
        }
    }
}

/* Lay out the band anew over sorted tiles and sample the new ones. */
static WadiStatus set_tiles(WadiFieldBand *band, const WadiTile *tiles, size_t count, WadiArena *arena,
                            WadiError *error)
{
    WadiFieldBand old = *band;
    FreshTiles job = { .band = band, .old = &old };
    WADI_TRY(wadi_tile_map_create_in_arena(&band->tiles, tiles, count, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &band->tile, count, "tiles of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &band->negative, count, "signs of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &band->positive, count, "signs of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &band->needed, count, "nodes of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.wanted, count, "rows of a surface", error));
    wadi_parallel_for((int64_t)count, TILE_BLOCK, lay_tiles, &job);
    return wadi_field_sample(band, job.wanted, arena, error);
}

/* Bits of the nodes beside those of a tile. `other` is the tile there; its far border comes in. */
static inline uint64_t shift_word(const WadiNodeBits *own, const WadiNodeBits *other, int side, int k)
{
    switch (side) {
    case WADI_ROW_X_MIN: return (own->word[k] & ~(LOW_LANES << 7)) << 1 | (other->word[k] >> 7 & LOW_LANES);
    case WADI_ROW_X_MAX: return (own->word[k] & ~LOW_LANES) >> 1 | (other->word[k] & LOW_LANES) << 7;
    case WADI_ROW_Y_MIN: return own->word[k] << 8 | other->word[k] >> 56;
    case WADI_ROW_Y_MAX: return own->word[k] >> 8 | other->word[k] << 56;
    case WADI_ROW_Z_MIN: return k > 0 ? own->word[k - 1] : other->word[7];
    default: return k < 7 ? own->word[k + 1] : other->word[0];
    }
}

static const int BESIDE[6] = { 12, 14, 10, 16, 4, 22 }; /* of WadiTileMap.neighbours, by side */

static WadiTile tile_beside(WadiTile at, int side)
{
    int step = side & 1 ? 1 : -1;
    at.x += side < 2 ? step : 0;
    at.y += side >= 2 && side < 4 ? step : 0;
    at.z += side >= 4 ? step : 0;
    return at;
}

typedef struct BandPass {
    WadiFieldBand *band;
    const WadiNodeBits *negative, *positive; /* the signs looked at: of the field, or of the clipped field */
    WadiNodeBits *clipped_negative, *clipped_positive;
    WadiNodeBits *from, *to;
    int axis;
    uint8_t *spill; /* bit per side: nodes are needed in the tile there, which is missing */
} BandPass;

/* Signs of a tile that does not exist: inside or outside, whole. */
static void missing_signs(const BandPass *pass, WadiTile at, WadiNodeBits *negative, WadiNodeBits *positive)
{
    bool is_inside = wadi_field_rows_inside(pass->band, at) != 0;
    memset(negative, is_inside ? 0xff : 0, sizeof *negative);
    memset(positive, is_inside ? 0 : 0xff, sizeof *positive);
    if (pass->negative == pass->clipped_negative) {
        wadi_clip_signs(pass->band->sampler->def, at, negative, positive);
    }
}

/* Signs of the clipped field. */
static void clip_tiles(void *context, int64_t first, int64_t end)
{
    BandPass *pass = context;
    for (int64_t t = first; t < end; ++t) {
        pass->clipped_negative[t] = pass->band->negative[t];
        pass->clipped_positive[t] = pass->band->positive[t];
        wadi_clip_signs(pass->band->sampler->def, pass->band->tiles.tiles[t], &pass->clipped_negative[t],
                        &pass->clipped_positive[t]);
    }
}

/* Adds the nodes whose sign is not that of a node beside them. */
static void find_changes(void *context, int64_t first, int64_t end)
{
    BandPass *pass = context;
    const WadiFieldBand *band = pass->band;
    const WadiFieldDef *def = band->sampler->def;
    for (int64_t t = first; t < end; ++t) {
        const WadiNodeBits *negative = &pass->negative[t], *positive = &pass->positive[t];
        WadiNodeBits changes = { { 0 } };
        for (int side = 0; side < 6; ++side) {
            int32_t other = band->tiles.neighbours[t][BESIDE[side]];
            WadiNodeBits missing[2];
            const WadiNodeBits *beside[2] = { &missing[0], &missing[1] };
            if (other >= 0) {
                beside[0] = &pass->negative[other];
                beside[1] = &pass->positive[other];
            } else {
                missing_signs(pass, tile_beside(band->tiles.tiles[t], side), &missing[0], &missing[1]);
            }
            for (int k = 0; k < 8; ++k) {
                changes.word[k] |= ~((negative->word[k] & shift_word(negative, beside[0], side, k)) |
                                     (positive->word[k] & shift_word(positive, beside[1], side, k)));
            }
        }
        if (def->is_clipped) {
            WadiNodeBits near;
            wadi_clip_near(def, band->tiles.tiles[t], band->margin, &near);
            for (int k = 0; k < 8; ++k) {
                changes.word[k] &= near.word[k];
            }
        }
        for (int k = 0; k < 8; ++k) {
            pass->to[t].word[k] |= changes.word[k];
        }
    }
}

/* Add the nodes beside those marked, along one axis. */
static void grow_along(void *context, int64_t first, int64_t end)
{
    static const WadiNodeBits none = { { 0 } };
    BandPass *pass = context;
    for (int64_t t = first; t < end; ++t) {
        const WadiNodeBits *own = &pass->from[t];
        WadiNodeBits grown = *own;
        for (int side = 2 * pass->axis; side < 2 * pass->axis + 2; ++side) {
            int32_t other = pass->band->tiles.neighbours[t][BESIDE[side]];
            const WadiNodeBits *beside = other >= 0 ? &pass->from[other] : &none;
            uint64_t leaving = 0;
            for (int k = 0; k < 8; ++k) {
                grown.word[k] |= shift_word(own, beside, side, k);
                leaving |= shift_word(&none, own, side ^ 1, k); /* seen from the tile beside */
            }
            if (other < 0 && leaving != 0) {
                pass->spill[t] |= (uint8_t)(1 << side);
            }
        }
        pass->to[t] = grown;
    }
}

/* needed = everything within the margin of a change of sign. */
static void find_needed(BandPass *pass, WadiNodeBits *spare)
{
    WadiFieldBand *band = pass->band;
    int32_t count = band->tiles.count;
    memset(pass->spill, 0, (size_t)count);
    memset(band->needed, 0, (size_t)count * sizeof *band->needed);
    pass->to = band->needed;
    pass->negative = band->negative;
    pass->positive = band->positive;
    wadi_parallel_for(count, TILE_BLOCK, find_changes, pass);
    if (band->sampler->def->is_clipped) {
        wadi_parallel_for(count, TILE_BLOCK, clip_tiles, pass);
        pass->negative = pass->clipped_negative;
        pass->positive = pass->clipped_positive;
        wadi_parallel_for(count, TILE_BLOCK, find_changes, pass);
    }
    for (int m = 0; m < band->margin; ++m) {
        for (pass->axis = 0; pass->axis < 3; ++pass->axis) {
            pass->from = pass->axis == 1 ? spare : band->needed;
            pass->to = pass->axis == 1 ? band->needed : spare;
            wadi_parallel_for(count, TILE_BLOCK, grow_along, pass);
        }
        memcpy(band->needed, spare, (size_t)count * sizeof *spare);
    }
}

static uint64_t rows_of(const WadiNodeBits *bits)
{
    uint64_t rows = 0;
    for (int place = 0; place < WADI_TILE_ROWS; ++place) {
        rows |= (uint64_t)((bits->word[place >> 3] >> 8 * (place & 7) & 0xff) != 0) << place;
    }
    return rows;
}

static WadiStatus add_spills(WadiFieldBand *band, const uint8_t *spill, WadiArena *arena, WadiError *error)
{
    TileSet set = { 0 };
    WadiStatus status = WADI_OK;
    for (int32_t t = 0; t < band->tiles.count && status == WADI_OK; ++t) {
        status = add_tile(&set, band->tiles.tiles[t], error);
        for (int side = 0; side < 6 && status == WADI_OK; ++side) {
            if (spill[t] >> side & 1) {
                status = add_tile(&set, tile_beside(band->tiles.tiles[t], side), error);
            }
        }
    }
    WadiTile *sorted;
    if (status == WADI_OK) {
        status = sort_set(&set, &sorted, arena, error);
    }
    size_t count = set.count;
    free_set(&set);
    return status == WADI_OK ? set_tiles(band, sorted, count, arena, error) : status;
}

/* Sample what the band needs and was taken to be inside; add tiles that it needs. Ends: each round but the last turns rows into
 * sampled ones or adds tiles beside a change of sign, and there are finitely many within reach of particles. */
static WadiStatus complete(WadiFieldBand *band, WadiArena *arena, WadiError *error)
{
    for (;;) {
        size_t count = (size_t)band->tiles.count;
        BandPass pass = { .band = band };
        WadiNodeBits *spare;
        uint64_t *wanted;
        WADI_TRY(WADI_ARENA_NEW(arena, &pass.spill, count, "tiles of a surface", error));
        WADI_TRY(WADI_ARENA_NEW(arena, &spare, count, "nodes of a surface", error));
        WADI_TRY(WADI_ARENA_NEW(arena, &wanted, count, "rows of a surface", error));
        if (band->sampler->def->is_clipped) {
            WADI_TRY(WADI_ARENA_NEW(arena, &pass.clipped_negative, count, "signs of a surface", error));
            WADI_TRY(WADI_ARENA_NEW(arena, &pass.clipped_positive, count, "signs of a surface", error));
        }
        find_needed(&pass, spare);
        bool has_wanted = false, has_spill = false;
        for (size_t t = 0; t < count; ++t) {
            wanted[t] = rows_of(&band->needed[t]) & band->tile[t].inside;
            has_wanted = has_wanted || wanted[t] != 0;
            has_spill = has_spill || pass.spill[t] != 0;
        }
        if (!has_wanted && !has_spill) {
            return WADI_OK;
        }
        if (has_wanted) {
            WADI_TRY(wadi_field_sample(band, wanted, arena, error));
        }
        if (has_spill) {
            WADI_TRY(add_spills(band, pass.spill, arena, error));
        }
    }
}

WadiStatus wadi_field_band_build(WadiFieldBand *band, WadiArena *arena, WadiError *error)
{
    WADI_TRY(wadi_field_fill(band, arena, error));
    TileSet set = { 0 };
    WadiTile *sorted = NULL;
    WadiStatus status = add_candidates(band, &set, error);
    if (status == WADI_OK) {
        status = sort_set(&set, &sorted, arena, error);
    }
    size_t count = set.count;
    free_set(&set);
    WADI_TRY(status);
    WADI_TRY(set_tiles(band, sorted, count, arena, error));
    return complete(band, arena, error);
}

void wadi_field_band_free(WadiFieldBand *band)
{
    for (size_t c = 0; c < band->chunks.count; ++c) {
        WADI_DELETE(band->chunks.data[c].value, band->chunks.data[c].count);
    }
    WADI_ARRAY_FREE(&band->chunks);
}
