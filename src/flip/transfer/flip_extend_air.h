/* Velocity in the air cells at the surface that hold particles: what enters them leaves them. */
#ifndef WADI_FLIP_EXTEND_AIR_H
#define WADI_FLIP_EXTEND_AIR_H

#include "core/arena.h"
#include "grid/rows.h"

typedef struct WadiFlipAirIn {
    const WadiRows *rows;
    const uint8_t *cells;    /* per row: air cells with particles */
    const uint8_t *known[3]; /* per row and component: faces beside fluid, which are not changed */
    const int32_t
        *solid_row;       /* per row: where open and solid_velocity have it (flip_row_table.h); may be NULL */
    const float *open[3]; /* per face: open fraction */
    const float *solid_velocity[3]; /* per face: normal velocity of the solid, m/s; NULL: 0 */
    float most;                     /* m/s: no face is changed by more */
    float fast; /* m/s: those of cells that move by half of it are changed less, by all of it not at all */
} WadiFlipAirIn;

/* Exits are the faces, at least half open, that lead from such a cell with a known face to a cell without one. Their extended
 * velocity is changed, by the same speed for all exits of a cell, so that the cell neither gains nor loses volume. */
WadiStatus wadi_flip_extend_air(const WadiFlipAirIn *in, float *const velocity[3], WadiArena *scratch,
                                WadiError *error);

#endif
