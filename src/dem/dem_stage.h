/* Run a stage of the step: timed under its name, and in the checking build searched for values that are
 * not finite. For functions with `dem` and `error` in scope. */
#ifndef WADI_DEM_STAGE_H
#define WADI_DEM_STAGE_H

#include "dem/dem.h"

#define RUN(name, call)                                                                                      \
    do {                                                                                                     \
        WADI_STAGE(dem->context.times, (name), WADI_TRY(call));                                              \
        WADI_TRY(wadi_solver_check_stage(&dem->context, (name), error));                                     \
    } while (0)

/* Whether the next step uses the list that there is (dem_state.c). */
bool wadi_dem_is_list_used(const WadiDem *dem);

/* Pairs and walls in a checkpoint, those of sleeping grains too (dem_state_list.c). `has_all`: not only
 * contacts. */
WadiStatus wadi_dem_save_list(const WadiDem *dem, bool has_all, WadiState *state, WadiError *error);
/* The list of `count` grains, those before `first` asleep. */
WadiStatus wadi_dem_load_list(WadiDem *dem, int32_t first, int32_t count, bool has_all,
                              const WadiState *state, WadiError *error);

#endif
