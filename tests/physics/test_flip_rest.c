/* Sand that has slumped comes to rest: slippery sand, whose surface is a stair of cells, and deep sand, whose
 * stresses take many iterations to build up. */
#include <math.h>

#include "flip/flip.h"
#include "scene_sim.h"
#include "sim/sim.h"

/* Cells of 2.8 cm. Without the strength that holds the stairs the fronts still creep after 8 s, at 0.01 and
 * 0.003 sqrt(g dx). */
static void check_that_it_sleeps(const char *text)
{
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 12);
    assert_int_equal(wadi_sim_sleeping_particles(sim), 0);
    run_frames(sim, 5 * 24);
    assert_int_equal(wadi_sim_sleeping_particles(sim), sim->particles.count);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

#define SLUMP(angle)                                                                                         \
    "wadi: 1\nsolver: flip\nresolution: 36\n"                                                                \
    "domain: {min: [0, 0, 0], max: [1, 0.3, 0.5], walls: {friction: 0.7}}\n"                                 \
    "materials: {sand: {kind: sand, friction_angle: " angle "}}\n"                                           \
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.25, 0.3, 0.3]}}}]\n"

static void slippery_sand_falls_asleep(void **unused)
{
    (void)unused;
    check_that_it_sleeps(SLUMP("10"));
    check_that_it_sleeps(SLUMP("20"));
}

/* A planar column 40 cells deep. Stops after 0.35 s; with half the iterations its mean speed swings between
 * 0.01 and 0.06 sqrt(g dx) for another second. */
static void deep_sand_does_not_wobble(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\ncell_size: 0.0025\n"
                   "domain: {min: [0, 0, 0], max: [0.35, 0.01, 0.12], walls: {friction: 0}}\n"
                   "materials: {sand: {kind: sand, friction_angle: 35}}\n"
                   "colliders: [{friction: 0.7, shape: {box: {min: [-1, -1, -1], max: [1, 1, 0.01]}}}]\n"
                   "bodies: [{material: sand, shape: {box: {min: [0, 0, 0.01], max: [0.1, 0.01, 0.11]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    double unit = sqrt(9.81 * 0.0025), largest = 0.0;
    run_frames(sim, 15);
    for (int frame = 0; frame < 7; ++frame) {
        run_frames(sim, 1);
        largest = fmax(largest, mean_speed(&sim->particles) / unit);
    }
    print_message("deep column: mean speed %.4f sqrt(g dx) from 0.6 to 0.9 s\n", largest);
    assert_true(largest < 0.006);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slippery_sand_falls_asleep),
        cmocka_unit_test(deep_sand_does_not_wobble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
