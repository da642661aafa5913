/* How full the cells of calm water are, without jumps when particles cross faces. */
#ifndef WADI_FLIP_SHARED_FILL_H
#define WADI_FLIP_SHARED_FILL_H

#include "flip/transfer/flip_sort.h"
#include "grid/rows.h"

typedef struct WadiFlipSharedIn {
    const WadiRows *rows;
    const WadiFlipSort *sort;
    const int32_t *tile_of; /* per tile of the sort: its number in the grid */
    const WadiParticles *particles;
    double cells_per_metre;
    float volume; /* of a particle / volume of a cell */
    float speed;  /* m/s: sqrt(g dx) */
} WadiFlipSharedIn;

/* `fill`, in and out: from particles counted by their cells to such that count for both cells near faces. */
WadiStatus wadi_flip_shared_fill(const WadiFlipSharedIn *in, float *fill, WadiArena *scratch,
                                 WadiError *error);

#endif
