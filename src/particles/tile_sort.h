/* Particles in the order of a tiled grid: by tile (the map's order), by cell inside a tile (x fastest),
 * stable inside a cell. */
#ifndef WADI_PARTICLES_TILE_SORT_H
#define WADI_PARTICLES_TILE_SORT_H

#include <math.h>

#include "core/arena.h"
#include "grid/tile_map.h"
#include "particles/store.h"

/* Which tiles, rows of eight cells and cells hold particles, and which particles those are. Sizes follow the
 * occupied rows: an isolated droplet costs one. Particles of tile t are tile_start[t] .. tile_start[t + 1];
 * its occupied rows are row_first[t] .. row_first[t + 1], in the order of the bits of row_mask[t] (bit j + 8
 * k); particles in lane l of occupied row r are cell_start[8 r + l] .. cell_start[8 r + l + 1]. Memory
 * belongs to the arena of the step. */
typedef struct WadiTileSort {
    double cell_size; /* m */
    int32_t first;    /* particles before it are not in any of the lists: they sleep */
    WadiTileMap tiles;
    int32_t *tile_start; /* tiles.count + 1 */
    uint64_t *row_mask;  /* per tile */
    int32_t *row_first;  /* tiles.count + 1 */
    uint8_t *lanes;      /* per occupied row: bit l set where lane l has a particle; never 0 */
    int32_t *cell_start; /* 8 x occupied rows + 1 */
} WadiTileSort;

/* Cells as by wadi_cell_at. WADI_ERR_NUMERIC, with the particle's id, for a position that
 * is not finite or whose cell index exceeds 2^31 - 64; the order is then unchanged. */
WadiStatus wadi_tile_sort(WadiTileSort *sort, WadiParticles *particles, double cell_size, WadiArena *arena,
                          WadiError *error);
/* The same for the particles from `first` on; those before are neither read nor moved. */
WadiStatus wadi_tile_sort_from(WadiTileSort *sort, WadiParticles *particles, int32_t first, double cell_size,
                               WadiArena *arena, WadiError *error);
bool wadi_tile_sort_validate(const WadiTileSort *sort, const WadiParticles *particles);

/* Index among the occupied rows of a row (j + 8 k) of a tile. -1: it has no particles, or the tile is -1. */
static inline int32_t wadi_tile_sort_row(const WadiTileSort *sort, int32_t tile, int row)
{
    if (tile < 0 || (sort->row_mask[tile] >> row & 1) == 0) {
        return -1;
    }
    const uint64_t before = sort->row_mask[tile] & ((UINT64_C(1) << row) - 1);
    return sort->row_first[tile] + __builtin_popcountll(before);
}

/* A walk over the occupied cells of a tile, in the order of their particles:
 *     for (wadi_tile_cells_begin(&cell, sort, tile); wadi_tile_cells_next(&cell, sort);) { ... } */
typedef struct WadiTileCell {
    int row, lane;      /* of the cell in its tile: j + 8 k, and i */
    int32_t first, end; /* its particles */
    int32_t next_row;   /* among the occupied rows of the sort; what is left of the tile and of the row: */
    uint64_t rows_left;
    unsigned lanes_left;
} WadiTileCell;

static inline void wadi_tile_cells_begin(WadiTileCell *cell, const WadiTileSort *sort, int32_t tile)
{
    *cell = (WadiTileCell){ .next_row = sort->row_first[tile], .rows_left = sort->row_mask[tile] };
}

/* false: there are no more. */
static inline bool wadi_tile_cells_next(WadiTileCell *cell, const WadiTileSort *sort)
{
    if (cell->lanes_left == 0) {
        if (cell->rows_left == 0) {
            return false;
        }
        cell->row = __builtin_ctzll(cell->rows_left);
        cell->rows_left &= cell->rows_left - 1;
        cell->lanes_left = sort->lanes[cell->next_row++];
    }
    cell->lane = __builtin_ctz(cell->lanes_left);
    cell->lanes_left &= cell->lanes_left - 1;
    const int32_t *start = sort->cell_start + 8 * (int64_t)(cell->next_row - 1) + cell->lane;
    cell->first = start[0];
    cell->end = start[1];
    return true;
}

/* Index of the cell of a position, along an axis. Always use this function: a division would round
 * differently. */
static inline double wadi_cell_at(double position, double cells_per_metre)
{
    return floor(position * cells_per_metre);
}

/* The tile of a particle; its cell has an index. */
static inline WadiTile wadi_tile_of_particle(const WadiParticles *p, int32_t i, double cells_per_metre)
{
    return (WadiTile){ (int32_t)wadi_cell_at(p->x[i], cells_per_metre) >> 3,
                       (int32_t)wadi_cell_at(p->y[i], cells_per_metre) >> 3,
                       (int32_t)wadi_cell_at(p->z[i], cells_per_metre) >> 3 };
}

#endif
