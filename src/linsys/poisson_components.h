/* Data built once per matrix: its levels, and the components without an outlet, whose pressure is determined
 * only up to a constant. */
#ifndef WADI_LINSYS_POISSON_COMPONENTS_H
#define WADI_LINSYS_POISSON_COMPONENTS_H

#include "linsys/poisson_internal.h"

typedef struct WadiPoissonClosed {
    int32_t count; /* closed components of two or more cells */
    /* per unknown of the first coarse level: its closed component or -1; NULL without any */
    const int32_t *of;
    double *sum, *members, *lowest; /* scratch, per component */
} WadiPoissonClosed;

WadiStatus wadi_poisson_closed_find(WadiPoissonClosed *closed, const WadiPoissonTree *tree, WadiArena *arena,
                                    WadiError *error);

/* Levels and closed components of one matrix. */
struct WadiPoissonHierarchy {
    bool is_made;
    WadiPoissonTree tree;
    WadiPoissonClosed closed;
};

WadiStatus wadi_poisson_hierarchy_make(WadiPoissonHierarchy *hierarchy, const WadiPoisson *system,
                                       WadiArena *arena, WadiError *error);
/* For a system that has lost a few unknowns of the one `from` was built for: rebuilds the finest level and
 * reuses the coarse levels. They precondition slightly worse, but are most of the work. */
WadiStatus wadi_poisson_hierarchy_reduce(WadiPoissonHierarchy *hierarchy, const WadiPoissonHierarchy *from,
                                         const WadiPoisson *system, WadiArena *arena, WadiError *error);

/* Subtracts the mean over each closed component, or its lowest value. */
void wadi_poisson_closed_shift(const WadiPoissonClosed *closed, const WadiPoissonFine *fine,
                               bool is_to_lowest, double *values);

#endif
