/* Friction by a local stop rule and rigid clusters (`friction: zb05`), for comparison [LD09 sec. 2]: sand
 * whose strain the yield stress can stop within a step is rigid, and rigid particles within 1.2 spacings of
 * each other move as one body. The rule compares the inertia of single particles, not the load that they
 * carry: piles melt. */
#ifndef WADI_SPH_CLUSTERS_H
#define WADI_SPH_CLUSTERS_H

#include "math/sym3.h"
#include "math/vec3.h"
#include "sph/friction/sph_friction.h"

typedef struct WadiSphCluster {
    int32_t count;                     /* particles */
    double mass;                       /* of particles of the reference */
    WadiVec3 centre;                   /* spacings, from `origin` */
    WadiVec3 momentum, spin;           /* mass m/s, mass m/s spacings: about the centre */
    WadiSym3 inertia;                  /* mass spacings^2 */
    WadiVec3 origin_place;             /* places of its first particle */
    double grip;                       /* sum of mu P |w| of its contacts */
    WadiVec3 grip_centre, grip_motion; /* means over the contacts, by grip: spacings, m/s of slip */
} WadiSphCluster;

typedef struct WadiSphClusters {
    int32_t count;
    WadiSphCluster *cluster;
    int32_t *of; /* per particle; -1: not rigid */
} WadiSphClusters;

/* The stop rule: flags rigid sand and sets the stress of the sliding one, at most half of what would stop
 * it. Fills `strain`. */
void wadi_sph_clusters_yield(uint8_t *is_rigid, const WadiSphFriction *friction, WadiSphStrain *strain,
                             const WadiF4 *velocity, const WadiSphFrictionIn *in);
/* Clusters of the rigid particles and their sums. */
WadiStatus wadi_sph_clusters_find(WadiSphClusters *clusters, const uint8_t *is_rigid, const WadiF4 *velocity,
                                  const WadiSphFrictionIn *in, WadiArena *arena, WadiError *error);
/* Friction of their contacts, then each cluster moves as one body, with the momenta that it has. */
void wadi_sph_clusters_move(WadiF4 *velocity, WadiSphClusters *clusters, const WadiSphFrictionIn *in);

#endif
