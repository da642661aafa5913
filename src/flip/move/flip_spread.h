/* Holes inside a viscous liquid, smaller than a cell, are closed. */
#ifndef WADI_FLIP_SPREAD_H
#define WADI_FLIP_SPREAD_H

#include "flip/transfer/flip_grid.h"
#include "flip/transfer/flip_row_table.h"
#include "flip/transfer/flip_transfer.h"

typedef struct WadiFlipSpreadIn {
    const WadiFlipSort *sort;
    const WadiFlipGrid *grid;
    const WadiParticles *particles; /* in the order of `sort` */
    const bool *is_spread;          /* by material: the others stay, and push */
    const uint8_t *occupied_air;    /* per row: cells with particles above the surface */
    const int32_t *solid_row;       /* of solid_distance (flip_row_table.h) */
    const float *solid_distance;    /* m */
    double hole;                    /* m: radius of a ball without particles that is one */
    double diameter;                /* m: pairs nearer than this push each other */
    double share;                   /* of what is missing that a pair gains */
} WadiFlipSpreadIn;

/* Move the ends of the paths. */
WadiStatus wadi_flip_spread(const WadiFlipSpreadIn *in, WadiFlipPath *path, WadiArena *scratch,
                            WadiError *error);

#endif
