/* Settings of the flip solver in the scene file. */
#include "expect.h"
#include "flip/flip_settings.h"
#include "io/scene/scene_parse.h"

#define HEAD "wadi: 1\nsolver: flip\ncell_size: 0.1\nbodies: [{material: a, shape: {sphere: {radius: 1}}}]\n"

static WadiScene *parse(const char *text)
{
    WadiError error = { 0 };
    WadiScene *scene = NULL;
    WadiSceneDef def = { .text = text };
    CHECK_OK(wadi_scene_parse(&scene, &def, &error), error);
    return scene;
}

static void defaults_are_the_best_known(void **unused)
{
    (void)unused;
    WadiScene *s = parse(HEAD "materials: {a: {kind: sand}, b: {kind: water}}\n");
    assert_int_equal(wadi_flip_def(s)->pressure, WADI_FLIP_PRESSURE_MULTIGRID);
    assert_int_equal(wadi_flip_def(s)->friction, WADI_FLIP_FRICTION_SOLVE);
    assert_int_equal(wadi_flip_def(s)->surface, WADI_FLIP_SURFACE_AUTO);
    assert_int_equal(wadi_flip_def(s)->solids, WADI_FLIP_SOLIDS_CUT_CELLS);
    assert_int_equal(wadi_flip_def(s)->unilateral, WADI_FLIP_UNILATERAL_SAND);
    assert_int_equal(wadi_flip_def(s)->path, WADI_FLIP_PATH_AUTO);
    assert_int_equal(wadi_flip_def(s)->friction_rounds, 1);
    assert_int_equal(wadi_flip_def(s)->pair_separation, 0);
    assert_true(wadi_flip_def(s)->sleep);
    CHECK_NEAR(wadi_flip_def(s)->cfl, 2.0, 0.0);
    CHECK_NEAR(wadi_flip_def(s)->sand_step, 0.21, 0.0);
    CHECK_NEAR(wadi_flip_def(s)->density_rate, -1.0, 0.0);
    CHECK_NEAR(wadi_flip_def(s)->density_band, -1.0, 0.0);
    CHECK_NEAR(wadi_flip_def(s)->over_relaxation, 1.9, 0.0);
    CHECK_NEAR(s->materials[0].flip_fraction, -1.0, 0.0);
    CHECK_NEAR(s->materials[1].flip_fraction, -1.0, 0.0);
    assert_int_equal(s->materials[0].yield, WADI_YIELD_TAN);
    CHECK_NEAR(wadi_curve_value(&s->materials[0].cohesion, 0.0), 0.0, 0.0);
    CHECK_NEAR(wadi_curve_value(&s->materials[1].viscosity, 0.0), 0.0, 0.0);
    wadi_scene_free(s);
}

static void every_setting_is_read(void **unused)
{
    (void)unused;
    WadiScene *s = parse(
        HEAD "flip: {pressure: gauss_seidel, tolerance: 1e-3, sweeps: 99, over_relaxation: 1.5,\n"
             "  unilateral: none, surface: face, solids: voxels, friction: zb05,\n"
             "  friction_iterations: 7, friction_rounds: 3, wall_friction: zb05, density_rate: 5,\n"
             "  density_band: 0.1, density_alpha: 0.5, pair_separation: 2, path: rk3, cfl: 2.5, sand_step: "
             "0.5, sleep: false}\n"
             "materials:\n"
             "  a: {kind: sand, yield: triaxial, cohesion: {keys: [[0, 10], [1, 20]]}, transfer: apic,\n"
             "      friction_angle_fast: 45, grain_size: 0.002, viscosity: 3, tensile_strength: 700}\n"
             "  b: {kind: water, viscosity: 10, surface_tension: 0.072, transfer: pic, flip_share: 0.5}\n");
    assert_int_equal(wadi_flip_def(s)->pressure, WADI_FLIP_PRESSURE_GAUSS_SEIDEL);
    CHECK_NEAR(wadi_flip_def(s)->tolerance, 1e-3, 0.0);
    assert_int_equal(wadi_flip_def(s)->sweeps, 99);
    CHECK_NEAR(wadi_flip_def(s)->over_relaxation, 1.5, 0.0);
    assert_int_equal(wadi_flip_def(s)->unilateral, WADI_FLIP_UNILATERAL_NONE);
    assert_int_equal(wadi_flip_def(s)->surface, WADI_FLIP_SURFACE_FACE);
    assert_int_equal(wadi_flip_def(s)->solids, WADI_FLIP_SOLIDS_VOXELS);
    assert_int_equal(wadi_flip_def(s)->friction, WADI_FLIP_FRICTION_ZB05);
    assert_int_equal(wadi_flip_def(s)->friction_iterations, 7);
    assert_int_equal(wadi_flip_def(s)->friction_rounds, 3);
    assert_int_equal(wadi_flip_def(s)->wall_friction, WADI_FLIP_WALL_FRICTION_ZB05);
    CHECK_NEAR(wadi_flip_def(s)->density_rate, 5.0, 0.0);
    CHECK_NEAR(wadi_flip_def(s)->density_band, 0.1, 0.0);
    CHECK_NEAR(wadi_flip_def(s)->density_alpha, 0.5, 0.0);
    assert_int_equal(wadi_flip_def(s)->pair_separation, 2);
    assert_int_equal(wadi_flip_def(s)->path, WADI_FLIP_PATH_RK3);
    CHECK_NEAR(wadi_flip_def(s)->cfl, 2.5, 0.0);
    CHECK_NEAR(wadi_flip_def(s)->sand_step, 0.5, 0.0);
    assert_false(wadi_flip_def(s)->sleep);
    const WadiMaterial *a = &s->materials[0], *b = &s->materials[1];
    assert_int_equal(a->yield, WADI_YIELD_TRIAXIAL);
    CHECK_NEAR(wadi_curve_value(&a->cohesion, 0.5), 15.0, 1e-12);
    assert_int_equal(a->transfer, WADI_TRANSFER_APIC);
    CHECK_NEAR(a->friction_angle_fast, 45.0, 0.0);
    CHECK_NEAR(a->grain_size, 0.002, 0.0);
    CHECK_NEAR(a->tensile_strength, 700.0, 0.0);
    CHECK_NEAR(wadi_curve_value(&a->viscosity, 0.0), 3.0, 0.0);
    CHECK_NEAR(wadi_curve_value(&b->surface_tension, 0.0), 0.072, 0.0);
    assert_int_equal(b->transfer, WADI_TRANSFER_PIC);
    CHECK_NEAR(b->flip_fraction, 0.5, 0.0);
    wadi_scene_free(s);
}

