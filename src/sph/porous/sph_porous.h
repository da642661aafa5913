/* Water moves between the pores of sand particles, and between them and particles of water.
 *   J_ij = rho V_i V_j 2 kappa (Phi_i - Phi_j) F_ij,  Phi = p - P_c(S) - rho g.x,  kappa = K S^b / viscosity
 * kappa is that of the donor, F = -W'/r over the sum that a lattice gives for a Laplacian. Fluxes of a pair
 * are computed alike from both sides and are whole quanta of mass (world/water.h): water is conserved
 * exactly. Factors of donors and acceptors hold 0 <= S <= 1 exactly.
 * Source: [LAD08; LD09 secs. 2, 3]. Differs [theory 11.6]: the printed exchange loses mass and moves water
 * the wrong way; this one is the finite volume form of Darcy's law. */
#ifndef WADI_SPH_POROUS_H
#define WADI_SPH_POROUS_H

#include "sph/pairs/sph_pairs.h"
#include "world/scene.h"

/* Sand is saturated from here on: it gives water to particles of water. */
#define WADI_SPH_SATURATED 0.98
#define WADI_SPH_WATER_MOST 1.5  /* largest mass of a particle of water, over a full one */
#define WADI_SPH_WATER_LEAST 0.1 /* least mass of a particle of water: with less it vanishes into the sand */
/* Mean change of the heads at the end of their solve, of a spacing of water; and part of its pores that full
 * sand takes beyond them, until it has lost it again. Without that, what is left of the residual would take
 * water from full sand and give it none: flow through 30 spacings of it would be half of Darcy's. */
#define WADI_SPH_SLACK 0.002

/* Sums of a cubic lattice of the pairs' weights dx^2 V F. */
typedef struct WadiSphLattice {
    double laplacian; /* with x^2: 1 for many neighbours */
    double diagonal;  /* twice the sum */
} WadiSphLattice;

WadiSphLattice wadi_sph_lattice(const WadiSphKernel *kernel);

/* Arrays have an item a particle of the sort. */
typedef struct WadiSphPorousIn {
    const WadiSphPairs *pairs;
    const double *x, *y, *z; /* m */
    const uint8_t *is_sand;
    const uint8_t *material;
    const WadiMaterial *materials; /* by index */
    const double *rest_volume;     /* per particle: volume of a full one of its size */
    const uint8_t *role;           /* WadiSphRole: ghosts take no part */
    bool has_ghosts;               /* there are some */
    double *pressure; /* Pa: of water its own; of sand that in its pores, of the last step before */
    /* Saturated sand loses water into the air, where the density is below 1: a part of the kernel is empty
     * there. */
    bool leaks;
    const float *density;
    double *film; /* mass that has left the pores and is not yet a particle */
    float
        *seep; /* out, 1/s: rate at which the saturation would change with the ghosts, where there are some */
    WadiSphLattice lattice;
    WadiVec3 gravity;     /* m/s^2 */
    double water_density; /* kg/m^3: of the unit of mass */
    double viscosity;     /* Pa s, of water */
    double entry;   /* part of a particle of water that a gradient of 1 may move into sand; 0: no limit */
    double spacing; /* m */
    double dt;      /* s */
} WadiSphPorousIn;

typedef struct WadiSphPorousReport {
    int iterations; /* of the heads at the end of the step */
    int32_t active; /* particles that may exchange water */
    int32_t fast;   /* of these, with a fast pair */
} WadiSphPorousReport;

/* `water`: masses, changed. `velocity`: of the particles, changed by the momentum of the water that moves. */
WadiStatus wadi_sph_porous_exchange(double *water, WadiF4 *velocity, const WadiSphPorousIn *in,
                                    WadiSphPorousReport *report, WadiArena *arena, WadiError *error);

/* Particles of water below the least mass give all to the nearest neighbour with room and are marked; those
 * without such a neighbour stay. Returns the number of marks. */
int32_t wadi_sph_porous_merge(double *water, WadiF4 *velocity, uint8_t *is_removed,
                              const WadiSphPorousIn *in);

/* The film of sand goes back into its pores where they have room, then to the nearest particle of water with
 * room. Changes in->film. */
void wadi_sph_porous_drip(double *water, WadiF4 *velocity, const WadiSphPorousIn *in);

/* Mass of a particle of water that is full. */
double wadi_sph_full_mass(const WadiSphPorousIn *in, int32_t i);
/* Room for water in a particle of sand, or that left to a particle of water. */
double wadi_sph_water_capacity(const WadiSphPorousIn *in, int32_t i);
/* Mass of a particle with its water, in the unit of water. */
double wadi_sph_mass_with_water(const WadiSphPorousIn *in, const double *water, int32_t i);

#endif
