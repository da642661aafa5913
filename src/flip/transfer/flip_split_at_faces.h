/* Fill of the cells of calm water, without jumps when particles cross faces. [theory 4.2] */
#ifndef WADI_FLIP_SPLIT_AT_FACES_H
#define WADI_FLIP_SPLIT_AT_FACES_H

#include "grid/rows.h"
#include "particles/tile_sort.h"

typedef struct WadiFlipSplitIn {
    const WadiRows *rows;
    const WadiTileSort *sort;
    const int32_t *tile_of; /* per tile of the sort: its index in the grid */
    const WadiParticles *particles;
    double cells_per_metre;
    float volume; /* of a particle / volume of a cell */
    float speed;  /* m/s: sqrt(g dx) */
} WadiFlipSplitIn;

/* `fill`, in: each particle counted in its own cell. Out: particles near faces are split between the
 * cells. */
WadiStatus wadi_flip_split_at_faces(const WadiFlipSplitIn *in, float *fill, WadiArena *scratch,
                                    WadiError *error);

#endif
