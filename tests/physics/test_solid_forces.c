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
    /* Coulomb: on a flat side with the friction 0.5, rounding aside. */
    for (int i = 0; i < 6; ++i) {
        WadiError error;
        WadiSolidForce side;
        CHECK_OK(wadi_sim_solid_force(sim, i, &side, &error), error);
        assert_int_equal(side.collider, -1);
        CHECK_AT_MOST(wadi_norm(vec_of(side.friction)), 0.5001 * wadi_norm(vec_of(side.pressure)));
    }
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
    CHECK_AT_MOST(wadi_norm(vec_of(ball.pressure_torque)), 1e-6 * 0.025 * wadi_norm(vec_of(ball.pressure)));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static const char *const tank =
    "{wadi: 1, name: tank, solver: flip, cell_size: %s, fps: 24, frames: 40, gravity: [%s],"
    " domain: {min: [0, 0, 0], max: [0.8, 0.4, 0.4], walls: {friction: 0.5}},"
    " materials: {%s}, bodies: [{material: %s, shape: {box: {min: [%s], max: [%s]}}}], colliders: [%s]}";

typedef struct Tank {
    const char *cell, *gravity, *material, *kind, *low, *high, *colliders;
} Tank;

static WadiScene *tank_scene(const Tank *t)
{
    char text[1600];
    snprintf(text, sizeof text, tank, t->cell, t->gravity, t->material, t->kind, t->low, t->high,
             t->colliders);
    return load_scene(text);
}

static const char *const water = "water: {kind: water}";

/* 0.32 m of water on a side of 0.4 m by 0.4 m or of 0.8 m by 0.4 m: the floor has its weight, and each wall
 * that is as wide as `width` the half of rho g depth^2 width. */
