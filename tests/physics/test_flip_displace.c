/* flip: solids that grow, move or jump displace their volume, and the water beside them keeps its density. */
#include <math.h>
#include <stdio.h>

#include "scene_sim.h"
#include "sim/sim.h"
#include "world/world.h"

enum { FPS = 24 };

/* A tank of 0.6 x 0.6 m with 0.3 m of water. The solid's middle ends at a height of 0.15 m. */
static const double side = 0.6, depth = 0.3, middle = 0.15;

typedef struct Case {
    const char *name, *shape;
    double first, last; /* volume under water at the beginning and at the end, m^3 */
    int seconds;
    double cell;    /* m */
    double allowed; /* part of the displaced volume */
} Case;

/* The first ones in each run of the tests, all of them in a long one. */
enum { USUAL_CASES = 5 };

static const Case cases[] = {
    { "ball that grows", "{sphere: {center: [0, 0, 0.15], radius: {keys: [[0, 0.02], [1, 0.12]]}}}", 3.351e-5,
      7.2382e-3, 4, 0.02, 0.02 },
    /* Its area grows by a tenth within a step. */
    { "ball that grows in large cells",
      "{sphere: {center: [0, 0, 0.15], radius: {keys: [[0, 0.02], [1, 0.12]]}}}", 3.351e-5, 7.2382e-3, 4,
      0.04, 0.02 },
    { "turned box that dives",
      "{box: {center: [0, 0, 0], size: [0.18, 0.18, 0.18]}, rotate: [20, 30, 40], translate: {interpolation: "
      "smooth, keys: "
      "[[0, [0, 0, 0.5]], [1, [0, 0, 0.15]]]}}",
      0.0, 5.832e-3, 4, 0.02, 0.02 },
    /* So slow that the density correction, which fades at rest, does not mend what the walls do wrong. */
    { "turned box that grows slowly, not alike along its axes",
      "{box: {center: [0, 0, 0], size: {keys: [[0, [0.06, 0.04, 0.04]], [8, [0.24, 0.18, 0.12]]]}}, rotate: "
      "[20, 30, 40], translate: [0, 0, 0.15]}",
      9.6e-5, 5.184e-3, 9, 0.02, 0.025 },
    /* As slender as a cell at first. */
    { "slender cylinder that grows slowly, large cells",
      "{cylinder: {from: [0, 0, 0.06], to: [0, 0, 0.24], radius: {keys: [[0, 0.02], [4, 0.07]]}}}", 2.2619e-4,
      2.7709e-3, 5, 0.03, 0.02 },
    { "box that grows",
      "{box: {center: [0, 0, 0.15], size: {keys: [[0, [0.04, 0.04, 0.04]], [1, [0.2, 0.2, 0.2]]]}}}", 6.4e-5,
      8e-3, 4, 0.02, 0.02 },
    { "box that grows slowly",
      "{box: {center: [0, 0, 0.15], size: {keys: [[0, [0.04, 0.04, 0.04]], [8, [0.2, 0.2, 0.2]]]}}}", 6.4e-5,
      8e-3, 9, 0.02, 0.02 },
    { "cylinder that grows slowly",
      "{cylinder: {from: [0, 0, 0.06], to: [0, 0, 0.24], radius: {keys: [[0, 0.02], [8, 0.12]]}}}", 2.2619e-4,
      8.143e-3, 9, 0.02, 0.02 },
    { "ball that moves sideways",
      "{sphere: {center: [0, 0, 0], radius: 0.1}, translate: {interpolation: smooth, keys: [[0, [-0.17, 0, "
      "0.15]], [2, [0.17, 0, 0.15]]]}}",
      4.1888e-3, 4.1888e-3, 6, 0.02, 0.02 },
    { "cylinder with flat ends on the centres of large cells",
      "{cylinder: {from: [0, 0, 0.075], to: [0, 0, 0.225], radius: {keys: [[0, 0.02], [8, 0.12]]}}}",
      1.885e-4, 6.7858e-3, 9, 0.03, 0.02 },
};

/* Of the water at rest around a solid of some volume. */
static double height_around(double water, double solid)
{
    const double area = side * side, level = (water + solid) / area;
    return (0.5 * area * level * level - middle * solid) / water;
}

/* Density of the first cell around the solid: particles and points of a lattice that are at most so far from
 * it. */
