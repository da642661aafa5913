/* The flip solver on whole scenes: water that rests, sand that piles and stays, the same bytes for any thread
 * count and after a restart. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "same_bytes.h"

static const char *const tank = "wadi: 1\nsolver: flip\nresolution: 12\ndomain: {min: [0, 0, 0], max: [0.3, "
                                "0.3, 0.3], walls: {friction: 0}}\n"
                                "materials: {water: {kind: water}}\nbodies: [{material: water, shape: {box: "
                                "{min: [0, 0, 0], max: [0.3, 0.3, 0.15]}}}]\n";

static void water_at_rest_stays_at_rest(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(tank);
    WadiSim *sim = start_sim(scene, 0);
    run_frames(sim, 24);
    /* One step of free fall is 0.4 m/s at these steps. */
    CHECK_AT_MOST(mean_speed(&sim->particles), 1e-4);
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void water_falls_freely_before_it_lands(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\ncell_size: 0.05\nmaterials: {water: {kind: water}}\n"
                   "bodies: [{material: water, shape: {sphere: {center: [0, 0, 5], radius: 0.3}}, "
                   "velocity: [1, 0, 0]}]\n");
    WadiSim *sim = start_sim(scene, 0);
    double before = 0.0, after = 0.0, mean[3] = { 0 };
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        before += sim->particles.z[i] / sim->particles.count;
    }
    run_frames(sim, 12);
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        after += sim->particles.z[i] / sim->particles.count;
        mean[0] += (double)sim->particles.vx[i] / sim->particles.count;
        mean[1] += (double)sim->particles.vy[i] / sim->particles.count;
        mean[2] += (double)sim->particles.vz[i] / sim->particles.count;
    }
    /* Inside, the density correction evens out the jittered seeding; as a whole the ball falls as any ball,
     * to 0.1 %: cells that are less than half full take their velocity from their neighbours. */
    CHECK_NEAR(mean[0], 1.0, 1e-3);
    CHECK_NEAR(mean[1], 0.0, 1e-3);
    /* Velocities belong to the middle of the last step, positions to its end. */
    CHECK_NEAR(mean[2], -9.81 * (0.5 - 0.5 * sim->dt), 5e-3);
    CHECK_NEAR(before - after, 0.5 * 9.81 * 0.25, 1e-3 * 9.81 * 0.25);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Column of aspect 1 in a channel of four cells, whose walls would hold it if they were rougher. */
static const char *const column =
    "wadi: 1\nsolver: flip\nresolution: 40\ndomain: {min: [0, 0, 0], max: [0.8, 0.08, 0.3], walls: "
    "{friction: 0.4}}\n"
    "materials: {sand: {kind: sand, friction_angle: 35}}\n"
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.2, 0.08, 0.2]}}}]\n";

static void a_column_of_sand_collapses_and_comes_to_rest(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(column);
    WadiSim *sim = start_sim(scene, 0);
    run_frames(sim, 12);
    double flowing = mean_speed(&sim->particles);
    run_frames(sim, 36);
    double h = sim->world->cell_size, resting = mean_speed(&sim->particles);
    print_message("mean speed %.3g m/s after 0.5 s, %.3g after 2 s\n", flowing, resting);
    CHECK_AT_MOST(resting, 1e-3 * sqrt(9.81 * h));
    double front = 0.0, top = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        front = fmax(front, sim->particles.x[i]);
        top = fmax(top, sim->particles.z[i]);
    }
    /* It slumped and did not flow like water: run-out between half and three times the width, height between
     * a third and all. */
    print_message("front %.3f m, top %.3f m\n", front, top);
    assert_true(front > 0.3 && front < 0.75);
    assert_true(top > 0.07 && top < 0.2);
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void threads_and_restarts_do_not_change_a_byte(void **unused)
{
    (void)unused;
    check_same_bytes(tank, 3, 2);
    check_same_bytes(column, 3, 2);
}

static void a_warm_step_does_not_allocate(void **unused)
{
    (void)unused;
#ifdef WADI_CHECKS
    skip(); /* the checks of every step take memory of their own */
#endif
    const char *scenes[2] = { tank, column };
    for (int s = 0; s < 2; ++s) {
        WadiScene *scene = load_scene(scenes[s]);
        WadiSim *sim = start_sim(scene, 2);
        run_frames(sim, s == 0 ? 30 : 12); /* the sand still flows: falling asleep may allocate */
        size_t calls = wadi_alloc_call_count();
        run_frames(sim, 4);
        assert_int_equal(wadi_alloc_call_count(), calls);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(water_at_rest_stays_at_rest),
        cmocka_unit_test(water_falls_freely_before_it_lands),
        cmocka_unit_test(a_column_of_sand_collapses_and_comes_to_rest),
        cmocka_unit_test(threads_and_restarts_do_not_change_a_byte),
        cmocka_unit_test(a_warm_step_does_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
