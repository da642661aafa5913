/* Triangle meshes as they come from files: vertices welded where their positions are equal to the last
 * bit. */
#ifndef WADI_GEOM_MESH_H
#define WADI_GEOM_MESH_H

#include "core/status.h"
#include "math/vec3.h"

/* Every index is below vertex_count, every vertex is finite, no triangle names a vertex twice. A zeroed mesh
 * is valid and empty. */
typedef struct WadiMesh {
    WadiVec3 *vertices;
    size_t vertex_count;
    uint32_t (*triangles)[3];
    size_t triangle_count;
    size_t dropped_count; /* triangles of the file with no area after welding */
    /* Of the faces of the file, which may have more than three corners; 0: not from a file. */
    uint64_t face_hash;
} WadiMesh;

enum { WADI_MESH_TRIANGLES_MAX = 1 << 28 };

WadiStatus wadi_mesh_create(WadiMesh *mesh, const WadiVec3 *vertices, size_t vertex_count,
                            const uint32_t (*triangles)[3], size_t triangle_count, WadiError *error);
void wadi_mesh_free(WadiMesh *mesh);

/* OBJ, PLY, STL, OFF, glTF or GLB; faces as triangles, transforms of nodes applied, axes as in the file.
 * Errors name the file and the reason. The file is not trusted: memory is proportional to its size, and no
 * other file but the buffers of a glTF mesh is opened. */
WadiStatus wadi_mesh_read(WadiMesh *mesh, const char *path, WadiError *error);
/* Every file of a mesh: the mesh file first, then the buffers that a glTF file names, each once, all in
 * the folder of the mesh. For copying and hashing. A buffer elsewhere is an error; whether the buffers
 * exist is not checked. */
typedef struct WadiMeshFiles {
    char **paths;
    size_t count;
} WadiMeshFiles;

WadiStatus wadi_mesh_files(WadiMeshFiles *files, const char *path, WadiError *error);
void wadi_mesh_files_free(WadiMeshFiles *files);
/* As in the file: a position may appear several times. For sequences, whose files must be welded in the
 * same way. */
WadiStatus wadi_mesh_read_unwelded(WadiMesh *mesh, const char *path, WadiError *error);
/* `raw` with vertices of equal position merged; new_index[i] (raw->vertex_count entries) is the new index
 * of vertex i. */
WadiStatus wadi_mesh_weld(WadiMesh *mesh, const WadiMesh *raw, uint32_t *new_index, const char *name,
                          WadiError *error);
/* The same from memory: `hint` is the format's extension ("obj"), `name` is for messages. */
WadiStatus wadi_mesh_read_memory(WadiMesh *mesh, const void *bytes, size_t size, const char *hint,
                                 const char *name, WadiError *error);

WadiBox wadi_mesh_bounds(const WadiMesh *mesh);
double wadi_mesh_area(const WadiMesh *mesh);
/* By the divergence theorem about the middle of the bounds; negative when the triangles face inward. */
double wadi_mesh_volume(const WadiMesh *mesh);

/* An edge whose triangles do not cancel: on the rim of a hole, or between triangles of opposite
 * orientation. */
typedef struct WadiRimEdge {
    uint32_t a, b;
    int count; /* traversals a -> b minus b -> a */
} WadiRimEdge;

typedef struct WadiMeshTopology {
    size_t boundary_edges;     /* of one triangle only */
    size_t non_manifold_edges; /* of more than two */
    size_t flipped_edges;      /* of two triangles that run along it in the same direction */
    size_t degenerate_triangles;
    size_t duplicate_triangles;
    bool is_closed;   /* no boundary edge */
    bool is_oriented; /* every edge cancels: the winding number is an integer away from the surface */
    size_t hole_count;
    WadiVec3 hole_center; /* of the largest hole: mean of its rim */
    double hole_width;    /* m, longest side of the rim's bounding box */
    WadiRimEdge *rim;     /* edges that do not cancel; owned */
    size_t rim_count;
} WadiMeshTopology;

WadiStatus wadi_mesh_topology(const WadiMesh *mesh, WadiMeshTopology *topology, WadiError *error);
void wadi_mesh_topology_free(WadiMeshTopology *topology);

#endif
