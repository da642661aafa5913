/* The sizes that particles should have: from the extended local feature size (sph_feature.h) and from
 * rules that ask for the finest near something. Sizes grow slowly with the distance from where they are
 * small: the masses of neighbours differ by at most a factor of 2. [T10; theory 11.9] */
#ifndef WADI_SPH_TARGET_H
#define WADI_SPH_TARGET_H

#include "sph/adapt/sph_body_grid.h"

/* Distances in m within which particles are the finest; negative: the rule is off. */
typedef struct WadiSphNear {
    double colliders;
    double interface; /* between sand and water */
    double surface;   /* to air */
    /* A place of the scene and the camera. */
    struct {
        double within;
        WadiVec3 at; /* m */
    } points[2];
} WadiSphNear;

typedef struct WadiSphTargetIn {
    WadiSphBodyGridIn body;
    const uint8_t *is_sand; /* per particle */
    double split, merge;    /* alpha and beta: events where elfs < split r, elfs > merge r */
    double largest;         /* size of a particle, over the finest */
    WadiSphNear near;
} WadiSphTargetIn;

/* Arrays by particle, made by the caller: volumes above which it is split and below which it is merged, and
 * its depth below the surface in sizes of its own. */
typedef struct WadiSphTarget {
    float *split_above, *merge_below, *depth;
} WadiSphTarget;

WadiStatus wadi_sph_target(const WadiSphTarget *target, const WadiSphTargetIn *in, WadiArena *arena,
                           WadiError *error);

#endif
