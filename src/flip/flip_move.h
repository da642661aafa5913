/* The last stage of a step: particles follow their paths as far as the solids let them. */
#ifndef WADI_FLIP_MOVE_H
#define WADI_FLIP_MOVE_H

#include "flip/flip_transfer.h"
#include "particles/collide.h"

/* Distance that particles keep from solids, in cells. */
#define WADI_FLIP_SKIN 1e-3

/* Positions become the ends of the paths, or where a solid stopped them during [time, time + dt]; velocities change on contact
 * only. */
WadiCollideReport wadi_flip_move(WadiParticles *particles, const WadiFlipPath *path, const WadiSolids *solids,
                                 double cell_size, double time, double dt);

#endif
