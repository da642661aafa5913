/* Friction inside sand and between sand and walls, at a given pressure: of all stresses within the yield
 * surface those that leave the least kinetic energy.
 *   v_i = v*_i + (V_i/m_i) [ sum_j (B_i + B_j) G_ij + sum_c t_c ],  sand and sand only
 *   D_i = sym sum_j (v_j - v_i - omega_i x x_ij) (x) G_ij
 *   |dev T_i|_F / sqrt 2 <= k (P_i - s_i) + c,  |t_c| <= mu P_i |w_c|,  t_c along the wall
 * In bonded sand omega_i is the rotation that fits the neighbours best: a rigid motion has no strain. B
 * follows from T and the moments of the neighbours such that T to v and v to -D are transposes: stresses
 * exert no torque. Elsewhere omega_i = 0 and B = T. T = stress dt / (density of reference x spacing) in m/s,
 * as the pressure; w_c the wall's share of the pressure's gradient. Bonded sand has an isotropic stress
 * s_i <= P_i + tension besides dev T_i, else s_i = 0. Source: [theory 11.5]. */
#ifndef WADI_SPH_FRICTION_H
#define WADI_SPH_FRICTION_H

#include "sph/pairs/sph_pairs.h"

/* The numbers of a symmetric tensor without trace: xx, yy, xy, yz, zx; zz = -xx - yy. */
enum { WADI_SPH_STRESSES = 5 };

/* Of the neighbours of a particle of bonded sand, M = sum_j x_ij (x) G_ij in spacings, and the inverse of
 * tr M - M: xx, yy, zz, xy, yz, zx. 0 for other sand, and where all neighbours lie on a line. */
typedef struct WadiSphMoment {
    float moment[6], inverse[6];
} WadiSphMoment;

/* The strain rate of a particle, m/s a spacing: without its trace, the trace, and the rotation. */
typedef struct WadiSphStrain {
    float strain[WADI_SPH_STRESSES], rate;
    WadiF4 spin;
} WadiSphStrain;

/* The unknowns, and room for a solve: where it takes the gradient, beyond the unknowns by the momentum. */
typedef struct WadiSphFriction {
    float *stress[WADI_SPH_STRESSES]; /* per particle; 0 for water */
    float *mean;                      /* isotropic stress of bonded sand, tension positive; padded by eight */
    WadiF4 *traction;                 /* per contact, see wadi_sph_first_contact */
    WadiF4 *row;                      /* per particle: xx, yy, xy, yz, one load for a neighbour. Padded */
    float *last, *mean_at;            /* zx and the isotropic stress, padded */
    WadiF4 *force[3];                 /* B, see wadi_sph_torque_free: xx yy zz, xy yz zx, xz yx zy */
    WadiF4 *traction_at;
} WadiSphFriction;

typedef struct WadiSphFrictionIn {
    const WadiSphPairs *pairs;
    const WadiSphWalls *walls;
    const uint8_t *is_sand;
    const uint8_t *role; /* WadiSphRole: ghosts keep their stress and velocity */
    const WadiSphMoment *moment;
    const WadiSphStrain *chord; /* what the chord of the step's rotation adds to the strain rate */
    const float *inverse_density;
    const float *pressure; /* P, m/s */
    const float *bound;    /* per particle: k P + c, m/s */
    const float *slope;    /* per particle: k */
    const float *tension;  /* per particle, m/s: what bonds bear; 0: none */
    const float *lift;     /* per particle, m/s: P >= -lift; the tension, 0 beside walls */
    double largest;        /* eigenvalue of the operator, from wadi_sph_friction_largest */
    double tolerance;      /* of the mean residual, m/s */
    int max_iterations;
} WadiSphFrictionIn;

typedef struct WadiSphFrictionReport {
    int iterations;
    double residual; /* mean over the sand that can carry stress, m/s */
    double largest;  /* in->largest, or more where that was too small and the residual grew */
} WadiSphFrictionReport;

/* Memory for all but the stresses, tractions 0: temporaries of the arena. */
WadiStatus wadi_sph_friction_create(WadiSphFriction *friction, const WadiSphPairs *pairs,
                                    const WadiSphWalls *walls, WadiArena *arena, WadiError *error);

/* The moments of particles with a tension. One whose neighbours define no rotation has no bonds: its tension
 * and cohesion become 0. */
void wadi_sph_friction_moments(WadiSphMoment *moment, float *tension, float *cohesion,
                               const WadiSphPairs *pairs, const uint8_t *role);

/* to_i = from_i + (V_i/m_i) [ forces of T, s and t ]; the arrays may be the same. */
void wadi_sph_friction_apply(WadiF4 *to, const WadiF4 *from, const WadiSphFriction *friction,
                             const WadiSphFrictionIn *in);
/* D_i of a velocity; 0 for water. */
void wadi_sph_friction_strain(WadiSphStrain *strain, const WadiF4 *velocity, const WadiSphFrictionIn *in);

/* `friction`: a guess on entry; `velocity`: v* and the friction of the guess on entry, v
 * after. */
WadiStatus wadi_sph_friction_solve(WadiF4 *velocity, const WadiF4 *v_star, const WadiSphFriction *friction,
                                   const WadiSphFrictionIn *in, WadiSphFrictionReport *report,
                                   WadiArena *arena, WadiError *error);

/* The largest eigenvalue of the operator from T and t to D and -v, by the power method; rows and columns of
 * tractions are scaled as their steps are. */
WadiStatus wadi_sph_friction_largest(const WadiSphFrictionIn *in, int iterations, double *largest,
                                     WadiArena *arena, WadiError *error);

/* sph_friction_bound.c: the pressure that bounds the stress of a particle, m/s: half of it its own, half
 * the mean of its neighbours. The pressures of single particles scatter, and sand would yield at those
 * where it is low. */
float wadi_sph_friction_pressure(const WadiSphPairs *pairs, const float *pressure, int32_t i);
/* The same from the Laplacian of the pressure (wadi_sph_push), without another sum. */
float wadi_sph_friction_smooth(const WadiSphPairs *pairs, float pressure, float laplacian,
                               float inverse_density, int32_t i);
/* Adds to the densities of sand what the kernel misses beyond a free surface, so that the outermost row is
 * not pressed into the next one. */
void wadi_sph_friction_fill_surface(float *density, const WadiSphPairs *pairs, const WadiSphWalls *walls,
                                    const uint8_t *is_sand);

/* T : T. */
static inline float wadi_sph_stress_square(const float t[WADI_SPH_STRESSES])
{
    return 2.0f * (t[0] * t[0] + t[1] * t[1] + t[0] * t[1] + t[2] * t[2] + t[3] * t[3] + t[4] * t[4]);
}

#endif
