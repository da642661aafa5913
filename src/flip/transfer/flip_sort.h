/* Particles in the order of the grid: by tile (the map's order), by cell inside a tile (x fastest), and as they were inside a
 * cell. Everything after this stage reads particles and grid in the same order. */
#ifndef WADI_FLIP_SORT_H
#define WADI_FLIP_SORT_H

#include <math.h>

#include "grid/tile_map.h"
#include "particles/store.h"

/* Which tiles, rows of eight cells and cells hold particles, and which particles those are. Sizes follow the occupied rows: an
 * isolated droplet costs one. Particles of tile t are tile_start[t] .. tile_start[t + 1]; its occupied rows are row_first[t] ..
 * row_first[t + 1], in the order of the bits of row_mask[t] (bit j + 8 k); particles in lane l of occupied row r are
 * cell_start[8 r + l] .. cell_start[8 r + l + 1]. Memory belongs to the arena. */
typedef struct WadiFlipSort {
    double cell_size; /* m */
    int32_t first;    /* particles before it are not in any of the lists: they sleep */
    WadiTileMap tiles;
    int32_t *tile_start; /* tiles.count + 1 */
    uint64_t *row_mask;  /* per tile */
    int32_t *row_first;  /* tiles.count + 1 */
    uint8_t *lanes;      /* per occupied row: bit l set where lane l has a particle; never 0 */
    int32_t *cell_start; /* 8 x occupied rows + 1 */
} WadiFlipSort;

/* Index of the cell of a position, along an axis. Who asks must ask here: a division rounds otherwise now and then. */
static inline double wadi_flip_cell_at(double position, double cells_per_metre)
{
    return floor(position * cells_per_metre);
}

/* The tile of a particle; its cell has an index. */
static inline WadiTile wadi_flip_tile_of(const WadiParticles *p, int32_t i, double cells_per_metre)
{
    return (WadiTile){ (int32_t)wadi_flip_cell_at(p->x[i], cells_per_metre) >> 3,
                       (int32_t)wadi_flip_cell_at(p->y[i], cells_per_metre) >> 3,
                       (int32_t)wadi_flip_cell_at(p->z[i], cells_per_metre) >> 3 };
}

/* Cell of a position: as above. WADI_ERR_NUMERIC, naming the particle's id, for a position that is not
 * finite or whose cell is beyond 2^31 - 64; the particles then keep their order. */
WadiStatus wadi_flip_sort(WadiFlipSort *sort, WadiParticles *particles, double cell_size, WadiArena *arena,
                          WadiError *error);
/* The same for the particles from `first` on; those before stay where they are and are not looked at. */
WadiStatus wadi_flip_sort_from(WadiFlipSort *sort, WadiParticles *particles, int32_t first, double cell_size,
                               WadiArena *arena, WadiError *error);

bool wadi_flip_sort_validate(const WadiFlipSort *sort, const WadiParticles *particles);

#endif
