/* A mesh as a solid: nearest point, and inside by the winding number, whatever state the mesh is in. */
#ifndef WADI_GEOM_MESH_SOLID_H
#define WADI_GEOM_MESH_SOLID_H

#include "core/log.h"
#include "geom/mesh/mesh_clearance.h"
#include "geom/mesh/winding.h"

/* Signs of whole cells around the mesh that no triangle and no hole comes near, so that most insides are one look-up.
 * 1 inside, -1 outside, 0 ask. */
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
    WadiSignGrid signs; /* empty when not asked for */
    WadiMeshClearance clearance;
    WadiBox bounds; /* of the triangles */
    WadiBox
        inside_bounds; /* nothing beyond is inside: larger only where "inside" bulges out of a broken mesh */
    double facing;     /* -1 when the triangles face inward */
} WadiMeshSolid;

/* Takes the mesh over, also on failure. `name` is for the warning about a mesh that is not closed. */
WadiStatus wadi_mesh_solid_create(WadiMeshSolid *solid, WadiMesh *mesh, bool has_sign_grid, const char *name,
                                  const WadiLog *log, WadiError *error);
void wadi_mesh_solid_free(WadiMeshSolid *solid);

/* The nearest point of the triangles. `reach` shortens the search where some triangle is known to be that near, m; INFINITY: not
 * known. A wrong one costs time, nothing else. */
void wadi_mesh_solid_nearest(const WadiMeshSolid *solid, WadiVec3 x, double reach, WadiMeshNearest *nearest);
/* A lower bound of the distance to the triangles in nearest->distance. true: it is exact, and the rest of `nearest` is set, as
 * it is within a 32nd of the mesh's size. */
bool wadi_mesh_solid_bound(const WadiMeshSolid *solid, WadiVec3 x, double reach, WadiMeshNearest *nearest);
bool wadi_mesh_solid_contains(const WadiMeshSolid *solid, WadiVec3 x);
/* 1: x is on the outward side of its nearest triangle, and a point that was outside before it came so near still is; -1: on the
 * inward side, and inside where the mesh is closed and does not cut itself; 0: it does not tell, the foot is on an edge. */
int wadi_mesh_solid_side(const WadiMeshSolid *solid, WadiVec3 x, const WadiMeshNearest *nearest);
/* Signed distance; `nearest` may be NULL. */
double wadi_mesh_solid_distance(const WadiMeshSolid *solid, WadiVec3 x, WadiMeshNearest *nearest);
/* The outward normal at the nearest point, for an x of which it is known whether it is outside. */
WadiVec3 wadi_mesh_solid_normal(const WadiMeshSolid *solid, WadiVec3 x, bool is_outside,
                                const WadiMeshNearest *nearest);
/* Both; was_outside: wadi_mesh_solid_side may decide. */
double wadi_mesh_solid_sample(const WadiMeshSolid *solid, WadiVec3 x, bool was_outside,
                              WadiMeshNearest *nearest, WadiVec3 *normal);

/* Does the ball hold neither surface nor a change of inside through a hole? */
bool wadi_mesh_solid_is_uniform(const WadiMeshSolid *solid, WadiVec3 center, double radius);

/* A lattice of n^3 points, origin + i step[0] + j step[1] + k step[2], i fastest. Distances are clamped to +-limit. Each
 * sign is found once and handed on to the points that nothing separates from it. */
enum { WADI_LATTICE_MAX = 9 };
/* half > 0: of the shell that reaches so far to both sides of the triangles. */
void wadi_mesh_solid_lattice(const WadiMeshSolid *solid, WadiVec3 origin, const WadiVec3 step[3], int n,
                             double half, double limit, double *distance);

/* A bound on the gradient of the winding number in a ball away from the surface, 1/m. */
double wadi_mesh_solid_winding_slope(const WadiMeshSolid *solid, WadiVec3 center, double radius);

#endif
