/* Samples of a moving mesh at one time for many close points, equal to wadi_shape_sample_for_grid. The
 * placement is computed once, and tiles of the band are cached. */
#ifndef WADI_GEOM_SHAPE_NEAR_H
#define WADI_GEOM_SHAPE_NEAR_H

#include "geom/sdf_band.h"
#include "geom/shape_internal.h"

typedef struct WadiShapeNear {
    const WadiShape *shape;
    WadiPlacement at;
    double half; /* m, of a shell's thickness */
    WadiBandHint hint;
} WadiShapeNear;

/* false: the shape is at rest or has no band, use wadi_shape_sample_for_grid. */
bool wadi_shape_near_begin(WadiShapeNear *near, const WadiShape *shape, double time);
/* As wadi_shape_distance_for_grid and wadi_shape_sample_for_grid, the latter without a velocity, and
 * without a normal where the distance exceeds `normal_within`, m. */
double wadi_shape_near_distance(WadiShapeNear *near, WadiVec3 x);
WadiSurfacePoint wadi_shape_near_sample(WadiShapeNear *near, WadiVec3 x, double normal_within);

#endif
