/* sph: water at rest in tanks of all forms stands half a spacing off their walls, and none is lost. */
#include <stdio.h>

#include "scene_sim.h"
#include "sph_sim.h"

typedef struct Rest {
    double nearest, first_row; /* spacings: of all particles, and the mean of those within one */
    double speed, sank;        /* mean, sqrt(g dx); spacings */
} Rest;

static Rest run(const char *text, double seconds)
{
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    const double before = mean_height(p), dx = sim->world->spacing;
    run_frames(sim, (int)lround(24 * seconds));
    Rest rest = { .nearest = INFINITY, .speed = mean_speed(p) / sqrt(9.81 * dx) };
    int count = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        const double d = wadi_solids_distance(&sim->world->solids, x, sim->time, -1.0) / dx;
        rest.nearest = fmin(rest.nearest, d);
        rest.first_row += d < 1.0 ? d : 0.0;
        count += d < 1.0;
    }
    rest.first_row /= count;
    rest.sank = (before - mean_height(p)) / dx;
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    assert_int_equal(sim->stuck_particles, 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return rest;
}

static void check(const char *name, const Rest *rest)
{
    print_message("%s: first row at %.3f spacings, nearest %.3f, mean speed %.2g sqrt(g dx), sank %.3f\n",
                  name, rest->first_row, rest->nearest, rest->speed, rest->sank);
    CHECK_NEAR(rest->first_row, 0.5, 0.15);
    CHECK_AT_MOST(0.1, rest->nearest);
}

/* What is left out of a solid block, and the water's level in it. */
static const struct {
    const char *name, *room;
    double level;
} rooms[] = {
    { "box along the lattice", "{box: {center: [0, 0, 0], size: [0.48, 0.4, 0.8]}}", 0.0 },
    { "box turned by 20, 30, 40 degrees",
      "{box: {center: [0, 0, 0], size: [0.5, 0.4, 0.8]}, rotate: [20, 30, 40]}", 0.0 },
    { "bowl", "{sphere: {center: [0, 0, 0], radius: 0.4}}", -0.05 },
    { "lying cylinder", "{cylinder: {from: [-0.3, 0, 0], to: [0.3, 0, 0], radius: 0.3}}", 0.0 },
};

static void water_rests_in_any_tank(void **unused)
{
    (void)unused;
    for (size_t n = 0; n < sizeof rooms / sizeof *rooms; ++n) {
        char text[2048];
        snprintf(text, sizeof text,
                 "{wadi: 1, solver: sph, cell_size: 0.08, fps: 24, domain: {min: [-0.6, -0.6, -0.6], max: "
                 "[0.6, 0.6, 0.6]}, materials: {m: {kind: water}}, colliders: [{shape: {difference: "
                 "[{box: {min: [-2, -2, -2], max: [2, 2, 2]}}, %s]}}], bodies: [{material: m, shape: "
                 "{intersection: [%s, {half_space: {point: [0, 0, %g]}}]}}]}",
                 rooms[n].room, rooms[n].room, rooms[n].level);
        const Rest rest = run(text, 2.0);
        check(rooms[n].name, &rest);
        CHECK_AT_MOST(rest.speed, 0.06);
        CHECK_NEAR(rest.sank, 0.0, 0.3);
    }
}

/* A tank as deep as wide: after 4 s no particle is faster than 1e-3 sqrt(g H), and the pressure is that of
 * the depth. */