static void a_setting_changes_the_hash(void **unused)
{
    (void)unused;
    WadiScene *a = parse(HEAD "materials: {a: {kind: sand}}\n");
    WadiScene *b = parse(HEAD "materials: {a: {kind: sand}}\nflip: {friction: zb05}\n");
    WadiScene *c = parse(HEAD "materials: {a: {kind: sand}}\nflip: {friction: solve}\n");
    assert_true(a->content_hash != b->content_hash);
    assert_true(a->content_hash == c->content_hash); /* writing a default does not change the hash */
    wadi_scene_free(a);
    wadi_scene_free(b);
    wadi_scene_free(c);
}

static void published_methods_bring_their_settings(void **unused)
{
    (void)unused;
    WadiScene *s = parse(HEAD "flip: {published: zb05}\nmaterials: {a: {kind: sand}, b: {kind: water}}\n");
    const WadiFlipDef *def = wadi_flip_def(s);
    assert_int_equal(def->published, WADI_FLIP_PUBLISHED_ZB05);
    assert_int_equal(def->solids, WADI_FLIP_SOLIDS_VOXELS);
    assert_int_equal(def->unilateral, WADI_FLIP_UNILATERAL_NONE);
    assert_int_equal(def->surface, WADI_FLIP_SURFACE_FIRST_ORDER);
    assert_false(def->sleep);
    CHECK_NEAR(def->cfl, 5.0, 0.0);
    assert_int_equal(s->materials[0].transfer, WADI_TRANSFER_PIC);
    assert_int_equal(s->materials[1].transfer, WADI_TRANSFER_FLIP);
    CHECK_NEAR(s->materials[1].flip_fraction, 1.0, 0.0);
    wadi_scene_free(s);
    s = parse(HEAD "flip: {published: zb05, cfl: 2}\nmaterials: {a: {kind: sand, transfer: flip, "
                   "flip_share: 0.5}}\n");
    CHECK_NEAR(wadi_flip_def(s)->cfl, 2.0, 0.0);
    assert_int_equal(s->materials[0].transfer, WADI_TRANSFER_FLIP);
    CHECK_NEAR(s->materials[0].flip_fraction, 0.5, 0.0);
    wadi_scene_free(s);
    s = parse(HEAD "flip: {published: a24, sweeps: 20}\nmaterials: {a: {kind: water}}\n");
    def = wadi_flip_def(s);
    assert_int_equal(def->pressure, WADI_FLIP_PRESSURE_GAUSS_SEIDEL);
    assert_int_equal(def->sweeps, 20);
    CHECK_NEAR(def->density_alpha, 0.1, 0.0);
    CHECK_NEAR(def->cfl, 1.0, 0.0);
    assert_int_equal(s->materials[0].transfer, WADI_TRANSFER_PIC);
    wadi_scene_free(s);
    s = parse(HEAD "flip: {published: a24, density_alpha: 0}\nmaterials: {a: {kind: water}}\n");
    CHECK_NEAR(wadi_flip_def(s)->density_alpha, 0.0, 0.0);
    wadi_scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_best_known),
        cmocka_unit_test(every_setting_is_read),
        cmocka_unit_test(published_methods_bring_their_settings),
        cmocka_unit_test(a_setting_changes_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
