/* Pools: bodies of tiles that hold water alone. Water does not come to rest on its own, so a pool falls
 * asleep where each of its tiles is slow, and all of it wakes at once: a part that slept on would be a step
 * in its level. [theory 8.4, 11.8]
 *
 * Tiles that touch, also at an edge or a corner, are one body. So no awake tile touches a sleeping pool: what
 * comes that near wakes it. */
#ifndef WADI_SLEEP_POOLS_H
#define WADI_SLEEP_POOLS_H

#include "sleep/sleep.h"

/* What a tile, or a body of tiles, holds. A pool at rest is WADI_POOL_WATER alone. */
enum { WADI_POOL_FAST = 1, WADI_POOL_OTHERS = 2, WADI_POOL_WATER = 4 };

typedef struct WadiPools {
    const WadiSleep *sleep;
    const WadiParticles *particles;
    bool has_water;         /* of the scene; without it nothing happens here */
    const uint8_t *is_sand; /* per material */
    WadiArena *scratch;
} WadiPools;

/* The flags of each tile become those of its body. */
WadiStatus wadi_pools_join(const WadiTileMap *tiles, uint8_t *flags, WadiArena *scratch, WadiError *error);
/* Of the tiles that may fall asleep: those of a body with water do only if all of it does and no sleeping
 * sand touches it. *falls may be NULL, before and after: none does. */
WadiStatus wadi_pools_hold(const WadiPools *pools, const WadiTileSort *sort, uint8_t **falls,
                           WadiError *error);
/* Flags the sleeping pools that a tile of `awake` touches (NULL: there is none), and all tiles of a pool of
 * which one is flagged. *wakes may be NULL, before and after: none wakes. */
WadiStatus wadi_pools_wake(const WadiPools *pools, const WadiTileMap *awake, uint8_t **wakes,
                           WadiError *error);

#endif
