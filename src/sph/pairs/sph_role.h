/* What a particle does in a step. */
#ifndef WADI_SPH_ROLE_H
#define WADI_SPH_ROLE_H

#include <stdbool.h>
#include <stdint.h>

/* Kept in a byte a particle. */
typedef enum WadiSphRole {
    WADI_SPH_ACTIVE,
    /* Quiescent sand that keeps its position, velocity, pressure and stress. Water in its pores flows, and so
     * it has a list of neighbours. */
    WADI_SPH_FROZEN,
    /* The same far from water, without a list. */
    WADI_SPH_FROZEN_DRY,
    /* A copy of a sleeping particle, with its pressure and stress, at rest and without a list. */
    WADI_SPH_GHOST,
} WadiSphRole;

static inline bool wadi_sph_is_frozen(uint8_t role)
{
    return role == WADI_SPH_FROZEN || role == WADI_SPH_FROZEN_DRY;
}

static inline bool wadi_sph_has_list(uint8_t role)
{
    return role == WADI_SPH_ACTIVE || role == WADI_SPH_FROZEN;
}

#endif
