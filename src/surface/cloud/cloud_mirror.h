/* Particles seen again behind the walls of a box, so that what touches a wall is wrapped as if it went on there. */
#ifndef WADI_SURFACE_CLOUD_MIRROR_H
#define WADI_SURFACE_CLOUD_MIRROR_H

#include "core/arena.h"
#include "surface/cloud/cloud.h"

/* The cloud, and after it the images of all particles in the box that are less than `depth` spacings from a plane of it; in edges
 * and corners images have images. Planes at infinity have none. `mirrored` has no attributes, is in the arena and not to be
 * freed; it is the cloud itself, borrowed, when there are no images. */
WadiStatus wadi_cloud_mirror(WadiCloud *mirrored, const WadiCloud *cloud, WadiBox box, double depth,
                             WadiArena *arena, WadiError *error);

#endif
