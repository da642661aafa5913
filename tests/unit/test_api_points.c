/* Particles from arrays, added to a running simulation. */
#include <math.h>

#include "scene_sim.h"

static WadiScene *load_empty(const char *text)
{
    WadiError error = { 0 };
    WadiSceneDef def = wadi_default_scene_def();
    def.text = text;
    def.may_be_empty = true;
    WadiScene *scene = NULL;
    CHECK_OK(wadi_scene_load(&scene, &def, &error), error);
    return scene;
}

static const char drop_text[] =
    "{wadi: 1, name: t, solver: points, cell_size: 0.1, fps: 10, gravity: [0, 0, -10],\n"
    " materials: {sand: {kind: sand}, dust: {kind: sand}}}\n";

/* 40 x 20 x 20 cm, empty, with a solid in a corner. */
static const char tank_text[] = "wadi: 1\nname: t\nsolver: flip\ncell_size: 0.02\nfps: 50\nframes: 60\n"
                                "domain: {min: [0, 0, 0], max: [0.4, 0.2, 0.2]}\n"
                                "materials: {water: {kind: water}, sand: {kind: sand}}\n"
                                "colliders: [{shape: {box: {min: [0.3, 0, 0], max: [0.4, 0.2, 0.1]}}}]\n";

enum { LATTICE = 30 * 20 * 10 };

/* 30 x 20 x 10 positions a centimetre apart, from the corner of the tank to the solid. */
static const double *lattice(void)
{
    static double x[3 * LATTICE];
    for (int i = 0; i < LATTICE; ++i) {
        x[3 * i] = 0.01 * (i % 30 + 0.5);
        x[3 * i + 1] = 0.01 * (i / 30 % 20 + 0.5);
        x[3 * i + 2] = 0.01 * (i / 600 + 0.5);
    }
    return x;
}

static WadiParticleData data_of(size_t count, const double *position)
{
    WadiParticleData data = wadi_default_particle_data();
    data.count = count;
    data.position = position;
    return data;
}

static int64_t add(WadiSim *sim, const WadiParticleData *data)
{
    WadiError error = { 0 };
    int64_t added = -1;
    CHECK_OK(wadi_sim_add_points(sim, data, &added, &error), error);
    return added;
}

