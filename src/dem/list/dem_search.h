/* Grains in the cells around a cell, or around a point, of a tile sort. */
#ifndef WADI_DEM_SEARCH_H
#define WADI_DEM_SEARCH_H

#include "particles/cells.h"
#include "particles/tile_sort.h"

enum { WADI_DEM_RANGE_MAX = 27 };

/* Ranges of particles, in rising order of the cells' rows. */
typedef struct WadiDemRanges {
    int count;
    int32_t first[WADI_DEM_RANGE_MAX], end[WADI_DEM_RANGE_MAX];
} WadiDemRanges;

/* The 27 cells around one cell, given by its tile, row and lane. */
void wadi_dem_ranges_around(const WadiTileSort *sort, int32_t tile, int row, int lane, WadiDemRanges *out);

/* Cells that a box around a point meets, tile by tile and row by row. */
typedef struct WadiDemWalk {
    const WadiTileSort *sort;
    int32_t low[3], high[3];
    WadiTile at;        /* the next tile */
    WadiTile home;      /* of the point */
    int32_t home_index; /* -1: it is not in the map */
    int32_t tile;       /* the present one */
    uint64_t rows;      /* of it that are left */
    int first_lane, last_lane;
} WadiDemWalk;

void wadi_dem_walk_begin(WadiDemWalk *walk, const WadiTileSort *sort, WadiVec3 x, double reach);
/* The next range that is not empty; false: there is none. */
bool wadi_dem_walk_next(WadiDemWalk *walk, int32_t *first, int32_t *end);

/* Particles in the cells of a table that a box around a point meets. */
typedef struct WadiDemCellWalk {
    const WadiCells *cells;
    int32_t low[3], high[3], at[3];
    int32_t next, end; /* in the order of the table, of the present cell */
} WadiDemCellWalk;

void wadi_dem_cell_walk_begin(WadiDemCellWalk *walk, const WadiCells *cells, WadiVec3 x, double reach);
/* The next particle; -1: there is none. */
int32_t wadi_dem_cell_walk_next(WadiDemCellWalk *walk);

#endif
