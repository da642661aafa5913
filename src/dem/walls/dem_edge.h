/* Distances beside the outer edges of shapes that are cut from others. */
#ifndef WADI_DEM_EDGE_H
#define WADI_DEM_EDGE_H

#include "geom/shape.h"

/* As wadi_shape_sample_from_outside, with the true distance beside outer edges. diameter: m, of a grain. */
WadiSurfacePoint wadi_dem_edge_sample(const WadiShape *shape, WadiVec3 x, double time, double diameter);

#endif
