/* The rim of a mesh that was opened at walls. */
#ifndef WADI_SURFACE_MESH_RIM_H
#define WADI_SURFACE_MESH_RIM_H

#include "surface/mesh/surface_mesh.h"

/* Walls that a position lies in: bits 2 axis + side. */
unsigned wadi_walls_at(WadiBox box, double tolerance, WadiVec3 x);

/* Moves the rim to the walls. `walls` holds the walls of each vertex, `is_rim` marks vertices of dropped
 * triangles. */
WadiStatus wadi_surface_fit_rim(WadiSurfaceMesh *surface, WadiBox box, const uint8_t *walls,
                                const uint8_t *is_rim, WadiArena *arena, WadiError *error);

/* Splits vertices at which several fans of triangles touch: `added` new vertices, copies of `source`,
 * numbered after the old ones, and the corners that use them. */
typedef struct WadiMovedCorner {
    uint32_t triangle, from, to;
} WadiMovedCorner;

typedef struct WadiMeshSplit {
    uint32_t *source;
    size_t added;
    WadiMovedCorner *corner;
    size_t corner_count;
} WadiMeshSplit;

WadiStatus wadi_surface_split(WadiMeshSplit *split, const WadiMesh *mesh, WadiArena *arena, WadiError *error);

#endif
