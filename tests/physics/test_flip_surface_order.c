/* `flip: {surface: ...}` of sand alone: with second order slopes stand up to their angle and no farther;
 * first order gives their surface a cohesion. [theory 4.1] */
#include "scene_sim.h"
#include "sim/sim.h"

/* mm/s: how fast the centre of mass of a slope of sand of 35 degrees sinks in the second second. */
static double sinking(double angle, const char *surface)
{
    char text[1024];
    const double turn = angle * 0.017453292519943295;
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: flip\ncell_size: 0.02\nflip: {surface: %s, sleep: false}\n"
             "domain: {min: [0, 0, -0.04], max: [0.8, 0.08, 0.4], walls: {friction: 0}}\n"
             "colliders: [{shape: {half_space: {}}, friction: 0.7}]\n"
             "materials: {sand: {kind: sand, friction_angle: 35}}\n"
             "bodies:\n- material: sand\n  shape:\n    intersection:\n"
             "    - box: {min: [0, 0, 0], max: [0.8, 0.08, 0.4]}\n"
             "    - half_space: {point: [0.55, 0, 0], normal: [%.9g, 0, %.9g]}\n",
             surface, sin(turn), cos(turn));
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 24);
    const double before = mean_height(&sim->particles);
    run_frames(sim, 24);
    const double speed = 1e3 * (before - mean_height(&sim->particles));
    print_message("%.0f degrees, %s: %.3f mm/s\n", angle, surface, speed);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return speed;
}

static void second_order_tells_slopes_above_the_angle_from_those_below(void **unused)
{
    (void)unused;
    const double below = sinking(32.0, "ghost_fluid"), above = sinking(38.0, "ghost_fluid");
    CHECK_AT_MOST(fabs(below), 0.05);
    assert_true(above > 0.3);
}

static void first_order_bears_a_steeper_slope(void **unused)
{
    (void)unused;
    CHECK_AT_MOST(fabs(sinking(32.0, "first_order")), 0.05);
    CHECK_AT_MOST(fabs(sinking(38.0, "first_order")), 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_order_tells_slopes_above_the_angle_from_those_below),
        cmocka_unit_test(first_order_bears_a_steeper_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
