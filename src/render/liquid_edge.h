/* The particles that a picture's surface of a liquid encloses, where it ends against sand and walls. */
#ifndef WADI_RENDER_LIQUID_EDGE_H
#define WADI_RENDER_LIQUID_EDGE_H

#include "core/arena.h"
#include "surface/cloud/cloud.h"

/* Lets a liquid go on at its own height into the sand beside it, so that a shore is the line in which two
 * surfaces meet and not the round edge of the outermost particles. `shored` is the cloud with more particles
 * in the sand; it lies in the arena and is not freed. `sand` needs positions and spacings only. */
WadiStatus wadi_liquid_shore(WadiCloud *shored, const WadiCloud *cloud, const WadiCloud *sand,
                             WadiArena *arena, WadiError *error);

/* The cloud without films against the upright sides of a box, up to five particles thick and higher than the
 * liquid before them: water that runs up a wall which is not drawn. In the arena, not freed. */
WadiStatus wadi_liquid_without_films(WadiCloud *kept, const WadiCloud *cloud, WadiBox walls, WadiArena *arena,
                                     WadiError *error);

#endif
