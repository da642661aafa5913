/* The linear systems of the grid solvers: symmetric seven-point operators over sparse rows.
 *   (A x)_c = diagonal_c x_c - sum over the six neighbours n of coupling_cn x_n
 * with coupling_cn = coupling_nc >= 0, zero unless both are unknowns, and diagonal_c >= the sum of its
 * couplings: larger next to air, equal everywhere in a closed component, whose null space is the constant
 * vector. A diagonal within 1e-6 of that sum counts as equal: the difference is rounding, and over a large
 * body it would act as an outlet. */
#ifndef WADI_LINSYS_POISSON_H
#define WADI_LINSYS_POISSON_H

#include "grid/rows.h"

/* The coarse levels of a system, built by its first solve. */
typedef struct WadiPoissonHierarchy WadiPoissonHierarchy;

typedef struct WadiPoisson {
    const WadiRows *rows;
    const uint8_t *active;           /* per row: bit l set where the cell of lane l is an unknown */
    const float *diagonal;           /* per cell; 0 where there is no unknown */
    const float *cx, *cy, *cz;       /* per cell: coupling with its -x, -y, -z neighbour */
    WadiPoissonHierarchy *hierarchy; /* shared by several solves of one system; NULL: each builds its own */
    const float *least;              /* per cell: least value in a unilateral solve, <= 0; NULL: 0 */
} WadiPoisson;

/* Creates an empty one for WadiPoisson.hierarchy. It belongs to the arena, which must be the scratch of the
 * solves and must not be released in between. */
WadiStatus wadi_poisson_hierarchy_begin(WadiPoissonHierarchy **hierarchy, WadiArena *scratch,
                                        WadiError *error);

typedef struct WadiPoissonSettings {
    double tolerance; /* stop when max |b - A x| <= max(tolerance * max |b|, absolute) */
    double absolute;
    int max_iterations;
    /* even if the warm start has converged: its error has the same sign from step to step */
    int min_iterations;
} WadiPoissonSettings;

typedef struct WadiPoissonReport {
    int iterations;        /* of the conjugate gradients */
    double residual;       /* true max |b - A x|, computed in double */
    double first_residual; /* of the warm start */
    int closed_components; /* components without an outlet; the mean of b over each was subtracted */
    bool has_converged;
} WadiPoissonReport;

/* Solves from the warm start in x (per cell, double; other entries than unknowns are ignored and become 0).
 * `b` is per cell. In closed components the mean of b is subtracted and x gets mean zero. */
WadiStatus wadi_poisson_solve(const WadiPoisson *system, const float *b, const WadiPoissonSettings *settings,
                              double *x, WadiArena *scratch, WadiPoissonReport *report, WadiError *error);

/* The same under x >= least, for material that may separate [theory 5.2]: unknowns with a smaller solution
 * get this value (the diagonals of their neighbours stay), and the system is solved again, at most `rounds`
 * solves (2 is enough). An unknown never becomes active again. A closed component cannot separate; its lowest
 * value becomes zero. Values still too small after the last solve become `least`. *dropped (may be NULL)
 * counts the unknowns set to it; report->iterations is over all rounds, the residual that of the last solve
 * over its unknowns. */
WadiStatus wadi_poisson_solve_unilateral(const WadiPoisson *system, const float *b,
                                         const WadiPoissonSettings *settings, int rounds, double *x,
                                         WadiArena *scratch, WadiPoissonReport *report, int64_t *dropped,
                                         WadiError *error);

/* y = A x in double, for tests. */
void wadi_poisson_apply(const WadiPoisson *system, const double *x, double *y);

/* Symmetric, diagonally dominant, and only unknowns are coupled. */
bool wadi_poisson_validate(const WadiPoisson *system);

#endif
