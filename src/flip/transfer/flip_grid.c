/* Extend the occupied rows by the margin, one axis after the other. A tile's 64 rows are one word: y is
 * the bit in a byte, z the byte. Along an axis, part of the extended word stays in the tile and part
 * overflows into the tiles on either side; the three sorted lists are merged. No search, no hash. */
#include "flip/transfer/flip_grid.h"

#include <string.h>

#include "core/check.h"
#include "core/parallel.h"

enum { TILE_BLOCK = 64 };

/* A sorted list of tiles: their rows, and the rows that overflow into the lower and the upper neighbour
 * along an axis. */
typedef struct TileList {
    int32_t count;
    WadiTile *tile;
    uint64_t *low, *middle, *high;
} TileList;

static WadiStatus make_list(TileList *list, size_t capacity, WadiArena *arena, WadiError *error)
{
    *list = (TileList){ 0 };
    WADI_TRY(WADI_ARENA_NEW(arena, &list->tile, capacity, "tiles of the grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &list->low, capacity, "tiles of the grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &list->middle, capacity, "tiles of the grid", error));
    return WADI_ARENA_NEW(arena, &list->high, capacity, "tiles of the grid", error);
}

/* A word of eight equal bytes. */
static uint64_t bytes_of(unsigned byte)
{
    return byte * UINT64_C(0x0101010101010101);
}

static void grow_y(TileList *list, int margin)
{
    for (int32_t t = 0; t < list->count; ++t) {
        uint64_t rows = list->middle[t], low = 0, middle = rows, high = 0;
        for (int s = 1; s <= margin; ++s) {
            middle |= (rows << s & bytes_of(0xffu << s & 0xff)) | (rows >> s & bytes_of(0xffu >> s));
            high |= rows >> (8 - s) & bytes_of((1u << s) - 1);
            low |= rows << (8 - s) & bytes_of(0xffu << (8 - s) & 0xff);
        }
        list->low[t] = low;
        list->middle[t] = middle;
        list->high[t] = high;
    }
}

static void grow_z(TileList *list, int margin)
{
    for (int32_t t = 0; t < list->count; ++t) {
        uint64_t rows = list->middle[t], low = 0, middle = rows, high = 0;
        for (int s = 1; s <= margin; ++s) {
            middle |= rows << 8 * s | rows >> 8 * s;
            high |= rows >> (64 - 8 * s);
            low |= rows << (64 - 8 * s);
        }
        list->low[t] = low;
        list->middle[t] = middle;
        list->high[t] = high;
    }
}

/* The occupied rows, and those with a lane within the margin of the tile's ends. */
static void grow_x(TileList *list, const WadiTileSort *sort, int margin)
{
    unsigned near_low = (1u << margin) - 1, near_high = 0xffu << (8 - margin) & 0xff;
    for (int32_t t = 0; t < list->count; ++t) {
        uint64_t low = 0, high = 0;
        int32_t row = sort->row_first[t];
        for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++row) {
            uint64_t bit = left & -left;
            low |= (sort->lanes[row] & near_low) != 0 ? bit : 0;
            high |= (sort->lanes[row] & near_high) != 0 ? bit : 0;
        }
        list->tile[t] = sort->tiles.tiles[t];
        list->low[t] = low;
        list->middle[t] = sort->row_mask[t];
        list->high[t] = high;
    }
}

static WadiTile shifted(WadiTile tile, int axis, int step)
{
    return (WadiTile){ tile.x + (axis == 0 ? step : 0), tile.y + (axis == 1 ? step : 0),
                       tile.z + (axis == 2 ? step : 0) };
}

/* Next tile of a stream with rows; list->count at the end. */
static int32_t skip_empty(const TileList *list, const uint64_t *stream, int32_t at)
{
    while (at < list->count && stream[at] == 0) {
        ++at;
    }
    return at;
}

/* Merge the streams (tile - 1, low), (tile, middle), (tile + 1, high). Each is sorted, since adding a
 * constant does not change the order. */
static void merge_streams(const TileList *from, int axis, TileList *to)
{
    const uint64_t *stream[3] = { from->low, from->middle, from->high };
    int32_t at[3];
    for (int s = 0; s < 3; ++s) {
        at[s] = skip_empty(from, stream[s], 0);
    }
    int32_t count = 0;
    for (;;) {
        WadiTile next = { INT32_MAX, INT32_MAX, INT32_MAX };
        for (int s = 0; s < 3; ++s) {
            if (at[s] < from->count) {
                WadiTile tile = shifted(from->tile[at[s]], axis, s - 1);
                next = wadi_tile_is_before(tile, next) ? tile : next;
            }
        }
        if (next.x == INT32_MAX) {
            break;
        }
        uint64_t rows = 0;
        for (int s = 0; s < 3; ++s) {
            if (at[s] < from->count && !wadi_tile_is_before(next, shifted(from->tile[at[s]], axis, s - 1))) {
                rows |= stream[s][at[s]];
                at[s] = skip_empty(from, stream[s], at[s] + 1);
            }
        }
        to->tile[count] = next;
        to->middle[count++] = rows;
    }
    to->count = count;
}

typedef struct Labels {
    WadiFlipGrid *grid;
    const WadiTileSort *sort;
} Labels;

