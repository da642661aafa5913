/* Velocity outside the fluid, extended from the known faces, so that particles near the surface and near
 * walls sample meaningful values. */
#ifndef WADI_FLIP_EXTEND_H
#define WADI_FLIP_EXTEND_H

#include "geom/solids.h"
#include "grid/rows.h"

typedef struct WadiFlipExtendIn {
    const WadiRows *rows;
    const uint8_t *known[3]; /* per row and component: faces whose velocity is known */
    int layers;              /* of faces, outwards; 3 or more */
    /* Velocities before the step of the faces that particles reached, NULL: none. In the first layer such
     * faces get this part of the change of their neighbours, and the rest of their velocity. Not faces that a
     * wall cuts, nor with `is_mirrored` closed ones at walls along the grid: no condition holds their
     * velocity along the wall. */
    const float *before[3];
    const int32_t *before_row;    /* per row: its row in `before` (flip_row_table.h) */
    const uint8_t *has_before[3]; /* per row */
    float change_fraction;        /* 0..1 */
    const float *open[3];         /* per face: open fraction */
    const int32_t *solid_row;     /* per row: its row in `open` */
    bool is_mirrored;
    const uint8_t *oblique; /* per row: cells of wadi_flip_find_oblique; with `is_mirrored` */
} WadiFlipExtendIn;

/* Cells that a wall cuts which is not along the grid, and the cells beside these. `cut` and `oblique` have a
 * byte a row; `cut` is scratch. */
void wadi_flip_find_oblique(const WadiFlipExtendIn *in, uint8_t *cut, uint8_t *oblique);

/* Faces beyond the last layer become 0, known faces are not changed. `reached`, which may be NULL, gets
 * the faces that have a value. */
WadiStatus wadi_flip_extend(const WadiFlipExtendIn *in, float *const velocity[3], uint8_t *const reached[3],
                            WadiArena *scratch, WadiError *error);

typedef struct WadiFlipWallIn {
    const WadiRows *rows;
    /* Per row: its row in open, solid_velocity and distance (flip_row_table.h); may be NULL. */
    const int32_t *solid_row;
    const float *open[3];           /* per face: open fraction */
    const float *solid_velocity[3]; /* per face: normal velocity of the solid, m/s; NULL: 0 */
    const float *distance;          /* per cell: to the solid, m; large distances may be cut off */
    /* s/m: time step / cell size where paths are chords [theory 2.3]; 0: they are not. */
    double chord;
    /* Of chords at walls that turn or stretch; NULL: all solids rest. Their place is that at `time`, their
     * velocity that in the middle of the step, s. */
    const WadiSolids *solids;
    double time, dt, cell_size;
    /* m: faces between cells deeper in the solid than this are left as extended, since no particle samples
     * them; 0: none. */
    double deepest;
} WadiFlipWallIn;

/* On closed faces the component along the wall stays as extended, and the component across it becomes the
 * solid's, with what a chord along a curved wall crosses it by. On an oblique wall the fluid then slides
 * instead of catching on a staircase [theory 2.5]. */
WadiStatus wadi_flip_extend_walls(const WadiFlipWallIn *in, float *const velocity[3], WadiArena *scratch,
                                  WadiError *error);

/* Before wadi_flip_extend: linear extension at the surface of bonded sand (flip_extend_linear.c). */
typedef struct WadiFlipLinearIn {
    const WadiRows *rows;
    uint8_t *const *known; /* [3], in and out: the faces that it sets are known to wadi_flip_extend */
    const uint8_t *bonded; /* per row: cells of bonded sand */
} WadiFlipLinearIn;

WadiStatus wadi_flip_extend_linear(const WadiFlipLinearIn *in, float *const velocity[3], WadiArena *scratch,
                                   WadiError *error);

#endif