static void points_have_the_positions_velocities_and_materials_of_the_arrays(void **unused)
{
    (void)unused;
    const double x[9] = { 0, 0, 1, 5, -3, 2, 0.1, 0.2, 1e6 };
    const float v[9] = { 1, 2, 3, 0, 0, 0, -1, 0, 0.5F };
    const uint8_t material[3] = { 0, 1, 1 };
    WadiError error = { 0 };
    WadiScene *scene = load_empty(drop_text);
    WadiSim *sim = start_sim(scene, 1);
    WadiParticleData data = data_of(3, x);
    data.velocity = v;
    data.material = material;
    assert_int_equal(add(sim, &data), 3);
    WadiView position, velocity, kind;
    CHECK_OK(wadi_sim_view(sim, "position", &position, &error), error);
    CHECK_OK(wadi_sim_view(sim, "velocity", &velocity, &error), error);
    CHECK_OK(wadi_sim_view(sim, "material", &kind, &error), error);
    assert_int_equal(position.count, 3);
    for (int i = 0; i < 3; ++i) {
        for (int c = 0; c < 3; ++c) {
            assert_true(((const double *)position.data[c])[i] == x[3 * i + c]);
            assert_true(((const float *)velocity.data[c])[i] == v[3 * i + c]);
        }
        assert_int_equal(((const uint8_t *)kind.data[0])[i], material[i]);
    }
    run_frames(sim, 5); /* 0.5 s: v t - 5 t^2 */
    CHECK_OK(wadi_sim_view(sim, "position", &position, &error), error);
    for (int i = 0; i < 3; ++i) {
        CHECK_NEAR(((const double *)position.data[0])[i], x[3 * i] + 0.5 * (double)v[3 * i], 1e-6);
        CHECK_NEAR(((const double *)position.data[2])[i], x[3 * i + 2] + 0.5 * (double)v[3 * i + 2] - 1.25,
                   1e-6);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* 6 l of water weigh 58.9 N; the solid and the walls carry none of it but at their faces. */
static void water_from_an_array_weighs_on_the_floor(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_empty(tank_text);
    WadiSim *sim = start_sim(scene, 0);
    const WadiParticleData data = data_of(LATTICE, lattice());
    assert_int_equal(add(sim, &data), LATTICE);
    run_frames(sim, 50);
    assert_int_equal(wadi_sim_particle_count(sim), LATTICE);
    double down = 0.0;
    for (int s = 0; s < wadi_sim_solid_count(sim); ++s) {
        WadiSolidForce force;
        CHECK_OK(wadi_sim_solid_force(sim, s, &force, &error), error);
        down += force.pressure[2] + force.friction[2];
    }
    CHECK_NEAR(down, -58.86, 0.6);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void taken_and_enclosed_positions_stay_empty(void **unused)
{
    (void)unused;
    WadiScene *scene = load_empty(tank_text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticleData data = data_of(LATTICE, lattice());
    assert_int_equal(add(sim, &data), LATTICE);
    assert_int_equal(add(sim, &data), 0);
    /* In the solid, below the floor, half a spacing from a particle, a spacing above the water. */
    const double x[12] = { 0.35, 0.1, 0.05, 0.1, 0.1, -0.01, 0.105, 0.105, 0.1, 0.105, 0.105, 0.11 };
    const WadiParticleData others = data_of(4, x);
    assert_int_equal(add(sim, &others), 1);
    assert_int_equal(wadi_sim_particle_count(sim), LATTICE + 1);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* *error is that of the refusal. */
static void check_refused(WadiSim *sim, const WadiParticleData *data, const char *part)
{
    WadiError error = { 0 };
    int64_t added = -1;
    const uint64_t before = wadi_sim_state_hash(sim);
    assert_int_equal(wadi_sim_add_points(sim, data, &added, &error), WADI_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, part));
    assert_int_equal(added, 0);
    assert_true(wadi_sim_state_hash(sim) == before);
}

static void wrong_arrays_are_refused_and_change_nothing(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    char *record = NULL;
    WadiScene *scene = load_empty(tank_text);
    WadiSim *sim = start_sim(scene, 1);
    double x[6] = { 0.1, 0.1, 0.1, 0.1, NAN, 0.15 };
    float v[6] = { 0 };
    uint8_t material[2] = { 0, 7 };
    WadiParticleData data = data_of(2, x);
    check_refused(sim, &data, "particle 1 has position (0.1, nan, 0.15)");
    x[4] = 0.1;
    v[3] = INFINITY;
    data.velocity = v;
    check_refused(sim, &data, "particle 1 has");
    v[3] = 0.0F;
    data.material = material;
    check_refused(sim, &data, "particle 1 is of material 7; the scene has 2");
    data.material = NULL;
    data.radius = v;
    check_refused(sim, &data, "radius, spacing and attributes");
    data.radius = NULL;
    data.position = NULL;
    check_refused(sim, &data, "position is NULL");
    WadiParticleData no_data = { .count = 1, .position = x };
    check_refused(sim, &no_data, "wadi_default_particle_data");
    CHECK_OK(wadi_sim_changes(sim, &record, &error), error);
    assert_string_equal(record, "");
    wadi_text_release(record);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A pair of touching particles in a box without gravity: all solvers take them and keep them. */
static void empty_scenes_of_all_solvers_take_particles(void **unused)
{
    (void)unused;
    static const char *const settings[] = {
        "solver: flip",
        "solver: sph",
        "solver: sph, sph: {adaptive: {}}",
        "solver: dem",
        "solver: dem, dem: {mode: surface_flow}",
        "solver: points",
    };
    const double x[6] = { 0.1, 0.1, 0.1, 0.12, 0.1, 0.1 };
    for (int n = 0; n < 6; ++n) {
        char text[600];
        snprintf(text, sizeof text,
                 "{wadi: 1, name: t, %s, cell_size: 0.04, fps: 50, gravity: [0, 0, 0],\n"
                 " domain: {min: [0, 0, 0], max: [0.2, 0.2, 0.2]}, materials: {sand: {kind: sand}}}\n",
                 settings[n]);
        WadiScene *scene = load_empty(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 1); /* nothing moves */
        const WadiParticleData data = data_of(2, x);
        assert_int_equal(add(sim, &data), 2);
        run_frames(sim, 2);
        assert_int_equal(wadi_sim_particle_count(sim), 2);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static void the_record_repeats_them_to_the_same_bytes(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    char *record = NULL;
    const uint8_t sand[2] = { 1, 1 };
    const double x[6] = { 0.1, 0.1, 0.15, 0.12, 0.1, 0.15 };
    WadiScene *scene = load_empty(tank_text);
    WadiSim *sim = start_sim(scene, 2);
    const WadiParticleData data = data_of(LATTICE, lattice());
    WadiParticleData grains = data_of(2, x);
    grains.material = sand;
    add(sim, &data);
    run_frames(sim, 1);
    assert_int_equal(add(sim, &grains), 2); /* the first sand of the scene */
    run_frames(sim, 2);
    CHECK_OK(wadi_sim_changes(sim, &record, &error), error);
    WadiSim *again = start_sim(scene, 1);
    CHECK_OK(wadi_sim_repeat_changes(again, record, &error), error);
    run_frames(again, 3);
    assert_int_equal(wadi_sim_particle_count(again), LATTICE + 2);
    assert_true(wadi_sim_state_hash(again) == wadi_sim_state_hash(sim));
    wadi_text_release(record);
    wadi_sim_destroy(again);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_have_the_positions_velocities_and_materials_of_the_arrays),
        cmocka_unit_test(water_from_an_array_weighs_on_the_floor),
        cmocka_unit_test(taken_and_enclosed_positions_stay_empty),
        cmocka_unit_test(wrong_arrays_are_refused_and_change_nothing),
        cmocka_unit_test(empty_scenes_of_all_solvers_take_particles),
        cmocka_unit_test(the_record_repeats_them_to_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
