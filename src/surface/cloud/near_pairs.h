/* Every particle of some bins with all that may be near it: sums over neighbours by eight at a time, always in the same order.
 *
 * i and j are near each other when |x_i - x_j| is less than the longer of their reaches, so the relation is symmetric and a
 * small particle beside a large one does not take itself for a particle at the surface. */
#ifndef WADI_SURFACE_NEAR_PAIRS_H
#define WADI_SURFACE_NEAR_PAIRS_H

#include "surface/cloud/bins.h"

enum { WADI_PAIR_CHUNK = 128 };

/* Some candidates of one bin's particles; a superset of those near. Places are relative to the corner of that bin, as those of
 * its own particles in bins->place are. */
typedef struct WadiPairChunk {
    int32_t count; /* a multiple of 8: what fills it up lies out of every reach and has no volume */
    float x[WADI_PAIR_CHUNK], y[WADI_PAIR_CHUNK], z[WADI_PAIR_CHUNK];
    float inverse[WADI_PAIR_CHUNK]; /* 1 / reach^2 */
    float cube[WADI_PAIR_CHUNK];    /* reach^3: as volumes are to each other */
    int32_t slot[WADI_PAIR_CHUNK];  /* of bins->order; 0 for what fills it up */
} WadiPairChunk;

/* Adds the chunk's share to the sums of particles [first, end) of bins->order. A particle meets itself too. */
typedef void (*WadiPairFn)(void *context, const WadiBins *bins, int32_t first, int32_t end,
                           const WadiPairChunk *chunk);

/* is_skipped: by bins, level after level, or NULL. Chunks of a particle come in the same order for any thread count. */
void wadi_near_pairs(const WadiBins *bins, const uint8_t *is_skipped, WadiPairFn body, void *context);

/* Marks the bins so deep in evenly filled space that no particle of theirs is within a reach of its end: all bins up to two away
 * hold at least half of what fills them. Both arrays are as long as the bins of all levels. */
void wadi_bins_mark_deep(const WadiBins *bins, const WadiCloud *cloud, uint8_t *is_deep, uint8_t *scratch);
int32_t wadi_bins_bin_count(const WadiBins *bins); /* of all levels */

#endif
