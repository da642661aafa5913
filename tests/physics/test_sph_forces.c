/* Forces on solids of sph: sums against weight and momentum, which are known without a run. */
#include <string.h>

#include "scene_sim.h"
#include "sim/sim.h"

static WadiVec3 vec_of(const double v[3])
{
    return wadi_vec3(v[0], v[1], v[2]);
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

/* A column of doubles; NULL: the scene does not need it. */
static const double *find_doubles(const WadiParticles *p, const char *name)
{
    for (int c = 0; c < p->column_count; ++c) {
        if (strcmp(p->column[c].name, name) == 0) {
            return p->column[c].data;
        }
    }
    return NULL;
}

/* kg, of particle i: as large as it is; water as full as it is, sand with the water in it. */
static double mass_of(const WadiSim *sim, int32_t i)
{
    const WadiParticles *p = &sim->particles;
    const WadiMaterial *m = &sim->scene->materials[p->material[i]];
    const double *size = find_doubles(p, "volume"), *water = find_doubles(p, "water");
    const double rest = m->density * (size != NULL ? size[i] : 1.0),
                 wet = water != NULL ? 1000.0 * water[i] : 0.0;
    const bool is_sand = m->kind == WADI_MATERIAL_SAND;
    return sim->world->particle_volume * (is_sand ? rest + wet : water != NULL ? wet : rest);
}

static double total_mass(const WadiSim *sim)
{
    double sum = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        sum += mass_of(sim, i);
    }
    return sum;
}

static WadiVec3 momentum_of(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    WadiVec3 sum = { 0, 0, 0 };
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        sum = wadi_add_scaled(sum, v, mass_of(sim, i));
    }
    return sum;
}

static WadiVec3 position_of(const WadiSim *sim, int32_t i)
{
    const WadiParticles *p = &sim->particles;
    return (WadiVec3){ p->x[i], p->y[i], p->z[i] };
}

/* kg m: masses times positions. */
static WadiVec3 moment_of(const WadiSim *sim)
{
    WadiVec3 sum = { 0, 0, 0 };
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        sum = wadi_add_scaled(sum, position_of(sim, i), mass_of(sim, i));
    }
    return sum;
}

/* About the origin. */
static WadiVec3 angular_of(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    WadiVec3 sum = { 0, 0, 0 };
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        sum = wadi_add_scaled(sum, wadi_cross(position_of(sim, i), v), mass_of(sim, i));
    }
    return sum;
}

typedef struct Tank {
    const char *cell, *gravity, *materials, *bodies, *extra;
} Tank;

static WadiScene *tank_scene(const Tank *t)
{
    char text[2000];
    snprintf(text, sizeof text,
             "{wadi: 1, name: tank, solver: sph, cell_size: %s, fps: 24, frames: 60, gravity: [%s],"
             " domain: {min: [0, 0, 0], max: [0.8, 0.4, 0.4], walls: {friction: 0.5}},"
             " materials: {%s}, bodies: [%s] %s}",
             t->cell, t->gravity, t->materials, t->bodies, t->extra);
    return load_scene(text);
}

/* Errors over the weight: of the momentum in the worst step, and of the angular momentum over the run, whose
 * arm is the width of the tank. */
typedef struct Balance {
    double worst, turn;
} Balance;

