/* A picture as ground: heights from the brightness of a PNG, as a closed mesh. */
#ifndef WADI_GEOM_HEIGHTMAP_H
#define WADI_GEOM_HEIGHTMAP_H

#include "geom/mesh/mesh.h"

/* The picture fills `box`: black at min.z, white at max.z, the first row at max.y; pixel centres of the
 * outer rows and columns lie on the sides of the box. A base as far below min.z as the box is wide closes
 * the ground, so that nothing is pushed out downwards. 8 or 16 bits, grey or the luminance of colours;
 * alpha is ignored. */
WadiStatus wadi_heightmap_read(WadiMesh *mesh, const char *path, WadiBox box, WadiError *error);
WadiStatus wadi_heightmap_read_memory(WadiMesh *mesh, const void *bytes, size_t size, const char *name,
                                      WadiBox box, WadiError *error);

#endif
