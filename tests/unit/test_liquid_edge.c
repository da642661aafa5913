/* render/liquid_edge and how it is used: shores, walls, the ground, and foam on water. */
#include <stdlib.h>

#include "render/frame_scene.h"
#include "render/liquid_edge.h"
#include "scene_sim.h"
#include "secondary/secondary.h"
#include "sim/sim.h"

static const double SPACING = 0.1;
enum { POINTS_MAX = 20000 };

typedef struct Points {
    WadiVec3 x[POINTS_MAX];
    int32_t count;
} Points;

/* Particles on a lattice in the box. */
static void add_box(Points *points, WadiVec3 low, WadiVec3 high)
{
    for (double z = low.z + 0.5 * SPACING; z < high.z; z += SPACING) {
        for (double y = low.y + 0.5 * SPACING; y < high.y; y += SPACING) {
            for (double x = low.x + 0.5 * SPACING; x < high.x; x += SPACING) {
                assert_true(points->count < POINTS_MAX);
                points->x[points->count++] = wadi_vec3(x, y, z);
            }
        }
    }
}

static Points *new_points(void)
{
    Points *points = calloc(1, sizeof *points);
    assert_non_null(points);
    return points;
}

static WadiCloud cloud_of(const Points *points)
{
    WadiCloud cloud;
    assert_int_equal(wadi_cloud_from_points(&cloud, points->x, points->count, SPACING, NULL), WADI_OK);
    return cloud;
}

/* A bank that is higher than the water at x = 0, and the floor below it: the water goes on into the bank, not
 * farther than three spacings, and sinks there. Nothing is added where it ends above a floor, at x = 1. */
static void water_goes_on_into_the_bank_beside_it(void **unused)
{
    (void)unused;
    Points *water = new_points(), *sand = new_points();
    add_box(water, wadi_vec3(0, -1, 0), wadi_vec3(1, 1, 0.5));
    add_box(sand, wadi_vec3(-1, -1, -0.5), wadi_vec3(2, 1, 0));
    add_box(sand, wadi_vec3(-1, -1, 0), wadi_vec3(0, 1, 0.8));
    WadiCloud cloud = cloud_of(water), bank = cloud_of(sand), shored;
    WadiArena arena = { 0 };
    assert_int_equal(wadi_liquid_shore(&shored, &cloud, &bank, &arena, NULL), WADI_OK);
    assert_true(shored.count > cloud.count);
    int32_t beside = 0;
    for (int32_t i = 0; i < shored.count; ++i) {
        const WadiVec3 x = shored.position[i];
        if (i < cloud.count) {
            assert_true(x.x == cloud.position[i].x && x.z == cloud.position[i].z);
            continue;
        }
        assert_true(x.x < 0.0 && x.x > -3.0 * SPACING);
        assert_true(x.z < 0.45 && x.z > 0.45 - SPACING);
        beside += x.x > -1.5 * SPACING && fabs(x.y) < 0.5;
    }
    /* In front of the middle of the bank one a spacing or more. */
    assert_true(beside >= 10);
    wadi_cloud_free(&cloud);
    wadi_cloud_free(&bank);
    wadi_arena_free(&arena);
    free(water);
    free(sand);
}

/* A pool 0.4 m deep in a tank of 2 m, a film two particles thick up the wall at x = -1 and a block that
 * stands against the wall at y = 1, both 1 m high: the film is left out from 3 spacings above the pool. */
static void films_at_walls_are_left_out(void **unused)
{
    (void)unused;
    Points *water = new_points();
    add_box(water, wadi_vec3(-1, -1, 0), wadi_vec3(1, 1, 0.4));
    const int32_t pool = water->count;
    add_box(water, wadi_vec3(-1, -0.5, 0.4), wadi_vec3(-0.8, 0.5, 1));
    const int32_t film = water->count;
    add_box(water, wadi_vec3(0, 0.2, 0.4), wadi_vec3(0.6, 1, 1));
    WadiCloud cloud = cloud_of(water), kept;
    WadiArena arena = { 0 };
    const WadiBox walls = { { -1, -1, 0 }, { 1, 1, INFINITY } };
    assert_int_equal(wadi_liquid_without_films(&kept, &cloud, walls, &arena, NULL), WADI_OK);
    int32_t next = 0;
    for (int32_t i = 0; i < cloud.count; ++i) {
        const bool is_kept = next < kept.count && kept.id[next] == cloud.id[i];
        next += is_kept;
        if (i < pool || i >= film) {
            assert_true(is_kept);
        } else if (cloud.position[i].z > 0.4 + 3.0 * SPACING) {
            assert_false(is_kept);
        }
    }
    assert_int_equal(next, kept.count);
    /* Where the wall is open there is no film. */
    const WadiBox open = { { -INFINITY, -1, 0 }, { 1, 1, INFINITY } };
    assert_int_equal(wadi_liquid_without_films(&kept, &cloud, open, &arena, NULL), WADI_OK);
    assert_int_equal(kept.count, cloud.count);
    wadi_cloud_free(&cloud);
    wadi_arena_free(&arena);
    free(water);
}

