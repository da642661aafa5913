/* The light all around as a picture that other programs read. */
#ifndef WADI_EXPORT_SKY_H
#define WADI_EXPORT_SKY_H

#include "core/status.h"
#include "render/trace/light.h"

/* Radiance .hdr, latitude and longitude: the middle column is +x, +y lies left of it, the upper edge is +z. Without the sun.
 * Values are multiplied by `gain`. */
WadiStatus wadi_export_sky_hdr(const char *path, const WadiLightDef *def, double gain, WadiError *error);
/* The same as a square .pfm in the equal-area map of the octahedron [C08] that pbrt-v4 takes; z up. */
WadiStatus wadi_export_sky_pfm(const char *path, const WadiLightDef *def, double gain, WadiError *error);

/* The direction of a place in that square, 0..1 from its upper left corner. */
WadiVec3 wadi_equal_area_direction(double u, double v);

#endif
