/* Parsed scenes given as text. */
#ifndef WADI_TESTS_SCENE_TEXT_H
#define WADI_TESTS_SCENE_TEXT_H

#include "expect.h"
#include "io/scene/scene_parse.h"

static inline WadiScene *parse_with(const char *text, const char *const *sets, int set_count)
{
    WadiError error = { 0 };
    WadiScene *scene = NULL;
    WadiSceneDef def = { .text = text, .sets = sets, .set_count = set_count };
    CHECK_OK(wadi_scene_parse(&scene, &def, &error), error);
    return scene;
}

static inline WadiScene *parse(const char *text)
{
    return parse_with(text, NULL, 0);
}

#define SMALL                                                                                                \
    "wadi: 1\nsolver: points\ncell_size: 0.1\nmaterials: {sand: {kind: sand}}\n"                             \
    "bodies: [{material: sand, shape: {sphere: {radius: 0.5}}}]\n"

static inline void check_vector(const WadiCurve *curve, double time, double x, double y, double z)
{
    WadiVec3 v = wadi_curve_value3(curve, time);
    CHECK_NEAR(v.x, x, 1e-12);
    CHECK_NEAR(v.y, y, 1e-12);
    CHECK_NEAR(v.z, z, 1e-12);
}

#endif