static double density_beside(const WadiSim *sim, double cell)
{
    WadiSolids shapes = sim->world->solids;
    shapes.closed_sides = 0;
    const double time = wadi_sim_time(sim), step = 0.2 * cell;
    double particles = 0.0, points = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        WadiVec3 x = { sim->particles.x[i], sim->particles.y[i], sim->particles.z[i] };
        particles += wadi_solids_distance(&shapes, x, time, 2.0 * cell) <= cell;
    }
    for (double z = 0.5 * step; z < depth; z += step) {
        for (double y = 0.5 * (step - side); y < 0.5 * side; y += step) {
            for (double x = 0.5 * (step - side); x < 0.5 * side; x += step) {
                double d = wadi_solids_distance(&shapes, wadi_vec3(x, y, z), time, 2.0 * cell);
                points += d > 0.0 && d <= cell;
            }
        }
    }
    return particles * cell * cell * cell / 8.0 / (points * step * step * step);
}

static void solids_displace_their_volume(void **unused)
{
    (void)unused;
    const size_t count = is_long_run() ? sizeof cases / sizeof *cases : USUAL_CASES;
    for (size_t n = 0; n < count; ++n) {
        const double cell = cases[n].cell;
        char text[1024];
        snprintf(text, sizeof text,
                 "{wadi: 1, solver: flip, cell_size: %g, fps: %d, domain: {min: [-0.3, -0.3, 0], max: [0.3, "
                 "0.3, 0.8]},\n"
                 "materials: {m: {kind: water}}, colliders: [{shape: %s}],\n"
                 "bodies: [{material: m, shape: {box: {min: [-0.3, -0.3, 0], max: [0.3, 0.3, 0.3]}}}]}\n",
                 cell, FPS, cases[n].shape);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        const double water = side * side * depth - cases[n].first;
        const double before = mean_height(&sim->particles);
        run_frames(sim, FPS * cases[n].seconds);
        const double rise = height_around(water, cases[n].last) - height_around(water, cases[n].first);
        const double displaced =
            cases[n].last > cases[n].first ? cases[n].last - cases[n].first : cases[n].last;
        const double whole =
            height_around(water, cases[n].last) - height_around(water, cases[n].last - displaced);
        const double lost = (rise - (mean_height(&sim->particles) - before)) / whole,
                     beside = density_beside(sim, cell);
        print_message("%s: %.1f %% of the displaced volume lost, density %.3f beside it\n", cases[n].name,
                      100.0 * lost, beside);
        CHECK_NEAR(lost, 0.0, cases[n].allowed);
        CHECK_NEAR(beside, 1.0, 0.1);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* The floor of a bed of sand at rest jumps: what it overran lifts all that lies above by as much. */
static void sand_rises_with_a_floor_that_jumps(void **unused)
{
    (void)unused;
    static const struct {
        const char *floor, *jump;
        double scale, rise; /* rise: in cells */
    } jumps[] = {
        { "max: [9, 9, 0]}", "[0, 0, 0.01]", 1, 1 },
        { "max: [9, 9, 0.0037]}", "[0, 0, 0.01]", 1, 1 },
        { "max: [9, 9, 0]}", "[0, 0, 0.04]", 1, 4 },
        { "max: [180, 180, 0]}", "[0, 0, 0.4]", 20, 2 },
        { "max: [9, 9, 0]}, rotate: [0, 20, 0], pivot: [0.05, 0, 0]", "[0, 0, 0.02]", 1, 2 },
    };
    for (size_t n = 0; n < sizeof jumps / sizeof *jumps; ++n) {
        const double s = jumps[n].scale;
        char text[1024];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\ncell_size: %g\nfps: %.9g\n"
                 "domain: {min: [0, 0, %g], max: [%g, %g, %g], walls: {friction: 0}}\n"
                 "materials: {m: {kind: sand, friction_angle: 35}}\n"
                 "bodies: [{material: m, shape: {box: {min: [0, 0, %g], max: [%g, %g, %g]}}}]\n"
                 "colliders: [{friction: 1, shape: {box: {min: [%g, %g, %g], %s, translate: {interpolation: "
                 "step, keys: [[0, [0, 0, 0]], [%.9g, %s]]}}}]\n",
                 0.01 * s, FPS / sqrt(s), -0.05 * s, 0.1 * s, 0.06 * s, 0.3 * s, -0.05 * s, 0.1 * s, 0.06 * s,
                 0.08 * s, -9 * s, -9 * s, -9 * s, jumps[n].floor, 0.51 * sqrt(s), jumps[n].jump);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, FPS / 2);
        const double before = mean_height(&sim->particles);
        run_frames(sim, FPS / 2);
        const double rise = (mean_height(&sim->particles) - before) / (0.01 * s);
        print_message("jump of %g cells: %.3f cells\n", jumps[n].rise, rise);
        CHECK_NEAR(rise, jumps[n].rise, 0.12);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_displace_their_volume),
        cmocka_unit_test(sand_rises_with_a_floor_that_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
