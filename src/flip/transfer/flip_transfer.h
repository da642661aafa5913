/* Velocities from particles to the grid and back. [ZB05 secs. 4.2.2, 4.2.4; JSSTS15; theory 2.1, 2.2]
 *
 * Hat weights w = N(dx) N(dy) N(dz), N(s) = max(0, 1 - |s|), per staggered component. With APIC a particle
 * has an affine matrix C (1/s), nine float columns c00..c22: its velocity at a face is v + C (x_face - x).
 *
 * Each material has its own transfer: PIC, FLIP with its own fraction, or APIC; a scene and a cell may mix
 * them. */
#ifndef WADI_FLIP_TRANSFER_H
#define WADI_FLIP_TRANSFER_H

#include "flip/transfer/flip_grid.h"
#include "matter/materials.h"

typedef struct WadiFlipAffine {
    int column[9];                    /* indices of the columns of C, row-major */
    bool is_used[WADI_MATERIALS_MAX]; /* by material: uses APIC. For the others C is not read and becomes 0 */
} WadiFlipAffine;

/* Add the columns c00 .. c22 to an empty store; all materials use them. */
WadiStatus wadi_flip_affine_add(WadiParticles *particles, WadiFlipAffine *affine, WadiError *error);

typedef struct WadiFlipToGridIn {
    const WadiTileSort *sort;
    const WadiParticles *particles; /* in the order of `sort` */
    const float *mass;  /* of a particle, by material; any unit in which sums stay in the range of float */
    int material_count; /* 0: all have mass 1 */
    const WadiFlipAffine *affine; /* APIC; NULL: no material uses it */
} WadiFlipToGridIn;

/* face_mass = sum of m w, velocity = sum of m w v / face_mass (0 where nothing arrived), on every row of the
 * grid. */
WadiStatus wadi_flip_particles_to_grid(WadiFlipGrid *grid, const WadiFlipToGridIn *in, WadiArena *scratch,
                                       WadiError *error);

typedef struct WadiFlipToParticlesIn {
    const WadiTileSort *sort;
    const WadiFlipGrid *grid; /* velocities are set (extended) in every lane within the margin of the fluid */
    const float *const
        *saved; /* [3] velocities of the grid right after particles to grid; NULL without FLIP */
    const int32_t *saved_row; /* per row: its row in `saved` (flip_row_table.h); may be NULL */
    /* By material: fraction of FLIP in this step, 0: PIC or APIC .. 1; NULL: 0. */
    const float *flip_fraction;
    int material_count; /* length of flip_fraction; the other materials have 0 */
    double dt;          /* s */
    /* Of the path: 1 (chord), or in the field 2 (midpoint) or 3 (Ralston). */
    int order;
    const WadiFlipAffine *affine; /* APIC: C is written; NULL: no material uses it */
} WadiFlipToParticlesIn;

/* Ends of the paths in the velocity field; wadi_flip_move follows them against the solids. */
typedef struct WadiFlipPath {
    double *x, *y, *z; /* m; particle i is at index i - first */
    int32_t first;
    int64_t long_paths; /* particles whose path took more than one step: about two cells or more */
} WadiFlipPath;

/* New velocities v = (1 - a) u(x) + a (v + (u - saved)(x)) with a = flip_fraction, and the end of the path
 * x + dt u(x), or that of dx/dt = u in steps of at most two cells. Positions stay as they are. */
WadiStatus wadi_flip_grid_to_particles(WadiParticles *particles, WadiFlipPath *path,
                                       const WadiFlipToParticlesIn *in, WadiArena *arena, WadiError *error);

/* Velocity of the grid at a position in cells (x / cell_size). false, with u unchanged, where a face is
 * outside the rows of the grid. */
bool wadi_flip_grid_sample(const WadiFlipGrid *grid, const double position[3], double u[3]);

#endif