/* Lowest and highest vertex of a block on the floor, 0.5 m high with particles of 5 cm. */
static void find_heights(const char *kind, const char *ground, double *low, double *high, double *floor)
{
    char text[512];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: points\ncell_size: 0.1\ndomain: {min: [0, 0, 0], max: [3, 3, 1]}\n"
             "materials: {filling: {kind: %s}}\n"
             "bodies: [{material: filling, shape: {box: {min: [0.5, 0.5, 0], max: [2.5, 2.5, 0.5]}}}]\n"
             "render: {%s}\n",
             kind, ground);
    WadiError error = { 0 };
    WadiState frame = { 0 };
    WadiFrameScene made = { 0 };
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    CHECK_OK(wadi_sim_snapshot(sim, &frame, &error), error);
    const WadiFrameSceneDef def = { .scene = scene, .world = sim->world };
    CHECK_OK(wadi_frame_scene_build(&made, &def, &frame, 0.0, &error), error);
    *low = INFINITY;
    *high = -INFINITY;
    *floor = made.ground.height;
    const WadiMesh *mesh = &made.parts[0].mesh.mesh;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        *low = fmin(*low, mesh->vertices[v].z);
        *high = fmax(*high, mesh->vertices[v].z);
    }
    wadi_frame_scene_free(&made);
    wadi_state_free(&frame);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A gap under a liquid would be a mirror for what is seen at a flat angle, one under sand a dark line. */
static void what_lies_on_the_ground_touches_it(void **unused)
{
    (void)unused;
    static const char *const kinds[] = { "water", "sand" };
    for (int k = 0; k < 2; ++k) {
        double low, high, floor, bare_low, bare_high, unused_floor;
        find_heights(kinds[k], "ground: slabs", &low, &high, &floor);
        find_heights(kinds[k], "ground: none", &bare_low, &bare_high, &unused_floor);
        assert_true(floor < 0.0 && low < floor - 0.02 && low > -0.1);
        CHECK_NEAR(bare_low, 0.0, 1e-4);
        CHECK_NEAR(high, bare_high, 0.1 * 0.05); /* a tenth of a spacing */
        CHECK_NEAR(high, 0.5, 0.02);
        find_heights(kinds[k], "ground: slabs, ground_height: -0.3", &low, &high, &floor);
        CHECK_NEAR(low, 0.0, 1e-4);
    }
}

/* Three drops of spray over a block of water 0.5 m high: at its surface, 10 cm and 40 cm above it. The first
 * is foam on it. */
static void spray_at_the_water_is_foam(void **unused)
{
    (void)unused;
    static const float v[9] = { 0 }, radius[3] = { 0.01f, 0.01f, 0.01f }, life[3] = { 1, 1, 1 };
    static const double x[9] = { 1.5, 1.5, 0.52, 1.5, 1.5, 0.6, 1.5, 1.5, 0.9 };
    static const uint32_t id[3] = { 0, 1, 2 };
    static const uint8_t material[3] = { 0 },
                         kind[3] = { WADI_SECONDARY_SPRAY, WADI_SECONDARY_SPRAY, WADI_SECONDARY_SPRAY };
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: points\ncell_size: 0.1\ndomain: {min: [0, 0, 0], max: [3, 3, 2]}\n"
                   "materials: {water: {kind: water}}\n"
                   "bodies: [{material: water, shape: {box: {min: [0.5, 0.5, 0], max: [2.5, 2.5, 0.5]}}}]\n");
    WadiError error = { 0 };
    WadiState frame = { 0 }, spray = { 0 };
    WadiFrameScene made = { 0 };
    WadiSim *sim = start_sim(scene, 1);
    CHECK_OK(wadi_sim_snapshot(sim, &frame, &error), error);
    CHECK_OK(wadi_state_put(&spray, "position", WADI_TYPE_F64, 3, 3, x, &error), error);
    CHECK_OK(wadi_state_put(&spray, "velocity", WADI_TYPE_F32, 3, 3, v, &error), error);
    CHECK_OK(wadi_state_put(&spray, "id", WADI_TYPE_U32, 1, 3, id, &error), error);
    CHECK_OK(wadi_state_put(&spray, "material", WADI_TYPE_U8, 1, 3, material, &error), error);
    CHECK_OK(wadi_state_put(&spray, "radius", WADI_TYPE_F32, 1, 3, radius, &error), error);
    CHECK_OK(wadi_state_put(&spray, "kind", WADI_TYPE_U8, 1, 3, kind, &error), error);
    CHECK_OK(wadi_state_put(&spray, "life", WADI_TYPE_F32, 1, 3, life, &error), error);
    const WadiFrameSceneDef def = { .scene = scene, .world = sim->world, .secondary = &spray };
    CHECK_OK(wadi_frame_scene_build(&made, &def, &frame, 0.0, &error), error);
    assert_int_equal(made.patch_count, 1);
    assert_true(made.foam_patches[0].hash == 0 && made.foam.count > 1);
    wadi_frame_scene_free(&made);
    wadi_state_free(&frame);
    wadi_state_free(&spray);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Foam begins at a fifth of the speed √(g L) of waves in the domain, 0.28 m/s for 0.2 m; at most at 1 m/s. */
static void foam_begins_at_speeds_of_the_scene(void **unused)
{
    (void)unused;
    static const double cases[][2] = { { 0.02, 0.0886 }, { 0.2, 0.2801 }, { 10.0, 1.0 } };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; ++n) {
        char text[300];
        const double side = cases[n][0];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: points\nresolution: 10\ndomain: {min: [0, 0, 0], max: [%g, %g, %g]}\n"
                 "materials: {water: {kind: water}}\n"
                 "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [%g, %g, %g]}}}]\n",
                 side, side, side, side, side, 0.5 * side);
        WadiScene *scene = load_scene(text);
        double slow, fast;
        wadi_secondary_speeds(scene, false, &slow, &fast);
        CHECK_NEAR(slow, cases[n][1], 2e-3);
        CHECK_NEAR(fast, 4.0 * slow, 1e-9);
        wadi_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(water_goes_on_into_the_bank_beside_it),
        cmocka_unit_test(films_at_walls_are_left_out),
        cmocka_unit_test(spray_at_the_water_is_foam),
        cmocka_unit_test(what_lies_on_the_ground_touches_it),
        cmocka_unit_test(foam_begins_at_speeds_of_the_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
