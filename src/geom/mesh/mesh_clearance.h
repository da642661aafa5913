/* Bounds on the distance to a mesh from a coarse grid around it: sufficient far away, and near it they
 * shorten the exact search. Without them a point at the centre of a bowl is equally near to every
 * triangle. */
#ifndef WADI_GEOM_MESH_CLEARANCE_H
#define WADI_GEOM_MESH_CLEARANCE_H

#include "geom/mesh/mesh_distance.h"

/* lower <= distance at the centre of the cell <= upper. A zeroed grid is valid and gives no bounds. */
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
