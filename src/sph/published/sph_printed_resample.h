/* Splits and merges of [T10 sec. 3.6]: a particle becomes two of the next finer level where the extended
 * local feature size is below alpha r_i, two of a level become one of the next where it is above beta r_i.
 * Masses of levels are powers of 2. Partners, places and velocities are not printed: the nearest partner in
 * reach, the centre of mass, and a direction by the particle's id. */
#ifndef WADI_SPH_PRINTED_RESAMPLE_H
#define WADI_SPH_PRINTED_RESAMPLE_H

#include "core/arena.h"
#include "geom/solids.h"
#include "particles/store.h"

typedef struct WadiSphPrintedResampleIn {
    WadiParticles *particles;
    const double *own_mass; /* by material: of a unit of volume, without water in a column */
    int volume_column;
    int water_column;        /* -1: none */
    double spacing, support; /* m: of a particle of volume 1, and r_i over its size */
    const WadiSolids *solids;
    double time;
    double largest;                         /* volume */
    const float *split_above, *merge_below; /* per particle: volumes of alpha and beta */
} WadiSphPrintedResampleIn;

/* Adds to the counts. The store may grow and shrink, and keeps its order otherwise. */
WadiStatus wadi_sph_printed_resample(const WadiSphPrintedResampleIn *in, int64_t *splits, int64_t *merges,
                                     WadiArena *arena, WadiError *error);

#endif
