/* What sleep is made of: memories that are joined, surroundings that rest, islands by hand. */
#include <string.h>

#include "core/alloc.h"
#include "flip/sleep/flip_sleep.h"
#include "scene_sim.h"
#include "sim/sim.h"

/* One tile (x, 0, 0) with one row, whose lower side in z is a wall. */
static WadiFrictionMemory make_friction(int32_t x, double dt, float value)
{
    WadiError error;
    const WadiTileMemoryKind kind = { .what = "test", .type = WADI_TYPE_F32, .row_values = 112 };
    WadiFrictionMemory memory = { .wall_count = 1, .wall_capacity = 1, .traction_capacity = 1 };
    CHECK_OK(wadi_tile_memory_reserve(&memory.stress, &kind, 1, 1, &error), error);
    CHECK_OK(WADI_NEW(&memory.wall, 1, "test", &error), error);
    CHECK_OK(WADI_NEW(&memory.traction, 1, "test", &error), error);
    wadi_tile_memory_add(&memory.stress, (WadiTile){ x, 0, 0 }, 0x10);
    memory.stress.dt = dt;
    for (int n = 0; n < 112; ++n) {
        ((float *)memory.stress.value)[n] = value;
    }
    for (size_t side = 0; side < sizeof memory.wall[0] / sizeof memory.wall[0][0]; ++side) {
        memory.wall[0][side] = side == 4 ? 0 : -1;
    }
    for (int n = 0; n < 32; ++n) {
        memory.traction[0][n] = value + 1.0f;
    }
    return memory;
}

static const float *stress(const WadiFrictionMemory *memory, int row)
{
    return (const float *)memory->stress.value + 112 * row;
}

static void stresses_of_two_memories_are_joined(void **unused)
{
    (void)unused;
    WadiError error;
    WadiFrictionMemory a = make_friction(3, 0.1, 10.0f), b = make_friction(-2, 0.2, 20.0f),
                       same = make_friction(3, 0.2, 40.0f), c = { 0 }, d = { 0 };
    CHECK_OK(wadi_friction_memory_join(&c, &a, NULL, &b, NULL, &error), error);
    assert_true(c.stress.tile_count == 2 && c.stress.row_count == 2 && c.wall_count == 2);
    assert_true(c.stress.tile[0].x == -2 && c.stress.tile[1].x == 3 && c.stress.first[1] == 1);
    assert_true(stress(&c, 0)[111] == 10.0f && stress(&c, 1)[0] == 10.0f);
    assert_true(c.wall[0][4] == 0 && c.wall[1][4] == 1 && c.wall[1][5] == -1);
    assert_true(c.traction[0][0] == 10.5f && c.traction[1][31] == 11.0f);
    CHECK_OK(wadi_friction_memory_join(&d, &a, NULL, &same, NULL, &error), error);
    assert_true(d.stress.tile_count == 1 && d.stress.row_count == 1 && d.wall_count == 1);
    assert_true(stress(&d, 0)[5] == 10.0f);
    /* Into one of the two, and no larger than what is kept. */
    const uint8_t second[2] = { 0, 1 };
    CHECK_OK(wadi_friction_memory_join(&c, &c, second, &b, NULL, &error), error);
    assert_true(c.stress.row_count == 2 && c.stress.first[1] == 1);
    assert_true(stress(&c, 0)[0] == 10.0f && stress(&c, 1)[0] == 10.0f);
    CHECK_OK(wadi_friction_memory_join(&c, &c, second, &(WadiFrictionMemory){ 0 }, NULL, &error), error);
    assert_true(c.stress.row_count == 1 && c.stress.tile[0].x == 3);
    assert_true(c.wall_capacity == 1 && c.traction_capacity == 1);
    assert_true(c.wall[0][4] == 0 && c.traction[0][31] == 11.0f);
    wadi_friction_memory_free(&a);
    wadi_friction_memory_free(&b);
    wadi_friction_memory_free(&same);
    wadi_friction_memory_free(&c);
    wadi_friction_memory_free(&d);
}

static void a_solid_disturbs_when_it_moves_and_is_near(void **unused)
{
    (void)unused;
    /* A ball of 0.1 m goes from x = 1 to x = 0.2 at 1 m/s from 1 s on, and rests there; another jumps at 5 s. */
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\ncell_size: 0.1\nmaterials: {sand: {kind: sand}}\n"
                   "bodies: [{material: sand, shape: {sphere: {center: [0, 0, 9], radius: 0.3}}}]\n"
                   "colliders: [{shape: {sphere: {radius: 0.1}, translate: {keys: [[1, [1, 0, 0]], [1.8, "
                   "[0.2, 0, 0]]]}}}, "
                   "{shape: {sphere: {center: [0, 0, 3], radius: 0.1}, "
                   "translate: {keys: [[0, [0, 0, 0]], [5, [0, 0, -3]]], interpolation: step}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    WadiVec3 x = { 0, 0, 0 };
    assert_false(wadi_flip_world_disturbs(sim->world, x, 0.15, 0.0, 0.9)); /* near nobody, nobody moves */
    assert_false(wadi_flip_world_disturbs(sim->world, x, 0.15, 1.1, 1.2)); /* moves, at 0.7 m */
    assert_true(wadi_flip_world_disturbs(sim->world, x, 0.15, 1.7, 1.75)); /* arrives */
    assert_false(wadi_flip_world_disturbs(sim->world, x, 0.15, 1.9, 2.9)); /* is there and rests */
    assert_true(wadi_flip_world_disturbs(sim->world, x, 0.15, 4.9, 5.1));  /* appears */
    assert_false(wadi_flip_world_disturbs(sim->world, x, 0.15, 5.1, 5.2));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void a_world_is_steady_between_its_changes(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: flip\ncell_size: 0.1\n"
        "materials: {sand: {kind: sand, friction_angle: {keys: [[8, 30], [9, 20]]}}}\n"
        "gravity: {keys: [[1, [0, 0, -9.81]], [2, [1, 0, -9.81]]]}\n"
        "bodies: [{material: sand, shape: {sphere: {radius: 0.3}}}]\n"
        "forces: [{kind: uniform, acceleration: [1, 0, 0], start: 4, end: 6}]\n"
        "emitters: [{material: sand, shape: {sphere: {radius: 0.1}}, rate: 1e-3, start: 11, end: 12}]\n"
        "drains: [{shape: {sphere: {radius: 0.1}}, start: 14, end: 15}]\n");
    WadiSim *sim = start_sim(scene, 1);
    const double times[10][2] = { { 0, 0.9 },   { 0.9, 1.1 }, { 1.5, 1.6 }, { 2.1, 3.9 }, { 3.9, 4.1 },
                                  { 4.1, 5.9 }, { 5.9, 6.1 }, { 6.1, 7.9 }, { 8.5, 8.6 }, { 9.1, 99.0 } };
    const bool is_steady[10] = { true, false, false, true, false, true, false, true, false, true };
    for (int i = 0; i < 10; ++i) {
        assert_true(wadi_flip_world_is_steady(sim->world, times[i][0], times[i][1]) == is_steady[i]);
    }
    assert_true(wadi_flip_world_is_closed(sim->world, 0.0, 10.0));
    assert_false(wadi_flip_world_is_closed(sim->world, 11.5, 11.6));
    assert_true(wadi_flip_world_is_closed(sim->world, 12.5, 13.0));
    assert_false(wadi_flip_world_is_closed(sim->world, 13.0, 14.1));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stresses_of_two_memories_are_joined),
        cmocka_unit_test(a_solid_disturbs_when_it_moves_and_is_near),
        cmocka_unit_test(a_world_is_steady_between_its_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
