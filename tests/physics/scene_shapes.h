/* Short ways to make shapes and solids for tests. */
#ifndef WADI_TESTS_SCENE_SHAPES_H
#define WADI_TESTS_SCENE_SHAPES_H

#include "core/alloc.h"
#include "expect.h"
#include "geom/solids.h"

static inline WadiShapeDef def_of(WadiShapeKind kind, WadiVec3 a, WadiVec3 b)
{
    WadiShapeDef def = wadi_shape_def(kind);
    def.parameter[0] = wadi_curve_constant3(a.x, a.y, a.z);
    def.parameter[1] = wadi_curve_constant3(b.x, b.y, b.z);
    return def;
}

static inline WadiShapeDef def_of_sphere(WadiVec3 center, double radius)
{
    WadiShapeDef def = wadi_shape_def(WADI_SHAPE_SPHERE);
    def.parameter[0] = wadi_curve_constant3(center.x, center.y, center.z);
    def.parameter[1] = wadi_curve_constant(radius);
    return def;
}

static inline WadiShapeDef def_of_cylinder(WadiVec3 from, WadiVec3 to, double radius)
{
    WadiShapeDef def = def_of(WADI_SHAPE_CYLINDER, from, to);
    def.parameter[2] = wadi_curve_constant(radius);
    return def;
}

/* Takes the two defs over. */
static inline WadiShapeDef def_of_two(WadiShapeKind kind, WadiShapeDef a, WadiShapeDef b)
{
    WadiError error;
    WadiShapeDef def = wadi_shape_def(kind);
    CHECK_OK(WADI_NEW(&def.children, 2, "children", &error), error);
    def.children[0] = a;
    def.children[1] = b;
    def.child_count = 2;
    return def;
}

static inline WadiCurve curve_of(double t0, WadiVec3 a, double t1, WadiVec3 b)
{
    WadiError error;
    WadiKey keys[2] = { { t0, { a.x, a.y, a.z } }, { t1, { b.x, b.y, b.z } } };
    WadiCurve curve;
    CHECK_OK(wadi_curve_create(&curve, keys, 2, 3, WADI_INTERPOLATION_LINEAR, false, &error), error);
    return curve;
}

/* Takes the def over. */
static inline WadiShape *shape_of(WadiShapeDef def)
{
    WadiError error;
    WadiShape *shape = NULL;
    CHECK_OK(wadi_shape_create(&shape, &def, NULL, &error), error);
    wadi_shape_def_free(&def);
    return shape;
}

static inline WadiBox box_of(double low, double high)
{
    return (WadiBox){ { low, low, low }, { high, high, high } };
}

static inline WadiBox endless_box(void)
{
    return box_of(-INFINITY, INFINITY);
}

#endif
