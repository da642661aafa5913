/* Sand sleeps tile by tile: far from a disturbance it sleeps on, and the result is that of sand that never
 * sleeps. */
#include <string.h>

#include "flip/flip.h"
#include "same_bytes.h"
#include "sleep_run.h"

/* Beds of cells of 2 cm, two cells wide between slippery walls, on a rough floor. The window is 0.45 s: they
 * sleep half a second after the start. */
#define FLOOR "{friction: 0.7, shape: {half_space: {point: [0, 0, 0], normal: [0, 0, 1]}}}"
#define BED(length)                                                                                          \
    "wadi: 1\nsolver: flip\ncell_size: 0.02\n"                                                               \
    "domain: {min: [0, 0, -0.1], max: [" length ", 0.04, 3], walls: {friction: 0}}\n"                        \
    "materials: {sand: {kind: sand, friction_angle: 35}}\n"

static const double cell = 0.02, width = 0.04;

enum { COLUMNS = 160 };

/* Height of the sand over each column of cells, m. */
static void profile(const WadiSim *sim, double height[COLUMNS])
{
    memset(height, 0, COLUMNS * sizeof *height);
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        int c = (int)(sim->particles.x[i] / cell);
        assert_true(c >= 0 && c < COLUMNS);
        height[c] += sim->world->particle_volume / (cell * width);
    }
}

static double largest_difference(const WadiSim *sim, const WadiSim *other)
{
    double one[COLUMNS], two[COLUMNS], worst = 0.0;
    profile(sim, one);
    profile(other, two);
    for (int c = 0; c + 1 < COLUMNS; ++c) { /* means of two columns: single ones are noisy */
        worst = fmax(worst, 0.5 * fabs(one[c] + one[c + 1] - two[c] - two[c + 1]));
    }
    return worst;
}

/* The last column that is half a cell high. */
static int front(const WadiSim *sim)
{
    double height[COLUMNS];
    int last = -1;
    profile(sim, height);
    for (int c = 0; c < COLUMNS; ++c) {
        last = height[c] >= 0.5 * cell ? c : last;
    }
    return last;
}

static bool is_asleep(const WadiSim *sim, double x, double z)
{
    const WadiFlip *flip = sim->solver;
    WadiTile tile = { (int32_t)floor(x / cell) >> 3, 0, (int32_t)floor(z / cell) >> 3 };
    return wadi_sleep_find(&flip->sleep, tile) >= 0;
}

static int32_t awake_in(const WadiSim *sim, double x0, double x1)
{
    const WadiFlip *flip = sim->solver;
    int32_t count = 0;
    for (int32_t i = flip->sleep.count; i < sim->particles.count; ++i) {
        count += sim->particles.x[i] >= x0 && sim->particles.x[i] < x1;
    }
    return count;
}

/* Force on the floor by the pressures that the particles of the lowest layer carry, those asleep included, N.
 * With a surface of first order the pressure of the lowest cell is that on the floor. */
static double floor_force(const WadiSim *sim)
{
    const WadiFlip *flip = sim->solver;
    const float *pressure = wadi_particles_column(&sim->particles, flip->pressure_column);
    double sum[COLUMNS][2] = { { 0 } }, count[COLUMNS][2] = { { 0 } }, force = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        if (sim->particles.z[i] < cell) {
            int c = (int)(sim->particles.x[i] / cell), d = (int)(sim->particles.y[i] / cell);
            sum[c][d] += (double)pressure[i];
            count[c][d] += 1.0;
        }
    }
    for (int c = 0; c < 2 * COLUMNS; ++c) {
        double n = count[c / 2][c % 2];
        force += n > 0.0 ? sum[c / 2][c % 2] / n * cell * cell : 0.0;
    }
    return force;
}

#define POURED                                                                                               \
    BED("2.56")                                                                                              \
    "colliders: [" FLOOR "]\n"                                                                               \
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [2.56, 0.04, 0.24]}}}]\n"                  \
    "emitters: [{material: sand, shape: {box: {min: [0.4, 0, 0.5], max: [0.48, 0.04, 0.54]}}, "              \
    "velocity: [0, 0, -0.5], rate: 4e-4, start: 0.7, end: 2.2}]\n"

/* A thin stream on one end of a long bed. What it adds, 6e-4 m^3, is a heap of 13 cells in height at most: no
 * farther than 20 cells from its middle at 35 degrees, and its weight spreads by as much as the bed is
 * deep. */
static void a_stream_wakes_what_it_falls_on(void **unused)
{
    (void)unused;
    Run run = start(POURED, true), awake = start(POURED, false);
    step_until(&run, 0.69);
    assert_int_equal(wadi_sim_sleeping_particles(run.sim), run.sim->particles.count);
    double far[3] = { 1.4, 2.0, 2.5 };
    run.awake = run.all = 0.0;
    while (run.sim->time < 2.2) {
        step_until(&run, run.sim->time + 1e-6);
        for (int n = 0; n < 3; ++n) {
            assert_true(is_asleep(run.sim, far[n], 0.05));
        }
    }
    print_message("awake while it pours: %.3f of the particles\n", run.awake / run.all);
    CHECK_AT_MOST(run.awake / run.all, 0.45);
    check_store(run.sim);
    double weight =
        run.sim->particles.count * run.sim->world->particle_volume * run.scene->materials[0].density * 9.81;
    print_message("floor bears %.3f of the weight\n", floor_force(run.sim) / weight);
    CHECK_NEAR(floor_force(run.sim), weight, 0.05 * weight);
    step_until(&run, 4.2);
    step_until(&awake, 4.2);
    print_message("heights differ by %.2f cells\n", largest_difference(run.sim, awake.sim) / cell);
    CHECK_AT_MOST(largest_difference(run.sim, awake.sim), 1.0 * cell);
    assert_int_equal(wadi_sim_sleeping_particles(run.sim), run.sim->particles.count);
    weight =
        run.sim->particles.count * run.sim->world->particle_volume * run.scene->materials[0].density * 9.81;
    print_message("floor bears %.3f of the weight, all asleep\n", floor_force(run.sim) / weight);
    CHECK_NEAR(floor_force(run.sim), weight, 0.05 * weight);
    finish(&run);
    finish(&awake);
}

