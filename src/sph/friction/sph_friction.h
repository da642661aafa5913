/* Friction inside sand and between sand and walls, at a given pressure: of all stresses within the yield
 * surface those that leave the least kinetic energy.
 *   v_i = v*_i + (V_i/m_i) [ sum_j (T_i + T_j) G_ij + sum_c t_c ],  sand and sand only
 *   D_i = dev sym sum_j (v_j - v_i) (x) G_ij
 *   |T_i|_F / sqrt 2 <= k P_i + c,  |t_c| <= mu P_i |w_c|,  t_c along the wall
 * T = stress dt / (density of reference x spacing) in m/s, as the pressure; w_c the wall's share of the
 * pressure's gradient. T to v and v to -D are transposes of each other. Source: [theory 11.5]. */
#ifndef WADI_SPH_FRICTION_H
#define WADI_SPH_FRICTION_H

#include "sph/pairs/sph_pairs.h"

/* The numbers of a symmetric tensor without trace: xx, yy, xy, yz, zx; zz = -xx - yy. */
enum { WADI_SPH_STRESSES = 5 };

/* The unknowns, and room for a solve: where it takes the gradient, beyond the unknowns by the momentum. */
typedef struct WadiSphFriction {
    float *stress[WADI_SPH_STRESSES]; /* per particle; 0 for water */
    WadiF4 *traction;                 /* per contact, see wadi_sph_first_contact */
    WadiF4 *row; /* per particle: xx, yy, xy, yz, one load for a neighbour. Padded by eight */
    float *last; /* zx, padded; while forces are summed, the number of the pairs as well */
    WadiF4 *traction_at;
} WadiSphFriction;

typedef struct WadiSphFrictionIn {
    const WadiSphPairs *pairs;
    const WadiSphWalls *walls;
    const uint8_t *is_sand;
    const uint8_t *role; /* WadiSphRole: frozen ones keep their stress and velocity */
    const float *inverse_density;
    const float *pressure; /* P, at least 0 */
    const float *bound;    /* per particle: k P + c, m/s */
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

/* to_i = from_i + (V_i/m_i) [ sum_j (T_i + T_j) G_ij + sum_c t_c ]; the arrays may be the same. */
void wadi_sph_friction_apply(WadiF4 *to, const WadiF4 *from, const WadiSphFriction *friction,
                             const WadiSphFrictionIn *in);
/* D_i of a velocity; 0 for water. */
void wadi_sph_friction_strain(float *const strain[WADI_SPH_STRESSES], const WadiF4 *velocity,
                              const WadiSphFrictionIn *in);

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
