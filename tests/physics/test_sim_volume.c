/* drift.volume: change of the space per particle, away from surfaces. */
#include <string.h>

#include "expect.h"
#include "random_values.h"
#include "scene_sim.h"
#include "sim/volume.h"
#include "world/water.h"

static WadiVolumeDrift measure(const WadiSim *sim)
{
    WadiError error = { 0 };
    WadiVolumeDrift volume;
    CHECK_OK(wadi_volume_measure(sim, &volume, &error), error);
    return volume;
}

#define TANK                                                                                                 \
    "{wadi: 1, solver: %s, domain: {min: [0, 0, 0], max: [1, 0.6, 0.8]}, cell_size: 0.05, frames: 20,"       \
    " particles_per_cell: %d, materials: {m: {kind: %s}}, bodies: [{material: m, shape: {box: {min: [0, 0, " \
    "0], max: [%s, 0.6, 0.5]}}}]%s}"

static WadiSim *tank(const char *solver, int per_cell, const char *kind, const char *width, const char *more)
{
    char text[600];
    snprintf(text, sizeof text, TANK, solver, per_cell, kind, width, more);
    return start_sim(load_scene(text), 1);
}

static void end(WadiSim *sim)
{
    const WadiScene *scene = sim->scene;
    wadi_sim_destroy(sim);
    wadi_scene_destroy((WadiScene *)scene);
}

static void scale_positions(WadiSim *sim, double factor)
{
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        sim->particles.x[i] *= factor;
        sim->particles.y[i] *= factor;
        sim->particles.z[i] *= factor;
    }
}

/* Moves particles by up to half a spacing: rows of a lattice would enter cells all at once. */
static void shake(WadiSim *sim)
{
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        const WadiVec3 by = random_point(1, (uint64_t)i, 0.5 * sim->world->spacing);
        sim->particles.x[i] += by.x;
        sim->particles.y[i] += by.y;
        sim->particles.z[i] += by.z;
    }
}

static void squeezed_and_loose_material_is_measured(void **unused)
{
    (void)unused;
    static const int per_cell[] = { 8, 27, 64 };
    for (int i = 0; i < 3; ++i) {
        WadiSim *sim = tank("flip", per_cell[i], "water", "1", "");
        WadiVolumeDrift volume = measure(sim);
        assert_true(volume.cells > 100);
        assert_float_equal(volume.drift, 0.0, 1e-12);
        scale_positions(sim, 0.7937005259840998); /* half the space */
        assert_float_equal(measure(sim).drift, -0.5, 0.01);
        scale_positions(sim, 1.4); /* 1.372 times that at the start */
        assert_float_equal(measure(sim).drift, 0.372, 0.02);
        end(sim);
    }
    WadiSim *sim = tank("sph", 8, "water", "1", "");
    assert_float_equal(measure(sim).drift, 0.0, 1e-12);
    shake(sim);
    assert_float_equal(measure(sim).drift, 0.0, 0.01);
    scale_positions(sim, 0.7937005259840998);
    assert_float_equal(measure(sim).drift, -0.5, 0.01);
    end(sim);
}

/* Particles of sph keep the density that the kernel measures, which differs from their number in a volume by
 * up to 2 % where they have lost the order of the lattice. */
static void splashing_water_and_collapsing_sand_keep_their_volume(void **unused)
{
    (void)unused;
    static const struct {
        const char *solver, *kind;
        double less, more;
    } cases[] = { { "flip", "water", 0.01, 0.01 },
                  { "flip", "sand", 0.01, 0.01 },
                  { "sph", "water", 0.01, 0.03 },
                  { "sph", "sand", 0.01, 0.05 } };
    for (int k = 0; k < 4; ++k) {
        WadiSim *sim = tank(cases[k].solver, 8, cases[k].kind, "0.5", "");
        double least = 0.0, most = 0.0;
        for (int frame = 0; frame < 16; ++frame) {
            run_frames(sim, 1);
            WadiVolumeDrift volume = measure(sim);
            least = fmin(least, volume.drift + volume.tolerance);
            most = fmax(most, volume.drift - volume.tolerance);
        }
        print_message("%s, %s: drift less chance from %.4f to %.4f\n", cases[k].solver, cases[k].kind, least,
                      most);
        CHECK_AT_MOST(-least, cases[k].less);
        CHECK_AT_MOST(most, cases[k].more);
        end(sim);
    }
}

static void cells_that_a_collider_cuts_do_not_count(void **unused)
{
    (void)unused;
    WadiSim *open = tank("flip", 8, "water", "1", "");
    /* A plate thinner than a cell: its cells have particles on both sides. */
    WadiSim *cut = tank("flip", 8, "water", "1",
                        ", colliders: [{shape: {box: {min: [0.47, 0, 0], max: [0.49, 0.6, 0.8]}}}]");
    assert_float_equal(measure(cut).drift, 0.0, 1e-12);
    assert_true(measure(cut).cells < measure(open).cells);
    end(open);
    end(cut);
}

static int warnings;
static char warning[400];

static void on_log(void *user, WadiLogLevel level, const char *text)
{
    (void)user;
    warnings += level == WADI_LOG_WARNING;
    snprintf(warning, sizeof warning, "%s", text);
}

