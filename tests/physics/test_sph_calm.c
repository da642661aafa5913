/* sph: calm sand takes part in every fourth step, and what is not in balance still falls. */
#include "same_bytes.h"
#include "sph/sph.h"

enum { FPS = 30 };

/* A bed of 14 x 6 x 6 spacings, smaller than a tile, so that none of it sleeps while a ball stirs one end. */
#define BED(gravity, sleep)                                                                                  \
    "{wadi: 1, name: bed, solver: sph, cell_size: 0.01, particles_per_cell: 1, frames: 999, fps: 30,"        \
    " sph: {sleep: " sleep "}, gravity: " gravity ","                                                        \
    " domain: {min: [0, 0, 0], max: [0.14, 0.06, 0.15], walls: {friction: 0.6, open: [z_max]}},"             \
    " materials: {sand: {kind: sand, density: 1600, friction_angle: 30}},"                                   \
    " colliders: [{name: ball, friction: 0.5, shape: {sphere: {center: [0.02, 0.03, 0.07], radius: 0.015},"  \
    " translate: {keys: [[0, [0, 0, 0]], [0.3, [0, 0, -0.02]], [0.6, [0, 0, 0]]], repeat: true}}}],"         \
    " bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.14, 0.06, 0.06]}}}]}"

#define DOWN "[0, 0, -9.81]"

