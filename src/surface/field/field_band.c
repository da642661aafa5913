#include "surface/field/field_band.h"

#include <string.h>

#include "core/parallel.h"
#include "surface/cloud/tile_set.h"

static const int32_t NODE_LIMIT = INT32_C(1) << 28;
static const uint64_t LOW_LANES = UINT64_C(0x0101010101010101);

enum { TILE_BLOCK = 64 };

/* Adds the tiles that have a node in a box, m. */
static WadiStatus add_box(WadiTileSet *set, WadiBox box, double cell, WadiError *error)
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
                WADI_TRY(wadi_tile_set_add(set, (WadiTile){ x, y, z }, error));
            }
        }
    }
    return WADI_OK;
}

/* True when a neighbouring cube is inside and holds particles of the level. */
static bool has_inside_neighbour(const WadiFilling *filling, int32_t cube)
{
    for (int n = 0; n < 27; ++n) {
        int32_t neighbour = filling->map.neighbours[cube][n];
        if (neighbour >= 0 && filling->is_inside[neighbour] && filling->has_level_particles[neighbour]) {
            return true;
        }
    }
    return false;
}

/* Union of the supports of a bin's particles: the box of their positions, grown by the largest support
 * radius. */
static WadiBox support_box(const WadiBins *bins, int level, WadiTile at)
{
    const WadiCells *cells = &bins->level[level];
    int32_t bin = wadi_cells_find(cells, at.x, at.y, at.z);
    float low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY },
          support = 0.0f;
    for (int32_t n = cells->start[bin]; n < cells->start[bin + 1]; ++n) {
        const float *point = bins->point[bins->first[level] + n];
        for (int a = 0; a < 3; ++a) {
            low[a] = point[a] < low[a] ? point[a] : low[a];
            high[a] = point[a] > high[a] ? point[a] : high[a];
        }
        support = point[3] > support ? point[3] : support;
    }
    WadiVec3 corner = { at.x * cells->cell_size, at.y * cells->cell_size, at.z * cells->cell_size };
    WadiBox box = { wadi_add(corner, wadi_vec3((double)low[0], (double)low[1], (double)low[2])),
                    wadi_add(corner, wadi_vec3((double)high[0], (double)high[1], (double)high[2])) };
    return wadi_box_grown(box, (double)support * (1.0 + 0x1p-20));
}

/* True when a plane of the clip box cuts the cube. */
static bool is_cut(const WadiFieldDef *def, WadiBox cube)
{
    WadiBox grown = wadi_box_grown(cube, def->cell);
    bool is_within = wadi_box_contains(def->clip, grown.min) && wadi_box_contains(def->clip, grown.max);
    return def->is_clipped && !is_within && !wadi_box_is_empty(wadi_box_intersection(def->clip, grown));
}

/* Adds the tiles whose rows may need sampling. A node in the support of a particle lies in the particle's
 * cube or a neighbouring one: either the particle's cube is not inside and its support is added here, or the
 * node's cube is occupied and is added when it is not inside. Where the clip box cuts an inside cube there is
 * surface too. */
static WadiStatus add_candidates(const WadiFieldBand *band, WadiTileSet *set, WadiError *error)
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
            if (filling->has_level_particles[c]) {
                WADI_TRY(add_box(set, support_box(bins, level, at), cell, error));
            }
            if (has_inside_neighbour(filling, c)) {
                WADI_TRY(add_box(set, cube, cell, error));
            }
        }
    }
    return WADI_OK;
}

/* index into WadiTileMap.neighbours, by side */
static const int SIDE_NEIGHBOUR[6] = { 12, 14, 10, 16, 4, 22 };

static WadiTile neighbour_tile(WadiTile at, int side)
{
    int step = side & 1 ? 1 : -1;
    at.x += side < 2 ? step : 0;
    at.y += side >= 2 && side < 4 ? step : 0;
    at.z += side >= 4 ? step : 0;
    return at;
}

typedef struct FreshTiles {
    WadiFieldBand *band;
    const WadiFieldBand *old;
    uint64_t *wanted;
} FreshTiles;

