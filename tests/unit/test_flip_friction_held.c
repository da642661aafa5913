/* flip: sleeping cells in the friction solve. */
#include "core/random.h"
#include "flip/friction/flip_friction.h"
#include "flip_test_grid.h"

static WadiFrictionWallPoint wall_half(const void *context, const double at[3])
{
    (void)context, (void)at;
    return (WadiFrictionWallPoint){ .friction = 0.5f };
}

/* Random sand in a box of solid walls, over eight tiles. */
static TestCell rubble_label(const void *context, int i, int j, int k)
{
    (void)context;
    if (i < -7 || i > 6 || j < -6 || j > 7 || k < -7 || k > 6) {
        return CELL_SOLID;
    }
    uint64_t at = (uint64_t)(i + 8 + 32 * (j + 8) + 1024 * (k + 8));
    return wadi_random_unit(3, at, WADI_RANDOM_TEST) < 0.85 ? CELL_FLUID : CELL_AIR;
}

/* The tiles below z = 0 sleep. */
static bool is_sleeping(const TestGrid *grid, int i, int j, int k)
{
    return k < 0 && grid_kind(grid, i, j, k) == CELL_FLUID;
}

static bool touches_sleeping(const TestGrid *grid, int axis, int i, int j, int k)
{
    return is_sleeping(grid, i, j, k) || is_sleeping(grid, i - (axis == 0), j - (axis == 1), k - (axis == 2));
}

static void sleeping_cells_keep_their_stress_and_the_others_their_forces(void **unused)
{
    (void)unused;
    TestGrid grid;
    WadiError error;
    WadiArena arena = { 0 };
    grid_make(&grid, (int[3]){ -8, -8, -8 }, (int[3]){ 8, 8, 8 }, rubble_label, NULL);
    size_t floats = wadi_rows_floats(&grid.rows);
    float *start[3], *whole[3], *part[3], *k = grid_floats(&grid, 0.5f);
    double *pressure = grid_alloc(&grid, floats, sizeof *pressure);
    for (size_t n = 8; n < floats; ++n) {
        pressure[n] = wadi_random_unit(9, n, WADI_RANDOM_TEST);
    }
    for (int axis = 0; axis < 3; ++axis) {
        start[axis] = grid_floats(&grid, 0.0f);
        whole[axis] = grid_floats(&grid, 0.0f);
        part[axis] = grid_floats(&grid, 0.0f);
        for (size_t n = 8; n < floats; ++n) {
            start[axis][n] = (float)(2.0 * wadi_random_unit((uint64_t)axis, n, WADI_RANDOM_TEST) - 1.0);
        }
    }
    WadiFrictionGrid cells = {
        .rows = &grid.rows, .fluid = grid.fluid, .solid = grid.solid, .sample_wall = wall_half
    };
    WadiFrictionLoad load = { .pressure = pressure, .k = k };
    WadiFrictionSettings settings = wadi_friction_settings(14, 0.1);
    WadiFrictionReport report;
    WadiFriction *friction;
    WadiFrictionMemory memory = { 0 };
    const float *before[3] = { start[0], start[1], start[2] };
    CHECK_OK(wadi_friction_begin(&friction, &cells, NULL, 0.01, &arena, &error), error);
    CHECK_OK(wadi_friction_solve(friction, before, &load, &settings, &arena, &report, &error), error);
    wadi_friction_add(friction, whole);
    CHECK_OK(wadi_friction_store(friction, &memory, &error), error);

    uint8_t *sleeping = grid_alloc(&grid, (size_t)grid.rows.count, 1);
    for (int32_t r = 1; r < grid.rows.count; ++r) {
        sleeping[r] = grid.rows.tiles->tiles[grid.rows.tile[r]].z < 0 ? grid.fluid[r] : 0;
    }
    cells.sleeping = sleeping;
    cells.sleeping_memory = &memory;
    CHECK_OK(wadi_friction_begin(&friction, &cells, &memory, 0.01, &arena, &error), error);
    wadi_friction_add(friction, part);
    int free_faces = 0, sleeping_faces = 0;
    for (int n = 0; n < 16 * 16 * 16 * 3; ++n) {
        int axis = n % 3, i = n / 3 % 16 - 8, j = n / 48 % 16 - 8, l = n / 768 - 8;
        size_t at = grid_at(&grid, i, j, l);
        if (!grid_face_is_free(&grid, axis, i, j, l)) {
            continue;
        }
        bool is_still = touches_sleeping(&grid, axis, i, j, l);
        assert_true(part[axis][at] == (is_still ? 0.0f : whole[axis][at]));
        free_faces += !is_still && whole[axis][at] != 0.0f;
        sleeping_faces += is_still;
    }
    assert_true(free_faces > 1000 && sleeping_faces > 1000);
    double stress = 0.0;
    int32_t row = wadi_rows_find(&grid.rows, -3, 2, -1), near = wadi_rows_find(&grid.rows, -3, 2, 0);
    for (int lane = 0; lane < 8; ++lane) {
        stress += wadi_friction_stress(friction, row, lane);
        assert_true(wadi_friction_change(friction, &memory, near, lane) < 1e-6);
    }
    assert_true(stress > 0.0);

    /* With twice the velocity the awake cells change their stress and the sleeping ones do not. */
    for (int axis = 0; axis < 3; ++axis) {
        for (size_t n = 8; n < floats; ++n) {
            start[axis][n] *= 2.0f;
        }
    }
    CHECK_OK(wadi_friction_solve(friction, before, &load, &settings, &arena, &report, &error), error);
    double after = 0.0, change = 0.0;
    for (int lane = 0; lane < 8; ++lane) {
        after += wadi_friction_stress(friction, row, lane);
        change = fmax(change, wadi_friction_change(friction, &memory, near, lane));
    }
    CHECK_NEAR(after, stress, 0.0);
    assert_true(change > 1e-3);
    wadi_friction_memory_free(&memory);
    wadi_arena_free(&arena);
    grid_free(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleeping_cells_keep_their_stress_and_the_others_their_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
