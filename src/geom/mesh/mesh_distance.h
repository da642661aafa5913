/* The nearest point of a triangle mesh, exact in double. */
#ifndef WADI_GEOM_MESH_DISTANCE_H
#define WADI_GEOM_MESH_DISTANCE_H

#include "geom/mesh/mesh.h"

typedef struct WadiMeshTree WadiMeshTree;

typedef struct WadiMeshNearest {
    double distance; /* m, not negative */
    WadiVec3 point;
    uint32_t triangle;
    double weight[3]; /* barycentric, of the triangle's vertices */
} WadiMeshNearest;

/* `mesh` is borrowed and must not change while the tree lives. Queries may run in parallel. */
WadiStatus wadi_mesh_tree_create(WadiMeshTree **tree, const WadiMesh *mesh, WadiError *error);
/* Vertices move on straight lines from `mesh` to `end` (borrowed too), which have the same triangles. */
WadiStatus wadi_mesh_tree_create_moving(WadiMeshTree **tree, const WadiMesh *mesh, const WadiMesh *end,
                                        WadiError *error);
void wadi_mesh_tree_destroy(WadiMeshTree *tree);
size_t wadi_mesh_tree_bytes(const WadiMeshTree *tree);

/* false when no triangle is nearer than `limit`. Of equally near triangles the one with the lowest index. */
bool wadi_mesh_tree_nearest(const WadiMeshTree *tree, WadiVec3 x, double limit, WadiMeshNearest *nearest);

enum { WADI_GATHER_MAX = 64 };
/* The triangles that can be nearest to a point within `radius` of x, given that one lies within
 * `search_radius` of x. Returns their number, or -1: more than
 * `capacity`, which is at most WADI_GATHER_MAX. */
int wadi_mesh_tree_gather(const WadiMeshTree *tree, WadiVec3 x, double radius, double search_radius,
                          uint32_t *triangles, int capacity);
/* A triangle and its distance from the centre of a region, m, rounded down. */
typedef struct WadiMeshCandidate {
    uint32_t triangle;
    float distance;
} WadiMeshCandidate;

/* The nearest of `count` > 0 triangles, which are in rising distance from a point at `offset` metres from
 * x; of equally near ones that with the lowest index. */
void wadi_mesh_nearest_of(const WadiMesh *mesh, const WadiMeshCandidate *candidates, int count, WadiVec3 x,
                          double offset, WadiMeshNearest *nearest);

/* The first intersection of the segment from x to x + displacement: its *fraction (0..1) and the unit
 * normal of the triangle, turned against the displacement. false: none. The tree is in single precision;
 * wadi_mesh_tree_error bounds the distance by which an intersection may be missed or moved. */
bool wadi_mesh_tree_hit(const WadiMeshTree *tree, WadiVec3 x, WadiVec3 displacement, double *fraction,
                        WadiVec3 *normal);
double wadi_mesh_tree_error(const WadiMeshTree *tree, WadiVec3 x);

/* The nearest point of a moving tree, at the position s (0..1) between its meshes. */
bool wadi_mesh_tree_nearest_at(const WadiMeshTree *tree, WadiVec3 x, double s, double limit,
                               WadiMeshNearest *nearest);

/* Nearest point of one triangle; returns the squared distance. */
double wadi_triangle_nearest(WadiVec3 a, WadiVec3 b, WadiVec3 c, WadiVec3 x, WadiVec3 *point,
                             double weight[3]);

#endif
