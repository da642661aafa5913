/* The rim of a mesh that was opened at walls. */
#ifndef WADI_SURFACE_MESH_RIM_H
#define WADI_SURFACE_MESH_RIM_H

#include "surface/mesh/surface_mesh.h"

/* Walls that a place lies in: bits 2 axis + side. */
unsigned wadi_walls_at(WadiBox box, double tolerance, WadiVec3 x);

/* Bring the rim to the glass. `walls` has the walls of each vertex, `is_rim` those that dropped triangles had too. */
WadiStatus wadi_surface_fit_rim(WadiSurfaceMesh *surface, WadiBox box, const uint8_t *walls,
                                const uint8_t *is_rim, WadiArena *arena, WadiError *error);

/* What makes a mesh manifold whose parts touch at vertices: `added` new vertices, copies of their sources, numbered behind the old
 * ones, and the corners that become theirs. */
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
