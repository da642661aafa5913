/* Pairs of particles near enough to merge or to share mass, in the order in which they are matched. */
#ifndef WADI_SPH_PARTNERS_H
#define WADI_SPH_PARTNERS_H

#include "core/arena.h"
#include "particles/store.h"

typedef struct WadiSphPartners {
    int level;       /* by the volume of the larger one: the finest come first */
    double distance; /* over the mean size */
    int32_t a, b;
    uint32_t id_a, id_b;
} WadiSphPartners;

typedef struct WadiSphPartnersIn {
    const WadiParticles *particles;
    const double *volume; /* per particle, over that of one with the spacing given */
    double spacing;       /* m */
    double farthest;      /* distance over the mean size */
    const int32_t *list;  /* particles */
    int32_t listed;
    double ratio; /* pairs only where the volume of a is larger than this times that of b */
    bool (*may_pair)(const void *context, int32_t a, int32_t b); /* of particles of one material */
    const void *context;
} WadiSphPartnersIn;

/* All pairs (a, b) of the list that may pair, by level, distance and ids. Memory in the arena. */
WadiStatus wadi_sph_partners_find(WadiSphPartners **pairs, int64_t *count, const WadiSphPartnersIn *in,
                                  WadiArena *arena, WadiError *error);

#endif
