/* flip: stop rule, rigid groups and their projection on grids with known answers. */
#include "core/alloc.h"
#include "core/random.h"
#include "failing_alloc.h"
#include "flip/published/flip_printed.h"
#include "flip_test_grid.h"
#include "random_values.h"

/* Thin rubble over a floor: groups of one cell, lines, plates and larger ones. */
static TestCell rubble_label(const void *context, int i, int j, int k)
{
    uint64_t seed = *(const uint64_t *)context;
    uint64_t at = (uint64_t)(i + 16 + 64 * (j + 16) + 4096 * (k + 16));
    return k < -6 ? CELL_SOLID : wadi_random_unit(seed, at, WADI_RANDOM_TEST) < 0.25 ? CELL_FLUID : CELL_AIR;
}

static WadiFrictionGrid cells_of(const TestGrid *grid)
{
    return (WadiFrictionGrid){ .rows = &grid->rows, .fluid = grid->fluid, .solid = grid->solid };
}

typedef struct Momenta {
    WadiVec3 linear, angular;
    double energy, size; /* size: reference of relative errors */
} Momenta;

/* Momenta of one group, from the velocities on its faces or from the given motion. Independent of the code
 * under test. */
static Momenta momenta_of(const TestGrid *grid, const WadiRigidGroups *groups, int32_t group,
                          float *const velocity[3], const WadiRigidMotion *motion)
{
    Momenta sum = { 0 };
    for (int32_t r = 1; r < grid->rows.count; ++r) {
        for (int n = 0; n < 24; ++n) {
            int32_t cell[3], axis = n >> 3;
            wadi_rows_cell(&grid->rows, r, cell);
            cell[0] += n & 7;
            int32_t low[3] = { cell[0] - (axis == 0), cell[1] - (axis == 1), cell[2] - (axis == 2) };
            int32_t low_row = wadi_rows_find(&grid->rows, low[0], low[1], low[2]);
            size_t at = 8 * (size_t)r + (size_t)(n & 7), low_at = 8 * (size_t)low_row + (size_t)(low[0] & 7);
            bool is_member = groups->group[at] == group || groups->group[low_at] == group;
            if (!is_member || !grid_face_is_free(grid, axis, cell[0], cell[1], cell[2])) {
                continue;
            }
            double mass = 0.5 * ((grid_kind(grid, cell[0], cell[1], cell[2]) == CELL_FLUID) +
                                 (grid_kind(grid, low[0], low[1], low[2]) == CELL_FLUID));
            double u =
                motion != NULL ? wadi_rigid_face_speed(motion, cell, axis) : (double)velocity[axis][at];
            WadiVec3 impulse = wadi_scale(wadi_vec3(axis == 0, axis == 1, axis == 2), mass * u);
            WadiVec3 place = wadi_vec3(cell[0] + 0.5 * (axis != 0), cell[1] + 0.5 * (axis != 1),
                                       cell[2] + 0.5 * (axis != 2));
            sum.linear = wadi_add(sum.linear, impulse);
            sum.angular = wadi_add(sum.angular, wadi_cross(place, impulse));
            sum.energy += 0.5 * mass * u * u;
            sum.size += mass * fabs(u) * (1.0 + wadi_norm(place));
        }
    }
    return sum;
}