#define UNDERCUT                                                                                             \
    BED("3.2")                                                                                               \
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [1.92, 0.04, 0.24]}}}]\n"                  \
    "colliders: [" FLOOR ", {shape: {box: {min: [1.92, -1, 0], max: [2.2, 1, 1]}, "                          \
    "translate: {keys: [[0.7, [0, 0, 0]], [0.95, [0, 0, 0.5]]]}}, friction: 0}]\n"

/* A gate at one end of a bed 12 cells high is lifted: the sand behind it slides, as far back as the slope of
 * 35 degrees reaches, 17 cells, and not much farther. */
static void a_bed_that_loses_its_support_wakes_as_the_wave_arrives(void **unused)
{
    (void)unused;
    Run run = start(UNDERCUT, true), awake = start(UNDERCUT, false);
    step_until(&run, 0.69);
    assert_int_equal(wadi_sim_sleeping_particles(run.sim), run.sim->particles.count);
    double reached[3] = { INFINITY, INFINITY, INFINITY };
    const double position[3] = { 1.80, 1.64, 0.5 }; /* 6, 14 and 71 cells behind the gate */
    while (run.sim->time < 1.5) {
        step_until(&run, run.sim->time + 1e-6);
        for (int n = 0; n < 3; ++n) {
            reached[n] = is_asleep(run.sim, position[n], 0.1) ? reached[n] : fmin(reached[n], run.sim->time);
        }
    }
    print_message("woke at %.3f, %.3f, %.3f s\n", reached[0], reached[1], reached[2]);
    assert_true(reached[0] > 0.69 && reached[0] < 0.75);
    assert_true(reached[1] > reached[0] && reached[1] < 1.2);
    assert_true(reached[2] > 1e9); /* never reached */
    check_store(run.sim);
    step_until(&run, 3.0);
    step_until(&awake, 3.0);
    print_message("fronts at %d and %d, heights differ by %.2f cells\n", front(run.sim), front(awake.sim),
                  largest_difference(run.sim, awake.sim) / cell);
    CHECK_NEAR(front(run.sim), front(awake.sim), 1.0);
    CHECK_AT_MOST(largest_difference(run.sim, awake.sim), 1.0 * cell);
    finish(&run);
    finish(&awake);
}

/* A block of sand thrown up at 5 m/s comes back after a second, 16 cells wide and high, on a bed as deep as
 * itself. */
#define DROPPED                                                                                              \
    BED("2.56")                                                                                              \
    "colliders: [" FLOOR "]\n"                                                                               \
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [2.56, 0.04, 0.16]}}}, "                   \
    "{material: sand, shape: {box: {min: [0.64, 0, 0.5], max: [0.96, 0.04, 0.82]}}, velocity: [0, 0, 5]}]\n"

static void a_block_that_falls_on_sleeping_sand_wakes_it(void **unused)
{
    (void)unused;
    Run run = start(DROPPED, true), awake = start(DROPPED, false);
    step_until(&run, 0.95);
    /* 0.32 m above the bed: it sleeps, the block flies. */
    assert_int_equal(awake_in(run.sim, 0.0, 0.6) + awake_in(run.sim, 1.0, 2.56), 0);
    assert_true(is_asleep(run.sim, 0.8, 0.05) && wadi_sim_sleeping_particles(run.sim) > 0);
    step_until(&run, 1.15);
    assert_true(!is_asleep(run.sim, 0.7, 0.05) && !is_asleep(run.sim, 0.9, 0.05));
    step_until(&run, 2.5);
    step_until(&awake, 2.5);
    double before = 0.16, after[COLUMNS];
    profile(run.sim, after);
    print_message("bed of 8 cells beside the block: %.1f cells after; heights differ by %.2f cells\n",
                  after[28] / cell, largest_difference(run.sim, awake.sim) / cell);
    assert_true(after[28] > before + 2.0 * cell);
    CHECK_AT_MOST(largest_difference(run.sim, awake.sim), 1.0 * cell);
    check_store(run.sim);
    finish(&run);
    finish(&awake);
}

/* Cut while a part sleeps and the stream falls. */
static void threads_and_restarts_do_not_change_a_byte(void **unused)
{
    (void)unused;
    Run run = start(POURED, true);
    step_until(&run, 30.0 / 24.0);
    assert_true(wadi_sim_sleeping_particles(run.sim) > 0);
    assert_true(wadi_sim_sleeping_particles(run.sim) < run.sim->particles.count);
    finish(&run);
    check_same_bytes(POURED, 30, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_wakes_what_it_falls_on),
        cmocka_unit_test(a_bed_that_loses_its_support_wakes_as_the_wave_arrives),
        cmocka_unit_test(a_block_that_falls_on_sleeping_sand_wakes_it),
        cmocka_unit_test(threads_and_restarts_do_not_change_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
