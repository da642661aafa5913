/* Forces of sleeping tiles on solids: those with which they fell asleep. A solver on a grid adds the forces
 * of its awake tiles in every step; a tile that is asleep in the next one keeps its own. */
#ifndef WADI_SLEEP_SLEEP_LOADS_H
#define WADI_SLEEP_SLEEP_LOADS_H

#include "core/array.h"
#include "sleep/sleep.h"

typedef struct WadiTileLoad {
    WadiTile tile;
    int32_t solid;       /* index in WadiSolidLoads */
    WadiSolidLoad force; /* N */
} WadiTileLoad;

/* Zeroed: none. */
typedef struct WadiSleepLoads {
    WADI_ARRAY(WadiTileLoad) awake; /* of the last step */
    WADI_ARRAY(WadiTileLoad) asleep;
} WadiSleepLoads;

void wadi_sleep_loads_free(WadiSleepLoads *loads);
/* Once it is known which tiles sleep in a step. */
WadiStatus wadi_sleep_loads_begin(WadiSleepLoads *loads, const WadiSleep *sleep, WadiError *error);
/* Where the forces of an awake tile on a solid are added up; valid until the next call. Tile by tile. */
WadiStatus wadi_sleep_loads_of(WadiSleepLoads *loads, WadiTile tile, int32_t solid, WadiSolidLoad **force,
                               WadiError *error);
/* Adds the impulses of all tiles in `time`, s. */
void wadi_sleep_loads_sum(const WadiSleepLoads *loads, double time, WadiSolidLoads *out);

/* Checkpoints: arrays named "sleep_load_...". `count`: of WadiSolidLoads. */
WadiStatus wadi_sleep_loads_save(const WadiSleepLoads *loads, WadiState *state, WadiError *error);
WadiStatus wadi_sleep_loads_load(WadiSleepLoads *loads, int count, const WadiState *state, WadiError *error);

#endif
