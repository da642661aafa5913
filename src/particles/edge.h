/* Distances beside the outer edges of shapes that are cut from others. */
#ifndef WADI_PARTICLES_EDGE_H
#define WADI_PARTICLES_EDGE_H

#include "geom/shape.h"

/* As wadi_shape_sample_from_outside, with the true distance beside outer edges. diameter: m, of the particle
 * at x. */
WadiSurfacePoint wadi_edge_sample(const WadiShape *shape, WadiVec3 x, double time, double diameter);

#endif
