/* Distances and extension on sparse rows by the upwind scheme of fast sweeping. Not used by flip [theory
 * 2.4]: particle sizes that follow the distance to the surface (sph) need it. */
#ifndef WADI_GRID_SWEEP_H
#define WADI_GRID_SWEEP_H

#include "grid/rows.h"

typedef struct WadiSweepReport {
    int rounds;
    bool has_converged; /* the last round changed nothing */
} WadiSweepReport;

/* Solves |grad distance| = 1 outwards from the cells of `known` (a byte per row), whose values stay. All
 * others become the distance, at most `distance_max`. Distances grow away from the known cells: for the
 * inside of a body pass negated values. */
WadiStatus wadi_sweep_distance(const WadiRows *rows, const uint8_t *known, double cell_size,
                               double distance_max, float *distance, WadiArena *scratch,
                               WadiSweepReport *report, WadiError *error);

/* Extends values along the gradient of `distance` into cells that are not known: grad value . grad distance =
 * 0. Cells without an upwind known cell stay 0. */
WadiStatus wadi_sweep_extend(const WadiRows *rows, const uint8_t *known, const float *distance, float *value,
                             WadiArena *scratch, WadiSweepReport *report, WadiError *error);

#endif
