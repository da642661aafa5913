/* Forces on solids: sums against weight and momentum, which are known without a run. */
#include <string.h>

#include "particles/store.h"
#include "scene_sim.h"
#include "sim/sim.h"

static WadiVec3 vec_of(const double v[3])
{
    return wadi_vec3(v[0], v[1], v[2]);
}

/* N, of the material on all solids. */
static WadiVec3 total_force(const WadiSim *sim)
{
    WadiVec3 sum = { 0, 0, 0 };
    for (int i = 0; i < wadi_sim_solid_count(sim); ++i) {
        WadiError error;
        WadiSolidForce f;
        CHECK_OK(wadi_sim_solid_force(sim, i, &f, &error), error);
        sum = wadi_add(sum, wadi_add(vec_of(f.pressure), vec_of(f.friction)));
    }
    return sum;
}

/* Of a solid by its name. */
static WadiSolidForce force_on(const WadiSim *sim, const char *name)
{
    WadiSolidForce f = { .name = "" };
    for (int i = 0; i < wadi_sim_solid_count(sim); ++i) {
        WadiError error;
        CHECK_OK(wadi_sim_solid_force(sim, i, &f, &error), error);
        if (strcmp(f.name, name) == 0) {
            return f;
        }
    }
    fail_msg("no solid %s", name);
    return f;
}

/* kg m/s, of grains with one density. */
static WadiVec3 momentum_of(const WadiSim *sim, double mass)
{
    const WadiParticles *p = &sim->particles;
    WadiVec3 sum = { 0, 0, 0 };
    for (int32_t i = 0; i < p->count; ++i) {
        sum = wadi_add(sum, wadi_vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]));
    }
    return wadi_scale(sum, mass);
}

static double particle_mass(const WadiSim *sim)
{
    return sim->scene->materials[0].density * sim->world->particle_volume;
}

static const char *const grains =
    "{wadi: 1, name: bin, solver: dem, cell_size: 0.02, particles_per_cell: 8, frames: 20, fps: 24,"
    " gravity: [%s], domain: {min: [0, 0, 0], max: [0.12, 0.12, 0.3], walls: {friction: 0.5}},"
    " materials: {sand: {kind: sand, density: 1600, friction_angle: 35}},"
    " bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.12, 0.12, 0.12]}}}],"
    " colliders: [{name: post, friction: 0.4, shape: {sphere: {center: [0.06, 0.05, 0.06], radius: "
    "0.025}}}]}";

static WadiScene *grain_scene(const char *gravity)
{
    char text[1024];
    snprintf(text, sizeof text, grains, gravity);
    return load_scene(text);
}

