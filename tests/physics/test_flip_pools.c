/* flip: pools of water at rest sleep and wake as a whole, and water that still moves does not sleep. */
#include <stdio.h>
#include <stdlib.h>

#include "same_bytes.h"

/* Cells of 2 cm: sqrt(dx / g) = 0.045 s, the window is 1.36 s. */
static const double cell = 0.02;

enum { FPS = 30 };

/* 16 x 8 x 8 cells of water in a tank of 16 x 8 x 16; `more` adds to it. */
#define TANK(more)                                                                                           \
    "{wadi: 1, solver: flip, cell_size: 0.02, fps: 30, frames: 999, materials: {water: {kind: water}},"      \
    " domain: {min: [0, 0, 0], max: [0.32, 0.16, 0.32]}, " more                                              \
    " bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.32, 0.16, 0.16]}}}]}"

static WadiSim *start(const char *text, WadiScene **scene)
{
    *scene = load_scene(text);
    return start_sim(*scene, 1);
}

static void end(WadiSim *sim, WadiScene *scene)
{
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static bool is_all_asleep(const WadiSim *sim)
{
    return wadi_sim_sleeping_particles(sim) == sim->particles.count;
}

static void pool_falls_asleep_keeps_its_volume_and_costs_nothing(void **state)
{
    (void)state;
    WadiScene *scene;
    WadiSim *sim = start(TANK(""), &scene);
    const WadiParticles *p = &sim->particles;
    const double before = mean_height(p);
    run_frames(sim, FPS);
    assert_int_equal(wadi_sim_sleeping_particles(sim), 0); /* before the window is over */
    run_frames(sim, 3 * FPS);
    assert_true(is_all_asleep(sim));
    assert_true(mean_speed(p) == 0.0);
    CHECK_NEAR(mean_height(p), before, 0.02 * cell);
    /* The pressure with which it fell asleep: that of its depth, to half a cell. */
    const float *pressure = column_of(p, "pressure");
    for (int32_t i = 0; i < p->count; ++i) {
        CHECK_NEAR((double)pressure[i], 1000.0 * 9.81 * (0.16 - p->z[i]), 0.8 * 1000.0 * 9.81 * cell);
    }
    const int64_t steps = wadi_sim_steps(sim);
    const double height = mean_height(p), x = p->x[77], z = p->z[p->count - 1];
    run_frames(sim, 60 * FPS);
    assert_true(mean_height(p) == height && p->x[77] == x && p->z[p->count - 1] == z);
    assert_int_equal(wadi_sim_steps(sim), steps + 60 * FPS);
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    end(sim, scene);
}

/* Asleep at 3 s. In the step in which something disturbs a part of it all wakes. */
static void pool_wakes_as_a_whole(void **state)
{
    (void)state;
    const struct {
        const char *what, *text;
    } scenes[] = {
        { "drop", TANK("emitters: [{material: water, start: 3.1, end: 3.2, rate: 2e-4, velocity: [0, 0, -1],"
                       " shape: {box: {min: [0.02, 0.02, 0.28], max: [0.06, 0.06, 0.3]}}}],") },
        { "ball that begins to move",
          TANK("colliders: [{shape: {sphere: {center: [0.06, 0.08, 0.14], radius: 0.04}, translate:"
               " {keys: [[3.1, [0, 0, 0]], [3.6, [0.1, 0, 0]]]}}}],") },
        { "gravity that turns", TANK("gravity: {keys: [[3.1, [0, 0, -9.81]], [3.4, [2, 0, -9.6]]]},") },
        { "force", TANK("forces: [{kind: uniform, acceleration: [3, 0, 0], start: 3.1, end: 3.5}],") },
        { "drain", TANK("drains: [{start: 3.1, end: 3.4, shape: {box: {min: [0, 0, 0.1], max: [0.04, 0.04, "
                        "0.2]}}}],") },
    };
    for (size_t n = 0; n < sizeof scenes / sizeof *scenes; ++n) {
        WadiScene *scene;
        WadiError error = { 0 };
        WadiSim *sim = start(scenes[n].text, &scene);
        run_frames(sim, 3 * FPS);
        assert_true(is_all_asleep(sim));
        const int32_t count = sim->particles.count;
        double fastest = 0.0, woke = 0.0;
        while (sim->time < 4.0) {
            CHECK_OK(wadi_sim_step(sim, &error), error);
            const int64_t asleep = wadi_sim_sleeping_particles(sim);
            assert_true(asleep == 0 || asleep == count || (n == 4 && woke == 0.0));
            woke = woke == 0.0 && asleep == 0 ? sim->time : woke;
            fastest = fmax(fastest, mean_speed(&sim->particles));
        }
        print_message("%s: awake at %.3f s, mean speed up to %.3f m/s\n", scenes[n].what, woke, fastest);
        assert_true(woke > 3.09 && woke < 3.5);
        assert_true(fastest > 0.01);
        end(sim, scene);
    }
}

/* A drop falls into one of two pools, far from the other, which keeps its bits. */
static void pools_wake_alone(void **state)
{
    (void)state;
    WadiScene *scene;
    WadiSim *sim = start(
        "{wadi: 1, solver: flip, cell_size: 0.02, fps: 30, frames: 999, materials: {water: {kind: water}},"
        " domain: {min: [0, 0, 0], max: [0.96, 0.16, 0.32]},"
        " colliders: [{shape: {box: {min: [0.3, 0, 0], max: [0.66, 0.16, 0.32]}}}],"
        " emitters: [{material: water, start: 3.1, end: 3.2, rate: 2e-4, velocity: [0, 0, -1],"
        " shape: {box: {min: [0.1, 0.06, 0.28], max: [0.14, 0.1, 0.3]}}}],"
        " bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.96, 0.16, 0.12]}}}]}",
        &scene);
    const WadiParticles *p = &sim->particles;
    run_frames(sim, 3 * FPS);
    assert_true(is_all_asleep(sim));
    const int32_t count = p->count;
    run_frames(sim, FPS);
    assert_int_equal(wadi_sim_sleeping_particles(sim), count / 2);
    for (int32_t i = 0; i < count / 2; ++i) {
        assert_true(p->x[i] > 0.6 && p->vx[i] == 0.0f);
    }
    run_frames(sim, 20 * FPS);
    assert_true(is_all_asleep(sim));
    end(sim, scene);
}

#define HONEY(more)                                                                                          \
    "{wadi: 1, solver: flip, cell_size: 0.02, fps: 10, frames: 999, " more                                   \
    " materials: {honey: {kind: water, density: 1400, viscosity: 2000}},"                                    \
    " domain: {min: [0, 0, 0], max: [0.64, 0.08, 0.32]},"                                                    \
    " bodies: [{material: honey, shape: {box: {min: [0, 0, 0], max: [0.2, 0.08, 0.12]}}}]}"

/* Honey creeps at speeds at which water would have come to rest; sleep does not change a bit of it. */
static void creeping_honey_does_not_sleep(void **state)
{
    (void)state;
    WadiScene *scene, *other_scene;
    WadiSim *sim = start(HONEY(""), &scene), *other = start(HONEY("flip: {sleep: false},"), &other_scene);
    const WadiParticles *p = &sim->particles, *q = &other->particles;
    run_frames(sim, 60);
    run_frames(other, 60);
    const double height = mean_height(p);
    run_frames(sim, 60);
    run_frames(other, 60);
    /* 6 s are 133 sqrt(dx / g). */
    const double sunk = (height - mean_height(p)) / cell;
    print_message("honey: sinks by %.3f cells in 6 s, by %.2g sqrt(g dx)\n", sunk, sunk / 133.0);
    assert_true(sunk > 0.05 && sunk < 0.005 * 133.0);
    assert_int_equal(wadi_sim_sleeping_particles(sim), 0);
    assert_true(mean_height(p) == mean_height(q) && mean_speed(p) == mean_speed(q));
    end(sim, scene);
    end(other, other_scene);
}

/* Liquids of nearly one density change places slowly: from 3e-5 g at the start to 0.01 sqrt(g dx). */
static void liquids_of_two_densities_do_not_sleep(void **state)
{
    (void)state;
    WadiScene *scene;
    WadiSim *sim = start("{wadi: 1, solver: flip, cell_size: 0.02, fps: 30, frames: 999,"
                         " materials: {a: {kind: water}, b: {kind: water, density: 999.8}},"
                         " domain: {min: [0, 0, 0], max: [0.32, 0.08, 0.4]},"
                         " bodies: [{material: b, shape: {box: {min: [0, 0, 0], max: [0.16, 0.08, 0.24]}}},"
                         " {material: a, shape: {box: {min: [0.16, 0, 0], max: [0.32, 0.08, 0.24]}}}]}",
                         &scene);
    while (sim->time < 12.0) {
        run_frames(sim, 1);
        assert_int_equal(wadi_sim_sleeping_particles(sim), 0);
    }
    print_message("two densities: %.2g sqrt(g dx) after 12 s\n",
                  mean_speed(&sim->particles) / sqrt(9.81 * cell));
    assert_true(mean_speed(&sim->particles) > 0.005 * sqrt(9.81 * cell));
    end(sim, scene);
}

/* A level pool with the tension of water, in cells of 2 cm and of 1 mm: the capillary length is 2.7 mm. */
static void liquid_with_resolved_tension_does_not_sleep(void **state)
{
    (void)state;
    const double cells[2] = { 0.02, 0.001 };
    for (int n = 0; n < 2; ++n) {
        const double h = cells[n];
        char text[1024];
        snprintf(text, sizeof text,
                 "{wadi: 1, solver: flip, cell_size: %g, fps: %g, frames: 9999,"
                 " materials: {water: {kind: water, surface_tension: 0.073}},"
                 " domain: {min: [0, 0, 0], max: [%g, %g, %g]},"
                 " bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [%g, %g, %g]}}}]}",
                 h, 1.0 / sqrt(h / 9.81), 8.0 * h, 8.0 * h, 8.0 * h, 8.0 * h, 8.0 * h, 4.0 * h);
        WadiScene *scene;
        WadiSim *sim = start(text, &scene);
        run_frames(sim, 100);
        assert_int_equal(wadi_sim_sleeping_particles(sim), n == 0 ? sim->particles.count : 0);
        end(sim, scene);
    }
}

/* A tank with a hole in a wall two cells thick, two cells above its floor. */
#define LEAK(hole, more)                                                                                     \
    "{wadi: 1, solver: flip, cell_size: 0.02, fps: 30, frames: 999, materials: {water: {kind: "              \
    "water}}, " more " domain: {min: [0, 0, 0], max: [0.4, 0.16, 0.32], walls: {open: [x_max, z_min]}},"     \
    " colliders: [{shape: {difference: [{box: {min: [-1, -1, -1], max: [0.36, 1, 1]}},"                      \
    " {box: {min: [0, 0, 0.04], max: [0.32, 0.16, 1]}}, {box: {" hole "}}]}}],"                              \
    " bodies: [{material: water, shape: {box: {min: [0, 0, 0.04], max: [0.32, 0.16, 0.2]}}}]}"
#define WIDE "min: [0.3, 0.06, 0.08], max: [0.4, 0.1, 0.12]"
#define NARROW "min: [0.3, 0.07, 0.08], max: [0.4, 0.09, 0.1]"
#define AWAKE "flip: {sleep: false},"

/* The jet through a hole keeps the tank awake until the water stands at the hole; what drips through one that
 * two halves of cells make does too. */
static void draining_tank_does_not_sleep(void **state)
{
    (void)state;
    const double per_cell = 16.0 * 8.0 * 8.0; /* particles in a cell of level */
    const char *text[2][2] = { { LEAK(WIDE, ""), LEAK(WIDE, AWAKE) },
                               { LEAK(NARROW, ""), LEAK(NARROW, AWAKE) } };
    for (int n = 0; n < 2; ++n) {
        WadiScene *scene, *other_scene;
        WadiSim *sim = start(text[n][0], &scene), *other = start(text[n][1], &other_scene);
        const int seconds = n == 0 ? 40 : 10;
        run_frames(sim, seconds * FPS);
        run_frames(other, seconds * FPS);
        const double left = sim->particles.count / per_cell, left_awake = other->particles.count / per_cell;
        print_message("of 8 cells %.2f are left after %d s, without sleep %.2f\n", left, seconds, left_awake);
        CHECK_AT_MOST(left, n == 0 ? 3.0 : 7.8);
        CHECK_NEAR(left, left_awake, 0.1);
        end(sim, scene);
        end(other, other_scene);
    }
}

/* Height of the first wave along a tank of length `length`, in cells, from the centroid of the water. */
static double slosh_height(const WadiParticles *p, double length, double depth)
{
    double mean = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        mean += p->x[i] / p->count;
    }
    return (0.5 * length - mean) * 9.8696 * depth / (2.0 * length) / cell;
}

