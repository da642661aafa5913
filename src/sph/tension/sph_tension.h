/* Surface tension: a stress along the surface in the outermost particles, and a weak attraction q (1 - q)^2,
 * q = r/h, times V_j over the fifth power of the mean size, between all particles of liquids that keeps
 * single ones from leaving.
 *   T_i = s |g_i| (1 - n n),  n = g_i / |g_i|,  g_i = sum_j G_ij: where neighbours are missing
 *   v_i += (V_i/m_i) sum_j [ (T_i + T_j) G_ij + attraction ]
 * The terms of a pair are opposite, and no curvature is needed. Source: [theory 11.7]. */
#ifndef WADI_SPH_TENSION_H
#define WADI_SPH_TENSION_H

#include "sph/pairs/sph_pairs.h"

typedef struct WadiSphTensionIn {
    const WadiSphPairs *pairs;
    const WadiSphWalls *walls;
    const WadiSphSpline *spline;  /* of liquids */
    const float *inverse_density; /* per particle: V_i / m_i times the density of reference */
    const float *volume;          /* per particle, as that of the pairs */
    const float *strength;        /* per particle, m/s: s = dt sigma / (density of reference x dx^2) */
} WadiSphTensionIn;

/* `velocity` after the forces of the surface. */
WadiStatus wadi_sph_tension(WadiF4 *velocity, const WadiSphTensionIn *in, WadiArena *arena, WadiError *error);

#endif