static void projection_keeps_momenta_and_never_adds_energy(void **unused)
{
    (void)unused;
    WadiError error;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        TestGrid grid;
        grid_make(&grid, (int[3]){ -9, -9, -9 }, (int[3]){ 4, 5, 4 }, rubble_label, &seed);
        WadiFrictionGrid cells = cells_of(&grid);
        float *velocity[3], *once[3];
        for (int axis = 0; axis < 3; ++axis) {
            velocity[axis] = grid_floats(&grid, 0.0f);
            once[axis] = grid_floats(&grid, 0.0f);
            for (size_t at = 8; at < wadi_rows_floats(&grid.rows); ++at) {
                velocity[axis][at] = (float)random_signed(seed + 10 * (uint64_t)axis, at);
            }
        }
        WadiRigidGroups groups;
        CHECK_OK(wadi_rigid_groups(&grid.rows, grid.fluid, &groups, &grid.arena, &error), error);
        assert_true(groups.count > 20);
        Momenta *before = grid_alloc(&grid, (size_t)groups.count, sizeof *before);
        for (int32_t g = 0; g < groups.count; ++g) {
            before[g] = momenta_of(&grid, &groups, g, velocity, NULL);
        }
        WadiRigidMotion *motion, *again;
        CHECK_OK(wadi_rigid_project(&cells, &groups, velocity, &motion, &grid.arena, &error), error);
        double change = 0.0;
        for (int32_t g = 0; g < groups.count; ++g) {
            Momenta after = momenta_of(&grid, &groups, g, velocity, &motion[g]);
            CHECK_NEAR(wadi_norm(wadi_sub(after.linear, before[g].linear)) / before[g].size, 0.0, 1e-12);
            CHECK_NEAR(wadi_norm(wadi_sub(after.angular, before[g].angular)) / before[g].size, 0.0, 1e-12);
            CHECK_AT_MOST(after.energy, before[g].energy * (1.0 + 1e-12));
            change = fmax(change, 1.0 - after.energy / before[g].energy);
            /* As stored: the rounding of a float. */
            Momenta stored = momenta_of(&grid, &groups, g, velocity, NULL);
            CHECK_NEAR(wadi_norm(wadi_sub(stored.linear, before[g].linear)) / before[g].size, 0.0, 1e-7);
        }
        assert_true(change > 0.1);
        for (int axis = 0; axis < 3; ++axis) {
            memcpy(once[axis], velocity[axis], wadi_rows_floats(&grid.rows) * sizeof(float));
        }
        CHECK_OK(wadi_rigid_project(&cells, &groups, velocity, &again, &grid.arena, &error), error);
        for (size_t at = 8; at < wadi_rows_floats(&grid.rows); ++at) {
            for (int axis = 0; axis < 3; ++axis) {
                CHECK_NEAR(velocity[axis][at], once[axis][at], 1e-6);
            }
        }
        grid_free(&grid);
    }
}

static TestCell block_label(const void *context, int i, int j, int k)
{
    (void)context;
    return i >= -3 && i < 6 && j >= 0 && j < 5 && k >= 0 && k < 7 ? CELL_FLUID : CELL_AIR;
}

static void block_make(TestGrid *grid, float *velocity[3])
{
    grid_make(grid, (int[3]){ -6, -2, -2 }, (int[3]){ 9, 8, 10 }, block_label, NULL);
    for (int axis = 0; axis < 3; ++axis) {
        velocity[axis] = grid_floats(grid, 0.0f);
    }
}

static void rigid_input_comes_back(void **unused)
{
    (void)unused;
    WadiError error;
    TestGrid grid;
    float *velocity[3];
    block_make(&grid, velocity);
    WadiRigidMotion given = { .centre = { 1.0, 2.0, 3.0 },
                              .velocity = { 1.0, -2.0, 0.5 },
                              .spin = { 0.1, 0.3, -0.2 } };
    for (size_t at = 8; at < wadi_rows_floats(&grid.rows); ++at) {
        for (int axis = 0; axis < 3; ++axis) {
            int32_t cell[3];
            wadi_rows_cell(&grid.rows, (int32_t)(at >> 3), cell);
            cell[0] += (int32_t)(at & 7);
            velocity[axis][at] = (float)wadi_rigid_face_speed(&given, cell, axis);
        }
    }
    WadiFrictionGrid cells = cells_of(&grid);
    WadiRigidGroups groups;
    CHECK_OK(wadi_rigid_groups(&grid.rows, grid.fluid, &groups, &grid.arena, &error), error);
    assert_int_equal(groups.count, 1);
    WadiRigidMotion *motion;
    CHECK_OK(wadi_rigid_project(&cells, &groups, velocity, &motion, &grid.arena, &error), error);
    /* 1.5, 2.5, 3.5: the middle of the block. */
    CHECK_NEAR(wadi_norm(wadi_sub(motion->centre, wadi_vec3(1.5, 2.5, 3.5))), 0.0, 1e-12);
    CHECK_NEAR(motion->mass, 9.0 * 5.0 * 7.0, 1e-9);
    CHECK_NEAR(wadi_norm(wadi_sub(motion->spin, given.spin)), 0.0, 1e-7);
    WadiVec3 speed = wadi_add(given.velocity, wadi_cross(given.spin, wadi_sub(motion->centre, given.centre)));
    CHECK_NEAR(wadi_norm(wadi_sub(motion->velocity, speed)), 0.0, 1e-7);
    grid_free(&grid);
}

