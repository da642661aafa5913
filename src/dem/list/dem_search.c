#include "dem/list/dem_search.h"

/* Particles in the cells l0 .. l1 of a row of a tile. */
static bool range_of(const WadiTileSort *sort, int32_t tile, int bit, int l0, int l1, int32_t *first,
                     int32_t *end)
{
    const int32_t row = wadi_tile_sort_row(sort, tile, bit);
    if (row < 0) {
        return false;
    }
    const int32_t *start = sort->cell_start + 8 * (int64_t)row;
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
    }
    walk->at = (WadiTile){ walk->low[0] >> 3, walk->low[1] >> 3, walk->low[2] >> 3 };
    walk->rows = 0;
    walk->home = (WadiTile){ (int32_t)wadi_cell_at(x.x, scale) >> 3, (int32_t)wadi_cell_at(x.y, scale) >> 3,
                             (int32_t)wadi_cell_at(x.z, scale) >> 3 };
    walk->home_index = wadi_tile_map_find(&sort->tiles, walk->home);
}

/* The part low .. high of the eight cells of a tile along an axis. */
static inline void cut(const WadiDemWalk *walk, int axis, int32_t tile, int *low, int *high)
{
    const int32_t first = 8 * tile;
    *low = walk->low[axis] > first ? walk->low[axis] - first : 0;
    *high = walk->high[axis] < first + 7 ? walk->high[axis] - first : 7;
}

/* Sets the rows of the next tile; false: there is none. */
static bool enter_tile(WadiDemWalk *walk)
{
    const WadiTile at = walk->at;
    if (at.z > walk->high[2] >> 3) {
        return false;
    }
    int j0, j1, k0, k1;
    walk->tile = find_tile(walk, at);
    walk->at.x += 1;
    if (walk->at.x > walk->high[0] >> 3) {
        walk->at.x = walk->low[0] >> 3;
        walk->at.y += 1;
    }
    if (walk->at.y > walk->high[1] >> 3) {
        walk->at.y = walk->low[1] >> 3;
        walk->at.z += 1;
    }
    if (walk->tile >= 0) {
        cut(walk, 0, at.x, &walk->first_lane, &walk->last_lane);
        cut(walk, 1, at.y, &j0, &j1);
        cut(walk, 2, at.z, &k0, &k1);
        const uint64_t line = ((UINT64_C(2) << (j1 - j0)) - 1) << j0;
        const uint64_t layers = UINT64_MAX >> (56 - 8 * (k1 - k0)) << (8 * k0);
        walk->rows = line * UINT64_C(0x0101010101010101) & layers & walk->sort->row_mask[walk->tile];
    }
    return true;
}

bool wadi_dem_walk_next(WadiDemWalk *walk, int32_t *first, int32_t *end)
{
    const WadiTileSort *sort = walk->sort;
    for (;;) {
        while (walk->rows == 0) {
            if (!enter_tile(walk)) {
                return false;
            }
        }
        const uint64_t bit = walk->rows & (0 - walk->rows);
        walk->rows ^= bit;
        const int32_t row =
            sort->row_first[walk->tile] + __builtin_popcountll(sort->row_mask[walk->tile] & (bit - 1));
        const int32_t *start = sort->cell_start + 8 * (int64_t)row;
        *first = start[walk->first_lane];
        *end = start[walk->last_lane + 1];
        if (*end > *first) {
            return true;
        }
    }
}

void wadi_dem_cell_walk_begin(WadiDemCellWalk *walk, const WadiCells *cells, WadiVec3 x, double reach)
{
    const double at[3] = { x.x, x.y, x.z };
    *walk = (WadiDemCellWalk){ .cells = cells };
    for (int a = 0; a < 3; ++a) {
        walk->low[a] = (int32_t)floor((at[a] - reach) / cells->cell_size);
        walk->high[a] = (int32_t)floor((at[a] + reach) / cells->cell_size);
        walk->at[a] = walk->low[a];
    }
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
