/* Writing the lists of a particle, and the sums over them. */
#ifndef WADI_SPH_LIST_H
#define WADI_SPH_LIST_H

#include "sph/pairs/sph_simd_group.h"
#include "sph/pairs/sph_weigh.h"

/* Neighbours that are collected before their kernels are computed. */
enum { WADI_SPH_LIST_BUFFER = 128 };

/* For the sums over the neighbours of a list, by lane. */
typedef struct WadiSphListSums {
    WadiF8 density, x, y, z, slope;
} WadiSphListSums;

/* A part of the list of i that is being written. */
typedef struct WadiSphList {
    uint32_t offset[WADI_SPH_LIST_BUFFER + 3 * WADI_SPH_SIMD_GROUP];
    WadiSphWeight weight; /* of all its pairs */
    int count;            /* of offset */
    int64_t to;           /* entry of offset[0] in the lists */
    WadiSphListSums sums;
} WadiSphList;

/* `to`: its first entry; with the kernel of its pairs. Not by an initialiser: that would clear the offsets
 * too. */
static inline void wadi_sph_list_begin(WadiSphList *list, int64_t to, const WadiSphSpline *spline)
{
    list->weight = wadi_sph_weight(spline);
    list->count = 0;
    list->to = to;
    list->sums = (WadiSphListSums){ 0 };
}

/* Writes what was collected for particle i, with its slopes, and empties the list. The numbers of the pairs
 * are the volumes. */
void wadi_sph_list_write(const WadiSphPairsIn *in, WadiSphPairs *pairs, int32_t i, WadiSphList *list);
/* The same for what is left of a list. `sum`: over all of it, as that of the pairs; returns the density. */
float wadi_sph_list_end(const WadiSphPairsIn *in, WadiSphPairs *pairs, int32_t i, WadiSphList *list,
                        WadiF4 *sum);

#endif
