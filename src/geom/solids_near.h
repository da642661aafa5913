/* The solids of a small region at one time, for the many samples that a grid takes there. */
#ifndef WADI_GEOM_SOLIDS_NEAR_H
#define WADI_GEOM_SOLIDS_NEAR_H

#include "geom/shape_near.h"
#include "geom/solids.h"

enum { WADI_SOLIDS_NEAR_MAX = 2 };

/* A side of the domain: its distance from x is sign * (x[axis] - position). */
typedef struct WadiNearWall {
    double position, sign;
    int side, axis;
} WadiNearWall;

/* Moving meshes beyond the first few are sampled as other shapes. */
typedef struct WadiSolidsNear {
    const WadiSolids *solids;
    double time;
    double within;        /* m: nearer than that, distances beside combinations are the true ones */
    WadiNearWall wall[6]; /* the closed sides within the radius, in the order of their bits */
    int wall_count;
    bool has_others; /* than these meshes */
    int mesh_count;
    int mesh[WADI_SOLIDS_NEAR_MAX]; /* index of the solid, rising */
    WadiShapeNear near[WADI_SOLIDS_NEAR_MAX];
} WadiSolidsNear;

/* For points within `radius` of `middle`; walls farther than that from `middle` are left out. */
void wadi_solids_near_begin(WadiSolidsNear *near, const WadiSolids *solids, WadiVec3 middle, double radius,
                            double within, double time);
/* As wadi_solids_distance_for_grid, up to `within` as wadi_solids_distance_within. */
double wadi_solids_near_distance(WadiSolidsNear *near, WadiVec3 x);
/* As wadi_solids_sample_for_grid, without friction, restitution and, for moving meshes, the velocity and the
 * normal where the distance exceeds `normal_within`, m. */
WadiSolidPoint wadi_solids_near_sample(WadiSolidsNear *near, WadiVec3 x, double normal_within);

#endif
