/* Solids on the grid: open fraction of each face, velocity of the solid there, distance of each cell.
 *
 * Cell (i, j, k) is [i h, (i + 1) h] x ...; the domain's walls are solids too. A wall thinner than a cell
 * closes all faces between cells that it separates, so that no cell belongs to both of its sides. */
#ifndef WADI_FLIP_SOLID_H
#define WADI_FLIP_SOLID_H

#include "flip/transfer/flip_row_table.h"
#include "geom/solids.h"

typedef struct WadiFlipSolidIn {
    const WadiRows *rows;
    const WadiSolids *solids;
    double cell_size;      /* m */
    double time;           /* s */
    double velocity_delay; /* s: velocities are those at time + velocity_delay */
    /* Smaller open fractions become 0: tiny face masses improve nothing [theory 3.1]. */
    float min_open;
    /* Faces are open or closed by the position of the two cell centres [ZB05], without fractions. */
    bool is_binary;
    /* Per tile: rows with values of their own, because the caller changes them; NULL: none. */
    const uint64_t *unshared_rows;
} WadiFlipSolidIn;

/* Rows of the arrays. Equal rows of the grid share one: those far from solids, those deep inside, layers
 * along a wall. */
enum {
    WADI_FLIP_SOLID_NONE,
    WADI_FLIP_SOLID_OPEN_ROW,
    WADI_FLIP_SOLID_CLOSED_ROW,
    WADI_FLIP_SOLID_PLAIN_ROWS
};

typedef struct WadiFlipSolid {
    int32_t *row;      /* per row of the grid: its row of the arrays (flip_row_table.h) */
    int32_t row_count; /* of the arrays */
    float *open[3];    /* per face: open fraction, 0..1 */
    float *velocity
        /* Per face: normal velocity of the solid at its centre, m/s; 0 on open faces. NULL: all solids
         * rest. */
        [3];
    float *wall
        /* Per cut cell: velocity of the solid nearest to its centre, m/s; 0 in others. Temporary in the
         * arena; NULL: all solids rest. */
        [3];
    float *distance; /* per cell: of its centre from the solids, m, cut off at two cells */
    float *fraction; /* per cell: fraction of its volume inside solids, 0..1; temporary in the arena */
    double time;     /* s, of all these values */
} WadiFlipSolid;

/* Samples of solids at rest, by tile, of tiles in use and of some earlier ones. A zeroed cache is valid
 * and empty; it holds one set of solids and one cell size. */
typedef struct WadiFlipSolidCache {
    struct WadiFlipSolidTile *tiles; /* in the order of tile maps */
    int32_t tile_count, tile_capacity;
    struct WadiFlipSolidTile *spare; /* the next list of tiles while it is built */
    int32_t spare_capacity;
    int32_t *tile_index; /* per tile of the grid: its index in `tiles` */
    int32_t tile_index_capacity;
    int32_t *tile_rows; /* rows of the tiles that are neither open nor closed: index in `rows` */
    int32_t tile_row_count;
    float *rows; /* all distinct: open fractions, distance and solid fraction of eight cells */
    int32_t row_count;
    int32_t *number; /* per row: its index in the last output; 0: not in use */
    int32_t *slots;  /* hash table of the rows: row + 1, 0: empty; the size is a power of two */
    int32_t slot_count;
    size_t tile_row_capacity, row_capacity, number_capacity;
    int64_t queried_tiles; /* new tiles in the last call with a resting solid in or near them */
} WadiFlipSolidCache;

void wadi_flip_solid_cache_free(WadiFlipSolidCache *cache);

/* The arena owns `out`. `cache` may be NULL; after a failure it is empty. */
WadiStatus wadi_flip_solid(const WadiFlipSolidIn *in, WadiFlipSolidCache *cache, WadiFlipSolid *out,
                           WadiArena *arena, WadiError *error);

/* Label cut cells without particles as FLUID if their centre is less than 0.3 cells from the solid or
 * inside it, and the cell away from the solid is fluid: as air they would be pockets under the fluid
 * [theory 3.2]. `fluid` and `filled` have a byte a row and must differ. */
void wadi_flip_solid_fill_cut_cells(const WadiRows *rows, const WadiFlipSolid *solid, double cell_size,
                                    const uint8_t *fluid, uint8_t *filled);

#endif
