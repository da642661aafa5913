/* Pressure projection of the face velocities.
 *
 * Unknowns are scaled to velocities [theory 1.3]: P = p dt / (rho_ref h), in m/s, so that the
 * stencils hold neither h nor dt. When dt changes, multiply a stored P by dt_new / dt_old. p = P rho_ref h /
 * dt.
 *
 * The rows must hold the six neighbours of every fluid cell: a face without a row behind it counts as a wall
 * at rest. */
#ifndef WADI_FLIP_PROJECT_H
#define WADI_FLIP_PROJECT_H

#include "linsys/poisson.h"

/* wadi_poisson_solve, or a slow plain solver in tests. */
typedef WadiStatus (*WadiPoissonSolveFn)(const WadiPoisson *system, const float *b,
                                         const WadiPoissonSettings *settings, double *x, WadiArena *scratch,
                                         WadiPoissonReport *report, WadiError *error);

typedef struct WadiFlipProjectIn {
    const WadiRows *rows;
    const uint8_t *fluid; /* per row: bit l set where the cell of lane l is FLUID */
    const int32_t
        *solid_row;       /* per row: where open and solid_velocity have it (flip_row_table.h); may be NULL */
    const float *open[3]; /* per face: open fraction, 0..1 */
    const float *solid_velocity[3]; /* per face: normal velocity of the solid, m/s; NULL: 0 */
    /* Per face: part of the way from a fluid to an air cell that is fluid. NULL: as the distance from the surface has it, which is
     * per cell, m, negative in fluid; 1 where that is NULL too. */
    const float *theta[3], *surface_distance;
    const float *density;     /* per cell, kg/m^3; NULL: reference_density everywhere */
    double reference_density; /* kg/m^3 */
    const float *expansion;   /* per cell: divergence wanted after, 1/s (density correction); NULL: 0 */
    /* Per row: where `expansion` and P have it (flip_row_table.h): rows with a fluid cell, in their order; perhaps some others.
     * NULL: they have all rows. */
    const int32_t *fluid_row;
    int32_t fluid_rows;         /* of those arrays, the null row included; not read without fluid_row */
    double cell_size;           /* m */
    WadiPoissonSettings solver; /* tolerances in m/s: the residual is divergence times cell_size */
    WadiPoissonSolveFn solve;
    /* `solve` keeps P >= 0 and gives up cells that would pull as air, by P = 0: what parts there is no
     * divergence to report [theory 5.2]. */
    bool is_unilateral;
} WadiFlipProjectIn;

typedef struct WadiFlipProjectOut {
    float *velocity[3]; /* in and out, per face, m/s */
    double *pressure;   /* per cell; in: warm start; out: P, m/s; 0 where there is no unknown */
    /* Per row and component: bit set where the face is open and touches a fluid cell, so that its velocity is
     * known. */
    uint8_t *known[3];
    /* Another projection follows: nobody asks for the divergence left, max_divergence is 0. */
    bool is_interim;
} WadiFlipProjectOut;

typedef struct WadiFlipProjectReport {
    WadiPoissonReport solve;
    int64_t unknowns;
    int64_t dropped;       /* unknowns that a unilateral solve gave up as air */
    double max_divergence; /* after, 1/s, over the other ones, less the wanted expansion */
} WadiFlipProjectReport;

WadiStatus wadi_flip_project(const WadiFlipProjectIn *in, WadiFlipProjectOut *out, WadiArena *scratch,
                             WadiFlipProjectReport *report, WadiError *error);

/* The same in two parts, to project several velocities with one matrix and one hierarchy. Everything `in` points to has to stay
 * as it is, and `scratch`, the same in all calls, must not be released in between. */
typedef struct WadiFlipProjector WadiFlipProjector;

WadiStatus wadi_flip_projector_begin(WadiFlipProjector **projector, const WadiFlipProjectIn *in,
                                     WadiArena *scratch, WadiError *error);
WadiStatus wadi_flip_projector_run(WadiFlipProjector *projector, WadiFlipProjectOut *out, WadiArena *scratch,
                                   WadiFlipProjectReport *report, WadiError *error);

/* The linear system alone, over the rows that hold a fluid cell: with the margin there are two or three times as many. `poisson`
 * points into this struct: do not copy it. Memory of its arrays belongs to `arena`. */
typedef struct WadiFlipSystem {
    uint64_t *mask; /* per tile of the grid */
    WadiRows rows;
    int32_t *full; /* per row: its number in the grid */
    WadiPoisson poisson;
    uint8_t *active; /* fluid cells with an open face: one shut in on all sides has nothing to solve for */
    float *diagonal;
    float *coupling[3]; /* what poisson.cx, cy, cz point to */
} WadiFlipSystem;

/* Density and theta are read beside fluid cells only. */
WadiStatus wadi_flip_project_assemble(const WadiFlipProjectIn *in, WadiFlipSystem *system, WadiArena *arena,
                                      WadiError *error);
/* The right-hand side, m/s, on the system's rows. */
void wadi_flip_project_rhs(const WadiFlipProjectIn *in, const WadiFlipSystem *system,
                           float *const velocity[3], float *rhs);

#endif
