/* A moving mesh at one time, for many samples close together: what grids ask, with the same answers. The placement is found once,
 * the band's tile is remembered, and samples that need the triangles search short lists of those near them. */
#ifndef WADI_GEOM_SHAPE_NEAR_H
#define WADI_GEOM_SHAPE_NEAR_H

#include "geom/sdf_band.h"
#include "geom/shape_internal.h"

/* The triangles that can be the nearest of any point of a cube; `count` < 0: not known (-1), too many (-2). */
enum { WADI_BLOCK_TRIANGLES = 20, WADI_NEAR_BLOCKS = 256 };

typedef struct WadiMeshBlock {
    int32_t at[3], count;
    uint32_t triangle[WADI_BLOCK_TRIANGLES];
} WadiMeshBlock;

typedef struct WadiShapeNear {
    const WadiShape *shape;
    WadiPlacement at;
    double half;  /* m: of a shell's thickness */
    double block; /* m: side of a cube, in the shape's own frame */
    WadiBandHint hint;
    WadiMeshBlock blocks[WADI_NEAR_BLOCKS];
} WadiShapeNear;

/* false: not for this shape, use wadi_shape_sample_for_grid. `spacing`: m, of the samples that share a list. */
bool wadi_shape_near_begin(WadiShapeNear *near, const WadiShape *shape, double spacing, double time);
/* As wadi_shape_distance_for_grid and wadi_shape_sample_for_grid, the latter without a velocity. */
double wadi_shape_near_distance(WadiShapeNear *near, WadiVec3 x);
WadiSurfacePoint wadi_shape_near_sample(WadiShapeNear *near, WadiVec3 x);

#endif