/* Copies the tiles of the old band. All rows of a new tile that are not inside are to be sampled. */
static void init_tiles(void *context, int64_t first, int64_t end)
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
        band->missing[t] = 0;
        for (int side = 0; side < 6; ++side) {
            if (band->tiles.neighbours[t][SIDE_NEIGHBOUR[side]] < 0) {
                bool is_inside =
                    wadi_field_rows_inside(band, neighbour_tile(band->tiles.tiles[t], side)) != 0;
                band->missing[t] |= (uint8_t)(is_inside << side);
            }
        }
    }
}

/* Rebuilds the band over sorted tiles and samples the new ones. */
static WadiStatus set_tiles(WadiFieldBand *band, const WadiTile *tiles, size_t count, WadiArena *arena,
                            WadiError *error)
{
    WadiFieldBand old = *band;
    FreshTiles job = { .band = band, .old = &old };
    WADI_TRY(wadi_tile_map_create_in_arena(&band->tiles, tiles, count, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &band->tile, count, "tiles of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &band->negative, count, "signs of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &band->positive, count, "signs of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &band->missing, count, "tiles of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &band->needed, count, "nodes of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.wanted, count, "rows of a surface", error));
    wadi_parallel_for((int64_t)count, TILE_BLOCK, init_tiles, &job);
    return wadi_field_sample(band, job.wanted, arena, error);
}

/* Bits of the neighbouring nodes on `side`; `other` is the neighbouring tile. */
static inline uint64_t shift_word(const WadiNodeBits *bits, const WadiNodeBits *other, int side, int k)
{
    switch (side) {
    case WADI_ROW_X_MIN: return (bits->word[k] & ~(LOW_LANES << 7)) << 1 | (other->word[k] >> 7 & LOW_LANES);
    case WADI_ROW_X_MAX: return (bits->word[k] & ~LOW_LANES) >> 1 | (other->word[k] & LOW_LANES) << 7;
    case WADI_ROW_Y_MIN: return bits->word[k] << 8 | other->word[k] >> 56;
    case WADI_ROW_Y_MAX: return bits->word[k] >> 8 | other->word[k] << 56;
    case WADI_ROW_Z_MIN: return k > 0 ? bits->word[k - 1] : other->word[7];
    default: return k < 7 ? bits->word[k + 1] : other->word[0];
    }
}

typedef struct BandPass {
    WadiFieldBand *band;
    const WadiNodeBits *negative, *positive; /* signs of the field, or of the clipped field */
    WadiNodeBits *clipped_negative, *clipped_positive;
    WadiNodeBits *from, *to;
    int axis;
    uint8_t *spill; /* bit per side: nodes are needed in a neighbouring tile that is missing */
} BandPass;

/* Signs of a tile that does not exist: uniformly inside or outside, then clipped. */
static void missing_signs(const BandPass *pass, bool is_inside, WadiTile at, WadiNodeBits *negative,
                          WadiNodeBits *positive)
{
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

/* Adds the nodes whose sign differs from that of a neighbour. */
static void find_changes(void *context, int64_t first, int64_t end)
{
    BandPass *pass = context;
    const WadiFieldBand *band = pass->band;
    const WadiFieldDef *def = band->sampler->def;
    for (int64_t t = first; t < end; ++t) {
        const WadiNodeBits *negative = &pass->negative[t], *positive = &pass->positive[t];
        WadiNodeBits changes = { { 0 } };
        for (int side = 0; side < 6; ++side) {
            int32_t other = band->tiles.neighbours[t][SIDE_NEIGHBOUR[side]];
            WadiNodeBits missing[2];
            const WadiNodeBits *neighbour[2] = { &missing[0], &missing[1] };
            if (other >= 0) {
                neighbour[0] = &pass->negative[other];
                neighbour[1] = &pass->positive[other];
            } else {
                missing_signs(pass, band->missing[t] >> side & 1, neighbour_tile(band->tiles.tiles[t], side),
                              &missing[0], &missing[1]);
            }
            for (int k = 0; k < 8; ++k) {
                changes.word[k] |= ~((negative->word[k] & shift_word(negative, neighbour[0], side, k)) |
                                     (positive->word[k] & shift_word(positive, neighbour[1], side, k)));
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

/* Adds the neighbours of the marked nodes along one axis. */
static void grow_along(void *context, int64_t first, int64_t end)
{
    static const WadiNodeBits none = { { 0 } };
    BandPass *pass = context;
    for (int64_t t = first; t < end; ++t) {
        const WadiNodeBits *marked = &pass->from[t];
        WadiNodeBits grown = *marked;
        for (int side = 2 * pass->axis; side < 2 * pass->axis + 2; ++side) {
            int32_t other = pass->band->tiles.neighbours[t][SIDE_NEIGHBOUR[side]];
            const WadiNodeBits *neighbour = other >= 0 ? &pass->from[other] : &none;
            uint64_t outgoing = 0;
            for (int k = 0; k < 8; ++k) {
                grown.word[k] |= shift_word(marked, neighbour, side, k);
                outgoing |= shift_word(&none, marked, side ^ 1, k); /* as seen from the neighbouring tile */
            }
            if (other < 0 && outgoing != 0) {
                pass->spill[t] |= (uint8_t)(1 << side);
            }
        }
        pass->to[t] = grown;
    }
}

/* needed = all nodes within the margin of a sign change. */
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

/* Collects the tiles of the band and the missing tiles with needed nodes. */
static WadiStatus collect_spills(const WadiFieldBand *band, const uint8_t *spill, WadiTileSet *set,
                                 WadiError *error)
{
    for (int32_t t = 0; t < band->tiles.count; ++t) {
        WADI_TRY(wadi_tile_set_add(set, band->tiles.tiles[t], error));
        for (int side = 0; side < 6; ++side) {
            if (spill[t] >> side & 1) {
                WADI_TRY(wadi_tile_set_add(set, neighbour_tile(band->tiles.tiles[t], side), error));
            }
        }
    }
    return WADI_OK;
}

/* One round: samples the needed rows that were assumed inside, and collects the next set of tiles if some are
 * missing. */
static WadiStatus run_round(WadiFieldBand *band, bool *is_complete, WadiTileSet *next, WadiArena *arena,
                            WadiError *error)
{
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
        wanted[t] = wadi_node_bits_rows(&band->needed[t]) & band->tile[t].inside;
        has_wanted = has_wanted || wanted[t] != 0;
        has_spill = has_spill || pass.spill[t] != 0;
    }
    *is_complete = !has_wanted && !has_spill;
    if (has_wanted) {
        WADI_TRY(wadi_field_sample(band, wanted, arena, error));
    }
    return has_spill ? collect_spills(band, pass.spill, next, error) : WADI_OK;
}

static WadiStatus replace_tiles(WadiFieldBand *band, const WadiTileSet *set, WadiArena *arena,
                                WadiError *error)
{
    WadiTile *sorted;
    WADI_TRY(wadi_tile_set_sort(set, &sorted, arena, error));
    return set_tiles(band, sorted, set->count, arena, error);
}

/* Terminates: each round but the last samples rows or adds tiles, and the particles' supports hold finitely
 * many. */
static WadiStatus run_rounds(WadiFieldBand *band, WadiArena *arena, WadiError *error)
{
    WadiStatus status = WADI_OK;
    for (bool is_complete = false; status == WADI_OK && !is_complete;) {
        WADI_TRY(wadi_field_check_stop(band->sampler->def, error));
        WadiTileSet next = { 0 };
        WadiArenaMark mark = wadi_arena_mark(arena);
        status = run_round(band, &is_complete, &next, arena, error);
        wadi_arena_release(arena, mark);
        if (status == WADI_OK && next.count > 0) {
            status = replace_tiles(band, &next, arena, error);
        }
        wadi_tile_set_free(&next);
    }
    return status;
}

WadiStatus wadi_field_band_build(WadiFieldBand *band, WadiArena *arena, WadiError *error)
{
    WADI_TRY(wadi_field_fill(band, arena, error));
    WadiTileSet set = { 0 };
    WadiStatus status = add_candidates(band, &set, error);
    bool is_empty = set.count == 0; /* no particle, or no node in a support */
    if (status == WADI_OK && !is_empty) {
        status = replace_tiles(band, &set, arena, error);
    }
    wadi_tile_set_free(&set);
    return status == WADI_OK && !is_empty ? run_rounds(band, arena, error) : status;
}

void wadi_field_band_free(WadiFieldBand *band)
{
    for (size_t c = 0; c < band->chunks.count; ++c) {
        WADI_DELETE(band->chunks.data[c].value, band->chunks.data[c].count);
    }
    WADI_ARRAY_FREE(&band->chunks);
}
