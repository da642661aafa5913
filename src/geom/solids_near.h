/* The solids of a small region at one time, for the many samples that a grid takes there. */
#ifndef WADI_GEOM_SOLIDS_NEAR_H
#define WADI_GEOM_SOLIDS_NEAR_H

#include "geom/shape_near.h"
#include "geom/solids.h"

enum { WADI_SOLIDS_NEAR_MAX = 2 };

/* Large: each moving mesh has tables of 26 kB. Meshes beyond the first few are sampled as other shapes. */
typedef struct WadiSolidsNear {
    const WadiSolids *solids;
    double time;
    bool has_walls;
    int mesh_count;
    int mesh[WADI_SOLIDS_NEAR_MAX]; /* index of the solid, rising */
    WadiShapeNear near[WADI_SOLIDS_NEAR_MAX];
} WadiSolidsNear;

/* For points within `radius` of `middle`; walls farther than that from `middle` are left out. `spacing`:
 * m, a cell of the grid. */
void wadi_solids_near_begin(WadiSolidsNear *near, const WadiSolids *solids, WadiVec3 middle, double radius,
                            double spacing, double time);
/* As wadi_solids_distance_for_grid. */
double wadi_solids_near_distance(WadiSolidsNear *near, WadiVec3 x);
/* As wadi_solids_sample_for_grid, without friction, restitution and, for moving meshes, the velocity. */
WadiSolidPoint wadi_solids_near_sample(WadiSolidsNear *near, WadiVec3 x);

#endif
