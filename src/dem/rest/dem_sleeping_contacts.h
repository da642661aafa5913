/* Contacts of sleeping grains: kept, so that grains wake with the springs that they fell asleep with. */
#ifndef WADI_DEM_SLEEPING_CONTACTS_H
#define WADI_DEM_SLEEPING_CONTACTS_H

#include "dem/list/dem_list.h"
#include "dem/walls/dem_walls.h"

/* Contacts between sleeping grains, by their numbers in the list, and those of sleeping grains with walls;
 * zeroed: none. */
typedef struct WadiDemSleepingContacts {
    WadiDemSprings springs;
    size_t start_capacity, other_capacity, spring_capacity;
    WadiDemWall *wall; /* in rising order of grains */
    size_t wall_count, wall_capacity;
} WadiDemSleepingContacts;

void wadi_dem_sleeping_free(WadiDemSleepingContacts *sleeping);

/* Sleeping walls before those of the list, as one array in `walls`; the sleeping ones are then none. */
WadiStatus wadi_dem_sleeping_join_walls(WadiDemWalls *walls, WadiDemSleepingContacts *sleeping,
                                        WadiArena *scratch, WadiError *error);
/* Keeps what is asleep now: contacts, and walls, both of whose grains have new numbers below `asleep`. left:
 * the springs of all others, by earlier numbers, in scratch. pairs: of the earlier list; new_list_index: of
 * its grains, or -1. */
WadiStatus wadi_dem_sleeping_keep(WadiDemSleepingContacts *sleeping, WadiDemSprings *left,
                                  const WadiDemPairs *pairs, const WadiDemWalls *walls,
                                  const int32_t *new_list_index, int32_t asleep, WadiArena *scratch,
                                  WadiError *error);

#endif
