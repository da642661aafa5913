/* A mesh as a solid: nearest point, and inside by the winding number, also for meshes with defects. */
#ifndef WADI_GEOM_MESH_SOLID_H
#define WADI_GEOM_MESH_SOLID_H

#include "geom/mesh/mesh_clearance.h"
#include "geom/mesh/winding.h"

/* Signs of cells around the mesh that no triangle or hole is near to, so that most insides are one table
 * entry. 1 inside, -1 outside, 0 undecided. */
typedef struct WadiSignGrid {
    int8_t *sign;
    int size[3];
    WadiVec3 origin;
    double cell;
} WadiSignGrid;

typedef struct WadiMeshSolid {
    WadiMesh mesh; /* owned */
    WadiMeshTree *tree;
    WadiWinding *winding;
    WadiMeshTopology topology;
    WadiSignGrid signs; /* empty: not made */
    WadiMeshClearance clearance;
    WadiBox bounds; /* of the triangles */
    /* Nothing beyond is inside; larger than `bounds` only where the inside of a mesh with defects bulges
     * out. */
    WadiBox inside_bounds;
    double facing; /* -1 when the triangles face inward */
    int users;     /* shapes that share it, besides the first */
    /* The band of the first shape that moves, with its cell, width and half thickness, m; NULL: none. */
    struct WadiSdfBand *band;
    double band_cell, band_width, band_half;
} WadiMeshSolid;

/* Takes ownership of the mesh, also on failure. */
WadiStatus wadi_mesh_solid_create(WadiMeshSolid *solid, WadiMesh *mesh, bool has_sign_grid, WadiError *error);
void wadi_mesh_solid_free(WadiMeshSolid *solid);

/* The nearest point of the triangles. `search_radius`: m, a triangle is expected within it; INFINITY:
 * unknown. A wrong one costs time only. */
void wadi_mesh_solid_nearest(const WadiMeshSolid *solid, WadiVec3 x, double search_radius,
                             WadiMeshNearest *nearest);
/* A lower bound of the distance to the triangles in nearest->distance. true: it is exact and all of
 * `nearest` is set, as within a 32nd of the mesh's size. */
bool wadi_mesh_solid_bound(const WadiMeshSolid *solid, WadiVec3 x, double search_radius,
                           WadiMeshNearest *nearest);
bool wadi_mesh_solid_contains(const WadiMeshSolid *solid, WadiVec3 x);
/* Side of the nearest triangle that x is on. 1: outward, and a point that was outside shortly before still
 * is; -1: inward, and inside if the mesh is closed and does not intersect itself; 0: undecided, the
 * nearest point is on an edge. */
int wadi_mesh_solid_side(const WadiMeshSolid *solid, WadiVec3 x, const WadiMeshNearest *nearest);
/* Signed distance; `nearest` may be NULL. */
double wadi_mesh_solid_distance(const WadiMeshSolid *solid, WadiVec3 x, WadiMeshNearest *nearest);
/* The outward normal at the nearest point, for a point known to be outside or inside. */
WadiVec3 wadi_mesh_solid_normal(const WadiMeshSolid *solid, WadiVec3 x, bool is_outside,
                                const WadiMeshNearest *nearest);
/* Both; was_outside: wadi_mesh_solid_side may decide. */
double wadi_mesh_solid_sample(const WadiMeshSolid *solid, WadiVec3 x, bool was_outside,
                              WadiMeshNearest *nearest, WadiVec3 *normal);

/* Whether the ball contains neither surface nor a change of sign through a hole. */
bool wadi_mesh_solid_is_uniform(const WadiMeshSolid *solid, WadiVec3 center, double radius);

/* Distances at the n^3 points origin + i step[0] + j step[1] + k step[2], i fastest, clamped to +-limit.
 * half > 0: to a shell of that half thickness. */
enum { WADI_LATTICE_MAX = 9 };
void wadi_mesh_solid_lattice(const WadiMeshSolid *solid, WadiVec3 origin, const WadiVec3 step[3], int n,
                             double half, double limit, double *distance);

/* A bound on the gradient of the winding number in a ball away from the surface, 1/m. */
double wadi_mesh_solid_winding_slope(const WadiMeshSolid *solid, WadiVec3 center, double radius);

#endif
