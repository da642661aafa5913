/* The list of pairs in a checkpoint. Of a list that is made anew before the next step only the contacts are
 * saved, for their springs; else all pairs, so that the next step has the pairs of an unbroken run. */
#ifndef WADI_DEM_LIST_STATE_H
#define WADI_DEM_LIST_STATE_H

#include "dem/list/dem_list.h"

enum { WADI_DEM_PAIR_NEAR = 1, WADI_DEM_PAIR_TOUCHES = 2 };
enum { WADI_DEM_SPRING_VALUES = 7 };

/* Pairs in rising order of their owners. */
typedef struct WadiDemSavedPairs {
    size_t count, contact_count;
    uint32_t *grains; /* owner and other of each */
    uint8_t *state;   /* WADI_DEM_PAIR_ bits */
    float *offset;    /* three each; NULL: not saved */
    float *spring;    /* WADI_DEM_SPRING_VALUES for each that touches */
} WadiDemSavedPairs;

/* Adds the pairs of a list, or its contacts alone; without memory (`grains` NULL) they are counted. */
void wadi_dem_list_save(const WadiDemPairs *pairs, bool has_all, WadiDemSavedPairs *to);
/* The list of `count` grains, those before `first` asleep, from pairs that were saved, or from the contacts
 * among them. Owners are in [first, count), others in [0, count). */
WadiStatus wadi_dem_list_restore(WadiDemList *list, int32_t first, int32_t count,
                                 const WadiDemSavedPairs *from, bool has_all, WadiArena *scratch,
                                 WadiError *error);

#endif
