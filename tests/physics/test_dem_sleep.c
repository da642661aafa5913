/* dem: grains at rest sleep, wake when something happens, and wake to the forces with which they fell
 * asleep. */
#include "dem/dem.h"
#include "scene_sim.h"
#include "sim/sim.h"

#define BED                                                                                                  \
    "wadi: 1\nsolver: dem\nfps: 50\ndomain: {min: [0, 0, 0], max: [0.12, 0.12, 0.2], walls: {friction: "     \
    "0.5}}\ncell_size: 0.01\nparticles_per_cell: 1\nmaterials: {sand: {kind: sand, friction_angle: 27}}\n"   \
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.12, 0.12, 0.05]}}}]\n"

static int64_t run_until_asleep(WadiSim *sim, int frames)
{
    for (int n = 0; n < frames && wadi_sim_sleeping_particles(sim) < sim->particles.count; ++n) {
        run_frames(sim, 1);
    }
    return wadi_sim_sleeping_particles(sim);
}

static double fastest(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    double speed = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        speed = fmax(speed, wadi_norm(v));
    }
    return speed;
}

/* A tilt by a thousandth of gravity at 4 s wakes all grains; those that had lost their springs would fall
 * through their friction: at g sin 27 for 0.02 s that is 0.09 m/s. A few that nothing holds may move on. */
static void check_woken(int seed)
{
    char text[1024];
    snprintf(text, sizeof text,
             BED "seed: %d\n"
                 "gravity: {keys: [[0, [0, 0, -9.81]], [4, [0, 0, -9.81]], [4.001, [0.01, 0, -9.81]], "
                 "[9, [0.01, 0, -9.81]]]}\n",
             seed);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    assert_int_equal(run_until_asleep(sim, 199), 720);
    CHECK_AT_MOST(fastest(sim), 0.0);
    const int64_t steps = sim->steps;
    run_frames(sim, 2);
    assert_int_equal(sim->steps, steps + 2); /* sleeping sand takes a frame in a step */
    WadiParticles *p = &sim->particles;
    double before[720][3];
    int far = 0, farther = 0; /* grains that moved by 1 % and 2 % of a diameter */
    for (int32_t i = 0; i < p->count; ++i) {
        before[p->id[i]][0] = p->x[i], before[p->id[i]][1] = p->y[i], before[p->id[i]][2] = p->z[i];
    }
    while (sim->time < 4.0005) {
        run_frames(sim, 1);
    }
    double speed = 0.0;
    assert_int_equal(wadi_sim_sleeping_particles(sim), 0);
    for (int n = 0; n < 5; ++n) {
        run_frames(sim, 1);
        speed = fmax(speed, fastest(sim));
    }
    for (int32_t i = 0; i < p->count; ++i) {
        const double *x = before[p->id[i]];
        const double moved = wadi_norm((WadiVec3){ p->x[i] - x[0], p->y[i] - x[1], p->z[i] - x[2] });
        far += moved > 1e-4;
        farther += moved > 2e-4;
    }
    print_message("fastest %.4f m/s, %d and %d grains moved\n", speed, far, farther);
    CHECK_AT_MOST(speed, 0.02);
    CHECK_AT_MOST(far, 7);
    CHECK_AT_MOST(farther, 2);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void woken_grains_do_not_move(void **unused)
{
    (void)unused;
    for (int seed = 0; seed < 4; ++seed) {
        check_woken(seed);
    }
}

/* Grains that are poured on a sleeping bed wake it. */
static void what_falls_on_it_wakes_it(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(BED "emitters: [{material: sand, shape: {sphere: {center: [0.06, 0.06, "
                                      "0.15], radius: 0.01}}, rate: 1e-4, "
                                      "start: 4, velocity: [0, 0, -1]}]\n");
    WadiSim *sim = start_sim(scene, 1);
    run_until_asleep(sim, 199);
    assert_int_equal(wadi_sim_sleeping_particles(sim), 720);
    while (sim->time < 4.3) {
        run_frames(sim, 1);
    }
    const WadiDem *dem = sim->solver;
    const int64_t asleep = wadi_sim_sleeping_particles(sim);
    assert_true(asleep < 720);
    assert_true(sim->particles.count > 740);
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    int64_t count = 0;
    for (size_t t = 0; t < dem->sleep.tile_count; ++t) {
        count += dem->sleep.tile[t].count;
    }
    assert_int_equal(count, dem->sleep.count);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(woken_grains_do_not_move),
        cmocka_unit_test(what_falls_on_it_wakes_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
