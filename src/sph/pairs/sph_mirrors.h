/* Mirror images in walls. Along a wall a particle feels the images of its neighbours: they have the same
 * pressure and the same velocity along the wall. Without them it would feel only the part of the pressure's
 * gradient that its real neighbours show, and water would fall along the walls of a tank at rest. [theory
 * 11.3] */
#ifndef WADI_SPH_MIRRORS_H
#define WADI_SPH_MIRRORS_H

#include "sph/pairs/sph_pairs.h"

/* Fills pairs->mirror and mirror_start for the near particles: temporaries of the arena. */
WadiStatus wadi_sph_mirrors_find(WadiSphPairs *pairs, const WadiSphPairsIn *in, WadiArena *arena,
                                 WadiError *error);

#endif
