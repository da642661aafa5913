/* What the smoothing of meshes has in common: which vertices are neighbours, which may not move, and volumes
 * of connected components. */
#ifndef WADI_SURFACE_MESH_SMOOTH_INTERNAL_H
#define WADI_SURFACE_MESH_SMOOTH_INTERNAL_H

#include "core/parallel.h"
#include "surface/mesh/surface_mesh.h"

/* A connected component. */
typedef struct WadiMeshPart {
    WadiVec3 middle; /* reference point of its volume: a vertex of it */
    double wanted;   /* m^3 before smoothing; negative for a bubble, which faces inwards */
    double volume;   /* m^3, current */
    double gain;     /* m^3 per metre of displacement along the normals */
    bool is_open;
} WadiMeshPart;

typedef struct WadiMeshSmooth {
    WadiSurfaceMesh *surface;
    uint32_t *start;          /* per vertex + 1: its corners in `neighbour` */
    uint32_t (*neighbour)[2]; /* per corner: the next two vertices of its triangle */
    uint8_t *fixed;           /* per vertex: bit per axis along which it does not move */
    uint32_t *part;           /* per vertex */
    WadiMeshPart *parts;
    uint32_t part_count;
    WadiVec3 *next;     /* positions */
    WadiVec3 *normal;   /* unit, from the adjacent triangles */
    double (*terms)[2]; /* contribution of each vertex to volume and gain */
    double step;
} WadiMeshSmooth;

/* The components of a displacement that a vertex may make. */
static inline WadiVec3 wadi_mesh_free_components(WadiVec3 x, uint8_t fixed)
{
    return wadi_vec3(fixed & 1 ? 0.0 : x.x, fixed & 2 ? 0.0 : x.y, fixed & 4 ? 0.0 : x.z);
}

/* Links the vertices of smooth->surface and measures its parts. Scratch lies in the arena. */
WadiStatus wadi_mesh_smooth_prepare(WadiMeshSmooth *smooth, bool has_box, WadiBox box, WadiArena *arena,
                                    WadiError *error);
/* At most `steps` Newton steps towards the volumes before smoothing. */
void wadi_mesh_smooth_restore(WadiMeshSmooth *smooth, int steps);
/* The normals become those of the triangles. */
void wadi_mesh_smooth_finish(WadiMeshSmooth *smooth);

#endif
