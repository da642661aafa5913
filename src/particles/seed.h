/* Fill shapes with particles. [ZB05 sec. 4.2.1: n x n x n jittered sub-cells a cell; near-surface particles
 * moved] */
#ifndef WADI_PARTICLES_SEED_H
#define WADI_PARTICLES_SEED_H

#include "geom/solids.h"
#include "particles/store.h"

typedef enum WadiSnap {
    WADI_SNAP_NONE,
    WADI_SNAP_ZB05,  /* particles within a cell of the free surface go to a depth of half a cell */
    WADI_SNAP_LAYER, /* only the outermost layer (within a spacing) moves, to a depth of half a spacing */
} WadiSnap;

typedef struct WadiSeedIn {
    const WadiShape *shape;
    /* Nothing is seeded inside a solid, nothing is snapped at a face on one. May be NULL. */
    const WadiSolids *solids;
    /* Bodies seeded before: nothing is seeded inside them, nothing is snapped at a face on one. */
    const WadiShape *const *earlier;
    int earlier_count;
    double cell_size; /* m; cells are aligned to the origin */
    int per_axis;     /* particles along each axis of a cell, 1..4: 2 gives ZB05's eight */
    double jitter;    /* 0 = lattice .. 1 = anywhere in the sub-cell */
    WadiSnap snap;
    uint64_t seed;
    double time;
    uint8_t material;
    WadiVec3 velocity;         /* m/s */
    WadiVec3 angular_velocity; /* rad/s, about the bounding box's centre */
} WadiSeedIn;

/* A sure lower bound and a likely number of particles of wadi_seed_fill, fast and without large memory. */
WadiStatus wadi_seed_expect(const WadiSeedIn *in, double *least, double *likely, WadiError *error);

/* How many particles wadi_seed_fill would make, without making them (exact). */
WadiStatus wadi_seed_count(const WadiSeedIn *in, int64_t *count, WadiError *error);

/* Append them, ordered by cell (z slowest, x fastest). Same bytes for any thread count. */
WadiStatus wadi_seed_fill(const WadiSeedIn *in, WadiParticles *particles, int64_t *count, WadiError *error);

#endif
