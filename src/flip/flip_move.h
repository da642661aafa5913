/* The last stage of a step: particles follow their paths as far as the solids let them. */
#ifndef WADI_FLIP_MOVE_H
#define WADI_FLIP_MOVE_H

#include "flip/flip_solid.h"
#include "flip/flip_transfer.h"
#include "particles/collide.h"

/* Distance that particles keep from solids, in cells. */
#define WADI_FLIP_SKIN 1e-3

typedef struct WadiFlipMoveIn {
    const WadiSolids *solids;
    double cell_size, time, dt; /* the path takes [time, time + dt] */
    /* What the grid knows of the solids at time + dt, for particles in the order of `sort`: those whose way it shows to be free
     * do not ask the solids. All NULL: every particle asks. */
    const WadiFlipSort *sort;
    const WadiFlipGrid *grid;
    const WadiFlipSolid *solid;
} WadiFlipMoveIn;

/* Positions become the ends of the paths, or where a solid stopped them; velocities change on contact only. */
WadiCollideReport wadi_flip_move(WadiParticles *particles, const WadiFlipPath *path,
                                 const WadiFlipMoveIn *in);

#endif