/* What gravity gives less what the solids take and the particles keep. */
static Balance balance_of(const Tank *def, WadiVec3 g, int frames)
{
    WadiScene *scene = tank_scene(def);
    WadiSim *sim = start_sim(scene, 0);
    WadiVec3 turned = { 0, 0, 0 };
    double worst = 0.0, torque = 0.0;
    while (sim->frame < frames) {
        WadiError error;
        const WadiVec3 before = momentum_of(sim), turn = angular_of(sim);
        const WadiVec3 moment = wadi_cross(moment_of(sim), g);
        const double mass = total_mass(sim);
        CHECK_OK(wadi_sim_step(sim, &error), error);
        const double dt = sim->loads.step_time, unit = wadi_norm(g) * mass * dt;
        WadiVec3 given = wadi_scale(g, mass * dt), turning = wadi_scale(moment, dt);
        for (int i = 0; i < sim->loads.count; ++i) {
            const WadiSolidLoad *l = &sim->loads.step[i];
            const WadiVec3 force = wadi_add(l->pressure, l->friction);
            given = wadi_sub(given, force);
            turning = wadi_sub(turning, wadi_add(l->pressure_torque, l->friction_torque));
            turning = wadi_sub(turning, wadi_cross(sim->loads.pivot[i], force));
        }
        given = wadi_sub(given, wadi_sub(momentum_of(sim), before));
        worst = fmax(worst, wadi_norm(given) / unit);
        turned = wadi_add(turned, wadi_sub(turning, wadi_sub(angular_of(sim), turn)));
        torque += unit * 0.4;
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return (Balance){ worst, wadi_norm(turned) / torque };
}

static const char *const down = "0, 0, -9.81";
static const char *const water = "m: {kind: water}";
static const char *const sand = "m: {kind: sand, friction_angle: 33, density: 1600}";
static const char *const dam = "{material: m, shape: {box: {min: [0, 0, 0], max: [0.3, 0.4, 0.3]}}}";
static const char *const pool = "{material: m, shape: {box: {min: [0, 0, 0], max: [0.8, 0.4, 0.3]}}}";
static const char *const post =
    ", colliders: [{name: post, friction: 0.4, shape: {sphere: {center: [0.5, 0.2, 0.06], radius: 0.1}}}]";
static const char *const paddle =
    ", colliders: [{name: paddle, friction: 0.4, shape: {box: {center: [0, 0, 0], size: [0.3, 0.3, 0.06]},"
    " translate: [0.45, 0.2, 0.16], rotate: {keys: [[0, [0, 0, 0]], [1, [0, 300, 0]]]}}}]";

/* The impulses of all solids are the change of momentum less the weight, in every step: to rounding, and
 * where a part sleeps but for what passes between it and the rest. Torques are within 0.5 % of the change of
 * the angular momentum: friction inside sand and mirror images have no exact one. */
static void test_impulses_are_the_change_of_momentum(void **state)
{
    (void)state;
    const char *const bed = "{material: m, shape: {box: {min: [0, 0, 0], max: [0.8, 0.4, 0.16]}}},"
                            " {material: w, shape: {box: {min: [0, 0, 0.18], max: [0.3, 0.4, 0.3]}}}";
    const char *const wet = "m: {kind: sand, density: 1600, permeability: 1e-9}, w: {kind: water}";
    const struct {
        Tank tank;
        int frames;
        double most;
    } rows[] = {
        { { "0.04", down, water, dam, post }, 17, 2e-6 },
        { { "0.04", down, water, dam, paddle }, 17, 2e-6 },
        { { "0.04", down, water, dam, ", sph: {adaptive: {}}" }, 17, 2e-6 },
        { { "0.04", down, "m: {kind: water, surface_tension: 0.5}", dam, post }, 10, 2e-6 },
        { { "0.04", down, "m: {kind: water, viscosity: 1}", dam, post }, 17, 2e-6 },
        { { "0.04", down, "m: {kind: water, viscosity: 20}", dam, paddle }, 17, 2e-6 },
        { { "0.04", down, "m: {kind: water, viscosity: 500}", dam, post }, 10, 2e-6 },
        { { "0.04", down, sand, dam, post }, 17, 2e-6 },
        { { "0.04", down, sand, dam, paddle }, 17, 2e-6 },
        { { "0.04", down, wet, bed, "" }, 17, 2e-5 },
        { { "0.04", down, "m: {kind: sand, density: 1600, cohesion: 1000}", dam, post }, 17, 2e-3 },
        { { "0.06", down, water, dam, ", sph: {pressure: tait}" }, 6, 1e-5 },
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; ++n) {
        const Balance balance = balance_of(&rows[n].tank, wadi_vec3(0, 0, -9.81), rows[n].frames);
        print_message("%zu: %g, %g\n", n, balance.worst, balance.turn);
        CHECK_AT_MOST(balance.worst, rows[n].most);
        CHECK_AT_MOST(balance.turn, 5e-3);
    }
    /* Turned, and gravity that is not along an axis. */
    const Tank turned = { "0.04", "3, 9, -2", water, dam, post };
    CHECK_AT_MOST(balance_of(&turned, wadi_vec3(3, 9, -2), 10).worst, 3e-6); /* sums of three components */
}

/* 0.3 m of water: the floor has its weight, and each wall that is as wide as `width` the half of rho g
 * depth^2 width. */
static void check_hydrostatics(const char *gravity, const char *box, const char *floor, const char *wall,
                               WadiVec3 direction, double depth, double width)
{
    char body[200];
    snprintf(body, sizeof body, "{material: m, shape: {box: {%s}}}", box);
    WadiScene *scene = tank_scene(&(Tank){ "0.04", gravity, water, body, "" });
    WadiSim *sim = start_sim(scene, 0);
    run_frames(sim, 12);
    const double weight = 9.81 * total_mass(sim), thrust = 0.5 * 1000.0 * 9.81 * depth * depth * width;
    const WadiVec3 below = vec_of(force_on(sim, floor).pressure);
    CHECK_NEAR(wadi_dot(below, direction), weight, 0.01 * weight);
    CHECK_AT_MOST(wadi_norm(wadi_add_scaled(below, direction, -wadi_dot(below, direction))), 1e-5 * weight);
    CHECK_NEAR(wadi_norm(vec_of(force_on(sim, wall).pressure)), thrust, 0.01 * thrust);
    CHECK_AT_MOST(wadi_norm(vec_of(force_on(sim, floor).friction)), 1e-9 * weight);
    CHECK_AT_MOST(wadi_norm(wadi_add_scaled(total_force(sim), direction, -weight)), 0.01 * weight);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void test_water_presses_on_floor_and_walls(void **state)
{
    (void)state;
    check_hydrostatics(down, "min: [0, 0, 0], max: [0.8, 0.4, 0.3]", "z_min", "y_max", wadi_vec3(0, 0, -1),
                       0.3, 0.8);
    check_hydrostatics("0, 9.81, 0", "min: [0, 0.2, 0], max: [0.8, 0.4, 0.4]", "y_max", "x_min",
                       wadi_vec3(0, 1, 0), 0.2, 0.4);
}

/* What is under water is lifted by the weight of its volume, through its centre. */
static void check_lift(const char *shape, double volume, const char *gravity, const char *body, WadiVec3 up)
{
    char colliders[300];
    snprintf(colliders, sizeof colliders,
             ", colliders: [{name: body, shape: {%s, pivot: [0.42, 0.2, 0.16]}}]", shape);
    WadiScene *scene = tank_scene(&(Tank){ "0.04", gravity, water, body, colliders });
    WadiSim *sim = start_sim(scene, 0);
    const double lift = 1000.0 * 9.81 * volume;
    WadiVec3 mean = { 0, 0, 0 }, torque = { 0, 0, 0 };
    run_frames(sim, 12);
    for (int frame = 0; frame < 6; ++frame) { /* water that was poured just now sways a little */
        run_frames(sim, 1);
        const WadiSolidForce force = force_on(sim, "body");
        mean = wadi_add_scaled(mean, vec_of(force.pressure), 1.0 / 6.0);
        torque = wadi_add_scaled(torque, vec_of(force.pressure_torque), 1.0 / 6.0);
    }
    CHECK_AT_MOST(wadi_norm(wadi_add_scaled(mean, up, -lift)), 0.02 * lift);
    CHECK_AT_MOST(wadi_norm(torque), 0.02 * lift * 0.1);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void test_bodies_under_water_are_lifted_by_their_volume(void **state)
{
    (void)state;
    const char *const ball = "sphere: {center: [0.42, 0.2, 0.16], radius: 0.1}";
    const double volume = 4.0 / 3.0 * 3.14159265358979 * 1e-3;
    check_lift(ball, volume, down, pool, wadi_vec3(0, 0, 1));
    check_lift("box: {center: [0.42, 0.2, 0.16], size: [0.2, 0.16, 0.12]}, rotate: [20, 30, 10]",
               0.2 * 0.16 * 0.12, down, pool, wadi_vec3(0, 0, 1));
    check_lift(ball, volume, "-9.81, 0, 0",
               "{material: m, shape: {box: {min: [0, 0, 0], max: [0.6, 0.4, "
               "0.4]}}}",
               wadi_vec3(1, 0, 0));
}

/* A gate between water of the depth H and air: rho g b H^2 / 2, and about its foot rho g b H^3 / 6. */
static void test_a_gate_turns_about_its_foot(void **state)
{
    (void)state;
    WadiScene *scene = tank_scene(&(Tank){ "0.04", down, water, dam,
                                           ", colliders: [{name: gate, shape: {box: {min: [0.3, -1, -1], "
                                           "max: [0.36, 1, 1]}, pivot: [0.3, 0.2, 0]}}]" });
    WadiSim *sim = start_sim(scene, 0);
    run_frames(sim, 10);
    const WadiSolidForce gate = force_on(sim, "gate");
    const double force = 0.5 * 9810.0 * 0.4 * 0.09, torque = 9810.0 * 0.4 * 0.027 / 6.0;
    CHECK_NEAR(gate.pressure[0], force, 0.01 * force);
    CHECK_NEAR(gate.pressure_torque[1], torque, 0.01 * torque);
    CHECK_AT_MOST(fabs(gate.pressure_torque[0]) + fabs(gate.pressure_torque[2]), 0.01 * torque);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A jet that spreads on a wide plate loses its momentum, rho A v^2. */
static void test_a_jet_presses_with_its_momentum(void **state)
{
    (void)state;
    WadiScene *scene = load_scene(
        "{wadi: 1, name: jet, solver: sph, cell_size: 0.02, fps: 48, frames: 30, gravity: [0, 0, 0],"
        " domain: {min: [-0.3, -0.3, 0], max: [0.3, 0.3, 0.3], walls: {open: [x_min, x_max, y_min, y_max, "
        "z_max]}},"
        " materials: {water: {kind: water}},"
        " emitters: [{material: water, shape: {cylinder: {from: [0, 0, 0.26], to: [0, 0, 0.28], radius: "
        "0.05}},"
        " velocity: [0, 0, -3], rate: 0.02356}]}");
    WadiSim *sim = start_sim(scene, 0);
    double mean = 0.0;
    run_frames(sim, 12);
    for (int frame = 0; frame < 8; ++frame) {
        run_frames(sim, 1);
        mean -= force_on(sim, "z_min").pressure[2] / 8.0;
    }
    const double thrust = 1000.0 * 3.14159265358979 * 0.05 * 0.05 * 9.0;
    CHECK_NEAR(mean, thrust, 0.05 * thrust);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Floor and walls together have the weight, dry or wet; friction is within Coulomb's bound. */
static void check_bed(const Tank *def, WadiVec3 direction, int frames, double coulomb)
{
    WadiScene *scene = tank_scene(def);
    WadiSim *sim = start_sim(scene, 0);
    run_frames(sim, frames - 6);
    WadiVec3 mean = { 0, 0, 0 };
    for (int part = 0; part < 6; ++part) {
        run_frames(sim, 1);
        mean = wadi_add_scaled(mean, total_force(sim), 1.0 / 6.0);
    }
    const double weight = 9.81 * total_mass(sim);
    CHECK_AT_MOST(wadi_norm(wadi_add_scaled(mean, direction, -weight)), 0.01 * weight);
    for (int i = 0; i < wadi_sim_solid_count(sim); ++i) {
        WadiError error;
        WadiSolidForce f;
        CHECK_OK(wadi_sim_solid_force(sim, i, &f, &error), error);
        CHECK_AT_MOST(wadi_norm(vec_of(f.friction)), coulomb * wadi_norm(vec_of(f.pressure)));
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void test_beds_weigh_their_weight(void **state)
{
    (void)state;
    check_bed(&(Tank){ "0.04", down, sand, pool, post }, wadi_vec3(0, 0, -1), 18, 0.5001);
    check_bed(&(Tank){ "0.04", "0, 9.81, 0", sand,
                       "{material: m, shape: {box: {min: [0, 0.1, 0], max: [0.8, 0.4, 0.4]}}}", post },
              wadi_vec3(0, 1, 0), 18, 0.5001);
    check_bed(&(Tank){ "0.04", down, "m: {kind: sand, density: 1600}, w: {kind: water}",
                       "{material: m, shape: {box: {min: [0, 0, 0], max: [0.8, 0.4, 0.16]}}},"
                       " {material: w, shape: {box: {min: [0, 0, 0.16], max: [0.8, 0.4, 0.24]}}}",
                       "" },
              wadi_vec3(0, 0, -1), 18, 0.5001);
}

/* What sleeps weighs on. */
static void test_sleeping_sand_weighs_its_weight(void **state)
{
    (void)state;
    WadiScene *scene =
        tank_scene(&(Tank){ "0.06", down, "m: {kind: sand, density: 1600, cohesion: 1000}", pool, "" });
    WadiSim *sim = start_sim(scene, 0);
    WadiError error;
    bool was_mixed = false;
    const double weight = 9.81 * total_mass(sim);
    for (int frame = 0; frame < 50; ++frame) {
        CHECK_OK(wadi_sim_step_frame(sim, &error), error);
        const int64_t asleep = wadi_sim_sleeping_particles(sim);
        was_mixed = was_mixed || (asleep > sim->particles.count / 10 && asleep < sim->particles.count);
        if (frame > 10) {
            CHECK_NEAR(-total_force(sim).z, weight, 0.01 * weight);
        }
    }
    assert_true(was_mixed);
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

/* Simulations with 1, 2 and 5 threads, and one that was saved inside a frame. */
static void check_bytes(const Tank *def, int frames)
{
    WadiError error;
    WadiScene *scene = tank_scene(def);
    WadiSim *one = start_sim(scene, 1), *two = start_sim(scene, 2), *five = start_sim(scene, 5);
    WadiSim *loaded = NULL;
    WadiBuffer saved = { 0 };
    run_frames(one, frames);
    run_frames(two, frames);
    run_frames(five, frames - 1);
    CHECK_OK(wadi_sim_step(five, &error), error);
    CHECK_OK(wadi_sim_save(five, &saved, &error), error);
    WadiSimDef sim_def = wadi_default_sim_def();
    CHECK_OK(wadi_sim_load(&loaded, scene, &sim_def, saved.bytes, saved.size, &error), error);
    assert_int_equal(wadi_sim_state_hash(loaded), wadi_sim_state_hash(five));
    run_frames(loaded, 1);
    assert_int_equal(wadi_sim_state_hash(loaded), wadi_sim_state_hash(one));
    assert_int_equal(wadi_sim_state_hash(two), wadi_sim_state_hash(one));
    check_same_forces(loaded, one);
    check_same_forces(two, one);
    wadi_buffer_release(&saved);
    wadi_sim_destroy(one);
    wadi_sim_destroy(two);
    wadi_sim_destroy(five);
    wadi_sim_destroy(loaded);
    wadi_scene_destroy(scene);
}

static void test_forces_are_the_same_bytes(void **state)
{
    (void)state;
    check_bytes(&(Tank){ "0.05", down, water, dam, paddle }, 5);
    check_bytes(&(Tank){ "0.05", down, "m: {kind: water, viscosity: 20}", dam, post }, 5);
    check_bytes(&(Tank){ "0.05", "1, 0, -9.81", sand, dam, post }, 5);
    /* A part sleeps. */
    check_bytes(&(Tank){ "0.06", down, "m: {kind: sand, density: 1600, cohesion: 1000}", pool, "" }, 20);
}

static void test_the_papers_rule_of_friction_reports_none(void **state)
{
    (void)state;
    WadiScene *scene = tank_scene(&(Tank){ "0.05", down, sand, dam, ", sph: {published: ld09}" });
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 2);
    assert_int_equal(wadi_sim_solid_count(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_impulses_are_the_change_of_momentum),
        cmocka_unit_test(test_water_presses_on_floor_and_walls),
        cmocka_unit_test(test_bodies_under_water_are_lifted_by_their_volume),
        cmocka_unit_test(test_a_gate_turns_about_its_foot),
        cmocka_unit_test(test_a_jet_presses_with_its_momentum),
        cmocka_unit_test(test_beds_weigh_their_weight),
        cmocka_unit_test(test_sleeping_sand_weighs_its_weight),
        cmocka_unit_test(test_forces_are_the_same_bytes),
        cmocka_unit_test(test_the_papers_rule_of_friction_reports_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
