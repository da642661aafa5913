/* The triangles of a shape at one moment, for pictures and for other programs. Simulations use distances, never these. */
#ifndef WADI_GEOM_SHAPE_MESH_H
#define WADI_GEOM_SHAPE_MESH_H

#include "geom/mesh/mesh.h"
#include "geom/shape.h"

/* Whether wadi_shape_mesh knows the shape: primitives, meshes, height maps and unions of them. The others have edges that only
 * their distance tells of. */
bool wadi_shape_has_mesh(const WadiShape *shape);

/* Outward triangles. Round shapes deviate by at most `tolerance`, m; meshes are as their file has them; the parts of a union are
 * all there, one inside the other. Of a half-space comes a square of its plane that covers `view`, m, and reaches a box's width
 * beyond it. */
WadiStatus wadi_shape_mesh(WadiMesh *mesh, const WadiShape *shape, double time, WadiBox view,
                           double tolerance, WadiError *error);

#endif
