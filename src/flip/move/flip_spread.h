/* Close holes smaller than a cell inside a viscous liquid. */
#ifndef WADI_FLIP_SPREAD_H
#define WADI_FLIP_SPREAD_H

#include "flip/transfer/flip_grid.h"
#include "flip/transfer/flip_row_table.h"
#include "flip/transfer/flip_transfer.h"

typedef struct WadiFlipSpreadIn {
    const WadiTileSort *sort;
    const WadiFlipGrid *grid;
    const WadiParticles *particles; /* in the order of `sort` */
    const bool *is_spread;          /* by material: is moved; particles of the others stay but push */
    const uint8_t *occupied_air;    /* per row: cells with particles above the surface */
    const int32_t *solid_row;       /* per row: its row in solid_distance (flip_row_table.h) */
    const float *solid_distance;    /* m */
    double hole_radius;             /* m: radius of a ball without particles that counts as a hole */
    double diameter;                /* m: pairs closer than this push each other */
    double push_fraction;           /* fraction of the overlap that is removed in a step */
} WadiFlipSpreadIn;

/* Changes the path ends. */
WadiStatus wadi_flip_spread(const WadiFlipSpreadIn *in, WadiFlipPath *path, WadiArena *scratch,
                            WadiError *error);

#endif
