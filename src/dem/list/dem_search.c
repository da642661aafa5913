#include "dem/list/dem_search.h"

/* Particles in the cells l0 .. l1 of a row of a tile. */
static bool range_of(const WadiTileSort *sort, int32_t tile, int bit, int l0, int l1, int32_t *first,
                     int32_t *end)
{
    if (tile < 0 || (sort->row_mask[tile] >> bit & 1) == 0) {
        return false;
    }
    const uint64_t before = sort->row_mask[tile] & ((UINT64_C(1) << bit) - 1);
    const int32_t *start =
        sort->cell_start + 8 * (int64_t)(sort->row_first[tile] + __builtin_popcountll(before));
    *first = start[l0];
    *end = start[l1 + 1];
    return *end > *first;
}

static void add(const WadiTileSort *sort, int32_t tile, int bit, int l0, int l1, WadiDemRanges *out)
{
    out->count += range_of(sort, tile, bit, l0, l1, &out->first[out->count], &out->end[out->count]);
}

void wadi_dem_ranges_around(const WadiTileSort *sort, int32_t tile, int row, int lane, WadiDemRanges *out)
{
    const int32_t *neighbours = sort->tiles.neighbours[tile];
    out->count = 0;
    for (int dk = -1; dk <= 1; ++dk) {
        const int k = (row >> 3) + dk, tz = k < 0 ? 0 : k > 7 ? 2 : 1;
        for (int dj = -1; dj <= 1; ++dj) {
            const int j = (row & 7) + dj, ty = j < 0 ? 0 : j > 7 ? 2 : 1;
            const int bit = (j & 7) + 8 * (k & 7), at = 9 * tz + 3 * ty + 1;
            if (lane == 0) {
                add(sort, neighbours[at - 1], bit, 7, 7, out);
            }
            add(sort, neighbours[at], bit, lane > 0 ? lane - 1 : 0, lane < 7 ? lane + 1 : 7, out);
            if (lane == 7) {
                add(sort, neighbours[at + 1], bit, 0, 0, out);
            }
        }
    }
}

/* Most walks stay near the tile that they began in, whose neighbours are known. */
static int32_t find_tile(const WadiDemWalk *walk, WadiTile tile)
{
    const int32_t i = tile.x - walk->home.x + 1, j = tile.y - walk->home.y + 1, k = tile.z - walk->home.z + 1;
    const bool is_near = walk->home_index >= 0 && (i | j | k) >= 0 && i <= 2 && j <= 2 && k <= 2;
    const WadiTileMap *tiles = &walk->sort->tiles;
    return is_near ? tiles->neighbours[walk->home_index][9 * k + 3 * j + i] : wadi_tile_map_find(tiles, tile);
}

void wadi_dem_walk_begin(WadiDemWalk *walk, const WadiTileSort *sort, WadiVec3 x, double reach)
{
    const double scale = 1.0 / sort->cell_size, at[3] = { x.x, x.y, x.z };
    walk->sort = sort;
    for (int a = 0; a < 3; ++a) {
        walk->low[a] = (int32_t)wadi_cell_at(at[a] - reach, scale);
        walk->high[a] = (int32_t)wadi_cell_at(at[a] + reach, scale);
        walk->at[a] = walk->low[a];
    }
    walk->home = (WadiTile){ (int32_t)wadi_cell_at(x.x, scale) >> 3, (int32_t)wadi_cell_at(x.y, scale) >> 3,
                             (int32_t)wadi_cell_at(x.z, scale) >> 3 };
    walk->home_index = wadi_tile_map_find(&sort->tiles, walk->home);
}

bool wadi_dem_walk_next(WadiDemWalk *walk, int32_t *first, int32_t *end)
{
    while (walk->at[2] <= walk->high[2]) {
        const int32_t x = walk->at[0], y = walk->at[1], z = walk->at[2];
        const int32_t last = (x | 7) < walk->high[0] ? (x | 7) : walk->high[0];
        const int32_t tile = find_tile(walk, (WadiTile){ x >> 3, y >> 3, z >> 3 });
        walk->at[0] = last + 1;
        if (walk->at[0] > walk->high[0]) {
            walk->at[0] = walk->low[0];
            walk->at[1] += 1;
        }
        if (walk->at[1] > walk->high[1]) {
            walk->at[1] = walk->low[1];
            walk->at[2] += 1;
        }
        if (range_of(walk->sort, tile, (y & 7) + 8 * (z & 7), x & 7, last & 7, first, end)) {
            return true;
        }
    }
    return false;
}

void wadi_dem_cell_walk_box(WadiDemCellWalk *walk, const WadiCells *cells, const WadiBox *box, double reach)
{
    const double low[3] = { box->min.x, box->min.y, box->min.z };
    const double high[3] = { box->max.x, box->max.y, box->max.z };
    *walk = (WadiDemCellWalk){ .cells = cells };
    for (int a = 0; a < 3; ++a) {
        walk->low[a] = (int32_t)floor((low[a] - reach) / cells->cell_size);
        walk->high[a] = (int32_t)floor((high[a] + reach) / cells->cell_size);
        walk->at[a] = walk->low[a];
    }
}

void wadi_dem_cell_walk_begin(WadiDemCellWalk *walk, const WadiCells *cells, WadiVec3 x, double reach)
{
    const WadiBox box = { x, x };
    wadi_dem_cell_walk_box(walk, cells, &box, reach);
}

int32_t wadi_dem_cell_walk_next(WadiDemCellWalk *walk)
{
    while (walk->next == walk->end) {
        if (walk->at[2] > walk->high[2]) {
            return -1;
        }
        const int32_t c = wadi_cells_find(walk->cells, walk->at[0], walk->at[1], walk->at[2]);
        walk->next = c >= 0 ? walk->cells->start[c] : 0;
        walk->end = c >= 0 ? walk->cells->start[c + 1] : 0;
        for (int a = 0; a < 3; ++a) {
            if (++walk->at[a] <= walk->high[a] || a == 2) {
                break;
            }
            walk->at[a] = walk->low[a];
        }
    }
    return walk->cells->order[walk->next++];
}
