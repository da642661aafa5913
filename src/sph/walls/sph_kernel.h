/* The kernel of the sph solver and the density of a wall. Lengths are in spacings of the particles.
 * The cubic spline with a support of two spacings, cut off where it is nearly 0: 25 neighbours instead of 32.
 * [theory 11.2] */
#ifndef WADI_SPH_KERNEL_H
#define WADI_SPH_KERNEL_H

/* Support radius of the spline, spacings. */
#define WADI_SPH_SUPPORT 2.0
/* From this distance on the kernel is 0. The spline there, over that at distance 0, is taken off: a fifth of
 * all pairs have 1 % of the forces. It lies between the neighbours of a lattice at 1.73 and at 2. */
#define WADI_SPH_REACH 1.85
#define WADI_SPH_CUT                                                                                         \
    (2.0 * (1.0 - 0.5 * WADI_SPH_REACH) * (1.0 - 0.5 * WADI_SPH_REACH) * (1.0 - 0.5 * WADI_SPH_REACH))

/* Walls farther away, in spacings, add nothing. */
#define WADI_SPH_WALL_REACH 1.0

enum { WADI_SPH_WALL_STEPS = 512 };

typedef struct WadiSphKernel {
    /* W(r) = scale (2 t^3 - 8 m^3 - cut), t = 1 - r/h, m = max(0, 1/2 - r/h). The scale contains the volume
     * of a particle, chosen so that the sum over a cubic lattice is 1. */
    float scale, own; /* own: W(0) */
    /* Density that a wall at distance d adds, and its derivative, for d = i WADI_SPH_WALL_REACH /
     * WADI_SPH_WALL_STEPS: that of the mirror image of the particle's row. Scaled so that the first row of
     * a lattice, half a spacing from the wall, has density 1. */
    float wall[WADI_SPH_WALL_STEPS + 1], wall_slope[WADI_SPH_WALL_STEPS + 1];
} WadiSphKernel;

void wadi_sph_kernel_init(WadiSphKernel *kernel);
/* The density that a wall `distance` spacings away adds, and d/d(distance) of it. Nearer than
 * where it is steepest the slope stays the same, so that a particle is pushed out. */
void wadi_sph_kernel_wall(const WadiSphKernel *kernel, double distance, double *part, double *slope);

#endif
