/* The triangles of any shape: exact where geom can make them, else the zero of its distance. */
#ifndef WADI_SURFACE_SHAPE_SURFACE_H
#define WADI_SURFACE_SHAPE_SURFACE_H

#include "core/arena.h"
#include "geom/mesh/mesh.h"
#include "geom/shape.h"

/* Of unbounded shapes only the part in `view`. `cell`, m: chords of round shapes deviate by a tenth of it;
 * edges found from distances are rounded by about one cell. Scratch in the arena, released. */
WadiStatus wadi_shape_surface(WadiMesh *mesh, const WadiShape *shape, double time, WadiBox view, double cell,
                              WadiArena *arena, WadiError *error);

/* The same with walls of any thickness: those thinner than `cell` fall between the samples of a distance.
 * Gaps narrower than 1.5 cells are closed instead. */
WadiStatus wadi_shape_surface_thin(WadiMesh *mesh, const WadiShape *shape, double time, WadiBox view,
                                   double cell, WadiArena *arena, WadiError *error);

#endif
