/* Depth of cells near walls by the level of the cells around them. [theory 4.2] */
#ifndef WADI_FLIP_SURFACE_LEVEL_H
#define WADI_FLIP_SURFACE_LEVEL_H

#include <math.h>

#include "flip/pressure/flip_surface_space.h"
#include "math/minmax.h"

typedef struct WadiFlipLevelIn {
    const WadiFlipSurfaceIn *surface; /* with fractions of solids */
    const WadiFlipSpace *space;
    const float *fill;     /* smoothed */
    const float *distance; /* m, by the fill of each cell alone */
} WadiFlipLevelIn;

/* Depths of the centres of a row's cells, in cells from -1 to 1, by their fill and by the level of the
 * cells around them; by the fill alone where no wall cuts these cells or the surface is not among them. */
void wadi_flip_level_depths(const WadiFlipLevelIn *in, int32_t row, float depths[WADI_ROW_CELLS]);

/* Depth in cells at which the hat of a flat surface without walls has this fill. */
static inline float wadi_flip_depth_of(float fill)
{
    const float f = wadi_minf(wadi_maxf(fill, 0.0f), 1.0f);
    return f > 0.5f ? 1.0f - sqrtf(2.0f * (1.0f - f)) : sqrtf(2.0f * f) - 1.0f;
}

#endif
