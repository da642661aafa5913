/* Forces between grains in contact. */
#ifndef WADI_DEM_FORCES_H
#define WADI_DEM_FORCES_H

#include "dem/contact/dem_law.h"
#include "dem/contact/dem_pairs.h"

/* Sets grains->load of the grains from pairs->first on, and of the halo slots; updates the springs. */
void wadi_dem_find_forces(const WadiDemGrains *grains, const WadiDemPairs *pairs,
                          const WadiDemLawConstants *law);
/* Sum of the own load of a grain in a row and its halo slots. */
static inline void wadi_dem_load_of(const WadiDemGrains *grains, const WadiDemPairs *pairs, int32_t i,
                                    WadiF8 *load)
{
    *load = grains->load[i - pairs->first];
    for (int32_t s = pairs->slot_start[i]; s < pairs->slot_start[i + 1]; ++s) {
        *load += grains->load[pairs->count - pairs->first + pairs->slot[s]];
    }
}

#endif