static void a_tank_comes_to_rest(void **unused)
{
    (void)unused;
    const int side = is_long_run() ? 20 : 12;
    const double dx = 0.4 / side;
    char text[800];
    snprintf(
        text, sizeof text,
        "{wadi: 1, solver: sph, cell_size: %.17g, fps: 24, domain: {min: [0, 0, 0], max: [0.4, 0.4, "
        "0.8]}, materials: {m: {kind: water}}, bodies: [{material: m, shape: {box: {min: [0, 0, 0], max: "
        "[0.4, 0.4, 0.4]}}}]}",
        2.0 * dx);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    run_frames(sim, 96);
    const float *pressure = column_of(p, "pressure");
    double fastest = 0.0, n = 0.0, z = 0.0, sum = 0.0, zz = 0.0, zp = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        const double height = p->z[i], value = (double)pressure[i];
        fastest =
            fmax(fastest, sqrt((double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i])));
        if (height > 2.0 * dx && height < 0.4 - 2.0 * dx) {
            n += 1.0, z += height, sum += value, zz += height * height, zp += height * value;
        }
    }
    const double gradient = -(zp - z * sum / n) / (zz - z * z / n) / 9810.0;
    print_message("tank of %d: fastest %.2g sqrt(g H), gradient %.4f rho g, mean height %.4f m\n", p->count,
                  fastest / sqrt(9.81 * 0.4), gradient, mean_height(p));
    CHECK_AT_MOST(fastest, 1e-3 * sqrt(9.81 * 0.4));
    CHECK_NEAR(gradient, 1.0, 0.03);
    CHECK_NEAR(mean_height(p), 0.2, 0.01 * 0.2); /* the mean density */
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A tank that no lattice fits: with steps that are too long for its pressure water shakes and collapses to
 * half its height, and sand between smooth walls boils. */
static void check_depth(const char *kind, int depth)
{
    const double dx = 0.01, height = depth * dx;
    char text[800];
    snprintf(text, sizeof text,
             "{wadi: 1, solver: sph, cell_size: 0.02, fps: 24, domain: {min: [0, 0, 0], max: [0.087, 0.093, "
             "1.5]}, materials: {m: {kind: %s}}, bodies: [{material: m, shape: {box: {min: [0, 0, 0], max: "
             "[0.087, 0.093, %.17g]}}}]}",
             kind, height);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 18);
    const double mean = mean_height(&sim->particles);
    const double speed = mean_speed(&sim->particles) / sqrt(9.81 * dx);
    print_message("%d spacings of %s: mean height %.4f of it, mean speed %.2g sqrt(g dx)\n", depth, kind,
                  mean / height, speed);
    CHECK_NEAR(mean / height, 0.5, kind[0] == 's' ? 0.015 : 0.005); /* sand settles at first */
    CHECK_AT_MOST(speed, 0.15);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* 30 and 60 spacings deep, and 100 in a long run. */
static void what_is_deep_stands(void **unused)
{
    (void)unused;
    static const int depths[] = { 30, 60, 100 };
    for (int n = 0; n < (is_long_run() ? 3 : 2); ++n) {
        check_depth("water", depths[n]);
        check_depth("sand", depths[n]);
    }
}

/* Where a ramp of 20, 30 and 45 degrees meets the floor both are nearly one wall: counted as two they press
 * twice as hard, and water jumps where the second one comes and goes. */
