/* The choice of near pairs, and where their springs are. */
#ifndef WADI_DEM_NEAR_H
#define WADI_DEM_NEAR_H

#include "dem/contact/dem_pairs.h"

/* Chooses the near pairs of all chunks and marks the grains. rupture: m, of bridges. Springs stay with their
 * pairs; those that are not near any more have lost theirs. */
WadiStatus wadi_dem_near_choose(WadiDemPairs *pairs, const WadiDemGrains *grains, float rupture,
                                WadiError *error);
/* The same for a list that has no springs yet: those of all near pairs are 0, and none touch. */
WadiStatus wadi_dem_near_begin(WadiDemPairs *pairs, const WadiDemGrains *grains, float rupture,
                               WadiError *error);
/* Room for the springs of near_count pairs a chunk, which are not set. */
WadiStatus wadi_dem_near_make_room(WadiDemPairs *pairs, WadiError *error);

#endif
