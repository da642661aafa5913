/* Particles sorted for sampling at lattice nodes and at vertices: all within reach of a place, in an order that does not depend
 * on threads. */
#ifndef WADI_SURFACE_BINS_H
#define WADI_SURFACE_BINS_H

#include "particles/cells.h"
#include "surface/cloud/cloud.h"

enum { WADI_BINS_LEVEL_MAX = 16 };

/* Bins are cubes at least as wide as the longest reach of the particles in them. Particles whose reach differs by more than two
 * lie in bins of different levels, so that the cost of a look-up follows the particles it finds, whatever the mixture of sizes:
 * level 0 has bins as wide as the longest reach of all, each further level half of that. Bins of a level are in the order of
 * (z, y, x), x fastest; particles of a bin keep the order of the cloud. Positions are floats relative to the low corner of
 * their bin, so that precision does not depend on where the scene stands. */
typedef struct WadiBins {
    int level_count;                      /* 0 when the cloud is empty */
    WadiCells level[WADI_BINS_LEVEL_MAX]; /* start and order count from the level's first particle */
    int32_t first[WADI_BINS_LEVEL_MAX + 1];
    int32_t count;     /* particles */
    int32_t *order;    /* particle of the cloud, level by level */
    float (*place)[4]; /* in that order: x, y, z relative to the bin's corner, and the reach, m */
} WadiBins;

/* `reach` in spacings. Memory belongs to the arena. WADI_ERR_NUMERIC for a particle so far out that it has no bin. */
WadiStatus wadi_bins_build(WadiBins *bins, const WadiCloud *cloud, double reach, WadiArena *arena,
                           WadiError *error);

/* The particles of one bin: [first, end) of order and place. */
typedef struct WadiBinSpan {
    int32_t first, end;
    WadiVec3 corner; /* m, what `place` is relative to */
    int level;
} WadiBinSpan;

/* Visits every bin with a particle that may reach a place in the box:
 *   WadiBinWalk walk = wadi_bins_walk(&bins, box);
 *   for (WadiBinSpan span; wadi_bins_next(&walk, &span);) ...
 * always in the same order; which of the particles do reach it is for the caller to see. */
typedef struct WadiBinWalk {
    const WadiBins *bins;
    WadiBox box;
    int level;
    int64_t low[3], high[3], at[3]; /* bins of the level; high included */
    int32_t bin;  /* next to look at in a scan; in a line of bins the one after the last found, or 0 */
    bool is_scan; /* the box has more bins than there are */
} WadiBinWalk;

WadiBinWalk wadi_bins_walk(const WadiBins *bins, WadiBox box);
bool wadi_bins_next(WadiBinWalk *walk, WadiBinSpan *span);

#endif
