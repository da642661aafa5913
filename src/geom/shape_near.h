/* Samples of a moving mesh at one time for many close points, equal to wadi_shape_sample_for_grid. The
 * placement is computed once, tiles of the band are cached, and samples that need triangles search short
 * lists of them. */
#ifndef WADI_GEOM_SHAPE_NEAR_H
#define WADI_GEOM_SHAPE_NEAR_H

#include "geom/sdf_band.h"
#include "geom/shape_internal.h"

/* The triangles that can be nearest to a point of a cube; `count` -1: not yet searched, -2: too many. */
enum { WADI_BLOCK_TRIANGLES = 20, WADI_NEAR_BLOCKS = 256 };

typedef struct WadiMeshBlock {
    int32_t at[3], count;
    uint32_t triangle[WADI_BLOCK_TRIANGLES];
} WadiMeshBlock;

typedef struct WadiShapeNear {
    const WadiShape *shape;
    WadiPlacement at;
    double half;  /* m, of a shell's thickness */
    double block; /* m, side of a cube, in the local frame */
    WadiBandHint hint;
    WadiMeshBlock blocks[WADI_NEAR_BLOCKS];
} WadiShapeNear;

/* false: the shape is at rest or has no band, use wadi_shape_sample_for_grid. `spacing`: m, of samples
 * that share a list. */
bool wadi_shape_near_begin(WadiShapeNear *near, const WadiShape *shape, double spacing, double time);
/* As wadi_shape_distance_for_grid and wadi_shape_sample_for_grid, the latter without a velocity. */
double wadi_shape_near_distance(WadiShapeNear *near, WadiVec3 x);
WadiSurfacePoint wadi_shape_near_sample(WadiShapeNear *near, WadiVec3 x);

#endif
