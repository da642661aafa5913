/* Grid to particles and their motion in one pass: each part of a tile is moved while it is in the cache,
 * and the path ends need no array. The same bytes as wadi_flip_grid_to_particles followed by
 * wadi_flip_move. */
#ifndef WADI_FLIP_ADVANCE_H
#define WADI_FLIP_ADVANCE_H

#include "flip/move/flip_move.h"
#include "flip/sleep/flip_sleep.h"

/* `watch` records the displacements; may be NULL. */
WadiCollideReport wadi_flip_advance(WadiParticles *particles, const WadiFlipToParticlesIn *velocity,
                                    const WadiFlipWatch *watch, const WadiFlipMoveIn *move);

#endif