/* Three cells in an L are one group; a cell that touches them along an edge only is another. */
static TestCell corner_label(const void *context, int i, int j, int k)
{
    (void)context;
    bool is_l = k == 0 && ((i == 7 && j == 7) || (i == 8 && j == 7) || (i == 8 && j == 8));
    return is_l || (i == 9 && j == 9 && k == 0) ? CELL_FLUID : CELL_AIR;
}

static void groups_join_across_faces_only(void **unused)
{
    (void)unused;
    WadiError error;
    TestGrid grid;
    grid_make(&grid, (int[3]){ 5, 5, -2 }, (int[3]){ 12, 12, 3 }, corner_label, NULL);
    WadiRigidGroups groups;
    CHECK_OK(wadi_rigid_groups(&grid.rows, grid.fluid, &groups, &grid.arena, &error), error);
    assert_int_equal(groups.count, 2);
    int32_t first = groups.group[grid_at(&grid, 7, 7, 0)];
    assert_int_equal(groups.group[grid_at(&grid, 8, 7, 0)], first);
    assert_int_equal(groups.group[grid_at(&grid, 8, 8, 0)], first);
    assert_int_equal(groups.group[grid_at(&grid, 9, 9, 0)], 1 - first);
    assert_int_equal(groups.group[grid_at(&grid, 9, 8, 0)], -1);
    grid_free(&grid);
}

/* u = rate * y in a block: sigma_bar of the stopping stress is rate / 2 in every inner cell. */
static void the_stop_rule_compares_half_the_shear_rate(void **unused)
{
    (void)unused;
    WadiError error;
    TestGrid grid;
    float *velocity[3];
    block_make(&grid, velocity);
    const double rate = 0.08;
    for (size_t at = 8; at < wadi_rows_floats(&grid.rows); ++at) {
        int32_t cell[3];
        wadi_rows_cell(&grid.rows, (int32_t)(at >> 3), cell);
        velocity[0][at] = (float)(rate * (cell[1] + 0.5));
    }
    WadiFrictionGrid cells = cells_of(&grid);
    double *pressure = grid_alloc(&grid, wadi_rows_floats(&grid.rows), sizeof *pressure);
    float *k = grid_floats(&grid, 0.5f);
    const float *before[3] = { velocity[0], velocity[1], velocity[2] };
    static const double p[4] = { 0.0801, 0.0799, 0.008, -1.0 };
    static const double share[4] = { 1.0 / 6.0, 1.0 / 6.0, 0.1, 0.0 };
    size_t inside = grid_at(&grid, 1, 2, 3);
    for (int n = 0; n < 4; ++n) {
        for (size_t at = 8; at < wadi_rows_floats(&grid.rows); ++at) {
            pressure[at] = p[n];
        }
        WadiRigidLoad load = { pressure, k, NULL, 1.0 / 6.0 };
        WadiRigidCells found;
        CHECK_OK(wadi_rigid_classify(&cells, before, &load, &found, &grid.arena, &error), error);
        assert_int_equal(found.rigid[inside >> 3] >> (inside & 7) & 1, n == 0);
        CHECK_NEAR(found.stress_ratio[inside], share[n], 1e-6);
        CHECK_NEAR(found.rate[3][inside], 0.5 * rate, 1e-7);
    }
    grid_free(&grid);
}

