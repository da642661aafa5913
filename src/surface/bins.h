/* Particles sorted for sampling at lattice nodes and at vertices: all within reach of a place, in an order that does not depend
 * on threads. */
#ifndef WADI_SURFACE_BINS_H
#define WADI_SURFACE_BINS_H

#include "core/arena.h"
#include "surface/cloud.h"

/* Bins are cubes of `size` at least as wide as the longest reach, in the order of (z, y, x), x fastest; particles of a bin keep
 * the order of the cloud. Positions are floats relative to the low corner of their bin, so that precision does not depend on
 * where the scene stands. With mixed sizes `size` follows the largest. */
typedef struct WadiBins {
    double size; /* m */
    int32_t bin_count;
    int32_t (*coordinate)[3]; /* floor(position / size) */
    int32_t *start;           /* bin_count + 1 */
    int32_t *order;           /* particle of the cloud */
    float (*place)[4];        /* in that order: x, y, z relative to the bin's corner, and the reach, m */
    int32_t *slot;            /* hash table: bin or -1 */
    uint32_t slot_mask;
} WadiBins;

/* `reach` in spacings. Memory belongs to the arena. */
WadiStatus wadi_bins_build(WadiBins *bins, const WadiCloud *cloud, double reach, WadiArena *arena,
                           WadiError *error);
int32_t wadi_bins_find(const WadiBins *bins, int32_t i, int32_t j, int32_t k); /* or -1 */

#endif