static void water_is_calm_at_the_foot_of_a_ramp(void **unused)
{
    (void)unused;
    static const double angles[] = { 20, 30, 45 };
    for (int n = 0; n < 3; ++n) {
        const double turn = angles[n] * 3.14159265358979323846 / 180, dx = 0.02;
        char text[800];
        snprintf(text, sizeof text,
                 "{wadi: 1, solver: sph, cell_size: 0.04, fps: 24, sph: {sleep: false}, domain: {min: [0, 0, "
                 "0], max: [0.6, 0.12, 0.6]}, materials: {m: {kind: water}}, colliders: [{shape: "
                 "{half_space: {point: [0.25, 0, 0], normal: [%.17g, 0, %.17g]}}}], bodies: [{material: m, "
                 "shape: {box: {min: [0, 0, 0], max: [0.6, 0.12, 0.3]}}}]}",
                 -sin(turn), cos(turn));
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        const WadiParticles *p = &sim->particles;
        run_frames(sim, 36);
        double square = 0.0;
        int count = 0;
        for (int frame = 0; frame < 12; ++frame) {
            run_frames(sim, 1);
            for (int32_t i = 0; i < p->count; ++i) {
                if (fabs(p->x[i] - 0.25) < dx && p->z[i] < dx) {
                    square += (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]);
                    count += 1;
                }
            }
        }
        const double speed = sqrt(square / count / (9.81 * dx));
        print_message("foot of a ramp of %g degrees: speed %.3f sqrt(g dx)\n", angles[n], speed);
        CHECK_AT_MOST(speed, 0.15);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* A block that fills a tank from wall to wall falls on its floor: many particles arrive crowded at once, and
 * the water still has its volume afterwards. */
static void a_block_that_falls_keeps_its_volume(void **unused)
{
    (void)unused;
    static const double falls[] = { 0.04, 0.03, 0.05, 0.1 };
    const size_t count = is_long_run() ? sizeof falls / sizeof *falls : 1;
    for (size_t n = 0; n < count; ++n) {
        char text[800];
        snprintf(
            text, sizeof text,
            "{wadi: 1, solver: sph, cell_size: 0.02, fps: 20, domain: {min: [0, 0, 0], max: [0.16, 0.12, "
            "0.4]}, materials: {m: {kind: water}}, bodies: [{material: m, shape: {box: {min: [0, 0, %g], "
            "max: [0.16, 0.12, %g]}}}]}",
            falls[n], falls[n] + 0.16);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 20);
        const double height = mean_height(&sim->particles);
        print_message("a block after a fall of %g m: mean height %.4f m\n", falls[n], height);
        CHECK_NEAR(height, 0.08, 0.02 * 0.08);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* A wedge of a mesh: both of its walls are one solid, and the nearest point is on one of them only. */
static void a_trough_of_a_mesh_holds_water(void **unused)
{
    (void)unused;
    char path[] = "/tmp/wadi_trough_XXXXXX.obj";
    const int file = mkstemps(path, 4);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    static const double section[7][2] = { { -0.5, 0.3 }, { -0.5, -0.5 }, { 0.5, -0.5 }, { 0.5, 0.3 },
                                          { 0.45, 0.3 }, { 0.0, -0.3 },  { -0.45, 0.3 } };
    for (int end = 0; end < 2; ++end) {
        for (int i = 0; i < 7; ++i) {
            fprintf(out, "v %g %g %g\n", section[i][0], end == 0 ? -0.6 : 0.6, section[i][1]);
        }
    }
    for (int i = 0; i < 7; ++i) {
        const int j = (i + 1) % 7;
        fprintf(out, "f %d %d %d %d\n", j + 1, i + 1, i + 8, j + 8);
    }
    fprintf(out, "f 1 2 3 4 5 6 7\nf 14 13 12 11 10 9 8\n");
    fclose(out);
    char text[2048];
    snprintf(text, sizeof text,
             "{wadi: 1, solver: sph, cell_size: 0.08, fps: 24, domain: {min: [-0.6, -0.2, -0.6], max: [0.6, "
             "0.2, 0.6]}, materials: {m: {kind: water}}, colliders: [{shape: {mesh: {file: %s}}}], bodies: "
             "[{material: m, shape: {difference: [{box: {min: [-0.4, -0.3, -0.4], max: [0.4, 0.3, 0.1]}}, "
             "{mesh: {file: %s}}]}}]}",
             path, path);
    const Rest rest = run(text, 2.0);
    check("trough of a mesh", &rest);
    CHECK_AT_MOST(rest.speed, 0.06);
    CHECK_NEAR(rest.sank, 0.0, 0.4);
    remove(path);
}

/* Two levels on the two sides of a plate a third of a spacing thick: a leak or a force through it would move
 * both. */
static void a_thin_plate_parts_two_levels(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "{wadi: 1, solver: sph, cell_size: 0.06, fps: 24, domain: {min: [-0.3, -0.15, 0], max: [0.3, 0.15, "
        "0.8]}, materials: {left: {kind: water}, right: {kind: water}}, colliders: [{shape: {box: {min: "
        "[-0.005, -1, -1], max: [0.005, 1, 0.7]}}}], bodies: [{material: left, shape: {box: {min: [-0.3, "
        "-0.3, 0], max: [0, 0.3, 0.48]}}}, {material: right, shape: {box: {min: [0, -0.3, 0], max: [0.3, "
        "0.3, 0.18]}}}]}");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 48);
    const WadiParticles *p = &sim->particles;
    double top[2] = { 0.0, 0.0 };
    const double speed = mean_speed(p) / sqrt(9.81 * sim->world->spacing);
    for (int32_t i = 0; i < p->count; ++i) {
        assert_true((p->x[i] > 0.0) == (p->material[i] == 1));
        top[p->material[i]] = fmax(top[p->material[i]], p->z[i]);
    }
    print_message("plate: levels %.3f and %.3f m, mean speed %.2g sqrt(g dx)\n", top[0], top[1], speed);
    CHECK_NEAR(top[0], 0.465, 0.03);
    CHECK_NEAR(top[1], 0.165, 0.03);
    CHECK_AT_MOST(speed, 0.06);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

#define POOL                                                                                                 \
    "{wadi: 1, solver: sph, cell_size: 0.1, fps: 24, domain: {min: [-0.6, -0.3, 0], max: [0.6, 0.3, 0.8]}, " \
    "materials: {m: {kind: water}}, bodies: [{material: m, shape: {box: {min: [-0.6, -0.3, 0], max: [0.6, "  \
    "0.3, 0.3]}}}], colliders: "

static void moving_solids_push_water_aside(void **unused)
{
    (void)unused;
    static const char *const movers[][2] = {
        { "ball that moves sideways", POOL
          "[{shape: {sphere: {center: [0, 0, 0.15], radius: 0.12}, translate: {keys: [[0, [-0.3, 0, 0]], "
          "[1, [0.3, 0, 0]], [2, [-0.3, 0, 0]]]}}}]}" },
        { "paddle that turns", POOL "[{shape: {box: {min: [-0.25, -0.02, 0.05], max: [0.25, 0.02, 0.4]}, "
                                    "rotate: {keys: [[0, [0, 0, 0]], [2, [0, 0, 360]]]}}}]}" },
    };
    for (size_t n = 0; n < sizeof movers / sizeof *movers; ++n) {
        const Rest rest = run(movers[n][1], 1.5);
        check(movers[n][0], &rest);
        CHECK_AT_MOST(rest.speed, 1.0);
    }
}

/* Sum of the vertical forces of a pressure on a solid, N: a contact's part is p times its part of the
 * gradient. Without a column: of water that stands up to `level`, m. */
static double lift_of(WadiSim *sim, const char *column, double level, WadiArena *arena)
{
    SphSim found;
    const double dx = sim->world->spacing;
    sph_sim_find_walls(&found, sim, arena);
    const WadiSphWalls *walls = &found.walls;
    const float *pressure = column != NULL ? column_of(&sim->particles, column) : NULL;
    double lift = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        const int32_t near = wadi_sph_near(walls, i);
        const double p =
            pressure != NULL ? (double)pressure[i] : 1000.0 * 9.81 * (level - sim->particles.z[i]);
        for (int c = 0; near >= 0 && c < walls->contact_count[near]; ++c) {
            const WadiSphContact *contact = &walls->contact[near][c];
            if (contact->solid == 0) {
                lift += p * (double)(contact->velocity[3] * contact->normal[2]) * dx * dx;
            }
        }
    }
    return lift;
}