/* The rule as printed: the same shear by central differences, eq. 1 with sin / sqrt 3 and eq. 2 with
 * sqrt(3/2) sin, which is `k`; and a wave of two cells, which central differences do not see. */
static void the_printed_rule_has_two_slopes_and_central_differences(void **unused)
{
    (void)unused;
    WadiError error;
    TestGrid grid;
    float *velocity[3];
    block_make(&grid, velocity);
    const double rate = 0.08, k = 0.5, yield_at = 0.5 * rate / (k * sqrt(2.0) / 3.0);
    double *pressure = grid_alloc(&grid, wadi_rows_floats(&grid.rows), sizeof *pressure);
    float *slope = grid_floats(&grid, (float)k);
    const size_t inside = grid_at(&grid, 1, 2, 3);
    for (int is_wave = 0; is_wave < 2; ++is_wave) {
        for (size_t at = 8; at < wadi_rows_floats(&grid.rows); ++at) {
            int32_t cell[3];
            wadi_rows_cell(&grid.rows, (int32_t)(at >> 3), cell);
            velocity[0][at] = (float)(is_wave ? (cell[1] & 1 ? rate : -rate) : rate * (cell[1] + 0.5));
        }
        const float *before[3] = { velocity[0], velocity[1], velocity[2] };
        for (int n = 0; n < 2; ++n) {
            for (size_t at = 8; at < wadi_rows_floats(&grid.rows); ++at) {
                pressure[at] = (n == 0 ? 1.001 : 0.999) * yield_at;
            }
            const WadiFrictionGrid cells = cells_of(&grid);
            const WadiRigidLoad load = { .pressure = pressure, .k = slope };
            WadiRigidCells found;
            CHECK_OK(wadi_printed_classify(&cells, before, &load, &found, &grid.arena, &error), error);
            CHECK_NEAR(found.rate[3][inside], is_wave ? 0.0 : 0.5 * rate, 1e-7);
            assert_int_equal(found.rigid[inside >> 3] >> (inside & 7) & 1, is_wave || n == 0);
            if (!is_wave && n == 1) {
                CHECK_NEAR(found.stress_ratio[inside], 2.0 * k * pressure[inside] / rate, 1e-6);
            }
        }
    }
    grid_free(&grid);
}

/* Groups that friction holds at a floor that moves get its velocity on all faces, others do not. */
static void held_groups_move_with_their_solid(void **unused)
{
    (void)unused;
    static const float given[3] = { 0.3f, -0.2f, 0.1f };
    WadiError error;
    uint64_t seed = 7;
    TestGrid grid;
    grid_make(&grid, (int[3]){ -9, -9, -9 }, (int[3]){ 4, 5, 4 }, rubble_label, &seed);
    const size_t floats = wadi_rows_floats(&grid.rows);
    WadiFrictionGrid cells = cells_of(&grid);
    float *velocity[3], *speed[3];
    uint8_t *held = grid_alloc(&grid, floats, 1);
    for (int axis = 0; axis < 3; ++axis) {
        velocity[axis] = grid_floats(&grid, 0.0f);
        speed[axis] = grid_floats(&grid, given[axis]);
        cells.solid_speed[axis] = speed[axis];
        for (size_t at = 8; at < floats; ++at) {
            velocity[axis][at] = (float)random_signed(seed + 10 * (uint64_t)axis, at);
        }
    }
    WadiRigidGroups groups;
    CHECK_OK(wadi_rigid_groups(&grid.rows, grid.fluid, &groups, &grid.arena, &error), error);
    bool *is_held = grid_alloc(&grid, (size_t)groups.count, sizeof *is_held);
    int32_t count = 0;
    for (size_t at = 8; at < floats; ++at) {
        int32_t cell[3];
        wadi_rows_cell(&grid.rows, (int32_t)(at >> 3), cell);
        if (groups.group[at] >= 0 && cell[2] == -6) { /* the floor's cells are below -6 */
            held[at] = 1 << WADI_ROW_Z_MIN;
            count += !is_held[groups.group[at]];
            is_held[groups.group[at]] = true;
        }
    }
    assert_true(count > 5 && count < groups.count - 5);
    groups.held = held;
    WadiRigidMotion *motion = NULL;
    CHECK_OK(wadi_rigid_project(&cells, &groups, velocity, &motion, &grid.arena, &error), error);
    for (int32_t g = 0; g < groups.count; ++g) {
        const WadiVec3 off = wadi_sub(motion[g].velocity, wadi_vec3(0.3, -0.2, 0.1));
        if (is_held[g]) {
            CHECK_NEAR(wadi_norm(off), 0.0, 1e-6);
            CHECK_NEAR(wadi_norm(motion[g].spin), 0.0, 1e-6);
        } else {
            assert_true(wadi_norm(off) > 1e-3);
        }
    }
    grid_free(&grid);
}

