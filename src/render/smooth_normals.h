/* Smooth normals of a solid's mesh, with its edges kept sharp. */
#ifndef WADI_RENDER_SMOOTH_NORMALS_H
#define WADI_RENDER_SMOOTH_NORMALS_H

#include "core/arena.h"
#include "geom/mesh/mesh.h"

/* normal[3 t + k] is that of corner k of triangle t: the mean over the triangles at that vertex that are
 * turned against t by less than 40 degrees, weighted by area. Not unit; in the arena. */
WadiStatus wadi_smooth_normals(float (**normal)[3], const WadiMesh *mesh, WadiArena *arena, WadiError *error);

#endif
