/* The last stage of a step: particles follow their paths as far as the solids let them. */
#ifndef WADI_FLIP_MOVE_H
#define WADI_FLIP_MOVE_H

#include "flip/solids/flip_solid.h"
#include "flip/transfer/flip_transfer.h"
#include "particles/collide.h"

/* Distance of particles from solids after contact, in cells. */
#define WADI_FLIP_SKIN 1e-3

typedef struct WadiFlipMoveIn {
    const WadiSolids *solids;
    double cell_size, time, dt; /* the path covers [time, time + dt] */
    /* Solids on the grid at a time of the step, for particles in the order of `sort`: free paths then need no
     * query of the solids. All NULL: every particle queries them. */
    const WadiTileSort *sort;
    const WadiFlipGrid *grid;
    const WadiFlipSolid *solid;
    uint8_t *compressed; /* per particle: set to 1 where the path ended in a solid; may be NULL */
} WadiFlipMoveIn;

/* Moves particles by parts of tiles, so that path ends exist for one part at a time. */
typedef struct WadiFlipMover {
    const WadiFlipMoveIn *in; /* with sort, grid and solid */
    WadiCollideIn collide;
    WadiParticles *particles;
    WadiBox inner; /* the domain less the margin at closed sides, unbounded at open ones */
    double margin; /* m */
} WadiFlipMover;

void wadi_flip_move_begin(WadiFlipMover *mover, WadiParticles *particles, const WadiFlipMoveIn *in);

/* Particles first .. end of a tile; adds to the report. */
void wadi_flip_move_part(const WadiFlipMover *mover, int32_t tile, const WadiFlipPath *path, int32_t first,
                         int32_t end, WadiCollideReport *report);

/* Positions become the path ends, or where a solid stopped them; velocities change only on contact. */
WadiCollideReport wadi_flip_move(WadiParticles *particles, const WadiFlipPath *path,
                                 const WadiFlipMoveIn *in);

#endif
