/* Velocities from particles to the grid and back. [ZB05 section 4; JSSTS15; theory 2.1, 2.2]
 *
 * Hat weights w = N(dx) N(dy) N(dz), N(s) = max(0, 1 - |s|), per staggered component. With APIC a particle carries the affine
 * matrix C (1/s), nine float columns c00..c22: the velocity it stands for at a face is v + C (x_face - x).
 *
 * Each material has its own way: PIC, FLIP with its own share, or APIC; they may share a scene and a cell. */
#ifndef WADI_FLIP_TRANSFER_H
#define WADI_FLIP_TRANSFER_H

#include "flip/transfer/flip_grid.h"
#include "matter/materials.h"

typedef struct WadiFlipAffine {
    int column[9];                    /* numbers of the columns of C, row-major */
    bool is_used[WADI_MATERIALS_MAX]; /* by material: APIC. Of the others C is not read and becomes 0 */
} WadiFlipAffine;

/* Add the columns c00 .. c22 to an empty store; all materials use them. */
WadiStatus wadi_flip_affine_add(WadiParticles *particles, WadiFlipAffine *affine, WadiError *error);

typedef struct WadiFlipToGridIn {
    const WadiFlipSort *sort;
    const WadiParticles *particles; /* in the order of `sort` */
    const float *mass;  /* of a particle, by material: any unit that keeps sums in the range of float */
    int material_count; /* 0: all have mass 1 */
    const WadiFlipAffine *affine; /* APIC; NULL: no material has it */
} WadiFlipToGridIn;

/* face_mass = sum of m w, velocity = sum of m w v / face_mass (0 where nothing arrived), on every row of the grid. */
WadiStatus wadi_flip_particles_to_grid(WadiFlipGrid *grid, const WadiFlipToGridIn *in, WadiArena *scratch,
                                       WadiError *error);

typedef struct WadiFlipToParticlesIn {
    const WadiFlipSort *sort;
    const WadiFlipGrid
        *grid; /* velocities have to be set (extended) in every lane within the margin of the fluid */
    const float *const *saved; /* [3] the velocities that particles gave to the grid; NULL without FLIP */
    const int32_t *saved_row;  /* per row: where `saved` has it (flip_row_table.h); may be NULL */
    const float
        *flip_fraction; /* by material: the share of FLIP in this step, 0: PIC .. 1; 0 with APIC; NULL: 0 */
    int material_count; /* length of keep; the others have 0 */
    double dt;          /* s */
    int order;          /* of the path: 2 (midpoint) or 3 (Ralston) */
    const WadiFlipAffine *affine; /* APIC: C is written; NULL: no material has it */
} WadiFlipToParticlesIn;

/* Where each particle wants to be at the end of the step; to be followed against the solids by wadi_flip_move. */
typedef struct WadiFlipPath {
    double *x, *y, *z; /* m; that of particle i at i - first */
    int32_t first;
    int64_t long_paths; /* particles whose path took more than one step: about two cells or more */
} WadiFlipPath;

/* New velocities v = (1 - a) u(x) + a (v + (u - saved)(x)) with a = flip_fraction, and the end of the path dx/dt = u in steps of at most two cells.
 * Positions stay as they are. */
WadiStatus wadi_flip_grid_to_particles(WadiParticles *particles, WadiFlipPath *path,
                                       const WadiFlipToParticlesIn *in, WadiArena *arena, WadiError *error);

/* Velocity of the grid at a place given in cells (x / cell_size). false, and u untouched, where a face is missing: outside the
 * rows of the grid. */
bool wadi_flip_grid_sample(const WadiFlipGrid *grid, const double place[3], double u[3]);

#endif
