#include "sph/pairs/sph_ranges.h"

#include <math.h>
#include <string.h>

#include "sph/pairs/sph_simd_group.h"

/* The first particles of the cells of a row of a tile, or NULL. */
static const int32_t *cells_of(const WadiTileSort *sort, int32_t tile, int bit)
{
    if (tile < 0 || (sort->row_mask[tile] >> bit & 1) == 0) {
        return NULL;
    }
    const uint64_t before = sort->row_mask[tile] & ((UINT64_C(1) << bit) - 1);
    return sort->cell_start + 8 * (size_t)(sort->row_first[tile] + __builtin_popcountll(before));
}

void wadi_sph_find_rows(const WadiTileSort *sort, int32_t tile, int bit, WadiSphRows *rows)
{
    const int32_t *neighbours = sort->tiles.neighbours[tile];
    for (int n = 0; n < 9; ++n) {
        const int k = (bit >> 3) + n / 3 - 1, tz = k < 0 ? 0 : k > 7 ? 2 : 1;
        const int j = (bit & 7) + n % 3 - 1, ty = j < 0 ? 0 : j > 7 ? 2 : 1;
        const int row = (j & 7) + 8 * (k & 7), at = 9 * tz + 3 * ty + 1;
        rows->before[n] = cells_of(sort, neighbours[at - 1], row);
        rows->here[n] = cells_of(sort, neighbours[at], row);
        rows->after[n] = cells_of(sort, neighbours[at + 1], row);
    }
}

static inline int add_range(const int32_t *start, int32_t first, int low, int high, WadiSphRange *out)
{
    if (start == NULL) {
        return 0;
    }
    *out = (WadiSphRange){ start[low] - first, start[high + 1] - first };
    return out->end > out->first;
}

int wadi_sph_find_even_ranges(const WadiSphRows *rows, int32_t first, int lane,
                              WadiSphRange out[WADI_SPH_RANGE_MAX])
{
    const int low = lane > 0 ? lane - 1 : 0, high = lane < 7 ? lane + 1 : 7;
    int count = 0;
    for (int n = 0; n < 9; ++n) {
        if (lane == 0) {
            count += add_range(rows->before[n], first, 7, 7, out + count);
        }
        count += add_range(rows->here[n], first, low, high, out + count);
        if (lane == 7) {
            count += add_range(rows->after[n], first, 0, 0, out + count);
        }
    }
    return count;
}

void wadi_sph_count_even_ranges(const WadiSphRows *rows, int32_t count[8])
{
    uint32_t start[9] = { 0 }, before = 0, after = 0; /* sums over the rows, which may wrap */
    for (int n = 0; n < 9; ++n) {
        const int32_t *here = rows->here[n];
        for (int l = 0; here != NULL && l < 9; ++l) {
            start[l] += (uint32_t)here[l];
        }
        before += rows->before[n] != NULL ? (uint32_t)(rows->before[n][8] - rows->before[n][7]) : 0;
        after += rows->after[n] != NULL ? (uint32_t)(rows->after[n][1] - rows->after[n][0]) : 0;
    }
    for (int l = 0; l < 8; ++l) {
        count[l] = (int32_t)(start[l < 7 ? l + 2 : 8] - start[l > 0 ? l - 1 : 0]);
    }
    count[0] += (int32_t)before;
    count[7] += (int32_t)after;
}

/* Squared distance between cells so many cells apart, spacings^2. */
static float square_between(int cells)
{
    const int apart = cells < 0 ? -cells : cells, gap = apart > 1 ? 2 * (apart - 1) : 0;
    return (float)(gap * gap);
}

/* The row `bit` of a tile among those of the sort, or -1. */
static int64_t row_of(const WadiTileSort *sort, int32_t tile, int bit)
{
    const int32_t *start = cells_of(sort, tile, bit);
    return start != NULL ? (start - sort->cell_start) / 8 : -1;
}

/* The particles of a row of a tile, `square` away, that may be neighbours of cells in the lanes from `low` to
 * `high` with the largest size `own`. */
static int add_mixed_range(const WadiSphReach *s, int32_t tile, int bit, int low, int high, float square,
                           float own, WadiSphRange *out)
{
    const WadiTileSort *sort = s->sort;
    const int64_t row = row_of(sort, tile, bit);
    if (row < 0) {
        return 0;
    }
    const float reach = own + s->row_largest[row], left = reach * reach - square;
    int cells = 1;
    while (square_between(cells + 1) < left) {
        ++cells;
    }
    const int l0 = low - cells > 0 ? low - cells : 0, l1 = high + cells < 7 ? high + cells : 7;
    if (!(left > 0.0f) || l0 > l1) {
        return 0;
    }
    const int32_t *start = sort->cell_start + 8 * row;
    *out = (WadiSphRange){ start[l0] - sort->first, start[l1 + 1] - sort->first };
    return out->end > out->first;
}

