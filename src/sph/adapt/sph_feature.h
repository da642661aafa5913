/* Extended local feature size of a body on a sparse grid: how thin it is there.
 *   lfs(y): distance from a point y of the surface to the medial axis
 *   elfs(x) = depth(x) + lfs(y), y the point of the surface nearest to x
 * A ball of radius R has lfs = R, a slab of thickness 2 T has lfs = T. Source: [T10; APKG07; theory 11.9].
 * Differs: axis cells are those where the depth's gradient is short, which leaves out the branches that
 * run into edges of 90 degrees and into the noise of particles. Walls mirror the body: a pool is as thin as
 * it is deep. */
#ifndef WADI_SPH_FEATURE_H
#define WADI_SPH_FEATURE_H

#include "grid/rows.h"

typedef struct WadiSphFeatureIn {
    const WadiRows *rows;
    const uint8_t *inside; /* a byte per row: cells of the body; all their neighbours have rows */
    const uint8_t *solid;  /* the same of cells behind a wall */
    double cell_size;      /* m */
    double largest;        /* m: larger results are cut */
} WadiSphFeatureIn;

/* `depth`: on entry that of the outermost cells, those of the body beside a cell that is neither solid nor of
 * the body; after it that of all cells of the body. `feature`: elfs, m; both 0 outside. */
WadiStatus wadi_sph_feature_size(float *depth, float *feature, const WadiSphFeatureIn *in, WadiArena *arena,
                                 WadiError *error);

#endif
