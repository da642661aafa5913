/* Bounds on the distance to a mesh from a coarse grid around it: far away they are the answer, near it they keep the exact
 * search short. Without them a point in the middle of a bowl is equally near to every triangle. */
#ifndef WADI_GEOM_MESH_CLEARANCE_H
#define WADI_GEOM_MESH_CLEARANCE_H

#include "geom/mesh/mesh_distance.h"

/* lower <= distance at the cell's centre <= upper. A zeroed grid is valid and knows nothing. */
typedef struct WadiMeshClearance {
    float *lower, *upper; /* m */
    int size[3];
    WadiBox box; /* of the mesh: the cells fill it */
    double cell; /* m */
} WadiMeshClearance;

WadiStatus wadi_mesh_clearance_create(WadiMeshClearance *clearance, const WadiMeshTree *tree, WadiBox bounds,
                                      WadiError *error);
void wadi_mesh_clearance_free(WadiMeshClearance *clearance);

/* *lower <= distance at x <= *upper. */
void wadi_mesh_clearance_at(const WadiMeshClearance *clearance, WadiVec3 x, double *lower, double *upper);

#endif
