/* flip: stresses of two memories, their tractions at walls included. */
#include "core/alloc.h"
#include "expect.h"
#include "flip/friction/flip_friction.h"

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
    /* Into one of the two, and no larger than the joined rows. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stresses_of_two_memories_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
