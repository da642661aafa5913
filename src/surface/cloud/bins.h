/* Particles sorted into bins, for queries of all particles whose kernel may cover a position. The order does
 * not depend on threads. */
#ifndef WADI_SURFACE_BINS_H
#define WADI_SURFACE_BINS_H

#include "particles/cells.h"
#include "surface/cloud/cloud.h"

enum { WADI_BINS_LEVEL_MAX = 16 };

/* Bins are cubes at least as wide as the largest support radius of their particles. Level 0 has bins as wide
 * as the largest support radius of all, each further level half of that, and a particle lies in the finest
 * level that fits it: the cost of a query follows the particles it finds, for any mixture of sizes. Bins of a
 * level are in the order of (z, y, x), x fastest; particles of a bin are in the order of the cloud. Positions
 * are floats relative to the bin's low corner, so that precision does not depend on the distance from the
 * origin. */
typedef struct WadiBins {
    int level_count;                      /* 0 when the cloud is empty */
    WadiCells level[WADI_BINS_LEVEL_MAX]; /* start and order count from the level's first particle */
    int32_t first[WADI_BINS_LEVEL_MAX + 1];
    int32_t count;  /* particles */
    int32_t *order; /* index into the cloud, level by level */
    /* in that order: x, y, z relative to the bin's low corner, and the support radius, m */
    float (*point)[4];
} WadiBins;

/* `support` in spacings. Memory belongs to the arena. WADI_ERR_NUMERIC for a particle too far out to have a
 * bin. */
WadiStatus wadi_bins_build(WadiBins *bins, const WadiCloud *cloud, double support, WadiArena *arena,
                           WadiError *error);

/* Width of the bins of level 0 for a largest support radius: slightly wider, since radii are rounded to
 * float. */
static inline double wadi_bins_size(double widest)
{
    return widest * (1.0 + 0x1p-20);
}

/* The particles of one bin: [first, end) of `order` and `point`. */
typedef struct WadiBinSpan {
    int32_t first, end;
    WadiVec3 corner; /* m, the origin of `point` */
    int level;
} WadiBinSpan;

/* Visits every bin with a particle whose kernel may cover a position in the box:
 *    WadiBinWalk walk = wadi_bins_walk(&bins, box);
 *    for (WadiBinSpan span; wadi_bins_next(&walk, &span);) ...
 * always in the same order. A superset: the caller tests the particles themselves. */
typedef struct WadiBinWalk {
    const WadiBins *bins;
    WadiBox box;
    int level;
    int64_t low[3], high[3], at[3]; /* bins of the level; `high` is included */
    /* scan: next bin to test; else: the bin after the last one found in this line of bins, or 0 */
    int32_t bin;
    bool is_scan; /* the box covers more bins than are occupied */
} WadiBinWalk;

WadiBinWalk wadi_bins_walk(const WadiBins *bins, WadiBox box);
bool wadi_bins_next(WadiBinWalk *walk, WadiBinSpan *span);

#endif
