/* The triangles of a shape at one time, for pictures and for other programs. Simulations use distances
 * only. */
#ifndef WADI_GEOM_SHAPE_MESH_H
#define WADI_GEOM_SHAPE_MESH_H

#include "geom/mesh/mesh.h"
#include "geom/shape.h"

/* Whether wadi_shape_mesh supports the shape: primitives, meshes, height maps and unions of them. Edges of
 * other combinations are known by their distance only. */
bool wadi_shape_has_mesh(const WadiShape *shape);

/* Outward triangles. Round shapes deviate by at most `tolerance`, m; meshes are as in their file; the
 * parts of a union may overlap. A half-space becomes a square of its plane that covers `view`, m, with a
 * margin. */
WadiStatus wadi_shape_mesh(WadiMesh *mesh, const WadiShape *shape, double time, WadiBox view,
                           double tolerance, WadiError *error);

#endif
