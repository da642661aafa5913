/* The quick look before a collision: paths that meet nothing. Used by collide.c alone. */
#ifndef WADI_PARTICLES_COLLIDE_FREE_H
#define WADI_PARTICLES_COLLIDE_FREE_H

#include "particles/collide.h"

enum { WADI_COLLIDE_GROUP = 32 };

/* Straight paths of a few particles, coordinate by coordinate, m. */
typedef struct WadiCollideGroup {
    const double *from[3], *to[3];
    int count; /* 1 .. WADI_COLLIDE_GROUP */
} WadiCollideGroup;

/* is_free[l] = 1: path l touches nothing during [t0, t1], its ends included; 0: it may. */
void wadi_collide_find_free(const WadiCollideIn *in, const WadiCollideGroup *group,
                            uint8_t is_free[WADI_COLLIDE_GROUP]);

#endif
