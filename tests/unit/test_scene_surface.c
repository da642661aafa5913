/* Surface settings in the scene file: values, defaults, and that the simulation does not depend on them. */
#include <string.h>

#include "expect.h"
#include "io/scene/scene_parse.h"
#include "surface/surface_frame.h"
#include "world/scene.h"

#define HEAD                                                                                                 \
    "wadi: 1\nsolver: points\ncell_size: 0.1\nmaterials: {a: {kind: sand}}\n"                                \
    "bodies: [{material: a, shape: {sphere: {radius: 1}}}]\n"

static WadiScene *parse(const char *text)
{
    WadiError error = { 0 };
    WadiScene *scene = NULL;
    WadiSceneDef def = { .text = text };
    CHECK_OK(wadi_scene_parse(&scene, &def, &error), error);
    return scene;
}

static void defaults_are_those_of_the_paper(void **unused)
{
    (void)unused;
    WadiScene *s = parse(HEAD);
    assert_int_equal(s->surface.method, WADI_SURFACE_ZHU_BRIDSON);
    CHECK_NEAR(s->surface.cell_size, 0.0, 0.0);
    CHECK_NEAR(s->surface.reach, 2.0, 0.0);
    CHECK_NEAR(s->surface.radius, 1.0, 0.0);
    assert_true(isinf(s->surface.offset));
    assert_false(s->surface.fix_concave);
    assert_int_equal(s->surface.smoothing, WADI_SURFACE_AUTO_PASSES);
    assert_int_equal(wadi_surface_frame_def(s).field.smoothing, 1);
    assert_int_equal(s->surface.lowering, 0);
    CHECK_NEAR(wadi_surface_frame_def(s).field.flatten, 5.0, 0.0);
    assert_int_equal(s->surface.mesh_smoothing, 0);
    assert_int_equal(s->surface.walls, WADI_SURFACE_WALLS_CLOSED);
    assert_int_equal(s->surface.materials, WADI_SURFACE_MATERIALS_SEPARATE);
    wadi_scene_free(s);
}

static void every_setting_is_read(void **unused)
{
    (void)unused;
    WadiScene *s = parse(
        HEAD "surface: {method: color_field, cell_size: 0.02, reach: 3, radius: 1.5, offset: 0.1, "
             "fix_concave: true,\n"
             "  smoothing: 2, lowering: 3, flatten: 0, mesh_smoothing: 4, walls: open, materials: joined}\n");
    assert_int_equal(s->surface.method, WADI_SURFACE_COLOR_FIELD);
    CHECK_NEAR(s->surface.cell_size, 0.02, 0.0);
    CHECK_NEAR(s->surface.reach, 3.0, 0.0);
    CHECK_NEAR(s->surface.radius, 1.5, 0.0);
    CHECK_NEAR(s->surface.offset, 0.1, 0.0);
    assert_true(s->surface.fix_concave);
    assert_int_equal(s->surface.smoothing, 2);
    assert_int_equal(s->surface.lowering, 3);
    CHECK_NEAR(s->surface.flatten, 0.0, 0.0);
    assert_int_equal(s->surface.mesh_smoothing, 4);
    assert_int_equal(s->surface.walls, WADI_SURFACE_WALLS_OPEN);
    assert_int_equal(s->surface.materials, WADI_SURFACE_MATERIALS_JOINED);
    wadi_scene_free(s);
}

static void methods_have_the_numbers_of_the_field(void **unused)
{
    (void)unused;
    static const char *const names[WADI_SURFACE_METHOD_COUNT] = {
        [WADI_SURFACE_ZHU_BRIDSON] = HEAD "surface: {method: zhu_bridson}\n",
        [WADI_SURFACE_ANISOTROPIC] = HEAD "surface: {method: anisotropic}\n",
        [WADI_SURFACE_BLOBBY] = HEAD "surface: {method: blobby}\n",
        [WADI_SURFACE_COLOR_FIELD] = HEAD "surface: {method: color_field}\n",
        [WADI_SURFACE_MLS] = HEAD "surface: {method: mls}\n",
    };
    for (int i = 0; i < WADI_SURFACE_METHOD_COUNT; ++i) {
        WadiScene *s = parse(names[i]);
        assert_int_equal(s->surface.method, i);
        wadi_scene_free(s);
    }
}

static void planes_need_no_passes(void **unused)
{
    (void)unused;
    WadiScene *s = parse(HEAD "surface: {method: mls}\n");
    assert_int_equal(wadi_surface_frame_def(s).field.smoothing, 0);
    CHECK_NEAR(wadi_surface_frame_def(s).field.flatten, 0.0, 0.0);
    wadi_scene_free(s);
    s = parse(HEAD "surface: {method: mls, smoothing: 2, flatten: 3}\n");
    assert_int_equal(wadi_surface_frame_def(s).field.smoothing, 2);
    CHECK_NEAR(wadi_surface_frame_def(s).field.flatten, 3.0, 0.0);
    wadi_scene_free(s);
}

static void simulation_does_not_depend_on_it(void **unused)
{
    (void)unused;
    WadiScene *a = parse(HEAD), *b = parse(HEAD "surface: {radius: 0.7, method: blobby}\n");
    assert_true(a->content_hash == b->content_hash);
    wadi_scene_free(a);
    wadi_scene_free(b);
}

static void record_of_a_run_needs_no_files(void **unused)
{
    (void)unused;
    const char *text = "wadi: 1\nsolver: points\ncell_size: 0.1\nmaterials: {a: {kind: sand}}\n"
                       "bodies: [{material: a, shape: {mesh: {file: gone.obj}}}]\n"
                       "colliders: [{shape: {mesh_sequence: {files: gone.%04d.obj, first: 1, last: 9}}}]\n";
    WadiError error = { 0 };
    WadiScene *scene = NULL;
    WadiSceneDef def = { .text = text };
    assert_int_equal(wadi_scene_parse(&scene, &def, &error), WADI_ERR_SCENE);
    assert_non_null(strstr(error.text, "gone.obj"));
    CHECK_OK(wadi_scene_parse_record(&scene, &def, &error), error);
    assert_string_equal(scene->materials[0].name, "a");
    assert_true(scene->content_hash == 0);
    wadi_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_paper),
        cmocka_unit_test(every_setting_is_read),
        cmocka_unit_test(methods_have_the_numbers_of_the_field),
        cmocka_unit_test(planes_need_no_passes),
        cmocka_unit_test(simulation_does_not_depend_on_it),
        cmocka_unit_test(record_of_a_run_needs_no_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
