#include "grid/rows.h"

#include <string.h>

#include "core/check.h"
#include "core/parallel.h"

enum { TILE_BLOCK = 64 };

/* The neighbour of row (j, k) of a tile, one step along y (axis 1) or z (axis 2). */
static int32_t neighbour_row(const WadiRows *rows, int32_t tile, int place, int axis, int step)
{
    int j = place & 7, k = place >> 3;
    int *moved = axis == 1 ? &j : &k;
    *moved += step;
    int32_t at = tile;
    if (*moved < 0 || *moved > 7) {
        *moved &= 7;
        at = rows->tiles->neighbours[tile][axis == 1 ? 13 + 3 * step : 13 + 9 * step];
    }
    return wadi_rows_at(rows, at, j + 8 * k);
}

static void link_tiles(void *context, int64_t first, int64_t end)
{
    WadiRows *rows = context;
    for (int32_t tile = (int32_t)first; tile < end; ++tile) {
        int32_t row = rows->first[tile];
        const int32_t *neighbour = rows->tiles->neighbours[tile];
        for (uint64_t left = rows->mask[tile]; left != 0; left &= left - 1, ++row) {
            int place = __builtin_ctzll(left);
            rows->tile[row] = tile;
            rows->index_in_tile[row] = (uint8_t)place;
            int32_t *to = rows->neighbour[row];
            to[WADI_ROW_X_MIN] = wadi_rows_at(rows, neighbour[12], place);
            to[WADI_ROW_X_MAX] = wadi_rows_at(rows, neighbour[14], place);
            to[WADI_ROW_Y_MIN] = neighbour_row(rows, tile, place, 1, -1);
            to[WADI_ROW_Y_MAX] = neighbour_row(rows, tile, place, 1, 1);
            to[WADI_ROW_Z_MIN] = neighbour_row(rows, tile, place, 2, -1);
            to[WADI_ROW_Z_MAX] = neighbour_row(rows, tile, place, 2, 1);
        }
    }
}

WadiStatus wadi_rows_build(WadiRows *rows, const WadiTileMap *tiles, const uint64_t *mask, WadiArena *arena,
                           WadiError *error)
{
    WADI_ASSERT_TRY(tiles->count == 0 || tiles->neighbours != NULL, error);
    *rows = (WadiRows){ .tiles = tiles, .mask = mask };
    WADI_TRY(WADI_ARENA_NEW(arena, &rows->first, (size_t)tiles->count + 1, "rows", error));
    int64_t count = 1;
    for (int32_t t = 0; t < tiles->count; ++t) {
        rows->first[t] = (int32_t)count;
        count += __builtin_popcountll(mask[t]);
    }
    if (count > INT32_MAX / WADI_ROW_CELLS) {
        return wadi_fail(error, WADI_ERR_MEMORY, "the grid has %lld rows of cells, at most %d are possible",
                         (long long)count, INT32_MAX / WADI_ROW_CELLS);
    }
    rows->first[tiles->count] = (int32_t)count;
    WADI_TRY(WADI_ARENA_NEW(arena, &rows->neighbour, (size_t)count, "rows", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &rows->tile, (size_t)count, "rows", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &rows->index_in_tile, (size_t)count, "rows", error));
    rows->count = (int32_t)count;
    memset(rows->neighbour[0], 0, sizeof rows->neighbour[0]);
    rows->tile[0] = -1;
    rows->index_in_tile[0] = 0;
    wadi_parallel_for(tiles->count, TILE_BLOCK, link_tiles, rows);
    return WADI_OK;
}

int32_t wadi_rows_find(const WadiRows *rows, int32_t i, int32_t j, int32_t k)
{
    int32_t tile = wadi_tile_map_find(rows->tiles, (WadiTile){ i >> 3, j >> 3, k >> 3 });
    return wadi_rows_at(rows, tile, (j & 7) + 8 * (k & 7));
}

bool wadi_rows_validate(const WadiRows *rows)
{
    static const int32_t step[6][3] = { { -8, 0, 0 }, { 8, 0, 0 },  { 0, -1, 0 },
                                        { 0, 1, 0 },  { 0, 0, -1 }, { 0, 0, 1 } };
    for (int32_t r = 1; r < rows->count; ++r) {
        int32_t cell[3];
        wadi_rows_cell(rows, r, cell);
        if (wadi_rows_find(rows, cell[0], cell[1], cell[2]) != r) {
            return false;
        }
        for (int n = 0; n < 6; ++n) {
            if (wadi_rows_find(rows, cell[0] + step[n][0], cell[1] + step[n][1], cell[2] + step[n][2]) !=
                rows->neighbour[r][n]) {
                return false;
            }
        }
    }
    return true;
}
