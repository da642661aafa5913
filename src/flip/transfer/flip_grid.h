/* The sparse staggered grid of one step: rows of eight cells that hold particles or lie within `margin`
 * cells of them. u at the -x face of its cell, v at -y, w at -z [theory 1.2]. */
#ifndef WADI_FLIP_GRID_H
#define WADI_FLIP_GRID_H

#include "grid/rows.h"
#include "particles/tile_sort.h"

enum { WADI_FLIP_MARGIN = 2, WADI_FLIP_MARGIN_MIN = 2, WADI_FLIP_MARGIN_MAX = 7 };

/* A row exists if one of its cells is at most `margin` cells (along each axis) from an occupied cell.
 * Arrays over rows are as in grid/rows.h: lane l of row r at 8 r + l, row 0 all zero. `rows` points into
 * this struct: do not copy it. The arena owns the memory. */
typedef struct WadiFlipGrid {
    double cell_size; /* m */
    int margin;
    WadiTileMap tiles;
    uint64_t *mask; /* per tile: its rows */
    WadiRows rows;
    uint8_t *occupied;  /* per row: bit l set where the cell of lane l holds particles */
    int32_t *sort_tile; /* per tile: its index among the tiles of WadiTileSort, or -1 */
    int32_t *tile_of;   /* per tile of WadiTileSort: its index here */
    float *velocity[3]; /* m/s, on faces */
    /* Sum of mass times weight of the particles; 0: the face has no velocity yet. Temporary: released by
     * the caller of wadi_flip_grid_build after its last use. */
    float *face_mass[3];
} WadiFlipGrid;

/* Velocities and masses are set only in the null row: wadi_flip_particles_to_grid writes the others. */
WadiStatus wadi_flip_grid_build(WadiFlipGrid *grid, const WadiTileSort *sort, int margin, WadiArena *arena,
                                WadiError *error);

bool wadi_flip_grid_validate(const WadiFlipGrid *grid, const WadiTileSort *sort);

#endif
