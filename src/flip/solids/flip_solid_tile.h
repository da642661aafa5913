/* The solids on the rows of one tile. */
#ifndef WADI_FLIP_SOLID_TILE_H
#define WADI_FLIP_SOLID_TILE_H

#include "flip/solids/flip_solid.h"

/* Rows of a tile, as bits: untouched by solids, or inside them all over. The others have values. */
typedef struct WadiFlipTileRows {
    uint64_t open, closed;
} WadiFlipTileRows;

/* Where the values of a row go: eight floats each. Velocities may be NULL where all solids rest. */
typedef struct WadiFlipSolidRow {
    float *open[3], *velocity[3], *wall[3], *distance, *fraction;
} WadiFlipSolidRow;

/* May a solid touch any row of the tile? One question. */
bool wadi_flip_solid_is_near_tile(const WadiFlipSolidIn *in, WadiTile tile);

/* Of `rows`, those that a solid may touch, or be near enough for their distances. One question a row. */
uint64_t wadi_flip_solid_rows_near(const WadiFlipSolidIn *in, WadiTile tile, uint64_t rows);

/* `rows`: those wanted. Calls target(user, place) for the memory of each row of them that is not open or
 * closed. */
WadiFlipTileRows wadi_flip_solid_tile(const WadiFlipSolidIn *in, WadiTile tile, uint64_t rows,
                                      WadiFlipSolidRow (*target)(void *user, int place), void *user);

/* Values of the rows that need no asking. */
void wadi_flip_solid_row_fill(WadiFlipSolidRow row, bool is_open, double cell_size);

#endif
