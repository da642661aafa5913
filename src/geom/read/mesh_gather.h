/* Output of the readers of mesh formats: vertices with checked coordinates, faces cut into triangles. */
#ifndef WADI_GEOM_MESH_GATHER_H
#define WADI_GEOM_MESH_GATHER_H

#include "core/array.h"
#include "math/vec3.h"

/* Every corner is below vertices.count. A zeroed one with a name is valid and empty. */
typedef struct WadiMeshGather {
    WADI_ARRAY(WadiVec3) vertices;
    WADI_ARRAY(uint32_t) corners;   /* three a triangle */
    WADI_ARRAY(uint32_t) polygon;   /* the face being read */
    WADI_ARRAY(double) flat;        /* scratch of the triangulation: two a corner of the polygon */
    WADI_ARRAY(uint32_t) neighbour; /* scratch of the triangulation: previous and next of a corner */
    uint64_t face_hash;             /* of the corners, face by face, before they become triangles */
    uint64_t effort;                /* comparisons the triangulation has made */
    size_t line;                    /* of a text file, for messages; 0: none */
    const char *name;
    WadiError *error;
} WadiMeshGather;

void wadi_gather_free(WadiMeshGather *gather);
/* Begins with the file and, if there is one, the line. */
WadiStatus wadi_gather_fail(const WadiMeshGather *gather, const char *format, ...) WADI_PRINTF(2, 3);

WadiStatus wadi_gather_vertex(WadiMeshGather *gather, WadiVec3 p);
/* One more corner of gather->polygon: vertex `index`, counted from 0. */
WadiStatus wadi_gather_corner(WadiMeshGather *gather, int64_t index);
WadiStatus wadi_gather_triangle(WadiMeshGather *gather, uint32_t a, uint32_t b, uint32_t c);
/* gather->polygon as triangles, by cutting ears where it is not convex; the polygon is empty then. Fewer than
 * three corners enclose nothing and give none. */
WadiStatus wadi_gather_polygon(WadiMeshGather *gather);
/* gather->polygon as a strip: each corner after the second makes a triangle with the two before it. */
WadiStatus wadi_gather_strip(WadiMeshGather *gather);
/* Leaves out the vertices that no triangle uses. */
WadiStatus wadi_gather_compact(WadiMeshGather *gather);

/* The readers. `path`: of the mesh file, for the buffers of a glTF mesh; NULL: no file may be opened. */
WadiStatus wadi_mesh_parse_obj(WadiMeshGather *gather, const unsigned char *bytes, size_t size);
WadiStatus wadi_mesh_parse_ply(WadiMeshGather *gather, const unsigned char *bytes, size_t size);
WadiStatus wadi_mesh_parse_stl(WadiMeshGather *gather, const unsigned char *bytes, size_t size);
WadiStatus wadi_mesh_parse_off(WadiMeshGather *gather, const unsigned char *bytes, size_t size);
WadiStatus wadi_mesh_parse_gltf(WadiMeshGather *gather, const unsigned char *bytes, size_t size,
                                const char *path);

#endif
