/* Particles sorted by cell, and neighbours within a radius. Cells are hashed: space is unbounded, and the
 * cost is proportional to the occupied cells. */
#ifndef WADI_PARTICLES_CELLS_H
#define WADI_PARTICLES_CELLS_H

#include "core/arena.h"
#include "particles/store.h"

/* The occupied cells in ascending (z, y, x) order and the particles of each. `order` is stable: particles
 * of one cell keep their order. Memory belongs to the arena given to build. */
typedef struct WadiCells {
    double cell_size;
    int32_t cell_count;
    int32_t (*coordinate)[3]; /* of each occupied cell: floor(position / cell_size) */
    int32_t *start;           /* cell_count + 1 */
    int32_t *order;           /* particle indices, cell by cell */
    int32_t *slot;            /* hash table: cell index or -1 */
    uint32_t slot_mask;
    /* Bloom filter, four bits a slot: a cell whose bit is 0 is empty, as most cells around isolated
     * particles. */
    uint64_t *filter;
    int32_t particle_count;
} WadiCells;

/* WADI_ERR_NUMERIC, naming the particle's id, for a position that is not finite or whose cell is beyond
 * 2^31 - 8. */
WadiStatus wadi_cells_build(WadiCells *cells, const WadiParticles *particles, double cell_size,
                            WadiArena *arena, WadiError *error);
/* The same for the particles subset[0..count), in that order; `order` holds indices into the store as
 * before. */
WadiStatus wadi_cells_build_subset(WadiCells *cells, const WadiParticles *particles, const int32_t *subset,
                                   int32_t count, double cell_size, WadiArena *arena, WadiError *error);
/* Index of the cell at a coordinate, or -1. */
int32_t wadi_cells_find(const WadiCells *cells, int32_t i, int32_t j, int32_t k);
/* The particles of the cells i - 1, i, i + 1 of a row are order[*first] .. order[*end]; none: both are 0. */
void wadi_cells_find_three(const WadiCells *cells, int32_t i, int32_t j, int32_t k, int32_t *first,
                           int32_t *end);
/* Checks order, coordinates and table, for cells built of all particles or of an ascending subset. */
bool wadi_cells_validate(const WadiCells *cells, const WadiParticles *particles);

/* Neighbour lists: j is a neighbour of i when |x_i - x_j| <= radius, j != i. Each list is in ascending
 * particle index. */
typedef struct WadiNeighbours {
    int32_t count;  /* particles */
    int64_t *start; /* count + 1 */
    int32_t *index;
} WadiNeighbours;

/* The cells must be at least as wide as the radius. Fastest when the particles are sorted by these
 * cells. */
WadiStatus wadi_neighbours_fixed(WadiNeighbours *neighbours, const WadiCells *cells,
                                 const WadiParticles *particles, double radius, WadiArena *arena,
                                 WadiError *error);

/* Sort the particles from `first` on by cell and give them their ids in that order. */
WadiStatus wadi_particles_order_by_cell(WadiParticles *particles, int32_t first, double cell_size,
                                        WadiError *error);

#endif
