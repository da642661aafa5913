/* Turns, scales and shifts the triangles of a file to where a scene wants them. */
#ifndef WADI_GEOM_MESH_FIT_H
#define WADI_GEOM_MESH_FIT_H

#include "geom/mesh/mesh.h"

/* The axis of a mesh file that points up in the scene, where z does. */
typedef enum WadiMeshUp {
    WADI_MESH_UP_Z,
    WADI_MESH_UP_Y,
    WADI_MESH_UP_X,
    WADI_MESH_UP_MINUS_X,
    WADI_MESH_UP_MINUS_Y,
    WADI_MESH_UP_MINUS_Z,
} WadiMeshUp;

/* Places the triangles of a file before the transform of the shape: turned upright, scaled in proportion,
 * then shifted. Zeroed: as in the file. */
typedef struct WadiMeshFit {
    WadiVec3 size; /* m, of the box that the bounds just fit into; zero: not scaled */
    bool has_size;
    WadiVec3 center; /* m, of the bounds */
    bool has_center;
    int up; /* WadiMeshUp */
} WadiMeshFit;

/* WADI_ERR_ARGUMENT: the mesh has no size that could be scaled. */
WadiStatus wadi_mesh_fit(WadiMesh *mesh, const WadiMeshFit *fit, WadiError *error);

#endif