static double energy_of(const TestGrid *grid, float *const velocity[3])
{
    double sum = 0.0;
    for (int32_t r = 1; r < grid->rows.count; ++r) {
        int32_t cell[3];
        wadi_rows_cell(&grid->rows, r, cell);
        for (int n = 0; n < 24; ++n) {
            double u = (double)velocity[n >> 3][8 * r + (n & 7)];
            sum += grid_face_is_free(grid, n >> 3, cell[0] + (n & 7), cell[1], cell[2]) ? 0.5 * u * u : 0.0;
        }
    }
    return sum;
}

/* Every cell at 0.95 of its stopping stress: one explicit step of the whole stress amplifies the shortest
 * waves. */
static void sliding_loses_energy_with_the_default_fraction_and_gains_it_with_one(void **unused)
{
    (void)unused;
    WadiError error;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        TestGrid grid;
        float *velocity[3];
        block_make(&grid, velocity);
        size_t count = wadi_rows_floats(&grid.rows);
        float *start[3];
        for (int axis = 0; axis < 3; ++axis) {
            start[axis] = grid_floats(&grid, 0.0f);
            for (size_t at = 8; at < count; ++at) {
                start[axis][at] = (float)random_signed(seed + 20 * (uint64_t)axis, at);
            }
        }
        WadiFrictionGrid cells = cells_of(&grid);
        double *pressure = grid_alloc(&grid, count, sizeof *pressure);
        float *k = grid_floats(&grid, 1.0f);
        const float *before[3] = { start[0], start[1], start[2] };
        for (size_t at = 8; at < count; ++at) {
            pressure[at] = 1e-6;
        }
        WadiRigidLoad load = { pressure, k, NULL, 1.0 };
        WadiRigidCells found;
        CHECK_OK(wadi_rigid_classify(&cells, before, &load, &found, &grid.arena, &error), error);
        for (size_t at = 8; at < count; ++at) {
            pressure[at] = found.stress_ratio[at] > 0.0f ? 0.95 * 1e-6 / (double)found.stress_ratio[at] : 0.0;
        }
        WadiRigidGroups groups;
        uint8_t *none = grid_alloc(&grid, (size_t)grid.rows.count, 1);
        CHECK_OK(wadi_rigid_groups(&grid.rows, none, &groups, &grid.arena, &error), error);
        assert_int_equal(groups.count, 0);
        for (int is_whole = 0; is_whole < 2; ++is_whole) {
            load.sliding_fraction = is_whole ? 1.0 : 1.0 / 6.0;
            CHECK_OK(wadi_rigid_classify(&cells, before, &load, &found, &grid.arena, &error), error);
            for (int axis = 0; axis < 3; ++axis) {
                memcpy(velocity[axis], start[axis], count * sizeof(float));
            }
            double energy = energy_of(&grid, velocity);
            CHECK_OK(wadi_rigid_slide(&cells, &found, &groups, velocity, &grid.arena, &error), error);
            double ratio = energy_of(&grid, velocity) / energy;
            assert_true(is_whole ? ratio > 1.2 : ratio < 0.95);
        }
        grid_free(&grid);
    }
}

