/* The sparse staggered grid of one step: rows of eight cells that hold fluid or lie within `margin` cells of it.
 * u at the -x face of its cell, v at -y, w at -z; a cell with a particle is fluid [theory 1.2]. */
#ifndef WADI_FLIP_GRID_H
#define WADI_FLIP_GRID_H

#include "flip/transfer/flip_sort.h"
#include "grid/rows.h"

enum { WADI_FLIP_MARGIN = 2, WADI_FLIP_MARGIN_MIN = 2, WADI_FLIP_MARGIN_MAX = 7 };

/* A row exists when one of its cells is at most `margin` cells (in each axis) from a fluid cell; cost follows those rows.
 * Arrays over rows are as in grid/rows.h: lane l of row r at 8 r + l, row 0 all zero. `rows` points into this struct: do not
 * copy it. Memory belongs to the arena. */
typedef struct WadiFlipGrid {
    double cell_size; /* m */
    int margin;
    WadiTileMap tiles;
    uint64_t *mask; /* per tile: its rows */
    WadiRows rows;
    uint8_t *occupied;  /* per row: bit l set where the cell of lane l holds particles */
    int32_t *sort_tile; /* per tile: its number among the tiles of WadiFlipSort, or -1 */
    int32_t *tile_of;   /* per tile of WadiFlipSort: its number here */
    float *velocity[3]; /* m/s, on faces */
    /* What particles gave to the face: sum of mass times weight; 0: the face has no velocity yet. Temporary: whoever builds the
     * grid releases it when nobody asks any more. */
    float *face_mass[3];
} WadiFlipGrid;

/* Velocities and masses are not yet set but for the null row: wadi_flip_particles_to_grid writes them all. */
WadiStatus wadi_flip_grid_build(WadiFlipGrid *grid, const WadiFlipSort *sort, int margin, WadiArena *arena,
                                WadiError *error);

bool wadi_flip_grid_validate(const WadiFlipGrid *grid, const WadiFlipSort *sort);

#endif
