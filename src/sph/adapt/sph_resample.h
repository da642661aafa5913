/* Particles are split, merged and share mass, so that their volumes follow a target.
 * Volumes and masses of water are whole numbers of 2^-36 (world/water.h): sums stay exact. Velocities are
 * floats; what rounding leaves of the momentum of a merge is carried to the next one, so that the total is
 * never off by more than one rounding. A split keeps everything: equal velocities, the centre of mass
 * unmoved. A merge of two loses their spin mu r x dv and the energy mu |dv|^2 / 2 and no more, and the
 * ledger has both.
 * Source: [T10; APKG07], classes of sizes and sharing [WHK17; theory 11.9]. Differs: pairs are matched in
 * the order of (distance, ids), so that the result is the same for any number of threads. */
#ifndef WADI_SPH_RESAMPLE_H
#define WADI_SPH_RESAMPLE_H

#include "core/arena.h"
#include "geom/solids.h"
#include "particles/store.h"
#include "sph/walls/sph_kernel.h"

enum { WADI_SPH_SUMS_MAX = 2, WADI_SPH_MEANS_MAX = 16 };

/* Events that a particle may have part in, bits of WadiSphResampleIn.may. */
enum {
    WADI_SPH_MAY_SPLIT = 1, /* where its volume is above `split_above` */
    WADI_SPH_MAY_MERGE = 2, /* below `merge_below`: with another such one */
    WADI_SPH_MAY_SHARE =
        4, /* gives mass to a neighbour that is smaller by more than an event, or gets some */
};

/* What the events did to all of a run. */
typedef struct WadiSphLedger {
    int64_t splits, merges, shares;
    WadiVec3 carried; /* momentum that the next merge gets, kg m/s over the unit of mass */
    WadiVec3 spin;    /* lost angular momentum about the origin, the same times m */
    double energy;    /* lost kinetic energy, the same times m/s */
} WadiSphLedger;

typedef struct WadiSphResampleIn {
    WadiParticles *particles;
    int32_t first;          /* particles before it take no part */
    const double *own_mass; /* by material: mass of a unit of volume, without what the sums hold */
    int volume_column;      /* double: over that of the finest particle, whole quanta */
    /* Columns of doubles that add up, masses of whole quanta; columns of floats of which the mean by volume
     * counts. */
    int sums[WADI_SPH_SUMS_MAX], sum_count;
    int means[WADI_SPH_MEANS_MAX], mean_count;
    double spacing;           /* m: of a particle of volume 1 */
    const WadiSolids *solids; /* halves of a split stay outside of them */
    double nearest;           /* sizes from a solid: what would come nearer stays where it is */
    double time;              /* s: of the solids */
    double largest;           /* volume */
    /* Per particle of the store: bounds of its volume, split_above >= 2 merge_below, so that no split makes
     * particles that merge and no merge one that splits; and the events it may take part in. */
    const float *split_above, *merge_below;
    const uint8_t *may;
    int32_t most; /* events of each kind at a time */
} WadiSphResampleIn;

/* The events of one pass; the store may grow, shrink and keeps its order otherwise. */
WadiStatus wadi_sph_resample(const WadiSphResampleIn *in, WadiSphLedger *ledger, WadiArena *arena,
                             WadiError *error);

#endif
