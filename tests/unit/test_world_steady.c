/* world: times at which it is steady, and solids that disturb. */
#include "scene_sim.h"
#include "sim/sim.h"

static void a_solid_disturbs_when_it_moves_and_is_near(void **unused)
{
    (void)unused;
    /* A ball of 0.1 m goes from x = 1 to x = 0.2 at 1 m/s from 1 s on, and rests there; another jumps at 5
     * s. */
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\ncell_size: 0.1\nmaterials: {sand: {kind: sand}}\n"
                   "bodies: [{material: sand, shape: {sphere: {center: [0, 0, 9], radius: 0.3}}}]\n"
                   "colliders: [{shape: {sphere: {radius: 0.1}, translate: {keys: [[1, [1, 0, 0]], [1.8, "
                   "[0.2, 0, 0]]]}}}, "
                   "{shape: {sphere: {center: [0, 0, 3], radius: 0.1}, "
                   "translate: {keys: [[0, [0, 0, 0]], [5, [0, 0, -3]]], interpolation: step}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    WadiVec3 x = { 0, 0, 0 };
    assert_false(wadi_world_disturbs(sim->world, x, 0.15, 0.0, 0.9)); /* neither near nor moving */
    assert_false(wadi_world_disturbs(sim->world, x, 0.15, 1.1, 1.2)); /* moves, at 0.7 m */
    assert_true(wadi_world_disturbs(sim->world, x, 0.15, 1.7, 1.75)); /* arrives */
    assert_false(wadi_world_disturbs(sim->world, x, 0.15, 1.9, 2.9)); /* is there and rests */
    assert_true(wadi_world_disturbs(sim->world, x, 0.15, 4.9, 5.1));  /* appears */
    assert_false(wadi_world_disturbs(sim->world, x, 0.15, 5.1, 5.2));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A ball that jumps to the other side is as far away as before; one that jumps there and back was near. */
static void a_jump_disturbs_at_any_distance_that_it_leaves(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\ncell_size: 0.1\nmaterials: {sand: {kind: sand}}\n"
                   "bodies: [{material: sand, shape: {sphere: {center: [0, 0, 9], radius: 0.3}}}]\n"
                   "colliders: [{shape: {sphere: {center: [0.2, 0, 0], radius: 0.1}, translate: {keys: [[0, "
                   "[0, 0, 0]], [1, "
                   "[-0.4, 0, 0]]], interpolation: step}}}, "
                   "{shape: {sphere: {center: [3, 0, 0], radius: 0.1}, translate: {keys: [[0, [0, 0, 0]], "
                   "[2, [-3, 0, 0]], "
                   "[2.01, [0, 0, 0]]], interpolation: step}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    const WadiVec3 x = { 0, 0, 0 };
    assert_false(wadi_world_disturbs(sim->world, x, 0.15, 0.1, 0.9));
    assert_true(wadi_world_disturbs(sim->world, x, 0.15, 0.9, 1.1));
    assert_false(wadi_world_disturbs(sim->world, x, 0.15, 1.1, 1.9));
    assert_true(wadi_world_disturbs(sim->world, x, 0.15, 1.99, 2.02));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A plate at 2 m/s, and an arm of 1 m that turns by a radian a second, of which 0.5 m are in the box. */
static void solids_have_the_speed_that_they_have_in_a_box(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\ncell_size: 0.1\nmaterials: {sand: {kind: sand}}\n"
                   "bodies: [{material: sand, shape: {sphere: {center: [0, 0, 9], radius: 0.3}}}]\n"
                   "colliders: [{shape: {box: {center: [0, 0, 5], size: [1, 1, 0.1]}, translate: {keys: [[0, "
                   "[0, 0, 0]], [1, "
                   "[0, 0, 2]]]}}}, "
                   "{shape: {box: {min: [0, -0.01, -0.01], max: [1, 0.01, 0.01]}, rotate: {keys: [[0, [0, 0, "
                   "0]], [1, [0, 0, "
                   "57.29577951308232]]]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    const WadiBox at_plate = { { -1, -1, 4 }, { 1, 1, 6 } }, at_arm = { { -1, -1, -1 }, { 0.5, 1, 1 } };
    const WadiBox beside = { { 10, 10, 10 }, { 11, 11, 11 } };
    CHECK_NEAR(wadi_world_solid_speed(sim->world, at_plate, 0.1, 0.101), 2.0, 1e-9);
    CHECK_NEAR(wadi_world_solid_speed(sim->world, at_plate, 1.1, 1.101), 0.0, 0.0);
    CHECK_NEAR(wadi_world_solid_speed(sim->world, at_arm, 0.0, 0.001), 0.5, 0.02);
    CHECK_NEAR(wadi_world_solid_speed(sim->world, beside, 0.1, 0.101), 0.0, 0.0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void a_world_is_steady_between_its_changes(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: flip\ncell_size: 0.1\n"
        "materials: {sand: {kind: sand, friction_angle: {keys: [[8, 30], [9, 20]]}}}\n"
        "gravity: {keys: [[1, [0, 0, -9.81]], [2, [1, 0, -9.81]]]}\n"
        "bodies: [{material: sand, shape: {sphere: {radius: 0.3}}}]\n"
        "forces: [{kind: uniform, acceleration: [1, 0, 0], start: 4, end: 6}]\n"
        "emitters: [{material: sand, shape: {sphere: {radius: 0.1}}, rate: 1e-3, start: 11, end: 12}]\n"
        "drains: [{shape: {sphere: {radius: 0.1}}, start: 14, end: 15}]\n");
    WadiSim *sim = start_sim(scene, 1);
    const double times[10][2] = { { 0, 0.9 },   { 0.9, 1.1 }, { 1.5, 1.6 }, { 2.1, 3.9 }, { 3.9, 4.1 },
                                  { 4.1, 5.9 }, { 5.9, 6.1 }, { 6.1, 7.9 }, { 8.5, 8.6 }, { 9.1, 99.0 } };
    const bool is_steady[10] = { true, false, false, true, false, true, false, true, false, true };
    for (int i = 0; i < 10; ++i) {
        assert_true(wadi_world_is_steady(sim->world, times[i][0], times[i][1]) == is_steady[i]);
    }
    assert_true(wadi_world_is_closed(sim->world, 0.0, 10.0));
    assert_false(wadi_world_is_closed(sim->world, 11.5, 11.6));
    assert_true(wadi_world_is_closed(sim->world, 12.5, 13.0));
    assert_false(wadi_world_is_closed(sim->world, 13.0, 14.1));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_solid_disturbs_when_it_moves_and_is_near),
        cmocka_unit_test(a_jump_disturbs_at_any_distance_that_it_leaves),
        cmocka_unit_test(solids_have_the_speed_that_they_have_in_a_box),
        cmocka_unit_test(a_world_is_steady_between_its_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