/* The largest size in a block. */
static float largest_in(const WadiSphReach *s, const WadiSphCell *cell)
{
    float largest = 0.0f;
    for (int n = 0; n < cell->width * cell->width; ++n) {
        const int64_t row = row_of(s->sort, cell->tile, cell->bit + n % cell->width + 8 * (n / cell->width));
        for (int l = 0; row >= 0 && l < cell->width; ++l) {
            largest = fmaxf(largest, s->largest[8 * row + cell->lane + l]);
        }
    }
    return largest;
}

/* The cells around a block in which its particles may have neighbours, where sizes differ: fine particles
 * look one cell far among fine ones, and farther for coarse ones alone. */
int wadi_sph_find_ranges(const WadiSphReach *reach, const WadiSphCell *cell,
                         WadiSphRange out[WADI_SPH_RANGE_MAX])
{
    const int32_t *neighbours = reach->sort->tiles.neighbours[cell->tile];
    const int low = cell->lane, high = cell->lane + cell->width - 1, more = cell->width - 1;
    const float own = largest_in(reach, cell);
    const int first = low < reach->cells ? 0 : 1, last = high + reach->cells > 7 ? 2 : 1;
    int count = 0;
    for (int dk = -reach->cells; dk <= reach->cells + more; ++dk) {
        const int k = (cell->bit >> 3) + dk, tz = k < 0 ? 0 : k > 7 ? 2 : 1;
        for (int dj = -reach->cells; dj <= reach->cells + more; ++dj) {
            const int j = (cell->bit & 7) + dj, ty = j < 0 ? 0 : j > 7 ? 2 : 1;
            const int bit = (j & 7) + 8 * (k & 7), at = 9 * tz + 3 * ty;
            const float square =
                square_between(dj > 0 ? dj - more : dj) + square_between(dk > 0 ? dk - more : dk);
            for (int tx = first; tx <= last; ++tx) {
                const int from = 8 * (tx - 1);
                count += add_mixed_range(reach, neighbours[at + tx], bit, low - from, high - from, square,
                                         own, out + count);
            }
        }
    }
    return count;
}

int32_t wadi_sph_find_members(const WadiTileSort *sort, const WadiSphCell *cell, WadiSphRange members[4])
{
    int32_t count = 0;
    for (int n = 0; n < 4; ++n) {
        members[n] = (WadiSphRange){ 0, 0 };
        const int64_t row =
            n < cell->width * cell->width
                ? row_of(sort, cell->tile, cell->bit + n % cell->width + 8 * (n / cell->width))
                : -1;
        if (row >= 0) {
            const int32_t *start = sort->cell_start + 8 * row + cell->lane;
            members[n] = (WadiSphRange){ start[0] - sort->first, start[cell->width] - sort->first };
            count += start[cell->width] - start[0];
        }
    }
    return count;
}

/* Sizes of particles and cells. */
static WadiStatus find_sizes(WadiSphReach *s, const float *sizes, int32_t count, WadiArena *arena,
                             WadiError *error)
{
    const WadiTileSort *sort = s->sort;
    const size_t cells = 8 * (size_t)sort->row_first[sort->tiles.count];
    float largest = 1.0f;
    WADI_TRY(
        WADI_ARENA_NEW_TEMPORARY(arena, &s->of, (size_t)count + WADI_SPH_SIMD_GROUP, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->largest, cells, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->row_largest, cells / 8, "neighbours", error));
    memset(s->of + count, 0, WADI_SPH_SIMD_GROUP * sizeof *s->of);
    memset(s->row_largest, 0, cells / 8 * sizeof *s->row_largest);
    for (size_t c = 0; c < cells; ++c) {
        s->largest[c] = 0.0f;
        for (int32_t i = sort->cell_start[c] - sort->first; i < sort->cell_start[c + 1] - sort->first; ++i) {
            const float size = sizes[i];
            s->of[i] = size * (float)(0.5 * WADI_SPH_REACH * WADI_SPH_PLACES);
            s->largest[c] = size > s->largest[c] ? size : s->largest[c];
        }
        s->row_largest[c / 8] = fmaxf(s->row_largest[c / 8], s->largest[c]);
        largest = fmaxf(largest, s->largest[c]);
    }
    const int wanted = (int)ceilf(largest - 1e-3f);
    s->cells = wanted < WADI_SPH_REACH_MAX ? wanted : WADI_SPH_REACH_MAX;
    return WADI_OK;
}

WadiStatus wadi_sph_reach_find(WadiSphReach *reach, const WadiSphPairsIn *in, int32_t count, WadiArena *arena,
                               WadiError *error)
{
    *reach = (WadiSphReach){ .sort = in->sort, .has_sizes = in->has_sizes, .cells = 1 };
    return in->has_sizes ? find_sizes(reach, in->size, count, arena, error) : WADI_OK;
}
