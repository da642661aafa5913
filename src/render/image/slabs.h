/* A floor of stone slabs: joints, slabs of different brightness, and blotches within each. */
#ifndef WADI_RENDER_SLABS_H
#define WADI_RENDER_SLABS_H

#include "render/image/look.h"

/* The reflectance at (x, y), m, averaged over width[0] by width[1] m. look->texture_size is the side of a
 * slab, look->colour the mean of the slabs and look->second_colour that of the joints. */
WadiRgb wadi_slabs_colour(const WadiLook *look, double x, double y, const double width[2]);

#endif
