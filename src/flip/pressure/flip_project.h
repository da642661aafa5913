/* Pressure projection of the face velocities.
 *
 * Unknowns are scaled to velocities [theory 1.3]: P = p dt / (rho_ref h), in m/s, so that the stencils
 * contain neither h nor dt. If dt changes, multiply a stored P by dt_new / dt_old.
 *
 * The rows must include the six neighbours of every fluid cell: a face without a row behind it is a wall
 * at rest. */
#ifndef WADI_FLIP_PROJECT_H
#define WADI_FLIP_PROJECT_H

#include "linsys/poisson.h"

/* wadi_poisson_solve, or a plain reference solver in tests. */
typedef WadiStatus (*WadiPoissonSolveFn)(const WadiPoisson *system, const float *b,
                                         const WadiPoissonSettings *settings, double *x, WadiArena *scratch,
                                         WadiPoissonReport *report, WadiError *error);

typedef struct WadiFlipProjectIn {
    const WadiRows *rows;
    const uint8_t *fluid; /* per row: bit l set where the cell of lane l is FLUID */
    /* Per row: its row in open and solid_velocity (flip_row_table.h); may be NULL. */
    const int32_t *solid_row;
    const float *open[3];           /* per face: open fraction, 0..1 */
    const float *solid_velocity[3]; /* per face: normal velocity of the solid, m/s; NULL: 0 */
    /* theta, per face: fluid fraction of the segment between a fluid and an air cell. NULL: computed from
     * surface_distance (per cell, m, negative in fluid); 1 if that is NULL too. */
    const float *theta[3], *surface_distance;
    const float *density[3];  /* per face, kg/m^3; NULL: reference_density everywhere */
    double reference_density; /* kg/m^3 */
    /* Per face: mass over that of a full face, > 0; NULL: 1. Cohesive sand at the surface [theory 6.13]. */
    const float *fraction[3];
    const float *expansion; /* per cell: prescribed divergence, 1/s (density correction); NULL: 0 */
    /* Per row: its row in `expansion` and P (flip_row_table.h): rows with a fluid cell, in order, possibly
     * with others. NULL: they have all rows. */
    const int32_t *fluid_row;
    int32_t fluid_rows;         /* of those arrays, including the null row; not read without fluid_row */
    double cell_size;           /* m */
    WadiPoissonSettings solver; /* tolerances in m/s: the residual is divergence times cell_size */
    WadiPoissonSolveFn solve;
    /* `solve` keeps P >= 0 and drops cells in tension as air, with P = 0; their divergence is not reported
     * [theory 5.2]. With `tension`, T per cell over all rows, it is P >= -T instead [theory 6.13]. */
    bool is_unilateral;
    const float *tension;
} WadiFlipProjectIn;

typedef struct WadiFlipProjectOut {
    float *velocity[3]; /* in and out, per face, m/s */
    double *pressure;   /* per cell; in: initial guess; out: P, m/s; 0 where there is no unknown */
    /* Per row and component: bit set where the face is open and touches a fluid cell: its velocity is
     * known. */
    uint8_t *known[3];
    /* Another projection follows: the remaining divergence is not computed, max_divergence is 0. */
    bool is_interim;
} WadiFlipProjectOut;

typedef struct WadiFlipProjectReport {
    WadiPoissonReport solve;
    int64_t unknowns;
    int64_t dropped;       /* unknowns that a unilateral solve dropped as air */
    double max_divergence; /* remaining, 1/s, over the other unknowns, relative to the prescribed one */
} WadiFlipProjectReport;

WadiStatus wadi_flip_project(const WadiFlipProjectIn *in, WadiFlipProjectOut *out, WadiArena *scratch,
                             WadiFlipProjectReport *report, WadiError *error);

/* The same in two parts, to project several velocities with one matrix and one hierarchy. All data of `in`
 * must stay unchanged, and `scratch`, the same in all calls, must not be released in between. */
typedef struct WadiFlipProjector WadiFlipProjector;

WadiStatus wadi_flip_projector_begin(WadiFlipProjector **projector, const WadiFlipProjectIn *in,
                                     WadiArena *scratch, WadiError *error);
WadiStatus wadi_flip_projector_run(WadiFlipProjector *projector, WadiFlipProjectOut *out, WadiArena *scratch,
                                   WadiFlipProjectReport *report, WadiError *error);

/* Impulse of P, 0 outside fluid cells, on the open part of every face, m/s times the mass of a full face: the
 * adjoint of the divergence, which neither makes nor takes momentum. */
void wadi_flip_pressure_impulse(const WadiFlipProjectIn *in, const double *pressure, float *const impulse[3]);

/* The right-hand side on the rows of P: h (e - div u), 0 where there is no unknown. `in` may differ from the
 * projector's in expansion and the solids' velocity. */
void wadi_flip_projector_rhs(const WadiFlipProjector *projector, const WadiFlipProjectIn *in,
                             float *const velocity[3], float *rhs);

/* The linear system over the rows with a fluid cell only: the margin has two or three times as many.
 * `poisson` points into this struct: do not copy it. `arena` owns the arrays. */
typedef struct WadiFlipSystem {
    uint64_t *mask; /* per tile of the grid */
    WadiRows rows;
    int32_t *full; /* per row: its index in the grid */
    WadiPoisson poisson;
    float *least;    /* -T; NULL: 0 */
    uint8_t *active; /* fluid cells with an open face: a cell closed on all sides has no unknown */
    float *diagonal;
    float *coupling[3]; /* referenced by poisson.cx, cy, cz */
} WadiFlipSystem;

/* Density and theta are read only at faces of fluid cells. */
WadiStatus wadi_flip_project_assemble(const WadiFlipProjectIn *in, WadiFlipSystem *system, WadiArena *arena,
                                      WadiError *error);
/* The right-hand side, m/s, on the system's rows. */
void wadi_flip_project_rhs(const WadiFlipProjectIn *in, const WadiFlipSystem *system,
                           float *const velocity[3], float *rhs);

#endif
