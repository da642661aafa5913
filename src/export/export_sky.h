/* The surround as a picture for other programs. */
#ifndef WADI_EXPORT_SKY_H
#define WADI_EXPORT_SKY_H

#include "core/status.h"
#include "render/trace/light.h"

/* Radiance .hdr by latitude and longitude: the middle column is +x, +y lies left of it, the upper edge is +z.
 * Without the sun. Values are multiplied by `gain`. */
WadiStatus wadi_export_sky_hdr(const char *path, const WadiLightDef *def, double gain, WadiError *error);
/* The same as a square .pfm in the equal-area octahedral map [C08] of pbrt-v4; z up. */
WadiStatus wadi_export_sky_pfm(const char *path, const WadiLightDef *def, double gain, WadiError *error);

/* The direction of a point in that square, 0..1 from its upper left corner. */
WadiVec3 wadi_equal_area_direction(double u, double v);

#endif
