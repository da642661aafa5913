/* Where the solids are on the grid: how far each face is open, how fast the solid moves there, how deep each
 * cell lies.
 *
 * Cell (i, j, k) is [i h, (i + 1) h] x ...; the domain's walls are solids like any other. A wall thinner than
 * a cell closes whole faces: those between two cells that it separates, so that no cell belongs to both of
 * its sides. */
#ifndef WADI_FLIP_SOLID_H
#define WADI_FLIP_SOLID_H

#include "flip/transfer/flip_row_table.h"
#include "geom/solids.h"

typedef struct WadiFlipSolidIn {
    const WadiRows *rows;
    const WadiSolids *solids;
    double cell_size; /* m */
    double time;      /* s */
    /* Open fractions below this are 0. Slivers make tiny face masses and help nobody [theory 3.1]. */
    float min_open;
    bool is_binary; /* faces open or closed by the sides of their cells' centres [ZB05], no fractions */
    const uint64_t
        *own; /* per tile: rows that share their values with no other, for who changes them; NULL: none */
} WadiFlipSolidIn;

/* Rows of the arrays. Rows of the grid that are alike share one: those that have no solid near them, those deep inside, layers
 * along a wall. */
enum {
    WADI_FLIP_SOLID_NONE,
    WADI_FLIP_SOLID_OPEN_ROW,
    WADI_FLIP_SOLID_CLOSED_ROW,
    WADI_FLIP_SOLID_PLAIN_ROWS
};

typedef struct WadiFlipSolid {
    int32_t *row;       /* per row of the grid: its row of the arrays (flip_row_table.h) */
    int32_t row_count;  /* of the arrays */
    float *open[3];     /* per face: open fraction, 0..1 */
    float *velocity[3]; /* per face: normal velocity of the solid at its centre, m/s; 0 on faces that are
                         * open. NULL: all solids rest */
    float *wall
        [3]; /* per cell that a solid cuts: velocity of the solid next to its centre, m/s; 0 in others. Temporary in the
                         * arena; NULL: all solids rest */
    float *distance; /* per cell: of its centre from the solids, m, cut off at two cells */
    float *fraction; /* per cell: part of its volume inside solids, 0..1; temporary in the arena */
} WadiFlipSolid;

/* Results of solids at rest, tile by tile, of tiles in use and of some that were. A zeroed cache is valid and empty;
 * it holds for one set of solids and one cell size. */
typedef struct WadiFlipSolidCache {
    struct WadiFlipSolidTile *tiles; /* in the order of tile maps */
    int32_t tile_count, tile_capacity;
    struct WadiFlipSolidTile *spare; /* the next step's tiles while they are made */
    int32_t spare_capacity;
    int32_t *place; /* per tile of the grid: its place in `tiles` */
    int32_t place_capacity;
    int32_t *tile_rows; /* rows of the tiles that solids cut or come near to: which of `rows` each is */
    int32_t tile_row_count;
    float *rows; /* no two are alike: open fractions, distance and part inside of eight cells */
    int32_t row_count;
    int32_t *number; /* per row: what it is in the last output; 0: not in use */
    int32_t *slots;  /* hash table of the rows: row + 1, 0: empty; a power of two of them */
    int32_t slot_count;
    size_t tile_row_capacity, row_capacity, number_capacity;
    int64_t queried_tiles; /* new in the last call, with a resting solid in or near them */
} WadiFlipSolidCache;

void wadi_flip_solid_cache_free(WadiFlipSolidCache *cache);

/* `out` belongs to the arena. `cache` may be NULL. After a failure it is empty. */
WadiStatus wadi_flip_solid(const WadiFlipSolidIn *in, WadiFlipSolidCache *cache, WadiFlipSolid *out,
                           WadiArena *arena, WadiError *error);

/* Cells without particles that are cut by a solid, their centre less than 0.3 cells from it or inside, and
 * fluid away from it become FLUID: as air they would be pockets under the fluid [theory 3.2].
 * `fluid` and `filled` have a byte a row and must differ. */
void wadi_flip_solid_fill_cut_cells(const WadiRows *rows, const WadiFlipSolid *solid, double cell_size,
                                    const uint8_t *fluid, uint8_t *filled);

#endif
