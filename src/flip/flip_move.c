/* Paths of the velocity field against the solids. [models 2.2 A13]
 * Differs: models A13 pushes particles out of solids after they have moved; here the chord from the old to the new position is
 * followed continuously, so that a wall of any thickness holds at any speed. */
#include "flip/flip_move.h"

WadiCollideReport wadi_flip_move(WadiParticles *particles, const WadiFlipPath *path, const WadiSolids *solids,
                                 double cell_size, double time, double dt)
{
    WadiCollideIn in = { .solids = solids, .t0 = time, .t1 = time + dt, .skin = WADI_FLIP_SKIN * cell_size };
    return wadi_collide_move_from(&in, particles, path->first, path->x, path->y, path->z);
}
