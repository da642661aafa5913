/* flip: still water rests and keeps its volume in tanks whose walls are not along the grid, and where its
 * surface is not on faces. */
#include <stdio.h>

#include "scene_sim.h"
#include "sim/sim.h"

enum { FPS = 24, SECONDS = 24 };

/* Cells of 4 cm, the water's depth in m, and what is left out of a solid block for it. */
typedef struct Tank {
    const char *name, *room;
    double level, depth;
} Tank;

/* The first ones in each run of the tests, all of them in a long one. */
enum { USUAL_TANKS = 6 };

static const Tank tanks[] = {
    { "box turned by 20, 30, 40 degrees",
      "{box: {center: [0, 0, 0], size: [0.5, 0.4, 0.8]}, rotate: [20, 30, 40]}", 0.0, 0.5 },
    { "bowl", "{sphere: {center: [0, 0, 0], radius: 0.4}}", -0.05, 0.35 },
    /* Slivers in edges under the water, and walls that hang over it. */
    { "box turned by 2, 54, 9 degrees",
      "{box: {center: [0.046, -0.049, 0.028], size: [0.46, 0.42, 0.49]}, rotate: [2, 54, 9]}", 0.03, 0.36 },
    /* A surface near the centres of cells, where cut cells are easily air beside fluid of the same height. */
    { "leaning capsule", "{capsule: {from: [-0.19, -0.03, -0.161], to: [0.11, 0.118, 0.119], radius: 0.188}}",
      0.0181, 0.36 },
    /* Gentle ceilings just over the water, and cells at the surface that hold no particle by chance. */
    { "box turned by 49, 11, 17 degrees",
      "{box: {center: [0.0228, -0.028, 0.0403], size: [0.512, 0.4523, 0.3734]}, rotate: [49, 10.9, 17.4]}",
      0.0983, 0.43 },
    { "wide capsule",
      "{capsule: {from: [-0.2095, -0.2249, -0.0899], to: [0.2115, 0.2323, 0.128], radius: 0.2654}}", 0.0214,
      0.37 },
    { "box turned by 10 degrees, surface on the cells' centres",
      "{box: {center: [0, 0, 0], size: [0.5, 0.4, 0.8]}, rotate: [10, 0, 0]}", -0.02, 0.4 },
    { "lying cylinder", "{cylinder: {from: [-0.3, 0, 0], to: [0.3, 0, 0], radius: 0.3}}", 0.0, 0.3 },
    { "box turned by 38, 46, 29 degrees",
      "{box: {center: [-0.007, -0.044, 0.037], size: [0.55, 0.48, 0.49]}, rotate: [38, 46, 29]}", 0.03,
      0.38 },
    { "box turned by 11, 46, 42 degrees",
      "{box: {center: [-0.026, 0.03, -0.009], size: [0.48, 0.5, 0.36]}, rotate: [11, 46, 42]}", 0.03, 0.34 },
    { "leaning cylinder", "{cylinder: {from: [-0.21, -0.12, -0.15], to: [0.12, 0.1, 0.1], radius: 0.25}}",
      0.03, 0.3 },
    { "box turned by 0, 45, 23 degrees",
      "{box: {center: [-0.046, 0.01, -0.022], size: [0.48, 0.49, 0.37]}, rotate: [0, 45, 23]}", 0.0595, 0.4 },
    { "box along the grid, surface between faces", "{box: {center: [0, 0, 0], size: [0.48, 0.4, 0.8]}}",
      -0.01, 0.39 },
};

static void find_means(const WadiSim *sim, double *height, double *speed)
{
    const WadiParticles *p = &sim->particles;
    *height = *speed = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        *height += p->z[i] / p->count;
        *speed += wadi_norm(v) / p->count;
    }
}

/* Awake it moves on at 8e-4, 16e-4 and 4e-4 sqrt(gH): a ceiling that meets the water at a flat angle, and a
 * surface on the centres of cells. */
static const Tank adverse[] = {
    { "flat cylinder",
      "{cylinder: {from: [-0.1031, -0.1998, -0.161], to: [0.1791, 0.2684, 0.1232], radius: 0.1894}}", -0.0979,
      0.22 },
    { "full capsule",
      "{capsule: {from: [-0.1626, -0.1046, -0.0928], to: [0.063, 0.197, 0.1244], radius: 0.2257}}", 0.0993,
      0.41 },
    { "long capsule",
      "{capsule: {from: [-0.1355, -0.0713, -0.1508], to: [0.1581, 0.1171, 0.0712], radius: 0.1874}}", 0.0596,
      0.4 },
};

static void check_rest(const Tank *tank, size_t count, bool may_sleep)
{
    const double cell = 0.04;
    for (size_t n = 0; n < count; ++n, ++tank) {
        char text[2048];
        snprintf(text, sizeof text,
                 "{wadi: 1, solver: flip, cell_size: %g, fps: %d, flip: {sleep: %s},"
                 " domain: {min: [-0.6, -0.6, -0.6], max: [0.6, 0.6, 0.6]},\n"
                 "materials: {m: {kind: water}}, colliders: [{shape: {difference: [{box: {min: [-2, -2, -2], "
                 "max: [2, 2, 2]}},\n"
                 "%s]}}], bodies: [{material: m, shape: {intersection: [%s, {half_space: {point: [0, 0, "
                 "%g]}}]}}]}\n",
                 cell, FPS, may_sleep ? "true" : "false", tank->room, tank->room, tank->level);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        double before, after, speed;
        find_means(sim, &before, &speed);
        run_frames(sim, FPS * SECONDS);
        find_means(sim, &after, &speed);
        print_message("%s: mean speed %.3g of sqrt(g H), %+.4f cells after %d s\n", tank->name,
                      speed / sqrt(9.81 * tank->depth), (after - before) / cell, SECONDS);
        CHECK_AT_MOST(speed, 1e-4 * sqrt(9.81 * tank->depth));
        CHECK_NEAR(after, before, 0.03 * cell);
        assert_int_equal(wadi_sim_sleeping_particles(sim), may_sleep ? sim->particles.count : 0);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* Without sleep: by the pressure alone. */
static void water_rests_in_any_tank(void **unused)
{
    (void)unused;
    check_rest(tanks, is_long_run() ? sizeof tanks / sizeof *tanks : USUAL_TANKS, false);
}

static void water_sleeps_where_it_would_not_rest(void **unused)
{
    (void)unused;
    check_rest(adverse, sizeof adverse / sizeof *adverse, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(water_rests_in_any_tank),
                                        cmocka_unit_test(water_sleeps_where_it_would_not_rest) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
