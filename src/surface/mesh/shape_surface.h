/* The triangles of any shape: exact where geom knows them, else the zero of its distance. */
#ifndef WADI_SURFACE_SHAPE_SURFACE_H
#define WADI_SURFACE_SHAPE_SURFACE_H

#include "core/arena.h"
#include "geom/mesh/mesh.h"
#include "geom/shape.h"

/* What lies within `view` of shapes without end. `cell`, m: chords of round shapes deviate by a tenth of it, and edges that are
 * found from distances are blunt by about one. Scratch in the arena, given back. */
WadiStatus wadi_shape_surface(WadiMesh *mesh, const WadiShape *shape, double time, WadiBox view, double cell,
                              WadiArena *arena, WadiError *error);

#endif