/* Grains at rest weigh what they weigh, asleep too, whichever side is below. */
static void check_weight(const char *gravity, WadiVec3 direction, const char *floor)
{
    WadiScene *scene = grain_scene(gravity);
    WadiSim *sim = start_sim(scene, 0);
    run_frames(sim, 19);
    const double weight = 9.81 * particle_mass(sim) * sim->particles.count;
    const WadiVec3 force = total_force(sim),
                   across = wadi_add_scaled(force, direction, -wadi_dot(force, direction));
    CHECK_NEAR(wadi_dot(force, direction), weight, 0.01 * weight);
    CHECK_AT_MOST(wadi_norm(across), 0.01 * weight);
    /* Most of it is on the floor, and none of its pressure points elsewhere. */
    const WadiVec3 below = vec_of(force_on(sim, floor).pressure);
    CHECK_AT_MOST(0.5 * weight, wadi_dot(below, direction));
    CHECK_AT_MOST(wadi_norm(wadi_add_scaled(below, direction, -wadi_dot(below, direction))), 1e-6 * weight);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void test_grains_at_rest_weigh_their_weight(void **state)
{
    (void)state;
    check_weight("0, 0, -9.81", wadi_vec3(0, 0, -1), "z_min");
    check_weight("0, 9.81, 0", wadi_vec3(0, 1, 0), "y_max");
}

/* Impulse of the solids and of gravity is the change of momentum, in every frame of a fall onto them. */
static void test_impulses_of_grains_are_their_change_of_momentum(void **state)
{
    (void)state;
    WadiScene *scene = grain_scene("2, -1, -9.81");
    WadiSim *sim = start_sim(scene, 0);
    const double mass = particle_mass(sim);
    const WadiVec3 weight = wadi_scale(wadi_vec3(2, -1, -9.81), mass * sim->particles.count);
    for (int frame = 0; frame < 4; ++frame) {
        const WadiVec3 before = momentum_of(sim, mass);
        run_frames(sim, 1);
        const WadiVec3 rate = wadi_scale(wadi_sub(momentum_of(sim, mass), before), 24.0);
        const WadiVec3 balance = wadi_sub(wadi_sub(weight, total_force(sim)), rate);
        CHECK_AT_MOST(wadi_norm(balance), 0.01 * wadi_norm(weight));
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Torque about the pivot of a ball: pressure acts through its centre. */
static void test_pressure_on_a_ball_has_no_torque_about_its_centre(void **state)
{
    (void)state;
    char text[1200];
    snprintf(text, sizeof text, grains, "0, 0, -9.81");
    char *at = strstr(text, "radius: 0.025}");
    const char *pivot = "radius: 0.025}, pivot: [0.06, 0.05, 0.06]}}]}";
    memcpy(at, pivot, strlen(pivot) + 1);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 0);
    run_frames(sim, 3);
    const WadiSolidForce ball = force_on(sim, "post");
    CHECK_NEAR(ball.pivot[1], 0.05, 1e-15);
    assert_true(wadi_norm(vec_of(ball.pressure)) > 0.0);
    assert_int_equal(ball.collider, 0);
    CHECK_AT_MOST(wadi_norm(vec_of(ball.pressure_torque)), 1e-4 * 0.025 * wadi_norm(vec_of(ball.pressure)));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void check_same_forces(const WadiSim *a, const WadiSim *b)
{
    assert_int_equal(wadi_sim_solid_count(a), wadi_sim_solid_count(b));
    for (int i = 0; i < wadi_sim_solid_count(a); ++i) {
        WadiError error;
        WadiSolidForce f, g;
        CHECK_OK(wadi_sim_solid_force(a, i, &f, &error), error);
        CHECK_OK(wadi_sim_solid_force(b, i, &g, &error), error);
        f.name = g.name = NULL;
        assert_memory_equal(&f, &g, sizeof f);
    }
}

/* A simulation that was saved inside a frame, and one with other threads. */
static void check_bytes(const WadiScene *scene, int frames)
{
    WadiError error;
    WadiSim *one = start_sim(scene, 1), *three = start_sim(scene, 3), *loaded = NULL;
    WadiBuffer saved = { 0 };
    run_frames(one, frames);
    run_frames(three, frames - 1);
    CHECK_OK(wadi_sim_step(three, &error), error);
    CHECK_OK(wadi_sim_save(three, &saved, &error), error);
    WadiSimDef def = wadi_default_sim_def();
    CHECK_OK(wadi_sim_load(&loaded, scene, &def, saved.bytes, saved.size, &error), error);
    assert_int_equal(wadi_sim_state_hash(loaded), wadi_sim_state_hash(three));
    run_frames(loaded, 1);
    assert_int_equal(wadi_sim_state_hash(loaded), wadi_sim_state_hash(one));
    check_same_forces(loaded, one);
    wadi_buffer_release(&saved);
    wadi_sim_destroy(one);
    wadi_sim_destroy(three);
    wadi_sim_destroy(loaded);
}

static void test_forces_are_the_same_bytes(void **state)
{
    (void)state;
    WadiScene *scene = grain_scene("1, 2, -9.81");
    check_bytes(scene, 3);
    wadi_scene_destroy(scene);
}

static void test_solvers_without_forces_have_no_solids(void **state)
{
    (void)state;
    WadiScene *scene =
        load_scene("{wadi: 1, name: drop, solver: points, cell_size: 0.0125, frames: 2, fps: 24,"
                   " materials: {sand: {kind: sand, density: 1600}}, bodies: [{material: sand,"
                   " shape: {box: {center: [0, 0, 1], size: [0.1, 0.1, 0.1]}}}],"
                   " colliders: [{shape: {sphere: {radius: 0.5}}}]}");
    WadiSim *sim = start_sim(scene, 1);
    WadiError error;
    WadiSolidForce force;
    assert_int_equal(wadi_sim_solid_count(sim), 0);
    assert_int_equal(wadi_sim_solid_force(sim, 0, &force, &error), WADI_ERR_ARGUMENT);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grains_at_rest_weigh_their_weight),
        cmocka_unit_test(test_impulses_of_grains_are_their_change_of_momentum),
        cmocka_unit_test(test_pressure_on_a_ball_has_no_torque_about_its_centre),
        cmocka_unit_test(test_forces_are_the_same_bytes),
        cmocka_unit_test(test_solvers_without_forces_have_no_solids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
