/* A sparse grid stored by rows of eight cells along x. Costs are proportional to the rows [theory 1.6]. A row
 * is one 256-bit vector of floats.
 *
 * Cell (i, j, k) lies in tile (i >> 3, j >> 3, k >> 3), in its row (j & 7) + 8 (k & 7), at lane i & 7. Rows
 * are numbered from 1, tile by tile in the tiles' order. Row 0 is the null row: every array over rows has it,
 * filled with zeros and never written, so that stencils need no branches. An array over the grid has
 * wadi_rows_floats(rows) floats; the value of lane l of row r is at 8 r + l. Face arrays store the face on
 * the low side of the cell: u at its -x face, v at -y, w at -z.
 *
 * Rows depend only on the masks: same bytes for any thread count. Memory belongs to the arena given to
 * build. */
#ifndef WADI_GRID_ROWS_H
#define WADI_GRID_ROWS_H

#include "core/arena.h"
#include "grid/tile_map.h"

enum { WADI_ROW_CELLS = 8, WADI_TILE_ROWS = 64 };

/* Order of WadiRows.neighbour. */
enum { WADI_ROW_X_MIN, WADI_ROW_X_MAX, WADI_ROW_Y_MIN, WADI_ROW_Y_MAX, WADI_ROW_Z_MIN, WADI_ROW_Z_MAX };

typedef struct WadiRows {
    const WadiTileMap *tiles; /* borrowed, with neighbours */
    const uint64_t *mask;     /* per tile: bit (j + 8 k) set where the row exists; borrowed */
    int32_t *first;           /* per tile + 1: its first row; first[0] = 1 */
    int32_t count;            /* rows, the null row included */
    int32_t (*neighbour)[6];  /* of each row; 0: none */
    int32_t *tile;            /* of each row */
    uint8_t *index_in_tile;   /* of each row: its index j + 8 k in the tile */
} WadiRows;

/* One mask per tile. */
WadiStatus wadi_rows_build(WadiRows *rows, const WadiTileMap *tiles, const uint64_t *mask, WadiArena *arena,
                           WadiError *error);

/* The row at index `place` of a tile (-1: no tile), or 0. */
static inline int32_t wadi_rows_at(const WadiRows *rows, int32_t tile, int place)
{
    if (tile < 0 || (rows->mask[tile] >> place & 1) == 0) {
        return 0;
    }
    uint64_t before = rows->mask[tile] & ((UINT64_C(1) << place) - 1);
    return rows->first[tile] + __builtin_popcountll(before);
}

/* The row that holds cell (i, j, k), or 0. */
int32_t wadi_rows_find(const WadiRows *rows, int32_t i, int32_t j, int32_t k);

/* Coordinates of a row's first cell. */
static inline void wadi_rows_cell(const WadiRows *rows, int32_t row, int32_t cell[3])
{
    WadiTile tile = rows->tiles->tiles[rows->tile[row]];
    cell[0] = 8 * tile.x;
    cell[1] = 8 * tile.y + (rows->index_in_tile[row] & 7);
    cell[2] = 8 * tile.z + (rows->index_in_tile[row] >> 3);
}

static inline size_t wadi_rows_floats(const WadiRows *rows)
{
    return (size_t)WADI_ROW_CELLS * (size_t)rows->count;
}

bool wadi_rows_validate(const WadiRows *rows);

#endif
