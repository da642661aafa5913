/* Velocities from particles to the grid and back. [ZB05 section 4; models 1.2; APIC: JSSTS15]
 *
 * Hat weights w = N(dx) N(dy) N(dz), N(s) = max(0, 1 - |s|), per staggered component. With APIC a particle carries the affine
 * matrix C (1/s), nine float columns c00..c22: the velocity it stands for at a face is v + C (x_face - x). */
#ifndef WADI_FLIP_TRANSFER_H
#define WADI_FLIP_TRANSFER_H

#include "flip/flip_grid.h"

/* Column numbers of C, row-major. */
typedef struct WadiFlipAffine {
    int column[9];
} WadiFlipAffine;

/* Add the columns c00 .. c22 to an empty store. */
WadiStatus wadi_flip_affine_add(WadiParticles *particles, WadiFlipAffine *affine, WadiError *error);

typedef struct WadiFlipToGridIn {
    const WadiFlipSort *sort;
    const WadiParticles *particles; /* in the order of `sort` */
    const float *mass;  /* of a particle, by material: any unit that keeps sums in the range of float */
    int material_count; /* 0: all have mass 1 */
    const WadiFlipAffine *affine; /* APIC; NULL: without */
} WadiFlipToGridIn;

/* face_mass = sum of m w, velocity = sum of m w v / face_mass (0 where nothing arrived), on every row of the grid. */
WadiStatus wadi_flip_particles_to_grid(WadiFlipGrid *grid, const WadiFlipToGridIn *in, WadiArena *scratch,
                                       WadiError *error);

typedef struct WadiFlipToParticlesIn {
    const WadiFlipSort *sort;
    const WadiFlipGrid
        *grid; /* velocities have to be set (extended) in every lane within the margin of the fluid */
    const float *const *saved; /* [3] the velocities that particles gave to the grid; NULL when flip is 0 */
    double flip;               /* 0: PIC .. 1: FLIP; 0 with APIC */
    double dt;                 /* s */
    int order;                 /* of the path: 2 (midpoint) or 3 (Ralston) */
    const WadiFlipAffine *affine; /* APIC: C is written; NULL: without */
} WadiFlipToParticlesIn;

/* Where each particle wants to be at the end of the step; to be followed against the solids by wadi_flip_move. */
typedef struct WadiFlipPath {
    double *x, *y, *z;  /* m, per particle; in the arena */
    int32_t first;      /* particles before it stay where they are: their ends are not set */
    int64_t long_paths; /* particles whose path took more than one step: about two cells or more */
} WadiFlipPath;

/* New velocities v = (1 - a) u(x) + a (v + (u - saved)(x)), and the end of the path dx/dt = u in steps of at most two cells.
 * Positions stay as they are. */
WadiStatus wadi_flip_grid_to_particles(WadiParticles *particles, WadiFlipPath *path,
                                       const WadiFlipToParticlesIn *in, WadiArena *arena, WadiError *error);

/* Velocity of the grid at a place given in cells (x / cell_size). false, and u untouched, where a face is missing: outside the
 * rows of the grid. */
bool wadi_flip_grid_sample(const WadiFlipGrid *grid, const double place[3], double u[3]);

#endif