/* Waves 0.2 cells high, with half periods of 7, 11 and 32 sqrt(dx / g): at their turning points the water is
 * still. */
static void slow_slosh_does_not_sleep(void **state)
{
    (void)state;
    const double lengths[3] = { 0.32, 0.64, 2.0 }, depths[3] = { 0.4, 0.6, 0.2 };
    for (int n = 0; n < 3; ++n) {
        const double length = lengths[n], depth = depths[n], k = 3.14159265 / length;
        char text[1024];
        /* The first wave, from a plane: 8 / pi^2 of its height. */
        const double rise = 0.2 * cell / 0.81;
        snprintf(
            text, sizeof text,
            "{wadi: 1, solver: flip, cell_size: 0.02, fps: 30, frames: 999, materials: {water: {kind: "
            "water}},"
            " domain: {min: [0, 0, 0], max: [%g, 0.08, %g]}, bodies: [{material: water, shape: {intersection:"
            " [{box: {min: [0, 0, 0], max: [%g, 0.08, 1]}}, {half_space: {point: [%g, 0, %g],"
            " normal: [%g, 0, 1]}}]}}]}",
            length, depth + 0.2, length, 0.5 * length, depth, 2.0 * rise / length);
        WadiScene *scene;
        WadiSim *sim = start(text, &scene);
        const double period = 2.0 * 3.14159265 / sqrt(9.81 * k * tanh(k * depth));
        const int frames = (int)ceil(period * FPS);
        double first = 0.0, last = 0.0;
        while (!is_all_asleep(sim) && sim->time < 60.0) {
            last = 0.0;
            for (int frame = 0; frame < frames; ++frame) {
                run_frames(sim, 1);
                last = fmax(last, fabs(slosh_height(&sim->particles, length, depth)));
            }
            first = first == 0.0 ? last : first;
        }
        print_message(
            "slosh of %g x %g m: %.3f cells, period %.2f s; asleep by %.1f s, the last period %.3f\n", length,
            depth, first, period, sim->time, last);
        assert_true(first > 0.15);
        CHECK_AT_MOST(last, 0.1);
        assert_true(is_all_asleep(sim));
        end(sim, scene);
    }
}

