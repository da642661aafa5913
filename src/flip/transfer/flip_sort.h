/* Sorts the particles by tile and cell. Everything after this stage reads particles and grid in the same
 * order. */
#ifndef WADI_FLIP_SORT_H
#define WADI_FLIP_SORT_H

#include "particles/tile_sort.h"

typedef WadiTileSort WadiFlipSort;

/* Cells as by wadi_cell_at. WADI_ERR_NUMERIC, with the particle's id, for a position that is not
 * finite or whose cell index exceeds 2^31 - 64; the order is then unchanged. */
WadiStatus wadi_flip_sort(WadiFlipSort *sort, WadiParticles *particles, double cell_size, WadiArena *arena,
                          WadiError *error);
/* The same for the particles from `first` on; those before are neither read nor moved. */
WadiStatus wadi_flip_sort_from(WadiFlipSort *sort, WadiParticles *particles, int32_t first, double cell_size,
                               WadiArena *arena, WadiError *error);

bool wadi_flip_sort_validate(const WadiFlipSort *sort, const WadiParticles *particles);

#endif