static WadiStatus whole_step(const TestGrid *grid, float *const velocity[3], const double *pressure,
                             const float *k, WadiError *error)
{
    WadiArena arena = { 0 };
    WadiFrictionGrid cells = cells_of(grid);
    WadiRigidCells found;
    WadiRigidGroups groups;
    WadiRigidMotion *motion;
    const float *before[3] = { velocity[0], velocity[1], velocity[2] };
    WadiRigidWalls walls = { .wall_friction = k, .pressure = pressure };
    WadiRigidLoad load = { pressure, k, NULL, 1.0 / 6.0 };
    WadiStatus status = wadi_rigid_wall_friction(&cells, &walls, velocity, &arena, error);
    status = status != WADI_OK ? status : wadi_rigid_classify(&cells, before, &load, &found, &arena, error);
    status = status != WADI_OK ? status : wadi_rigid_groups(&grid->rows, found.rigid, &groups, &arena, error);
    status =
        status != WADI_OK ? status : wadi_rigid_project(&cells, &groups, velocity, &motion, &arena, error);
    status = status != WADI_OK ? status : wadi_rigid_slide(&cells, &found, &groups, velocity, &arena, error);
    wadi_arena_free(&arena);
    return status;
}

static void every_failed_allocation_is_reported(void **unused)
{
    (void)unused;
    wadi_set_allocator(&failing_allocator);
    alloc_fails_at = 0;
    TestGrid grid;
    float *velocity[3];
    block_make(&grid, velocity);
    float *k = grid_floats(&grid, 0.5f);
    double *pressure = grid_alloc(&grid, wadi_rows_floats(&grid.rows), sizeof *pressure);
    pressure[grid_at(&grid, 0, 0, 0)] = 1.0;
    size_t live = wadi_alloc_live_bytes();
    WadiError error;
    int failures = 0;
    for (int n = 1;; ++n) {
        alloc_calls = 0;
        alloc_fails_at = n;
        WadiStatus status = whole_step(&grid, velocity, pressure, k, &error);
        alloc_fails_at = 0;
        assert_int_equal(wadi_alloc_live_bytes(), live);
        if (status == WADI_OK) {
            break;
        }
        assert_int_equal(status, WADI_ERR_MEMORY);
        failures += 1;
    }
    assert_true(failures > 5);
    grid_free(&grid);
    wadi_set_allocator(NULL);
}

static void an_empty_grid_has_no_groups(void **unused)
{
    (void)unused;
    WadiError error;
    WadiTileMap map = { 0 };
    TestGrid grid = { 0 };
    CHECK_OK(wadi_rows_build(&grid.rows, &map, NULL, &grid.arena, &error), error);
    static uint8_t none[1];
    static float zero[3][8];
    static const double pressure[8];
    grid.fluid = grid.solid = none;
    float *velocity[3] = { zero[0], zero[1], zero[2] };
    CHECK_OK(whole_step(&grid, velocity, pressure, zero[0], &error), error);
    assert_true(zero[0][0] == 0.0f);
    wadi_arena_free(&grid.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projection_keeps_momenta_and_never_adds_energy),
        cmocka_unit_test(rigid_input_comes_back),
        cmocka_unit_test(groups_join_across_faces_only),
        cmocka_unit_test(the_stop_rule_compares_half_the_shear_rate),
        cmocka_unit_test(the_printed_rule_has_two_slopes_and_central_differences),
        cmocka_unit_test(held_groups_move_with_their_solid),
        cmocka_unit_test(sliding_loses_energy_with_the_default_fraction_and_gains_it_with_one),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(an_empty_grid_has_no_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
