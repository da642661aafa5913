/* Friction and velocity of the solids where sand meets them. */
#ifndef WADI_FLIP_FRICTION_ASK_H
#define WADI_FLIP_FRICTION_ASK_H

#include "flip/flip_friction.h"
#include "geom/solids.h"

/* `mu` (WadiFrictionLoad.wall_friction) is filled for solid cells beside FLUID ones and for FLUID cells with a
 * side that is not wholly open; grid->wall_speed is set where solids move. What both point to belongs to the
 * arena. `grid` has everything else. */
WadiStatus wadi_friction_ask_walls(WadiFrictionGrid *grid, const float **mu, const WadiSolids *solids,
                                   double cell_size, double time, WadiArena *arena, WadiError *error);

#endif