static void label_tiles(void *context, int64_t first, int64_t end)
{
    Labels *labels = context;
    WadiFlipGrid *grid = labels->grid;
    const WadiTileSort *sort = labels->sort;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        int32_t begin = grid->rows.first[t], rows = grid->rows.first[t + 1] - begin,
                tile = grid->sort_tile[t];
        memset(grid->occupied + begin, 0, (size_t)rows);
        if (tile < 0) {
            continue;
        }
        int32_t from = sort->row_first[tile];
        for (uint64_t left = sort->row_mask[tile]; left != 0; left &= left - 1, ++from) {
            grid->occupied[wadi_rows_at(&grid->rows, t, __builtin_ctzll(left))] = sort->lanes[from];
        }
    }
}

/* Both lists are sorted, and each occupied tile is in the grid. */
static void match_tiles(WadiFlipGrid *grid, const WadiTileSort *sort)
{
    int32_t next = 0;
    for (int32_t t = 0; t < grid->tiles.count; ++t) {
        bool is_occupied =
            next < sort->tiles.count && !wadi_tile_is_before(grid->tiles.tiles[t], sort->tiles.tiles[next]);
        grid->sort_tile[t] = is_occupied ? next : -1;
        if (is_occupied) {
            grid->tile_of[next++] = t;
        }
    }
    WADI_ASSERT(next == sort->tiles.count);
}

static WadiStatus build(WadiFlipGrid *grid, const WadiTileSort *sort, WadiArena *arena, WadiError *error)
{
    /* Each axis can triple the number of tiles; the capacity is counted first. */
    TileList list[4];
    WADI_TRY(make_list(&list[0], (size_t)sort->tiles.count, arena, error));
    list[0].count = sort->tiles.count;
    grow_x(&list[0], sort, grid->margin);
    for (int axis = 0; axis < 3; ++axis) {
        TileList *from = &list[axis], *to = &list[axis + 1];
        if (axis == 1) {
            grow_y(from, grid->margin);
        } else if (axis == 2) {
            grow_z(from, grid->margin);
        }
        size_t capacity = 0;
        for (int32_t t = 0; t < from->count; ++t) {
            capacity += (size_t)(from->low[t] != 0) + 1 + (size_t)(from->high[t] != 0);
        }
        WADI_TRY(make_list(to, capacity, arena, error));
        merge_streams(from, axis, to);
    }
    size_t tiles = (size_t)list[3].count;
    grid->mask = list[3].middle;
    WADI_TRY(WADI_ARENA_NEW(arena, &grid->sort_tile, tiles, "tiles of the grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &grid->tile_of, (size_t)sort->tiles.count, "tiles of the grid", error));
    WADI_TRY(wadi_tile_map_create_in_arena(&grid->tiles, list[3].tile, tiles, arena, error));
    WADI_TRY(wadi_rows_build(&grid->rows, &grid->tiles, grid->mask, arena, error));
    match_tiles(grid, sort);

    WADI_TRY(WADI_ARENA_NEW(arena, &grid->occupied, (size_t)grid->rows.count, "labels of the grid", error));
    for (int a = 0; a < 3; ++a) {
        size_t floats = wadi_rows_floats(&grid->rows);
        WADI_TRY(WADI_ARENA_NEW(arena, &grid->velocity[a], floats, "velocity of the grid", error));
        WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &grid->face_mass[a], floats, "mass of the grid", error));
        memset(grid->velocity[a], 0, WADI_ROW_CELLS * sizeof(float));
        memset(grid->face_mass[a], 0, WADI_ROW_CELLS * sizeof(float));
    }
    grid->occupied[0] = 0;
    Labels labels = { grid, sort };
    wadi_parallel_for(grid->tiles.count, TILE_BLOCK, label_tiles, &labels);
    return WADI_OK;
}

WadiStatus wadi_flip_grid_build(WadiFlipGrid *grid, const WadiTileSort *sort, int margin, WadiArena *arena,
                                WadiError *error)
{
    WADI_ASSERT(margin >= WADI_FLIP_MARGIN_MIN && margin <= WADI_FLIP_MARGIN_MAX);
    *grid = (WadiFlipGrid){ .cell_size = sort->cell_size, .margin = margin };
    WadiStatus status = build(grid, sort, arena, error);
    if (status != WADI_OK) {
        *grid = (WadiFlipGrid){ .cell_size = sort->cell_size, .margin = margin };
    }
    return status;
}

bool wadi_flip_grid_validate(const WadiFlipGrid *grid, const WadiTileSort *sort)
{
    if (!wadi_tile_map_validate(&grid->tiles) || !wadi_rows_validate(&grid->rows)) {
        return false;
    }
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        if (grid->sort_tile[grid->tile_of[t]] != t) {
            return false;
        }
        WadiTile tile = sort->tiles.tiles[t];
        int32_t from = sort->row_first[t];
        for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++from) {
            int bit = __builtin_ctzll(left);
            int32_t j = 8 * tile.y + (bit & 7), k = 8 * tile.z + (bit >> 3);
            if (grid->occupied[wadi_rows_find(&grid->rows, 8 * tile.x, j, k)] != sort->lanes[from]) {
                return false;
            }
            int32_t low = 8 * tile.x + __builtin_ctz(sort->lanes[from]) - grid->margin;
            int32_t high = 8 * tile.x + 31 - __builtin_clz(sort->lanes[from]) + grid->margin;
            for (int n = 0; n < (2 * grid->margin + 1) * (2 * grid->margin + 1); ++n) {
                int32_t y = j + n % (2 * grid->margin + 1) - grid->margin;
                int32_t z = k + n / (2 * grid->margin + 1) - grid->margin;
                if (wadi_rows_find(&grid->rows, low, y, z) == 0 ||
                    wadi_rows_find(&grid->rows, high, y, z) == 0) {
                    return false;
                }
            }
        }
    }
    return true;
}
