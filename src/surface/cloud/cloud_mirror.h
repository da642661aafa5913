/* Mirror images of particles behind the walls of a box, so that the surface meets a wall as if the material
 * continued behind it. */
#ifndef WADI_SURFACE_CLOUD_MIRROR_H
#define WADI_SURFACE_CLOUD_MIRROR_H

#include "core/arena.h"
#include "surface/cloud/cloud.h"

/* The cloud, followed by the images of all particles in the box that are less than `depth` spacings from one
 * of its planes; in edges and corners images have images. Planes at infinity have none. `mirrored` has no
 * attributes, lies in the arena and must not be freed; without images it borrows the cloud's arrays. */
WadiStatus wadi_cloud_mirror(WadiCloud *mirrored, const WadiCloud *cloud, WadiBox box, double depth,
                             WadiArena *arena, WadiError *error);

#endif
