/* Smoothed particles as LD09 and T10 print them: `published` of the solver sph. SI units, in double.
 *
 * A particle i has the support radius r_i, two spacings for one of the scene's size. Kernels are those of
 * [MCG03], which both papers take: poly6 for sums and gradients, spiky for the pressure, and the kernel of
 * viscosity for Laplacians. A pair has the mean of the kernels of both radii [T10 eqs. 4, 5].
 * Gradients are those with respect to x_i of W(x_i - x_j), but for eq. 22: see sph_printed_porous.c. */
#ifndef WADI_SPH_PRINTED_H
#define WADI_SPH_PRINTED_H

#include "math/sym3.h"
#include "particles/cells.h"
#include "sph/walls/sph_walls.h"
#include "world/scene.h"

/* Support radius over the size of a particle. */
#define WADI_SPH_PRINTED_SUPPORT 2.0

/* The particles of a step; an item each. */
typedef struct WadiSphPrinted {
    int32_t count;
    double spacing, dt; /* m, s */
    double reach;       /* m: the largest radius */
    WadiNeighbours near;
    const double *x, *y, *z;
    const uint8_t *is_sand;
    double *radius;       /* m: r_i */
    double *mass;         /* kg, with the water in its pores */
    double *rest_density; /* kg/m^3: rho_0 */
    double *density;
    double *pressure;  /* Pa */
    double *viscosity; /* Pa s */
    double *cohesion;  /* Pa */
    double *friction;  /* mu_f */
    WadiVec3 *velocity;
    WadiVec3 *force; /* N */
    const WadiSphWalls *walls;
    bool is_t10; /* p = k (rho / rho_0 - 1) for water, and eq. 9 as printed */
} WadiSphPrinted;

/* sph_printed_kernel.c. W(r), 1/m^3, the factor f <= 0 of grad_i W = f (x_i - x_j), and the Laplacian, >= 0.
 * W is scaled so that a cubic lattice of two particles a radius has its density at rest. */
double wadi_sph_printed_weight(double distance, double radius);
double wadi_sph_printed_slope(double distance, double radius);
double wadi_sph_printed_spiky_slope(double distance, double radius);
double wadi_sph_printed_laplacian(double distance, double radius);
/* A wall as the half space of the same fluid: part of W behind it, and -d/d(distance) of that of the spiky
 * kernel, 1/m. */
double wadi_sph_printed_wall_part(double distance, double radius);
double wadi_sph_printed_wall_slope(double distance, double radius);

/* x^7 */
static inline double wadi_sph_printed_seventh(double x)
{
    const double cube = x * x * x;
    return cube * cube * x;
}

static inline WadiVec3 wadi_sph_printed_between(const WadiSphPrinted *p, int32_t i, int32_t j)
{
    return (WadiVec3){ p->x[i] - p->x[j], p->y[i] - p->y[j], p->z[i] - p->z[j] };
}

static inline double wadi_sph_printed_volume(const WadiSphPrinted *p, int32_t i)
{
    return p->mass[i] / p->density[i];
}

/* sph_printed_forces.c. Density by T10 eq. 6; pressure by Tait's equation with the speed of sound c; the
 * forces of pressure, viscosity and walls, which are set. */
void wadi_sph_printed_density(WadiSphPrinted *p);
void wadi_sph_printed_pressure(const WadiSphPrinted *p, double sound_speed);
void wadi_sph_printed_forces(const WadiSphPrinted *p);
/* N: of contact c of near particle n of a wall on particle i; not negative. */
double wadi_sph_printed_wall_force(const WadiSphPrinted *p, int32_t i, const WadiSphContact *contact);

/* sph_printed_sand.c. Strain rates of the sand; which of it is rigid; the forces of the frictional stress
 * of the other sand on all of it, which are added to p->force. */
typedef struct WadiSphPrintedSand {
    WadiSym3 *strain;               /* 1/s: D */
    double (*gradient)[9];          /* 1/s: of the velocity, by rows */
    WadiSym3 *stress;               /* Pa: sigma_f of sliding sand, else 0 */
    uint8_t *is_rigid, *is_sliding; /* sliding: has a stress */
} WadiSphPrintedSand;

