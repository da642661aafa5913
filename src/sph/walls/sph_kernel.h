/* The kernels of the sph solver and the density of a wall. Lengths are in spacings of the particles. Water
 * alone: the cubic spline with a support of 2.4 spacings, 56 neighbours. Sand, and water in a scene with
 * sand: that of two spacings, cut off where it is nearly 0: 26 neighbours. [theory 11.2] */
#ifndef WADI_SPH_KERNEL_H
#define WADI_SPH_KERNEL_H

#include <stdbool.h>

/* Support radius of the spline of sand, spacings. */
#define WADI_SPH_SUPPORT 2.0
/* From this distance on the kernel of sand is 0. The spline there, over that at distance 0, is taken off: a
 * fifth of all pairs have 1 % of the forces. It lies between the neighbours of a lattice at 1.73 and at 2. */
#define WADI_SPH_REACH 1.85
#define WADI_SPH_CUT                                                                                         \
    (2.0 * (1.0 - 0.5 * WADI_SPH_REACH) * (1.0 - 0.5 * WADI_SPH_REACH) * (1.0 - 0.5 * WADI_SPH_REACH))
/* Support of the spline of water, spacings. The forces of a pressure p on uneven particles resist shear with
 * the frequency sqrt(2 mu p / rho) / dx, and mu is 1.63 instead of 4.29. */
#define WADI_SPH_WATER_SUPPORT 2.4
/* Walls farther away from sand, in spacings, add nothing. */
#define WADI_SPH_WALL_REACH (0.5 * WADI_SPH_SUPPORT)

/* Density from which a particle lies inside, and not at a free surface. */
#define WADI_SPH_INSIDE 0.92f

enum { WADI_SPH_WALL_STEPS = 512 };

typedef struct WadiSphSpline {
    float support, reach, cut;
    /* W(r) = scale (2 t^3 - 8 m^3 - cut), t = 1 - r/h, m = max(0, 1/2 - r/h). The scale contains the volume
     * of a particle, chosen so that the sum over a cubic lattice is 1. */
    float scale, own; /* own: W(0) */
    /* mu = 2 sum W_xx over the planes of a lattice of odd x: the stiffness of a pressure. */
    float stiffness;
    /* Of surface tension: factors of its attraction, which has a quarter of it, and of its stress. */
    float attraction, surface;
    /* Density that a wall at distance d adds to a full half space, and its derivative, for d = i support /
     * (2 WADI_SPH_WALL_STEPS): that of the mirror image of the particle's row. Scaled so that the first row
     * of a lattice, half a spacing from the wall, has density 1. */
    float wall[WADI_SPH_WALL_STEPS + 1], wall_slope[WADI_SPH_WALL_STEPS + 1];
} WadiSphSpline;

/* By kind: 1 for sand. A pair of both kinds has that of sand. */
typedef struct WadiSphKernel {
    WadiSphSpline of[2];
} WadiSphKernel;

/* `has_sand`: water has the kernel of sand too. With two kernels the row of water on a bed has 0.94 of the
 * density, and the pressure of the sand below is a quarter too high. */
void wadi_sph_kernel_init(WadiSphKernel *kernel, bool has_sand);
/* The density that a wall `distance` spacings away adds, and d/d(distance) of it. Nearer than
 * where it is steepest the slope stays the same, so that a particle is pushed out. */
void wadi_sph_kernel_wall(const WadiSphSpline *spline, double distance, double *part, double *slope);

/* Sizes: distance from a wall at which the slope of the kernel at the own image is steepest, r = h/3. */
static inline float wadi_sph_nearest(const WadiSphSpline *spline)
{
    return spline->support * (1.0f / 6.0f);
}

#endif
