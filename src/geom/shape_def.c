#include "core/alloc.h"
#include "core/check.h"
#include "geom/shape_internal.h"

static const struct {
    const char *name;
    int components[WADI_SHAPE_PARAMETER_MAX]; /* 0: unused */
} kinds[WADI_SHAPE_KIND_COUNT] = {
    [WADI_SHAPE_BOX] = { "box", { 3, 3 } },
    [WADI_SHAPE_SPHERE] = { "sphere", { 3, 1 } },
    [WADI_SHAPE_ELLIPSOID] = { "ellipsoid", { 3, 3 } },
    [WADI_SHAPE_CYLINDER] = { "cylinder", { 3, 3, 1 } },
    [WADI_SHAPE_CONE] = { "cone", { 3, 3, 1, 1 } },
    [WADI_SHAPE_CAPSULE] = { "capsule", { 3, 3, 1 } },
    [WADI_SHAPE_TORUS] = { "torus", { 3, 3, 1, 1 } },
    [WADI_SHAPE_HALF_SPACE] = { "half_space", { 3, 3 } },
    [WADI_SHAPE_HEIGHTMAP] = { "heightmap", { 3, 3 } },
    [WADI_SHAPE_MESH] = { "mesh", { 1 } },
    [WADI_SHAPE_MESH_SEQUENCE] = { "mesh_sequence", { 1, 1, 1 } },
    [WADI_SHAPE_UNION] = { "union", { 0 } },
    [WADI_SHAPE_INTERSECTION] = { "intersection", { 0 } },
    [WADI_SHAPE_DIFFERENCE] = { "difference", { 0 } },
    [WADI_SHAPE_SMOOTH_UNION] = { "smooth_union", { 1 } },
};

WadiShapeDef wadi_shape_def(WadiShapeKind kind)
{
    WADI_ASSERT_ELSE((int)kind >= 0 && kind < WADI_SHAPE_KIND_COUNT, return (WadiShapeDef){ 0 });
    WadiShapeDef def = {
        .kind = kind,
        .translate = wadi_curve_constant3(0, 0, 0),
        .rotate = wadi_curve_constant3(0, 0, 0),
        .scale = wadi_curve_constant3(1, 1, 1),
        .pivot = wadi_curve_constant3(0, 0, 0),
    };
    for (int i = 0; i < WADI_SHAPE_PARAMETER_MAX; ++i) {
        def.parameter[i].components = kinds[kind].components[i];
    }
    return def;
}

void wadi_shape_def_free(WadiShapeDef *def)
{
    for (int i = 0; i < WADI_SHAPE_PARAMETER_MAX; ++i) {
        wadi_curve_free(&def->parameter[i]);
    }
    wadi_curve_free(&def->translate);
    wadi_curve_free(&def->rotate);
    wadi_curve_free(&def->scale);
    wadi_curve_free(&def->pivot);
    wadi_string_free(def->file);
    wadi_string_free(def->on);
    wadi_string_free(def->mesh_on);
    for (int i = 0; i < def->child_count; ++i) {
        wadi_shape_def_free(&def->children[i]);
    }
    WADI_DELETE(def->children, (size_t)def->child_count);
    *def = (WadiShapeDef){ 0 };
}

const char *wadi_shape_kind_name(WadiShapeKind kind)
{
    WADI_ASSERT_ELSE((int)kind >= 0 && kind < WADI_SHAPE_KIND_COUNT, return "");
    return kinds[kind].name;
}

int wadi_shape_parameter_count(WadiShapeKind kind)
{
    int count = 0;
    while (count < WADI_SHAPE_PARAMETER_MAX && kinds[kind].components[count] > 0) {
        ++count;
    }
    return count;
}