/* Archimedes: the lift of a ball is its volume times the gradient of the pressure around it. */
static void a_ball_is_lifted_by_what_it_displaces(void **unused)
{
    (void)unused;
    const double pi = 3.14159265358979323846, radius = 0.12;
    WadiScene *scene = load_scene(
        "{wadi: 1, solver: sph, cell_size: 0.06, fps: 24, domain: {min: [-0.24, -0.24, 0], max: [0.24, 0.24, "
        "0.8]}, materials: {m: {kind: water}}, colliders: [{shape: {sphere: {center: [0, 0, 0.24], radius: "
        "0.12}}}], bodies: [{material: m, shape: {box: {min: [-0.24, -0.24, 0], max: [0.24, 0.24, "
        "0.48]}}}]}");
    WadiSim *sim = start_sim(scene, 1);
    WadiArena arena = { 0 };
    run_frames(sim, 36);
    double lift = 0.0, n = 0.0, z = 0.0, p = 0.0, zz = 0.0, zp = 0.0;
    for (int frame = 0; frame < 24; ++frame) {
        run_frames(sim, 1);
        WadiError error;
        WadiSolidForce force = { .name = "" };
        CHECK_OK(wadi_sim_solid_force(sim, wadi_sim_solid_count(sim) - 1, &force, &error), error);
        lift += force.pressure[2] / 24.0;
        const float *pressure = column_of(&sim->particles, "pressure");
        for (int32_t i = 0; i < sim->particles.count; ++i) {
            const double height = sim->particles.z[i], value = (double)pressure[i];
            if (height > 0.08 && height < 0.4) {
                n += 1.0, z += height, p += value, zz += height * height, zp += height * value;
            }
        }
    }
    const double gradient = -(zp - z * p / n) / (zz - z * z / n);
    const double volume = 4.0 / 3.0 * pi * radius * radius * radius;
    print_message("lift %.2f N, %.4f of volume times gradient; gradient %.4f rho g\n", lift,
                  lift / (volume * gradient), gradient / 9810.0);
    CHECK_NEAR(lift / (volume * 9810.0), 1.0, 0.02);
    CHECK_NEAR(lift / (volume * gradient), 1.0, 0.02);
    CHECK_NEAR(gradient / 9810.0, 1.0, 0.03);
    wadi_arena_free(&arena);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* The water in the pores of a saturated bed lifts a ball as free water does; what the grains press on it
 * comes on top. Sand does not arrange itself around the ball as water does, and the sum over its contacts is
 * a few per cent off with any pressure: the answer is that of water at rest over the same contacts. */
static void a_ball_in_saturated_sand_is_lifted_by_the_pores(void **unused)
{
    (void)unused;
    const double pi = 3.14159265358979323846, radius = 0.12;
    WadiScene *scene = load_scene(
        "{wadi: 1, solver: sph, cell_size: 0.06, fps: 24, domain: {min: [-0.24, -0.24, 0], max: [0.24, 0.24, "
        "0.8]}, materials: {s: {kind: sand}, w: {kind: water}}, colliders: [{shape: {sphere: {center: [0, 0, "
        "0.21], radius: 0.12}}}], bodies: [{material: s, saturation: 1, shape: {box: {min: [-0.24, -0.24, "
        "0], max: [0.24, 0.24, 0.42]}}}, {material: w, shape: {box: {min: [-0.24, -0.24, 0.42], max: [0.24, "
        "0.24, 0.54]}}}]}");
    WadiSim *sim = start_sim(scene, 1);
    WadiArena arena = { 0 };
    run_frames(sim, is_long_run() ? 36 : 8);
    double lift = 0.0, exact = 0.0, n = 0.0, z = 0.0, p = 0.0, zz = 0.0, zp = 0.0;
    for (int frame = 0; frame < 4; ++frame) {
        run_frames(sim, 1);
        lift += lift_of(sim, "pore_pressure", 0.0, &arena) / 4.0;
        exact += lift_of(sim, NULL, 0.535, &arena) / 4.0;
        const float *pressure = column_of(&sim->particles, "pore_pressure");
        for (int32_t i = 0; i < sim->particles.count; ++i) {
            const double height = sim->particles.z[i], value = (double)pressure[i];
            if (sim->particles.material[i] == 0) {
                n += 1.0, z += height, p += value, zz += height * height, zp += height * value;
            }
        }
    }
    const double gradient = -(zp - z * p / n) / (zz - z * z / n);
    const double volume = 4.0 / 3.0 * pi * radius * radius * radius;
    print_message(
        "lift by the pores of saturated sand %.2f N, %.4f of that of water at rest, %.4f of the water "
        "displaced; gradient %.4f rho g\n",
        lift, lift / exact, lift / (volume * 9810.0), gradient / 9810.0);
    CHECK_NEAR(lift / exact, 1.0, 0.02);
    CHECK_NEAR(gradient / 9810.0, 1.0, 0.02);
    wadi_arena_free(&arena);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(water_rests_in_any_tank),
        cmocka_unit_test(a_tank_comes_to_rest),
        cmocka_unit_test(what_is_deep_stands),
        cmocka_unit_test(water_is_calm_at_the_foot_of_a_ramp),
        cmocka_unit_test(a_block_that_falls_keeps_its_volume),
        cmocka_unit_test(a_trough_of_a_mesh_holds_water),
        cmocka_unit_test(a_thin_plate_parts_two_levels),
        cmocka_unit_test(moving_solids_push_water_aside),
        cmocka_unit_test(a_ball_is_lifted_by_what_it_displaces),
        cmocka_unit_test(a_ball_in_saturated_sand_is_lifted_by_the_pores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
