/* Clouds made of the particles of another one. */
#ifndef WADI_SURFACE_CLOUD_APPEND_H
#define WADI_SURFACE_CLOUD_APPEND_H

#include "core/arena.h"
#include "surface/cloud/cloud.h"

/* An empty cloud with the attributes of `from` and memory for `size` particles, in the arena. */
WadiStatus wadi_cloud_like(WadiCloud *to, const WadiCloud *from, size_t size, WadiArena *arena,
                           WadiError *error);
/* Appends particle i of such a cloud; memory is there. spacing_min and spacing_max stay. */
void wadi_cloud_append(WadiCloud *to, const WadiCloud *from, int32_t i, WadiVec3 position);

#endif
