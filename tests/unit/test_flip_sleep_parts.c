/* What sleep is made of: memories that are joined, surroundings that rest, islands by hand. */
#include <string.h>

#include "core/alloc.h"
#include "flip/sleep/flip_sleep.h"
#include "scene_sim.h"
#include "sim/sim.h"

/* Tiles (0, 0, 0) and (1, 0, 0) with these rows; the value of a row is `value` plus its number. */
static WadiFlipPressureMemory make_pressure(uint64_t first, uint64_t second, double dt, double value)
{
    WadiError error;
    WadiFlipPressureMemory memory = { .dt = dt };
    CHECK_OK(WADI_NEW(&memory.tile, 2, "test", &error), error);
    CHECK_OK(WADI_NEW(&memory.mask, 2, "test", &error), error);
    memory.tile_capacity = memory.mask_capacity = 2;
    memory.row_count = (size_t)(__builtin_popcountll(first) + __builtin_popcountll(second));
    CHECK_OK(WADI_NEW(&memory.value, 8 * memory.row_count, "test", &error), error);
    memory.value_capacity = 8 * memory.row_count;
    for (int t = 0; t < 2; ++t) {
        uint64_t mask = t == 0 ? first : second;
        if (mask != 0) {
            memory.tile[memory.tile_count] = (WadiTile){ t, 0, 0 };
            memory.mask[memory.tile_count++] = mask;
        }
    }
    for (size_t i = 0; i < 8 * memory.row_count; ++i) {
        memory.value[i] = value + (double)(i / 8);
    }
    return memory;
}

static void pressures_of_two_memories_are_joined(void **unused)
{
    (void)unused;
    WadiError error;
    /* Impulses of twice the dt are twice as large: those of b are halved. */
    WadiFlipPressureMemory a = make_pressure(0x1, 0x0, 0.1, 10.0), b = make_pressure(0x3, 0x4, 0.2, 20.0),
                           c = { 0 };
    CHECK_OK(wadi_flip_pressure_memory_join(&c, &a, NULL, &b, NULL, &error), error);
    assert_int_equal(c.tile_count, 2);
    assert_true(c.mask[0] == 0x3 && c.mask[1] == 0x4 && c.tile[1].x == 1);
    CHECK_NEAR(c.dt, 0.1, 0.0);
    CHECK_NEAR(c.value[0], 10.0, 0.0);
    CHECK_NEAR(c.value[8], 10.5, 0.0);
    CHECK_NEAR(c.value[16], 11.0, 0.0);
    const uint8_t first[2] = { 1, 0 }, second[2] = { 0, 1 }, none[1] = { 0 };
    CHECK_OK(wadi_flip_pressure_memory_join(&c, &a, none, &b, second, &error), error);
    assert_int_equal(c.tile_count, 1);
    assert_true(c.tile[0].x == 1 && c.row_count == 1);
    CHECK_NEAR(c.value[0], 11.0, 0.0);
    const WadiFlipPressureMemory nothing = { 0 };
    CHECK_OK(wadi_flip_pressure_memory_join(&c, &nothing, NULL, &b, first, &error), error);
    CHECK_NEAR(c.dt, 0.2, 0.0);
    assert_true(c.tile_count == 1 && c.row_count == 2);
    CHECK_NEAR(c.value[8], 21.0, 0.0);
    /* Into one of the two, and no larger than what is kept. */
    CHECK_OK(wadi_flip_pressure_memory_join(&b, &a, none, &b, second, &error), error);
    assert_true(b.tile_count == 1 && b.row_count == 1 && b.value_capacity == 8);
    CHECK_NEAR(b.value[0], 11.0, 0.0);
    wadi_flip_pressure_memory_free(&a);
    wadi_flip_pressure_memory_free(&b);
    wadi_flip_pressure_memory_free(&c);
}

/* One tile (x, 0, 0) with one row, whose lower side in z is a wall. */
static WadiFrictionMemory make_friction(int32_t x, double dt, float value)
{
    WadiError error;
    WadiFrictionMemory memory = { .dt = dt, .tile_count = 1, .row_count = 1, .wall_count = 1 };
    CHECK_OK(WADI_NEW(&memory.tile, 1, "test", &error), error);
    CHECK_OK(WADI_NEW(&memory.mask, 1, "test", &error), error);
    CHECK_OK(WADI_NEW(&memory.first, 1, "test", &error), error);
    CHECK_OK(WADI_NEW(&memory.stress, 1, "test", &error), error);
    CHECK_OK(WADI_NEW(&memory.wall, 1, "test", &error), error);
    CHECK_OK(WADI_NEW(&memory.traction, 1, "test", &error), error);
    memory.tile_capacity = memory.mask_capacity = memory.first_capacity = memory.stress_capacity = 1;
    memory.wall_capacity = memory.traction_capacity = 1;
    memory.tile[0] = (WadiTile){ x, 0, 0 };
    memory.mask[0] = 0x10;
    for (int n = 0; n < 112; ++n) {
        memory.stress[0][n] = value;
    }
    for (size_t side = 0; side < sizeof memory.wall[0] / sizeof memory.wall[0][0]; ++side) {
        memory.wall[0][side] = side == 4 ? 0 : -1;
    }
    for (int n = 0; n < 32; ++n) {
        memory.traction[0][n] = value + 1.0f;
    }
    return memory;
}

static void stresses_of_two_memories_are_joined(void **unused)
{
    (void)unused;
    WadiError error;
    WadiFrictionMemory a = make_friction(3, 0.1, 10.0f), b = make_friction(-2, 0.2, 20.0f),
                       same = make_friction(3, 0.2, 40.0f), c = { 0 }, d = { 0 };
    CHECK_OK(wadi_friction_memory_join(&c, &a, NULL, &b, NULL, &error), error);
    assert_true(c.tile_count == 2 && c.row_count == 2 && c.wall_count == 2);
    assert_true(c.tile[0].x == -2 && c.tile[1].x == 3 && c.first[1] == 1);
    assert_true(c.stress[0][111] == 10.0f && c.stress[1][0] == 10.0f);
    assert_true(c.wall[0][4] == 0 && c.wall[1][4] == 1 && c.wall[1][5] == -1);
    assert_true(c.traction[0][0] == 10.5f && c.traction[1][31] == 11.0f);
    CHECK_OK(wadi_friction_memory_join(&d, &a, NULL, &same, NULL, &error), error);
    assert_true(d.tile_count == 1 && d.row_count == 1 && d.wall_count == 1 && d.stress[0][5] == 10.0f);
    /* Into one of the two, and no larger than what is kept. */
    const uint8_t second[2] = { 0, 1 };
    CHECK_OK(wadi_friction_memory_join(&c, &c, second, &b, NULL, &error), error);
    assert_true(c.row_count == 2 && c.stress[0][0] == 10.0f && c.stress[1][0] == 10.0f && c.first[1] == 1);
    CHECK_OK(wadi_friction_memory_join(&c, &c, second, &(WadiFrictionMemory){ 0 }, NULL, &error), error);
    assert_true(c.row_count == 1 && c.tile[0].x == 3 && c.stress_capacity == 1 && c.traction_capacity == 1);
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
        cmocka_unit_test(pressures_of_two_memories_are_joined),
        cmocka_unit_test(stresses_of_two_memories_are_joined),
        cmocka_unit_test(a_solid_disturbs_when_it_moves_and_is_near),
        cmocka_unit_test(a_world_is_steady_between_its_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
