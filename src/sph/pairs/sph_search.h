/* The passes over the cells that compare particles with those around them. */
#ifndef WADI_SPH_SEARCH_H
#define WADI_SPH_SEARCH_H

#include "sph/pairs/sph_ranges.h"
#include "sph/pairs/sph_simd_group.h"

/* A tile is searched in slabs, so that few tiles keep all threads busy. */
enum { WADI_SPH_SLABS = 4 };

/* Room for `found`; distances, and so the lengths of the lists; the lists. */
typedef enum WadiSphSearchPass {
    WADI_SPH_MEASURE,
    WADI_SPH_COUNT,
    WADI_SPH_FILL,
} WadiSphSearchPass;

typedef struct WadiSphSearch {
    const WadiSphPairsIn *in;
    WadiSphPairs *pairs;
    int32_t *axis[3]; /* places by axis, padded by WADI_SPH_SIMD_GROUP; not in the last pass */
    WadiSphReach reach;
    float *density;
    bool has_both_kinds; /* sand and water */
    uint8_t *sand;       /* where it has: bit i: particle i is sand; padded by eight bytes */
    WadiSphSearchPass pass;
    /* Of the groups of sixteen that a particle is compared with, in the order of the search: those within its
     * support as bits; padded by three. Slab n begins at found_start[n]. */
    uint16_t *found;
    int64_t *found_start;
    WadiSphLaneTable table;
} WadiSphSearch;

/* One pass over slabs, WADI_SPH_SLABS a tile, as a block of a parallel loop. The first pass leaves the
 * entries of `found` that slab n has in found_start[n + 1], the second the length of list i in
 * start[i + 1]. */
void wadi_sph_search(void *search, int64_t first, int64_t end);

#endif
