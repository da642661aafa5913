/* flip: 20 s of sloshing at resonance keep the volume and an even spread of particles. WADI_LONG=1: on a grid
 * twice as fine. */
#include <stdio.h>
#include <string.h>

#include "particle_cells.h"
#include "scene_sim.h"

enum { SECONDS = 20, SETTLE = 5, FPS = 12 };

/* Gravity swings with the period of the first mode, 1.32 s for 0.3 m of water in a tank of 1 m, then stands
 * still. */
static void write_scene(char *text, size_t size, double cell)
{
    int used = snprintf(text, size,
                        "wadi: 1\nsolver: flip\ncell_size: %g\nfps: %d\n"
                        "domain: {min: [0, 0, 0], max: [1, 0.2, 0.8], walls: {friction: 0}}\n"
                        "materials: {water: {kind: water}}\n"
                        "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [1, 0.2, 0.3]}}}]\n"
                        "gravity: {interpolation: smooth, keys: [[0, [0, 0, -9.81]]",
                        cell, FPS);
    double time = 0.33, side = 2.5;
    for (; time < SECONDS - 0.4; time += 0.66, side = -side) {
        used += snprintf(text + used, size - (size_t)used, ", [%.2f, [%.1f, 0, -9.81]]", time, side);
    }
    used += snprintf(text + used, size - (size_t)used, ", [%d, [0, 0, -9.81]]]}\n", SECONDS);
    assert_true((size_t)used < size);
}

static void sloshing_keeps_the_volume(void **unused)
{
    (void)unused;
    bool is_long = is_long_run();
    double cell = is_long ? 0.025 : 0.05;
    int n[3] = { (int)(1.0 / cell + 0.5), (int)(0.2 / cell + 0.5), (int)(0.8 / cell + 0.5) };
    char text[8192];
    write_scene(text, sizeof text, cell);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    double least = 1.0, most = 1.0, crowded = 0.0, starved = 0.0, mean = 0.0, highest = 0.0;
    for (int second = 1; second <= SECONDS; ++second) {
        double fill = 0.0;
        for (int part = 0; part < 4; ++part) {
            run_frames(sim, FPS / 4);
            ParticleCells cells = count_particle_cells(sim, n[0], n[1], n[2]);
            fill += 0.25 * cells.fill;
            crowded += cells.crowded / (4 * SECONDS);
            starved += cells.starved / (4 * SECONDS);
            free_particle_cells(&cells);
            for (int32_t i = 0; i < sim->particles.count; ++i) {
                highest = fmax(highest, sim->particles.z[i]);
            }
        }
        mean += fill / SECONDS;
        least = fmin(least, fill);
        most = fmax(most, fill);
    }
    run_frames(sim, SETTLE * FPS);
    ParticleCells cells = count_particle_cells(sim, n[0], n[1], n[2]);
    print_message(
        "sloshing %d s, up to %.2f m: density %.4f (%.4f .. %.4f over a second), at the end %.4f +- %.2f; "
        "crowded %.4f, starved %.4f\n",
        SECONDS, highest, mean, least, most, cells.fill, cells.deviation, crowded, starved);
    assert_true(highest > 0.5); /* it does slosh */
    CHECK_NEAR(mean, 1.0, 0.01);
    CHECK_NEAR(least, 1.0, 0.02);
    CHECK_NEAR(most, 1.0, 0.02);
    CHECK_NEAR(cells.fill, 1.0, 0.01);
    /* Independent particles would have a deviation of 0.35, 0.4 % crowded cells and 1.4 % starved ones. */
    CHECK_AT_MOST(cells.deviation, 0.25);
    CHECK_AT_MOST(crowded, 0.004);
    CHECK_AT_MOST(starved, 0.014);
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    free_particle_cells(&cells);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sloshing_keeps_the_volume) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