/* A floor that rises by a hundredth of a cell in sqrt(dx / g) lifts the water to the end. */
static void slow_piston_keeps_the_pool_awake(void **state)
{
    (void)state;
    WadiScene *scene;
    WadiSim *sim = start(TANK("colliders: [{shape: {box: {min: [-1, -1, -1], max: [1, 1, -0.1]}, translate:"
                              " {keys: [[0, [0, 0, 0.1]], [20, [0, 0, 0.19]]]}}}],"),
                         &scene);
    const double before = mean_height(&sim->particles);
    for (int frame = 0; frame < 10 * FPS; ++frame) {
        run_frames(sim, 1);
        assert_int_equal(wadi_sim_sleeping_particles(sim), 0);
    }
    CHECK_NEAR(mean_height(&sim->particles), before + 0.045, 0.2 * cell);
    end(sim, scene);
}

/* Water over sand stays awake, whatever the sand does. */
static void water_on_sand_stays_awake(void **state)
{
    (void)state;
    WadiScene *scene;
    WadiSim *sim = start(
        "{wadi: 1, solver: flip, cell_size: 0.02, fps: 30, frames: 999, materials: {water: {kind: water},"
        " sand: {kind: sand, density: 2000}}, domain: {min: [0, 0, 0], max: [0.16, 0.16, 0.48]},"
        " bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.16, 0.16, 0.16]}}},"
        " {material: water, shape: {box: {min: [0, 0, 0.16], max: [0.16, 0.16, 0.3]}}}]}",
        &scene);
    run_frames(sim, 4 * FPS);
    const WadiParticles *p = &sim->particles;
    for (int32_t i = 0; i < wadi_sim_sleeping_particles(sim); ++i) {
        assert_int_equal(p->material[i], 1);
    }
    end(sim, scene);
}

