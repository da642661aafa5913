/* Parts of a checkpoint of the dem solver, for dem_state.c. */
#ifndef WADI_DEM_STATE_H
#define WADI_DEM_STATE_H

#include "dem/dem.h"

/* Whether the next step uses the list that there is. */
bool wadi_dem_is_list_used(const WadiDem *dem);

/* dem_state_list.c: pairs and walls, those of sleeping grains too. `has_all`: not only contacts. */
WadiStatus wadi_dem_save_list(const WadiDem *dem, bool has_all, WadiState *state, WadiError *error);
/* The list of `count` grains, those before `first` asleep. */
WadiStatus wadi_dem_load_list(WadiDem *dem, int32_t first, int32_t count, bool has_all,
                              const WadiState *state, WadiError *error);

#endif
