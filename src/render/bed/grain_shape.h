/* Shapes of single grains: angular stones with rounded edges. */
#ifndef WADI_RENDER_GRAIN_SHAPE_H
#define WADI_RENDER_GRAIN_SHAPE_H

#include <stdint.h>

#include "render/image/vec3f.h"

enum { WADI_GRAIN_SHAPES = 64, WADI_GRAIN_FACES = 12 };

/* The points of the unit ball with normal . p <= distance for every face. */
typedef struct WadiGrainShape {
    float x[WADI_GRAIN_FACES], y[WADI_GRAIN_FACES], z[WADI_GRAIN_FACES]; /* unit normals */
    float distance[WADI_GRAIN_FACES];
} WadiGrainShape;

/* Shape `number` of the family: faces well spread, some closer to the middle than others. */
WadiGrainShape wadi_grain_shape(int number);

/* Where a line o + t d, d unit, enters and leaves the shape; false: it passes by. Both may be negative. */
bool wadi_grain_shape_cross(const WadiGrainShape *shape, WadiVec3f o, WadiVec3f d, float *enter,
                            float *leave);
/* The unit normal at a point of the surface, with edges rounded. */
WadiVec3f wadi_grain_shape_normal(const WadiGrainShape *shape, WadiVec3f p);

#endif