/* Asleep at 3 s, woken by drops, asleep again; interrupted while all sleep and while none do. */
static void same_bytes_asleep_and_woken(void **state)
{
    (void)state;
    const char *text =
        TANK("emitters: [{material: water, start: 3.1, end: 3.2, rate: 2e-4, velocity: [0, 0, -1],"
             " shape: {box: {min: [0.02, 0.02, 0.28], max: [0.06, 0.06, 0.3]}}}],");
    check_same_bytes(text, 3 * FPS, 20);
    check_same_bytes(text, 100, 5 * FPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_falls_asleep_keeps_its_volume_and_costs_nothing),
        cmocka_unit_test(pool_wakes_as_a_whole),
        cmocka_unit_test(pools_wake_alone),
        cmocka_unit_test(creeping_honey_does_not_sleep),
        cmocka_unit_test(liquids_of_two_densities_do_not_sleep),
        cmocka_unit_test(liquid_with_resolved_tension_does_not_sleep),
        cmocka_unit_test(draining_tank_does_not_sleep),
        cmocka_unit_test(slow_slosh_does_not_sleep),
        cmocka_unit_test(slow_piston_keeps_the_pool_awake),
        cmocka_unit_test(water_on_sand_stays_awake),
        cmocka_unit_test(same_bytes_asleep_and_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
