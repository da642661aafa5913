/* The solids on the rows of one tile. */
#ifndef WADI_FLIP_SOLID_TILE_H
#define WADI_FLIP_SOLID_TILE_H

#include "flip/solids/flip_solid.h"

/* Rows of a tile, as bits: fully outside solids, or fully inside. The others have values. */
typedef struct WadiFlipTileRows {
    uint64_t open, closed;
} WadiFlipTileRows;

/* Destination of the values of a row: eight floats each. Velocities may be NULL if all solids rest. */
typedef struct WadiFlipSolidRow {
    float *open[3], *velocity[3], *wall[3], *distance, *fraction;
} WadiFlipSolidRow;

/* May a solid touch any row of the tile? One query. */
bool wadi_flip_solid_is_near_tile(const WadiFlipSolidIn *in, WadiTile tile);

/* Rows of `rows` that a solid may touch or whose distances it changes. One query a row. */
uint64_t wadi_flip_solid_rows_near(const WadiFlipSolidIn *in, WadiTile tile, uint64_t rows);

/* Sample the solids on `rows`; are_near: wadi_flip_solid_rows_near has found them. target(user, row_index)
 * returns the memory of each row that is neither open nor closed. */
WadiFlipTileRows wadi_flip_solid_tile(const WadiFlipSolidIn *in, WadiTile tile, uint64_t rows, bool are_near,
                                      WadiFlipSolidRow (*target)(void *user, int row_index), void *user);

/* Values of a fully open or closed row. */
void wadi_flip_solid_row_fill(WadiFlipSolidRow row, bool is_open, double cell_size);

#endif