static void check_hydrostatics(const char *gravity, const char *low, const char *high, const char *floor,
                               const char *wall, WadiVec3 direction, double depth, double width)
{
    const Tank def = { "0.025", gravity, water, "water", low, high, "" };
    WadiScene *scene = tank_scene(&def);
    WadiSim *sim = start_sim(scene, 0);
    run_frames(sim, 12);
    const double weight = 9.81 * particle_mass(sim) * sim->particles.count;
    const double thrust = 0.5 * 1000.0 * 9.81 * depth * depth * width;
    CHECK_NEAR(wadi_dot(vec_of(force_on(sim, floor).pressure), direction), weight, 0.01 * weight);
    CHECK_NEAR(wadi_norm(vec_of(force_on(sim, wall).pressure)), thrust, 0.02 * thrust);
    CHECK_AT_MOST(wadi_norm(wadi_add_scaled(total_force(sim), direction, -weight)), 0.01 * weight);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void test_water_presses_on_floor_and_walls(void **state)
{
    (void)state;
    check_hydrostatics("0, 0, -9.81", "0, 0, 0", "0.8, 0.4, 0.3", "z_min", "y_max", wadi_vec3(0, 0, -1), 0.3,
                       0.8);
    check_hydrostatics("9.81, 0, 0", "0.3, 0, 0", "0.8, 0.4, 0.4", "x_max", "z_min", wadi_vec3(1, 0, 0), 0.5,
                       0.4);
}

/* Archimedes: what is under water is lifted by the weight of its volume, through its centre. */
static void check_lift(const char *shape, double volume, const char *gravity, WadiVec3 up)
{
    char colliders[300];
    snprintf(colliders, sizeof colliders, "{name: body, shape: {%s, pivot: [0.42, 0.2, 0.21]}}", shape);
    const Tank def = { "0.02", gravity, water, "water", "0, 0, 0", "0.8, 0.4, 0.4", colliders };
    WadiScene *scene = tank_scene(&def);
    WadiSim *sim = start_sim(scene, 0);
    run_frames(sim, 10);
    const WadiSolidForce force = force_on(sim, "body");
    const double lift = 1000.0 * 9.81 * volume;
    const WadiVec3 error = wadi_add_scaled(vec_of(force.pressure), up, -lift);
    CHECK_AT_MOST(wadi_norm(error), 0.02 * lift);
    CHECK_AT_MOST(wadi_norm(vec_of(force.pressure_torque)), 0.02 * lift * 0.1);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void test_bodies_under_water_are_lifted_by_their_volume(void **state)
{
    (void)state;
    check_lift("sphere: {center: [0.42, 0.2, 0.21], radius: 0.1}", 4.0 / 3.0 * 3.14159265358979 * 1e-3,
               "0, 0, -9.81", wadi_vec3(0, 0, 1));
    check_lift("box: {center: [0.42, 0.2, 0.21], size: [0.2, 0.16, 0.12]}, rotate: [20, 30, 10]",
               0.2 * 0.16 * 0.12, "0, 0, -9.81", wadi_vec3(0, 0, 1));
    check_lift("sphere: {center: [0.42, 0.2, 0.21], radius: 0.1}", 4.0 / 3.0 * 3.14159265358979 * 1e-3,
               "-9.81, 0, 0", wadi_vec3(1, 0, 0));
}

/* A jet that spreads on a wide plate loses its momentum, rho A v^2. */
static void test_a_jet_presses_with_its_momentum(void **state)
{
    (void)state;
    WadiScene *scene = load_scene(
        "{wadi: 1, name: jet, solver: flip, cell_size: 0.01, fps: 48, frames: 20, gravity: [0, 0, 0],"
        " domain: {min: [-0.3, -0.3, 0], max: [0.3, 0.3, 0.3], walls: {open: [x_min, x_max, y_min, y_max, "
        "z_max]}},"
        " materials: {water: {kind: water}},"
        " emitters: [{material: water, shape: {cylinder: {from: [0, 0, 0.26], to: [0, 0, 0.28], radius: "
        "0.05}},"
        " velocity: [0, 0, -3], rate: 0.02356}]}");
    WadiSim *sim = start_sim(scene, 0);
    double mean = 0.0;
    run_frames(sim, 12);
    for (int frame = 0; frame < 6; ++frame) {
        run_frames(sim, 1);
        mean -= force_on(sim, "z_min").pressure[2] / 6.0;
    }
    const double thrust = 1000.0 * 3.14159265358979 * 0.05 * 0.05 * 9.0;
    CHECK_NEAR(mean, thrust, 0.05 * thrust);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static const char *const sand = "sand: {kind: sand, density: 1600, friction_angle: 35}";

/* Sand in a bin: floor and walls together have its weight, friction of the walls included, asleep too. */
static void test_sand_weighs_on_floor_and_walls(void **state)
{
    (void)state;
    const char *const gravity[] = { "0, 0, -9.81", "0, 9.81, 0" };
    const WadiVec3 down[] = { { 0, 0, -1 }, { 0, 1, 0 } };
    for (int turn = 0; turn < 2; ++turn) {
        const Tank def = {
            "0.025",
            gravity[turn],
            sand,
            "sand",
            turn ? "0, 0.1, 0" : "0, 0, 0",
            turn ? "0.8, 0.4, 0.4" : "0.8, 0.4, 0.3",
            "{name: post, friction: 0.4, shape: {box: {center: [0.4, 0.2, 0.2], size: [0.1, 0.1, 0.15]}}}"
        };
        WadiScene *scene = tank_scene(&def);
        WadiSim *sim = start_sim(scene, 0);
        const double weight = 9.81 * particle_mass(sim) * sim->particles.count;
        for (int part = 0; part < 3; ++part) {
            run_frames(sim, 12);
            const WadiVec3 force = total_force(sim);
            CHECK_AT_MOST(wadi_norm(wadi_add_scaled(force, down[turn], -weight)), 0.01 * weight);
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* Sand that slumped, or lies in a layer between cell faces, has uppermost cells that are full in part. What
 * sleeps keeps the mean of the whole surface. */
static void test_sand_weighs_wherever_its_surface_is(void **state)
{
    (void)state;
    const char *const high[] = { "0.3, 0.4, 0.25", "0.8, 0.4, 0.21" }, *const cell[] = { "0.025", "0.024" };
    for (int n = 0; n < 2; ++n) {
        const Tank def = { cell[n], "0, 0, -9.81", sand, "sand", "0, 0, 0", high[n], "" };
        WadiScene *scene = tank_scene(&def);
        WadiSim *sim = start_sim(scene, 0);
        const double weight = 9.81 * particle_mass(sim) * sim->particles.count;
        const WadiVec3 expected = wadi_vec3(0, 0, -weight);
        run_frames(sim, 24);
        CHECK_AT_MOST(wadi_norm(wadi_sub(total_force(sim), expected)), 0.01 * weight);
        run_frames(sim, 36);
        assert_int_equal(wadi_sim_sleeping_particles(sim), sim->particles.count);
        CHECK_AT_MOST(wadi_norm(wadi_sub(total_force(sim), expected)), 0.025 * weight);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* Bonds change the mass of faces, not that of the sand. */
static void test_bonded_sand_weighs_its_weight(void **state)
{
    (void)state;
    const char *const bonded = "sand: {kind: sand, density: 1600, friction_angle: 33, cohesion: 3000}";
    const Tank def = { "0.025", "0, 0, -9.81", bonded, "sand", "0.1, 0.1, 0", "0.5, 0.3, 0.26", "" };
    WadiScene *scene = tank_scene(&def);
    WadiSim *sim = start_sim(scene, 0);
    run_frames(sim, 12);
    const double weight = 9.81 * particle_mass(sim) * sim->particles.count;
    CHECK_AT_MOST(wadi_norm(wadi_sub(total_force(sim), wadi_vec3(0, 0, -weight))), 0.01 * weight);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* What sleeps weighs on while a ball of sand wakes a part of it. */
static void test_sand_weighs_while_a_part_of_it_sleeps(void **state)
{
    (void)state;
    const Tank def = { "0.025", "0, 0, -9.81", sand, "sand", "0, 0, 0", "0.8, 0.4, 0.2", "" };
    WadiScene *scene = tank_scene(&def);
    WadiSim *sim = start_sim(scene, 0);
    WadiError error;
    bool was_mixed = false;
    run_frames(sim, 20);
    assert_int_equal(wadi_sim_sleeping_particles(sim), sim->particles.count);
    CHECK_OK(wadi_sim_add_particles(sim,
                                    "{material: sand, velocity: [0, 0, -1], shape: {sphere: {center: [0.7, "
                                    "0.2, 0.26], radius: 0.04}}}",
                                    NULL, &error),
             error);
    const double weight = 9.81 * particle_mass(sim) * sim->particles.count;
    for (int frame = 0; frame < 12; ++frame) {
        run_frames(sim, 1);
        const int64_t asleep = wadi_sim_sleeping_particles(sim);
        const bool is_mixed = asleep > sim->particles.count / 4 && asleep < sim->particles.count;
        was_mixed = was_mixed || is_mixed;
        if (is_mixed && frame > 3) {
            CHECK_NEAR(-total_force(sim).z, weight, 0.02 * weight);
        }
    }
    assert_true(was_mixed);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A dam that breaks onto a wall: over the whole of it and in each step the solids take what gravity and
 * inertia leave, but for the difference of the particles' momentum and that of the grid, whose occupied cells
 * are full: largest in the step in which the front reaches the wall, and for sand, whose surface is of first
 * order. */
static void check_momentum(const Tank *def, double tolerance)
{
    WadiScene *scene = tank_scene(def);
    WadiSim *sim = start_sim(scene, 0);
    const double mass = particle_mass(sim);
    const WadiVec3 weight = wadi_vec3(0, 0, -9.81 * mass * sim->particles.count);
    WadiVec3 sum = { 0, 0, 0 };
    double worst = 0.0, whole = 0.0;
    while (sim->frame < 17) {
        WadiError error;
        const WadiVec3 before = momentum_of(sim, mass);
        CHECK_OK(wadi_sim_step(sim, &error), error);
        WadiVec3 balance = wadi_scale(weight, sim->loads.step_time);
        const double unit = wadi_norm(balance);
        for (int i = 0; i < sim->loads.count; ++i) {
            balance = wadi_sub(balance, wadi_add(sim->loads.step[i].pressure, sim->loads.step[i].friction));
        }
        balance = wadi_sub(balance, wadi_sub(momentum_of(sim, mass), before));
        worst = fmax(worst, wadi_norm(balance) / unit);
        sum = wadi_add(sum, balance);
        whole += unit;
    }
    CHECK_AT_MOST(wadi_norm(sum), tolerance * whole);
    CHECK_AT_MOST(worst, 0.2);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void test_impulses_on_the_grid_are_the_change_of_momentum(void **state)
{
    (void)state;
    check_momentum(&(Tank){ "0.025", "0, 0, -9.81", water, "water", "0, 0, 0", "0.3, 0.4, 0.3", "" }, 0.02);
    check_momentum(&(Tank){ "0.025", "0, 0, -9.81", sand, "sand", "0, 0, 0", "0.3, 0.4, 0.3", "" }, 0.03);
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
    const Tank tanks[] = {
        { "0.04", "1, 0, -9.81", water, "water", "0, 0, 0", "0.3, 0.4, 0.3",
          "{name: ball, shape: {sphere: {center: [0.4, 0.2, 0.1], radius: 0.1}}}" },
        { "0.04", "1, 0, -9.81", sand, "sand", "0, 0, 0", "0.3, 0.4, 0.3",
          "{name: ball, shape: {sphere: {center: [0.4, 0.2, 0.1], radius: 0.1}}}" },
    };
    for (int n = 0; n < 2; ++n) {
        scene = tank_scene(&tanks[n]);
        check_bytes(scene, 5);
        wadi_scene_destroy(scene);
    }
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
        cmocka_unit_test(test_water_presses_on_floor_and_walls),
        cmocka_unit_test(test_bodies_under_water_are_lifted_by_their_volume),
        cmocka_unit_test(test_a_jet_presses_with_its_momentum),
        cmocka_unit_test(test_sand_weighs_on_floor_and_walls),
        cmocka_unit_test(test_sand_weighs_wherever_its_surface_is),
        cmocka_unit_test(test_bonded_sand_weighs_its_weight),
        cmocka_unit_test(test_sand_weighs_while_a_part_of_it_sleeps),
        cmocka_unit_test(test_impulses_on_the_grid_are_the_change_of_momentum),
        cmocka_unit_test(test_forces_are_the_same_bytes),
        cmocka_unit_test(test_solvers_without_forces_have_no_solids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
