/* Open space near walls, a row at a time: of each cell, and under its hat. [theory 4.2] */
#ifndef WADI_FLIP_SURFACE_SPACE_H
#define WADI_FLIP_SURFACE_SPACE_H

#include "flip/pressure/flip_surface.h"

enum { WADI_FLIP_AROUND = 27, WADI_FLIP_CENTRE = 13 };

typedef struct WadiFlipSpace {
    /* Per cell, 0 where there is none: the open part of its volume, and how high the middle of that part
     * lies over the cell's centre, in cells. A cut cell is cut by a plane across the change of the open parts
     * beside it. */
    float *open, *middle;
    uint8_t *near_cut; /* per tile: a wall cuts a cell of it or of one that touches it */
    /* Of these tiles alone. Per cell: the space under its hat and the first moment of that space along `up`.
     * Per row: cells that a wall cuts, and the cells around them. */
    float *under_hat, *moment;
    uint8_t *cut_around;
} WadiFlipSpace;

WadiStatus wadi_flip_find_space(const WadiFlipSurfaceIn *in, WadiFlipSpace *space, WadiArena *scratch,
                                WadiError *error);

/* The cells of the 27 rows around a row's cells, x fastest, as vectors; zeros where a row is missing. */
void wadi_flip_load_around(const WadiRows *rows, const float *values, int32_t row,
                           WadiF8 around[WADI_FLIP_AROUND]);

/* Height of cell n of the 27 over the one in the middle, in cells. */
static inline float wadi_flip_height_around(const WadiFlipSurfaceIn *in, int n)
{
    const int x = n % 3 - 1, y = n / 3 % 3 - 1, z = n / 9 - 1;
    return in->up[0] * (float)x + in->up[1] * (float)y + in->up[2] * (float)z;
}

/* Weight of cell n of the 27 in the hat of the one in the middle. */
static inline float wadi_flip_hat_around(int n)
{
    static const float hat[3] = { 0.125f, 0.75f, 0.125f };
    return hat[n % 3] * hat[n / 3 % 3] * hat[n / 9];
}

#endif
