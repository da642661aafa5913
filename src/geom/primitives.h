/* Analytic solids in their local frame: exact signed distance and unit normal. */
#ifndef WADI_GEOM_PRIMITIVES_H
#define WADI_GEOM_PRIMITIVES_H

#include "geom/shape.h"

/* A primitive with the sizes of one moment, prepared for queries.
 *   box        a center, b half sizes            sphere      a center, r0
 *   ellipsoid  a center, b radii                 cylinder    a from, b unit axis, r0, length
 *   cone       a from, b unit axis, r0, r1, length           capsule     a from, b unit axis, r0, length
 *   torus      a center, b unit axis, r0, r1     half_space  a point, b unit normal */
typedef struct WadiPrimitive {
    WadiShapeKind kind;
    WadiVec3 a, b;
    double r0, r1, length;
} WadiPrimitive;

static inline bool wadi_shape_kind_is_primitive(WadiShapeKind kind)
{
    return kind <= WADI_SHAPE_HALF_SPACE;
}

/* From the parameters in the order of WadiShapeDef (scalars in .x). Sizes that are not positive are clamped
 * to zero and directions without length become +z, so that a query never divides by zero. */
WadiPrimitive wadi_primitive_make(WadiShapeKind kind, const WadiVec3 *parameter);

/* NULL when the parameters are valid, else the reason why not. */
const char *wadi_primitive_problem(WadiShapeKind kind, const WadiVec3 *parameter);

double wadi_primitive_distance(const WadiPrimitive *primitive, WadiVec3 x);
/* The same distance, and the outward unit normal; at points with several nearest surface points one of
 * them. */
double wadi_primitive_sample(const WadiPrimitive *primitive, WadiVec3 x, WadiVec3 *normal);
WadiBox wadi_primitive_bounds(const WadiPrimitive *primitive);

/* Exact signed distance to the ellipsoid x^2/rx^2 + y^2/ry^2 + z^2/rz^2 = 1. */
double wadi_ellipsoid_distance(WadiVec3 radii, WadiVec3 x, WadiVec3 *normal);

#endif
