/* Mirror images of water in walls: of its neighbours and of the particle itself. An image has the volume and
 * the pressure of its particle, its velocity along the wall and the opposite one across. [theory 11.3] */
#ifndef WADI_SPH_MIRRORS_H
#define WADI_SPH_MIRRORS_H

#include "sph/pairs/sph_pairs.h"

/* Fills pairs->mirror and mirror_start for the near particles: temporaries of the arena. Adds the density
 * of the images, and sets the walls' gradients of water to those of a particle's own images. */
WadiStatus wadi_sph_mirrors_find(WadiSphPairs *pairs, float *density, const WadiSphPairsIn *in,
                                 WadiArena *arena, WadiError *error);

#endif
