/* What a particle does in a step. */
#ifndef WADI_SPH_ROLE_H
#define WADI_SPH_ROLE_H

/* Kept in a byte a particle. */
typedef enum WadiSphRole {
    WADI_SPH_ACTIVE,
    /* A copy of a sleeping particle, with its pressure and stress, at rest and without a list. */
    WADI_SPH_GHOST,
} WadiSphRole;

#endif
