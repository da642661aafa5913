/* Viscosity between particles of one kind: central forces that oppose the approach and the parting of pairs,
 *   m_i v_i = m_i v*_i + sum_j 10 c_ij F_ij (e_ij . (v_j - v_i)) e_ij + wall,   F_ij = |G_ij| / r_ij
 * with c = dt mu / (density of reference x dx^2). They keep linear and angular momentum, and do nothing to
 * a rigid motion. Liquids do not slip along walls. Source: [theory 11.7]. */
#ifndef WADI_SPH_VISCOSITY_H
#define WADI_SPH_VISCOSITY_H

#include "sph/pairs/sph_pairs.h"

/* c of thick particles; below it one explicit step is stable and accurate. */
#define WADI_SPH_THICK 0.05f

typedef struct WadiSphViscosityIn {
    const WadiSphPairs *pairs;
    const WadiSphWalls *walls;
    const float *inverse_density; /* per particle: V_i / m_i times the density of reference */
    const float *volume;          /* per particle, as that of the pairs */
    const uint8_t *role;          /* per particle, WadiSphRole: frozen ones keep their velocity */
    const float *coefficient;     /* per particle: c */
    float damping;                /* times size^(3/2) added to every c, without an effect at walls */
    double tolerance;             /* of the error, root mean square, m/s */
    int max_iterations;
} WadiSphViscosityIn;

typedef struct WadiSphViscosityReport {
    int iterations; /* 0: explicit */
    double residual;
} WadiSphViscosityReport;

/* `velocity`: a guess on entry, v after. `drag`, per contact: what walls add to the momenta, V_i (m_i / V_i)
 * v_i. Explicit for pairs where that is stable by far, conjugate gradients for the others. The forces of a
 * pair are opposite whatever is left of the residual. */
WadiStatus wadi_sph_viscosity(WadiF4 *velocity, WadiF4 *drag, const WadiF4 *v_star,
                              const WadiSphViscosityIn *in, WadiSphViscosityReport *report, WadiArena *arena,
                              WadiError *error);

#endif
