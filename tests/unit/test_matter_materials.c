/* matter: the materials by number, their means, the unit of time, against numbers worked out by hand. */
#include "matter/materials.h"

#include "matter/yield.h"
#include "scene_sim.h"

static const char *text = "wadi: 1\nsolver: flip\ncell_size: 0.1\n"
                          "domain: {min: [0, 0, 0], max: [1, 1, 1]}\n"
                          "gravity: {keys: [[0, [0, 0, -1]], [2, [0, 3, -4]], [3, [0, 0, 0]]]}\n"
                          "materials:\n"
                          "  sand: {kind: sand, density: 1600, friction_angle: {keys: [[0, 30], [2, 40]]}, "
                          "cohesion: {keys: [[0, 0], [2, 100]]}}\n"
                          "  fog: {kind: water, density: 1}\n" /* unused */
                          "  water: {kind: water, density: 1000}\n"
                          "bodies:\n"
                          "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [1, 1, 0.2]}}}\n"
                          "  - {material: water, shape: {box: {min: [0, 0, 0.2], max: [1, 1, 0.4]}}}\n";

static void materials_are_relative_to_the_first(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(text);
    WadiMaterials materials;
    wadi_materials_init(&materials, scene);
    assert_true(materials.count == 3 && materials.used_count == 2 && materials.first == 0);
    assert_true(materials.has_sand && materials.has_water);
    assert_true(materials.is_sand[0] == 1 && materials.is_sand[1] == 0 && materials.is_sand[2] == 0);
    CHECK_NEAR(materials.density, 1600.0, 0.0);
    CHECK_NEAR(materials.mass[0], 1.0, 0.0);
    CHECK_NEAR(materials.mass[1], 1.0, 0.0);
    CHECK_NEAR(materials.mass[2], 0.625, 0.0);
    wadi_scene_destroy(scene);
}

static void a_mean_is_over_particles(void **unused)
{
    (void)unused;
    const float of_material[3] = { 1.0f, 5.0f, 100.0f };
    const uint8_t material[6] = { 2, 0, 1, 1, 1, 2 };
    CHECK_NEAR(wadi_materials_mean(of_material, material, 1, 5), 4.0, 0.0);
    CHECK_NEAR(wadi_materials_mean(of_material, material, 1, 2), 1.0, 0.0);
}

static void the_unit_of_time_is_that_of_the_largest_gravity(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(text);
    CHECK_NEAR(wadi_scene_unit_time(scene, 0.2), 0.2, 1e-15); /* sqrt(0.2 / 5) */
    wadi_scene_destroy(scene);
}

static void the_yield_law_of_a_material_follows_its_keys(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(text);
    WadiYield yield = wadi_yield_of_material(&scene->materials[0], WADI_YIELD_PLANE, 0.0);
    CHECK_NEAR(yield.slide, 0.5, 1e-15); /* sin 30 */
    CHECK_NEAR(yield.cohesion, 0.0, 0.0);
    yield = wadi_yield_of_material(&scene->materials[0], WADI_YIELD_TAN, 5.0);
    CHECK_NEAR(yield.slide, 0.8390996311772800, 1e-15); /* tan 40 */
    CHECK_NEAR(yield.cohesion, 76.604444311897804, 1e-12);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(materials_are_relative_to_the_first),
        cmocka_unit_test(a_mean_is_over_particles),
        cmocka_unit_test(the_unit_of_time_is_that_of_the_largest_gravity),
        cmocka_unit_test(the_yield_law_of_a_material_follows_its_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
