/* What is made of a matrix once: its levels, and the components of the fluid that have no way out, whose pressure is known up
 * to a constant only. */
#ifndef WADI_LINSYS_POISSON_COMPONENTS_H
#define WADI_LINSYS_POISSON_COMPONENTS_H

#include "linsys/poisson_internal.h"

typedef struct WadiPoissonClosed {
    int32_t count; /* closed components of two or more cells */
    const int32_t
        *of; /* per unknown of the first coarse level: its closed component or -1; NULL if there is none */
    double *sum, *members, *lowest; /* scratch, one a component */
} WadiPoissonClosed;

WadiStatus wadi_poisson_closed_find(WadiPoissonClosed *closed, const WadiPoissonTree *tree, WadiArena *arena,
                                    WadiError *error);

/* All that a solve knows of its matrix. */
struct WadiPoissonHierarchy {
    bool is_made;
    WadiPoissonTree tree;
    WadiPoissonClosed closed;
};

WadiStatus wadi_poisson_hierarchy_make(WadiPoissonHierarchy *hierarchy, const WadiPoisson *system,
                                       WadiArena *arena, WadiError *error);
/* For a system that has lost a few unknowns of the one `from` was made of: the finest level anew, the coarse levels as they
 * are. They precondition a little worse, and are most of the work. */
WadiStatus wadi_poisson_hierarchy_reduce(WadiPoissonHierarchy *hierarchy, const WadiPoissonHierarchy *from,
                                         const WadiPoisson *system, WadiArena *arena, WadiError *error);

/* Take the mean over each closed component off, or its lowest value. */
void wadi_poisson_closed_shift(const WadiPoissonClosed *closed, const WadiPoissonFine *fine,
                               bool is_to_lowest, double *values);

#endif
