/* The linear systems of the grid solvers: symmetric seven-point operators over sparse rows.
 *   (A x)_c = diagonal_c x_c - sum over the six neighbours n of coupling_cn x_n
 * with coupling_cn = coupling_nc >= 0, zero unless both are unknowns, and diagonal_c >= sum of its couplings (more where a cell
 * meets air; equal everywhere in a closed component, whose null space is the constant vector). A diagonal within 1e-6 of that
 * sum is taken for the sum: the rest is rounding of whoever added it up, and over a large body it would act as an outlet. */
#ifndef WADI_LINSYS_POISSON_H
#define WADI_LINSYS_POISSON_H

#include "grid/rows.h"

/* The coarse levels of a system, made by its first solve. */
typedef struct WadiPoissonHierarchy WadiPoissonHierarchy;

typedef struct WadiPoisson {
    const WadiRows *rows;
    const uint8_t *active;           /* per row: bit l set where the cell of lane l is an unknown */
    const float *diagonal;           /* per cell; 0 where there is no unknown */
    const float *cx, *cy, *cz;       /* per cell: coupling with its -x, -y, -z neighbour */
    WadiPoissonHierarchy *hierarchy; /* for several solves of one system; NULL: each makes its own */
} WadiPoisson;

/* An empty one, for WadiPoisson.hierarchy. It belongs to the arena, which has to be the scratch of the solves and must not be
 * released in between. */
WadiStatus wadi_poisson_hierarchy_begin(WadiPoissonHierarchy **hierarchy, WadiArena *scratch,
                                        WadiError *error);

typedef struct WadiPoissonSettings {
    double
        tolerance; /* stop when max |b - A x| <= tolerance * max |b| (or `absolute`, whichever is larger) */
    double absolute;
    int max_iterations;
    int min_iterations; /* also where the first guess will do: from step to step it is off to the same side */
} WadiPoissonSettings;

typedef struct WadiPoissonReport {
    int iterations;        /* of the conjugate gradients, over all refinements */
    double residual;       /* true max |b - A x|, computed in double */
    double first_residual; /* of the warm start */
    int closed_components; /* components without a way out: the mean of b over each was removed */
    bool has_converged;
} WadiPoissonReport;

/* Solve from the warm start in x (per cell, double; entries that are no unknowns are ignored and become 0). `b` is per cell.
 * In closed components the mean of b is removed and x gets mean zero. */
WadiStatus wadi_poisson_solve(const WadiPoisson *system, const float *b, const WadiPoissonSettings *settings,
                              double *x, WadiArena *scratch, WadiPoissonReport *report, WadiError *error);

/* The same under p >= 0, for fluid that may part from itself [theory 5.2]: unknowns whose solution is negative
 * become air (x = 0, their neighbours keep the diagonal) and the rest is solved again, `rounds` solves at most (2 is enough);
 * nothing comes back. A closed component cannot part and gets lowest value zero. What is still negative after the last solve is set to 0. *dropped (may be NULL) counts the unknowns
 * that ended at 0 this way; report->iterations is over all rounds, the residual is the last solve's over its unknowns. */
WadiStatus wadi_poisson_solve_unilateral(const WadiPoisson *system, const float *b,
                                         const WadiPoissonSettings *settings, int rounds, double *x,
                                         WadiArena *scratch, WadiPoissonReport *report, int64_t *dropped,
                                         WadiError *error);

/* Red-black successive over-relaxation from the warm start in x: the plain reference, and what course codes do. omega in
 * (0, 2); settings->max_iterations sweeps at most; report->iterations counts them. Means are not removed. */
WadiStatus wadi_poisson_sor(const WadiPoisson *system, const float *b, double omega,
                            const WadiPoissonSettings *settings, double *x, WadiArena *scratch,
                            WadiPoissonReport *report, WadiError *error);

/* y = A x in double, for tests and residuals. */
void wadi_poisson_apply(const WadiPoisson *system, const double *x, double *y);

/* Symmetric, diagonally dominant, nothing coupled to what is no unknown. */
bool wadi_poisson_validate(const WadiPoisson *system);

#endif
