/* Sand with a plane surface of known angle: steep from the friction angle on, whichever way gravity
 * points. */
#include <string.h>

#include "core/arena.h"
#include "flip/sleep/flip_sleep.h"
#include "scene_sim.h"
#include "sim/sim.h"

/* 24 cells a side, full up to a plane through the middle whose normal is `up` turned by `angle` about the
 * diagonal of the other two axes. */
typedef struct Slope {
    int axis;    /* of gravity */
    double sign; /* of gravity along it */
    double angle, tilt;
    double friction_angle, cohesion;
} Slope;

static void direction(const Slope *slope, double angle, double out[3])
{
    const double radians = 0.017453292519943295 * angle;
    out[slope->axis] = -slope->sign * cos(radians);
    out[(slope->axis + 1) % 3] = out[(slope->axis + 2) % 3] = sin(radians) / sqrt(2.0);
}

/* Number of steep tiles among the three of the middle column of tiles. */
static int steep_tiles(const Slope *slope)
{
    char text[1000];
    double normal[3], down[3];
    direction(slope, slope->angle, normal);
    direction(slope, slope->tilt, down);
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: flip\ncell_size: 1\ngravity: [%.9f, %.9f, %.9f]\n"
             "domain: {min: [0, 0, 0], max: [24, 24, 24]}\n"
             "materials: {sand: {kind: sand, friction_angle: %.9f, cohesion: %.9f}}\n"
             "bodies: [{material: sand, shape: {intersection: [{box: {min: [0, 0, 0], max: [24, 24, 24]}}, "
             "{half_space: {point: [12, 12, 12], normal: [%.9f, %.9f, %.9f]}}]}}]\n",
             -9.81 * down[0], -9.81 * down[1], -9.81 * down[2], slope->friction_angle, slope->cohesion,
             normal[0], normal[1], normal[2]);
    WadiError error = { 0 };
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    WadiArena arena = { 0 };
    WadiTileSort sort;
    WadiSolverContext context = { .world = sim->world, .particles = &sim->particles, .scratch = &arena };
    WadiSleepStep step = { .context = &context };
    WadiSleep none = { 0 };
    CHECK_OK(wadi_tile_sort(&sort, &sim->particles, 1.0, &arena, &error), error);
    int count = 0;
    for (int n = 0; n < 3; ++n) {
        int32_t at[3] = { 1, 1, 1 };
        at[slope->axis] = n;
        int32_t t = wadi_tile_map_find(&sort.tiles, (WadiTile){ at[0], at[1], at[2] });
        count += t >= 0 && wadi_flip_sleep_steep(&none, &step, &sort, t) != 0;
    }
    wadi_arena_free(&arena);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return count;
}

static void sand_is_steep_beyond_its_friction_angle(void **unused)
{
    (void)unused;
    const double angle[6] = { 0.0, 20.0, 35.0, 40.0, 45.0, 55.0 };
    for (int n = 0; n < 6; ++n) {
        Slope slope = { .axis = n / 2, .sign = n % 2 == 0 ? -1.0 : 1.0, .friction_angle = 35.0 };
        for (int a = 0; a < 6; ++a) {
            slope.angle = angle[a];
            assert_int_equal(steep_tiles(&slope) > 0, angle[a] > 35.0);
        }
    }
}

/* A level bed under gravity that leans. */
static void a_slope_is_one_against_gravity(void **unused)
{
    (void)unused;
    Slope slope = { .axis = 2, .sign = -1.0, .friction_angle = 30.0 };
    slope.tilt = 28.0;
    CHECK_AT_MOST(steep_tiles(&slope), 0);
    slope.tilt = 36.0;
    assert_true(steep_tiles(&slope) > 0);
    slope.angle = slope.tilt = 40.0; /* steep in the grid, level against gravity */
    CHECK_AT_MOST(steep_tiles(&slope), 0);
}

static void cohesion_and_the_strength_of_stairs_hold(void **unused)
{
    (void)unused;
    Slope slope = { .axis = 2, .sign = -1.0, .friction_angle = 30.0, .angle = 45.0, .cohesion = 100.0 };
    CHECK_AT_MOST(steep_tiles(&slope), 0);
    slope.cohesion = 0.0;
    assert_true(steep_tiles(&slope) > 0);
    /* tan 10 degrees + 0.176 is tan 19.4 degrees */
    slope.friction_angle = 10.0, slope.angle = 19.0;
    CHECK_AT_MOST(steep_tiles(&slope), 0);
    slope.angle = 24.0;
    assert_true(steep_tiles(&slope) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sand_is_steep_beyond_its_friction_angle),
        cmocka_unit_test(a_slope_is_one_against_gravity),
        cmocka_unit_test(cohesion_and_the_strength_of_stairs_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
