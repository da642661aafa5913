/* The pressure that keeps particles from being compressed: one unilateral problem for sand and water.
 *   v_i = v*_i - (V_i/m_i) [ sum_j (P_i + P_j) G_ij + P_i w_i ]
 *   R_i = sum_j G_ij . (v_i - v_j) + w_i . (v_i - v_wall) - s_i <= 0,  P_i >= -T_i, R_i = 0 if P_i > -T_i
 * T_i is the tension of bonded sand, else 0.
 * P = p dt / (density of reference x spacing) in m/s, G_ij the gradient of the pair, w_i that of the walls.
 * Both operators are transposes of each other.
 * Source: [theory 11.4]. */
#ifndef WADI_SPH_PRESSURE_H
#define WADI_SPH_PRESSURE_H

#include "sph/pressure/sph_coarse.h"

/* That of particles which nothing moves. Not 0: masses are divided by it. */
#define WADI_SPH_FIXED_INVERSE_DENSITY 1e-20f

typedef struct WadiSphPressureIn {
    const WadiSphPairs *pairs;
    const WadiSphWalls *walls;
    const uint8_t *is_sand;
    const float *inverse_density; /* per particle: V_i / m_i times the density of reference */
    const float *volume;          /* per particle, over that of a full one */
    const float *inverse;   /* per particle: 1 over the diagonal, from wadi_sph_pressure_invert; 0: no P */
    const uint8_t *is_idle; /* per particle: 1 neither has a pressure nor a neighbour that may have one */
    bool is_shift;          /* the velocities are shifts of positions: walls do not move, and v* is 0 */
    const WadiF4 *v_star;   /* per particle: the velocity without pressure; not used by a shift */
    const float *source;    /* s_i, m/s: rate at which the particle may become denser */
    const float *tension;   /* per particle, m/s: P is at least -tension */
    float *laplacian;       /* per particle: that of the pressure, as wadi_sph_push returns it */
    float smooth[2];        /* weight of the differences between neighbours: of water, of sand */
    double largest;         /* eigenvalue of operator over diagonal, from wadi_sph_pressure_largest */
    double tolerance;       /* of the mean residual, m/s */
    int max_iterations;
    bool has_coarse; /* a coarse grid solves for long waves */
    const WadiSphCoarse *coarse;
} WadiSphPressureIn;

typedef struct WadiSphPressureReport {
    int iterations;
    double residual; /* mean, m/s: before the last step */
} WadiSphPressureReport;

/* `pressure`: a guess on entry. `velocity`: on entry v* with the forces of the guess, v after;
 * `in->laplacian` the same. Uses pairs->place[.][3]. */
WadiStatus wadi_sph_pressure_solve(WadiF4 *velocity, float *pressure, const WadiSphPressureIn *in,
                                   WadiSphPressureReport *report, WadiArena *arena, WadiError *error);

/* `velocity` after the forces of a given pressure P; sets in->laplacian. Uses pairs->place[.][3]. */
void wadi_sph_pressure_apply(WadiF4 *velocity, const float *pressure, const WadiSphPressureIn *in);
/* The same, and per particle in `carried` the Laplacian of a pressure that grows by `fall` (gravity times the
 * step, m/s) over the inverse density a spacing, between particles that have a pressure. */
void wadi_sph_pressure_apply_and_carry(WadiF4 *velocity, const float *pressure, WadiF4 fall, float *carried,
                                       const WadiSphPressureIn *in);

/* 1 over the diagonal of the operator from P to -R, per particle; 0 where walls squeeze it. Uses
 * pairs->place[.][3]. */
void wadi_sph_pressure_invert(float *inverse, const WadiSphPressureIn *in);

/* The largest eigenvalue of that operator over its diagonal, by `iterations` steps of the power method. */
WadiStatus wadi_sph_pressure_largest(const WadiSphPressureIn *in, int iterations, double *largest,
                                     WadiArena *arena, WadiError *error);

#endif