static void what_stays_squeezed_is_warned_of_once(void **state)
{
    WadiError error = { 0 };
    WadiSim *sim = tank(*state, 8, "sand", "1", "");
    shake(sim);
    sim->log = (WadiLog){ .function = on_log };
    WadiVolumeWatch watch = { 0 };
    static const double factors[] = { 1.0, 0.98, 1.0 / 0.98, 1.05, 1.0, 0.93, 1.0, 1.0 };
    static const int expected[] = { 0, 0, 0, 0, 0, 0, 1, 1 };
    warnings = 0;
    for (int i = 0; i < 8; ++i) {
        scale_positions(sim, factors[i]);
        CHECK_OK(wadi_volume_watch(&watch, sim, &error), error);
        assert_int_equal(warnings, expected[i]);
    }
    assert_non_null(strstr(warning, "less space"));
    end(sim);
}

/* A ball of 0.1 m inside water pours 9.5 times its volume per second: 0.2 times in a step. Its density
 * exceeds the band by no more than that, and the water around it is not compressed. */
static void an_emitter_inside_water_squeezes_nothing(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    const double h = 0.02, volume = 4.18879e-3, rate = 0.04;
    WadiScene *scene = load_scene(
        "{wadi: 1, solver: flip, cell_size: 0.02, domain: {min: [0, 0, 0], max: [0.4, 0.4, 0.8]},\n"
        " materials: {water: {kind: water}},\n"
        " bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.32]}}}],\n"
        " emitters: [{material: water, rate: 0.04, velocity: [0, 0, -0.5], shape: {sphere: {center: [0.2, "
        "0.2, 0.15], radius: 0.1}}}]}\n");
    WadiSim *sim = start_sim(scene, 1);
    sim->log = (WadiLog){ .function = on_log };
    WadiVolumeWatch watch = { 0 };
    warnings = 0;
    double density = 0.0;
    for (int frame = 1; frame <= 16; ++frame) {
        run_frames(sim, 1);
        CHECK_OK(wadi_volume_watch(&watch, sim, &error), error);
        int count = 0;
        for (int32_t i = 0; i < sim->particles.count; ++i) {
            WadiVec3 x = { sim->particles.x[i], sim->particles.y[i], sim->particles.z[i] };
            count += wadi_norm(wadi_sub(x, wadi_vec3(0.2, 0.2, 0.15))) < 0.1;
        }
        density += count * h * h * h / 8.0 / volume / 16.0;
        assert_true(watch.last.cells > 500);
        CHECK_NEAR(watch.last.drift, 0.0, 0.01);
    }
    const double new = rate * sim->dt / volume;
    print_message("density in the emitter %.3f, of which a step pours %.3f\n", density, new);
    CHECK_AT_MOST(density, 1.15 + new);
    assert_int_equal(warnings, 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Sizes other than 1, and water that has partly gone to pores, count by their volume. */
static void volumes_of_particles_are_added(void **unused)
{
    (void)unused;
    WadiSim *sim = tank("sph", 8, "water", "1", ", sph: {adaptive: {}}");
    double *volume = wadi_volume_column(&sim->particles);
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        volume[i] = 0.8;
    }
    CHECK_NEAR(measure(sim).drift, 0.25, 1e-6);
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        volume[i] = 1.728;
    }
    scale_positions(sim, 1.2);
    assert_true(measure(sim).cells > 100);
    CHECK_NEAR(measure(sim).drift, 0.0, 1e-6);
    end(sim);
    sim = tank(
        "sph", 8, "sand, permeability: 1e-9}, w: {kind: water", "1",
        ", emitters: [{material: w, rate: 1e-9, shape: {sphere: {center: [0.5, 0.3, 0.7], radius: 0.05}}}]");
    double *water = wadi_water_column(&sim->particles);
    assert_non_null(water);
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        sim->particles.material[i] = (uint8_t)(i & 1);
        water[i] = 0.5; /* of sand: in its pores, which are no space of its own */
    }
    CHECK_NEAR(measure(sim).drift, 1.0 / 0.75 - 1.0, 0.01);
    end(sim);
}

static void points_and_grains_have_no_volume(void **unused)
{
    (void)unused;
    static const char *const solvers[] = { "points", "dem" };
    for (int k = 0; k < 2; ++k) {
        WadiSim *sim = tank(solvers[k], 8, "sand", "1", "");
        scale_positions(sim, 0.8);
        assert_true(isnan(measure(sim).drift) && measure(sim).cells == 0);
        end(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squeezed_and_loose_material_is_measured),
        cmocka_unit_test(splashing_water_and_collapsing_sand_keep_their_volume),
        cmocka_unit_test(cells_that_a_collider_cuts_do_not_count),
        cmocka_unit_test_prestate(what_stays_squeezed_is_warned_of_once, (void *)"flip"),
        cmocka_unit_test_prestate(what_stays_squeezed_is_warned_of_once, (void *)"sph"),
        cmocka_unit_test(an_emitter_inside_water_squeezes_nothing),
        cmocka_unit_test(volumes_of_particles_are_added),
        cmocka_unit_test(points_and_grains_have_no_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
