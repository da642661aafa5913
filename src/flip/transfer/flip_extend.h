/* Velocity where no fluid is: extended from the known faces, so that particles near the surface and near
 * walls read sensible values. */
#ifndef WADI_FLIP_EXTEND_H
#define WADI_FLIP_EXTEND_H

#include "grid/rows.h"

typedef struct WadiFlipExtendIn {
    const WadiRows *rows;
    const uint8_t *known[3]; /* per row and component: faces whose velocity is known */
    int layers;              /* faces to go outwards; 3 or more */
} WadiFlipExtendIn;

/* Faces that no layer reaches become 0. Values of known faces are untouched. `reached` may be NULL. */
WadiStatus wadi_flip_extend(const WadiFlipExtendIn *in, float *const velocity[3], uint8_t *const reached[3],
                            WadiArena *scratch, WadiError *error);

typedef struct WadiFlipWallIn {
    const WadiRows *rows;
    const int32_t *
        solid_row; /* per row: where open, solid_velocity and distance have it (flip_row_table.h); may be NULL */
    const float *open[3];           /* per face: open fraction */
    const float *solid_velocity[3]; /* per face: normal velocity of the solid, m/s; NULL: 0 */
    const float *distance;          /* per cell: to the solid, m; what is far may be cut off */
    double
        deepest; /* m: faces between cells deeper in the solid than this keep what was extended, for nobody reads them; 0: none */
} WadiFlipWallIn;

/* On closed faces the extended velocity keeps what is along the wall and gets the solid's velocity across it.
 * On a wall along the grid that is the solid's normal velocity itself; on an oblique one the fluid slides
 * instead of sticking to a staircase [theory 2.5]. */
WadiStatus wadi_flip_extend_walls(const WadiFlipWallIn *in, float *const velocity[3], WadiArena *scratch,
                                  WadiError *error);

#endif
