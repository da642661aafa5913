/* The mesh of a field's zero, with attributes of its vertices. */
#ifndef WADI_SURFACE_SURFACE_MESH_H
#define WADI_SURFACE_SURFACE_MESH_H

#include "geom/mesh/mesh.h"
#include "surface/field/field.h"

/* All arrays are owned and as long as mesh.vertex_count. Triangles run counterclockwise seen from outside. */
typedef struct WadiSurfaceMesh {
    WadiMesh mesh;
    double cell;        /* m, of the lattice it was made from; 0: none */
    float (*normal)[3]; /* unit, outward, from the field */
    int attribute_count;
    WadiCloudAttribute attribute[WADI_CLOUD_ATTRIBUTE_MAX];
} WadiSurfaceMesh;

void wadi_surface_mesh_free(WadiSurfaceMesh *surface);

/* Values of the attribute of that name and number of components; NULL when there is none. */
float *wadi_surface_mesh_attribute(const WadiSurfaceMesh *surface, const char *name, int components);

/* (x, y, z) becomes (x, z, -y): vertices, normals and velocities. */
void wadi_surface_mesh_turn_up(WadiSurfaceMesh *surface);

/* Marching cubes: closed, oriented, manifold, no degenerate triangle. A value of exactly 0 is outside. A
 * vertex is at least WADI_MARCH_CLEARANCE of a cell away from the nodes, so that it lies that much inside a
 * wall whose plane contains nodes. Same bytes for any thread count. Scratch in the arena. WADI_ERR_ARGUMENT
 * when there are more than WADI_MESH_TRIANGLES_MAX triangles. */
#define WADI_MARCH_CLEARANCE 1e-3
WadiStatus wadi_surface_march(WadiSurfaceMesh *surface, const WadiField *field, WadiArena *arena,
                              WadiError *error);

/* A vertex within this many cells of a plane of the box lies in it: twice the clearance. */
#define WADI_SURFACE_WALL_TOLERANCE 2e-3

/* Moves vertices less than a cell from a plane of the box into it, so that edges along walls are sharp. */
WadiStatus wadi_surface_sharpen(WadiSurfaceMesh *surface, WadiBox box, WadiArena *arena, WadiError *error);

/* Drops the triangles that face the planes of the box from within `tolerance`, m (water against glass); at
 * least half a cell, since the surface of particles is round where walls meet. The mesh is then open, and its
 * rim lies in the planes. */
WadiStatus wadi_surface_open_walls(WadiSurfaceMesh *surface, WadiBox box, double tolerance, WadiArena *arena,
                                   WadiError *error);

/* Smooths without changing the volume of closed components; vertices in the planes of the box (has_box) stay
 * in them. The normals become those of the triangles. */
WadiStatus wadi_surface_smooth(WadiSurfaceMesh *surface, int passes, bool has_box, WadiBox box,
                               WadiArena *arena, WadiError *error);

/* Drops the triangles of components that face inwards, bubbles; their vertices stay, unused. */
WadiStatus wadi_surface_drop_voids(WadiSurfaceMesh *surface, WadiArena *arena, WadiError *error);

typedef struct WadiLowPassDef {
    double length;          /* m: of waves of this length half the height is left; 0: no filter */
    double inward, outward; /* m: vertices that would move this far stay, so that thin parts are preserved */
} WadiLowPassDef;

/* Removes short waves, otherwise as wadi_surface_smooth. */
WadiStatus wadi_surface_low_pass(WadiSurfaceMesh *surface, const WadiLowPassDef *def, bool has_box,
                                 WadiBox box, WadiArena *arena, WadiError *error);

/* Interpolates the cloud's attributes to the vertices with the weights of the field: sum k(|x - x_i| / R_i)
 * a_i / sum k. A vertex outside all supports gets the nearest particle's values. */
WadiStatus wadi_surface_attributes(WadiSurfaceMesh *surface, const WadiCloud *cloud, const WadiBins *bins,
                                   WadiError *error);

/* Properties of a mesh, for `wadi info`. */
typedef struct WadiSurfaceFacts {
    size_t vertices, triangles, parts; /* parts: connected components */
    double area, volume;               /* m^2, m^3; volume is 0 when not closed */
    int64_t euler;                     /* V - E + F, of the vertices that triangles use */
    bool is_closed, is_oriented, is_manifold;
    WadiBox bounds;
} WadiSurfaceFacts;

WadiStatus wadi_surface_facts(WadiSurfaceFacts *facts, const WadiMesh *mesh, WadiError *error);

#endif
