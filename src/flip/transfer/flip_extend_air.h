/* Velocity in the air cells at the surface that hold particles: they keep volume. [theory 2.6] */
#ifndef WADI_FLIP_EXTEND_AIR_H
#define WADI_FLIP_EXTEND_AIR_H

#include "core/arena.h"
#include "grid/rows.h"

typedef struct WadiFlipAirIn {
    const WadiRows *rows;
    const uint8_t *cells;    /* per row: air cells with particles */
    const uint8_t *known[3]; /* per row and component: faces next to fluid, which are not changed */
    /* Per row: its row in open and solid_velocity (flip_row_table.h); may be NULL. */
    const int32_t *solid_row;
    const float *open[3];           /* per face: open fraction */
    const float *solid_velocity[3]; /* per face: normal velocity of the solid, m/s; NULL: 0 */
    /* Per cell: divergence of the displacement, 1/s; NULL: 0. */
    const float *divergence;
    const int32_t *divergence_row; /* per row: its row in `divergence` */
    float cell_size;               /* m */
    float largest_change;          /* m/s: largest change of a face */
    float fast; /* m/s: the change fades out between half of this speed of the cell and all of it */
} WadiFlipAirIn;

/* Exits are faces, at least half open, from such a cell with a known face to a cell without one. All exits
 * of a cell are changed by the same speed, so that its net flux is its divergence. */
WadiStatus wadi_flip_extend_air(const WadiFlipAirIn *in, float *const velocity[3], WadiArena *scratch,
                                WadiError *error);

#endif
