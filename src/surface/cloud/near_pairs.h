/* Sums over the neighbours of every particle, eight neighbours at a time, always in the same order.
 *
 * i and j are neighbours when |x_i - x_j| is less than the larger of their support radii. The relation is
 * symmetric, so that a small particle next to a large one is not mistaken for one at the surface. */
#ifndef WADI_SURFACE_NEAR_PAIRS_H
#define WADI_SURFACE_NEAR_PAIRS_H

#include "grid/row_vectors.h"
#include "surface/cloud/bins.h"

enum { WADI_PAIR_CHUNK = 128 };

/* The integral of (1 - s^2)^3 over the unit ball. */
#define WADI_KERNEL_INTEGRAL (64.0 * 3.14159265358979324 / 315.0)

/* Sum of the lanes, always in the same order. */
static inline float wadi_pair_sum(const WadiF8 *v)
{
    const WadiF8 a = *v;
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

/* Candidate neighbours of one bin's particles, a superset. Positions are relative to the corner of that bin,
 * as are those of its particles in bins->point. */
typedef struct WadiPairChunk {
    int32_t count; /* a multiple of 8; padding lies outside every support and has no volume */
    float x[WADI_PAIR_CHUNK], y[WADI_PAIR_CHUNK], z[WADI_PAIR_CHUNK];
    float inverse[WADI_PAIR_CHUNK]; /* 1 / support^2 */
    float cube[WADI_PAIR_CHUNK];    /* support^3, proportional to the volume */
    int32_t slot[WADI_PAIR_CHUNK];  /* index into bins->order; 0 for padding */
} WadiPairChunk;

/* Adds the chunk's contribution to the sums of particles [first, end) of bins->order. A particle is among its
 * own neighbours. */
typedef void (*WadiPairFn)(void *context, const WadiBins *bins, int32_t first, int32_t end,
                           const WadiPairChunk *chunk);

/* is_skipped: one per bin, level by level, or NULL. A particle's chunks come in the same order for any thread
 * count. */
void wadi_near_pairs(const WadiBins *bins, const uint8_t *is_skipped, WadiPairFn body, void *context);
/* The same for the points of `of`: the particles of `bins` whose support radius may reach them. The body gets
 * `of`, and positions relative to its bins. */
void wadi_pairs_between(const WadiBins *of, const WadiBins *bins, WadiPairFn body, void *context);

/* Marks the bins deep inside evenly filled space: all bins up to two away are at least half full, so that no
 * particle is within its support radius of a surface. Both arrays hold one byte per bin of all levels. */
void wadi_bins_mark_deep(const WadiBins *bins, const WadiCloud *cloud, uint8_t *is_deep, uint8_t *scratch);
int32_t wadi_bins_bin_count(const WadiBins *bins); /* of all levels */

#endif