/* Steps of a frame in which no particle far from the ball moves at all. */
static int count_still_steps(const char *text, int *steps)
{
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    WadiError error;
    run_frames(sim, 2 * FPS);
    const int64_t frame = wadi_sim_frame(sim);
    int still = 0;
    *steps = 0;
    while (wadi_sim_frame(sim) == frame) {
        double before = 0.0, after = 0.0;
        for (int32_t i = 0; i < p->count; ++i) {
            before += p->x[i] > 0.1 ? p->x[i] + p->y[i] * p->z[i] : 0.0;
        }
        CHECK_OK(wadi_sim_step(sim, &error), error);
        for (int32_t i = 0; i < p->count; ++i) {
            after += p->x[i] > 0.1 ? p->x[i] + p->y[i] * p->z[i] : 0.0;
        }
        still += fabs(after - before) < 1e-15 * p->count; /* sums in another order */
        *steps += 1;
    }
    assert_int_equal(wadi_sim_sleeping_particles(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return still;
}

static void calm_sand_moves_in_one_step_of_four(void **state)
{
    (void)state;
    int steps, without;
    const int still = count_still_steps(BED(DOWN, "true"), &steps);
    const int moving = count_still_steps(BED(DOWN, "false"), &without);
    print_message("far from the ball nothing moves in %d of %d steps; with `sleep` off in %d of %d\n", still,
                  steps, moving, without);
    assert_true(steps >= 8 && still >= steps / 2 && still <= 3 * steps / 4 + 1);
    assert_int_equal(moving, 0);
}

/* Distance along x that the sand has gone after gravity turned. */
static double slide(const char *text)
{
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    double before = 0.0, after = 0.0;
    run_frames(sim, FPS);
    for (int32_t i = 0; i < p->count; ++i) {
        before += p->x[i] / p->count;
    }
    run_frames(sim, FPS / 3);
    for (int32_t i = 0; i < p->count; ++i) {
        after += p->x[i] / p->count;
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return after - before;
}

#define TURNED(x, z) "{keys: [[0, [0, 0, -9.81]], [1, [0, 0, -9.81]], [1.05, [" x ", 0, " z "]]]}"

/* Gravity that turns by 20 degrees leaves sand of 30 degrees at rest, by 50 degrees does not. */
static void sand_out_of_balance_is_not_held(void **state)
{
    (void)state;
    const double calm = slide(BED(TURNED("3.36", "-9.22"), "true"));
    const double steep = slide(BED(TURNED("7.51", "-6.31"), "true"));
    const double steep_awake = slide(BED(TURNED("7.51", "-6.31"), "false"));
    print_message("turned by 20 degrees: %.2f mm; by 50: %.2f mm, with `sleep` off %.2f mm\n", 1e3 * calm,
                  1e3 * steep, 1e3 * steep_awake);
    assert_true(fabs(calm) < 0.1 * steep);
    CHECK_NEAR(steep, steep_awake, 0.05 * steep_awake);
}

/* A bed of which the far end is moist, while a ball stirs the other one. */
#define MOIST(sleep)                                                                                         \
    "{wadi: 1, name: moist, solver: sph, cell_size: 0.01, particles_per_cell: 1, frames: 999, fps: 30,"      \
    " sph: {sleep: " sleep "},"                                                                              \
    " domain: {min: [0, 0, 0], max: [0.14, 0.06, 0.15], walls: {friction: 0.6, open: [z_max]}},"             \
    " materials: {sand: {kind: sand, density: 1600, friction_angle: 30, permeability: 1e-9}},"               \
    " colliders: [{name: ball, friction: 0.5, shape: {sphere: {center: [0.02, 0.03, 0.07], radius: 0.015},"  \
    " translate: {keys: [[0, [0, 0, 0]], [0.3, [0, 0, -0.02]], [0.6, [0, 0, 0]]], repeat: true}}}],"         \
    " bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.06, 0.06]}}},"                    \
    " {material: sand, saturation: 0.8, shape: {box: {min: [0.1, 0, 0], max: [0.14, 0.06, 0.06]}}}]}"

/* The part of the water that has entered the dry end. */
static double soaked_part(const char *text)
{
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    run_frames(sim, 2 * FPS);
    const float *wetness = column_of(p, "wetness");
    double all = 0.0, soaked = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        all += (double)wetness[i];
        soaked += p->x[i] < 0.1 ? (double)wetness[i] : 0.0;
    }
    assert_true(wadi_sim_mass_drift(sim, WADI_MATERIAL_WATER) == 0.0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return soaked / all;
}

static void water_soaks_calm_sand_as_any_other(void **state)
{
    (void)state;
    const double calm = soaked_part(MOIST("true")), awake = soaked_part(MOIST("false"));
    print_message("%.3f of the water enters the dry end; with `sleep` off %.3f\n", calm, awake);
    assert_true(awake > 0.05);
    CHECK_NEAR(calm, awake, 0.02 * awake);
}

/* A plate that starts a spacing away from sand at rest and pushes it at 2 m/s. */
static const char PUSHED[] =
    "{wadi: 1, name: plate, solver: sph, cell_size: 0.01, particles_per_cell: 1, frames: 999, fps: 100,"
    " domain: {min: [0, 0, 0], max: [0.3, 0.06, 0.15], walls: {friction: 0.3, open: [z_max]}},"
    " materials: {sand: {kind: sand, density: 1600, friction_angle: 30}},"
    " colliders: [{name: plate, friction: 0.1, shape: {box: {min: [-0.05, 0, 0], max: [0.01, 0.06, 0.15]},"
    " translate: {keys: [[0, [0, 0, 0]], [0.5, [0, 0, 0]], [0.55, [0.1, 0, 0]]]}}}],"
    " bodies: [{material: sand, shape: {box: {min: [0.02, 0, 0], max: [0.3, 0.06, 0.03]}}}]}";

static void calm_sand_is_pushed_by_a_plate_in_every_step(void **state)
{
    (void)state;
    WadiScene *scene = load_scene(PUSHED);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    WadiError error;
    double deepest = 0.0;
    run_frames(sim, 50);
    while (wadi_sim_time(sim) < 0.54) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
        const double plate = 0.01 + 2.0 * fmax(0.0, wadi_sim_time(sim) - 0.5);
        for (int32_t i = 0; i < p->count; ++i) {
            deepest = fmax(deepest, plate - p->x[i]);
        }
    }
    print_message("sand at most %.3f spacings inside of the plate\n", deepest / 0.01);
    CHECK_AT_MOST(deepest, 0.02 * 0.01);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(calm_sand_moves_in_one_step_of_four),
                                        cmocka_unit_test(sand_out_of_balance_is_not_held),
                                        cmocka_unit_test(calm_sand_is_pushed_by_a_plate_in_every_step),
                                        cmocka_unit_test(water_soaks_calm_sand_as_any_other) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