void wadi_sph_printed_strain(const WadiSphPrinted *p, WadiSphPrintedSand *sand);
void wadi_sph_printed_yield(const WadiSphPrinted *p, WadiSphPrintedSand *sand);
void wadi_sph_printed_friction(const WadiSphPrinted *p, const WadiSphPrintedSand *sand);
/* Coulomb's friction of the walls' forces, which stops no more than there is. */
void wadi_sph_printed_wall_friction(const WadiSphPrinted *p, const uint8_t *is_left_out, WadiVec3 *velocity);

/* sph_printed_clusters.c */
typedef struct WadiSphPrintedCluster {
    int32_t count;
    double mass;                       /* kg */
    WadiVec3 centre, momentum;         /* m, kg m/s */
    WadiVec3 spin, torque;             /* about the centre */
    WadiVec3 force;                    /* N */
    WadiSym3 inertia;                  /* kg m^2 */
    double grip;                       /* N s: mu times the impulse of its walls */
    WadiVec3 grip_centre, grip_motion; /* means over the contacts, by grip */
} WadiSphPrintedCluster;

typedef struct WadiSphPrintedClusters {
    int32_t count;
    WadiSphPrintedCluster *cluster;
    int32_t *of; /* per particle; -1: not rigid */
} WadiSphPrintedClusters;

/* Rigid particles within `range` (m) of each other, along paths. */
WadiStatus wadi_sph_printed_clusters_find(WadiSphPrintedClusters *clusters, const WadiSphPrinted *p,
                                          const uint8_t *is_rigid, double range, WadiArena *arena,
                                          WadiError *error);
/* `velocity`: after the step, of the particles of clusters, from those before it and from p->force.
 * [LD09 sec. 2]: each cluster moves as a rigid body with its momenta, after the friction of its walls. */
void wadi_sph_printed_clusters_move(const WadiSphPrinted *p, WadiSphPrintedClusters *clusters,
                                    WadiVec3 *velocity);
/* [T10 eqs. 12 to 18]: each particle adds what force and torque give the cluster to its own velocity, with
 * the printed inertia tensor. m_i of eq. 18 is read as the mass of the cluster. */
void wadi_sph_printed_clusters_push(const WadiSphPrinted *p, const WadiSphPrintedClusters *clusters,
                                    WadiVec3 *velocity);

/* sph_printed_contacts.c, T10 alone. Whether sand takes part: it has a neighbour of water, or moves already
 * (fig. 3.6). Collisions of sand with water as of grains [BYM05], and tension by cohesion [BT07]: both are
 * added to p->force. `speed`: of the impacts that the stiffness is for; `kappa`: m^3/s^2, per particle. */
bool wadi_sph_printed_is_touched(const WadiSphPrinted *p, const WadiParticles *particles);
void wadi_sph_printed_collide(const WadiSphPrinted *p, double speed);
void wadi_sph_printed_cohere(const WadiSphPrinted *p, const double *kappa);

/* sph_printed_porous.c. `water`: kg, of water particles their own mass. */
typedef struct WadiSphPrintedPores {
    double *water;
    double *saturation;         /* out: S before the flow */
    double *pore_pressure;      /* out, Pa: P^p */
    const double *full;         /* kg: of a particle of water */
    const double *permeability; /* m^2 */
    const double *porosity;     /* phi, 1 of water */
    const double *capillary;    /* Pa: k^c, and its exponent alpha; beta */
    const double *capillary_exponent, *flow_exponent;
    double water_density, viscosity; /* kg/m^3, Pa s */
    double pore_stiffness;           /* Pa: k^p */
    WadiVec3 gravity;
} WadiSphPrintedPores;

/* Absorption, then emission: changes pores->water. Returns the water that the formulas made, kg. */
WadiStatus wadi_sph_printed_flow(const WadiSphPrinted *p, WadiSphPrintedPores *pores, double *made,
                                 WadiArena *arena, WadiError *error);

#endif
