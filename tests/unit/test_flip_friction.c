/* flip: the friction solve on small grids whose answers are known. */
#include "friction_case.h"

static double case_energy(const Case *it)
{
    double sum = 0.0;
    const TestGrid *grid = &it->grid;
    for (int32_t r = 1; r < grid->rows.count; ++r) {
        int32_t cell[3];
        wadi_rows_cell(&grid->rows, r, cell);
        for (int lane = 0; lane < 8; ++lane) {
            for (int axis = 0; axis < 3; ++axis) {
                double u = (double)it->velocity[axis][8 * r + lane];
                sum += grid_face_is_free(grid, axis, cell[0] + lane, cell[1], cell[2]) ? 0.5 * u * u : 0.0;
            }
        }
    }
    return sum;
}

static void stress_stays_inside_the_yield_set(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        Case it;
        rubble_make(&it, seed);
        case_randomise(&it, 10 * seed, 2.0);
        WadiArena arena = { 0 };
        WadiFrictionReport report;
        WadiFrictionSettings settings = settings_of(0.125, 25, true);
        const WadiFriction *friction = case_solve(&it, &settings, &arena, &report);
        int64_t at_yield = 0, facets_at_yield = 0, facets = 0;
        for (int32_t r = 1; r < it.grid.rows.count; ++r) {
            int32_t cell[3];
            wadi_rows_cell(&it.grid.rows, r, cell);
            for (int lane = 0; lane < 8; ++lane) {
                size_t at = 8 * (size_t)r + (size_t)lane;
                double stress = wadi_friction_stress(friction, r, lane);
                if ((it.grid.fluid[r] >> lane & 1) == 0) {
                    assert_true(stress == 0.0);
                    continue;
                }
                double p = fmax(it.pressure[at], 0.0);
                double yield = (double)it.k[at] * p + (double)it.cohesion[at];
                CHECK_AT_MOST(stress, yield * (1.0 + 1e-6) + 1e-30);
                at_yield += stress > 0.999 * yield;
                for (int side = 0; side < 6; ++side) {
                    double traction = wadi_friction_traction(friction, r, lane, side);
                    CHECK_AT_MOST(traction, 0.5 * p * (1.0 + 1e-6) + 1e-30);
                    facets += traction > 0.0;
                    facets_at_yield += traction > 0.0 && traction > 0.999 * 0.5 * p;
                }
            }
        }
        /* The bounds were met by reaching them, not by doing nothing. */
        assert_true(at_yield > it.grid.fluid_cells / 10 && at_yield < it.grid.fluid_cells);
        assert_true(facets_at_yield > 10 && facets_at_yield < facets);
        wadi_arena_free(&arena);
        grid_free(&it.grid);
    }
}

/* Cells with any number of edges, of sand far too weak for the noise that moves it: the bound is reached, not
 * only respected. */
static void weak_sand_yields_everywhere(void **unused)
{
    (void)unused;
    Case it;
    rubble_make(&it, 5);
    case_randomise(&it, 50, 1.0);
    for (size_t at = 8; at < wadi_rows_floats(&it.grid.rows); ++at) {
        it.pressure[at] = 0.01;
        it.k[at] = 0.5f;
        it.cohesion[at] = 0.0f;
    }
    WadiArena arena = { 0 };
    WadiFrictionReport report;
    WadiFrictionSettings settings = settings_of(0.125, 100, true);
    const WadiFriction *friction = case_solve(&it, &settings, &arena, &report);
    int64_t at_yield = 0;
    for (int32_t r = 1; r < it.grid.rows.count; ++r) {
        for (unsigned left = it.grid.fluid[r]; left != 0; left &= left - 1) {
            double stress = wadi_friction_stress(friction, r, __builtin_ctz(left));
            CHECK_AT_MOST(stress, 0.005 * (1.0 + 1e-6));
            at_yield += stress > 0.005 * (1.0 - 1e-4);
        }
    }
    CHECK_AT_MOST((double)(it.grid.fluid_cells - at_yield), 0.005 * (double)it.grid.fluid_cells);
    wadi_arena_free(&arena);
    grid_free(&it.grid);
}

static void energy_falls_with_the_default_step_and_rises_with_one(void **unused)
{
    (void)unused;
    int rises_with_one = 0, runs = 0;
    double growth = 0.0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        for (int kind = 0; kind < 2; ++kind) {
            for (int iterations = 1; iterations <= 41; iterations += 10) {
                for (int has_momentum = 0; has_momentum < 2; ++has_momentum) {
                    Case it;
                    if (kind == 0) {
                        rubble_make(&it, seed);
                    } else {
                        ball_make(&it, 4.0 + (double)seed);
                    }
                    case_randomise(&it, 100 + 10 * seed, seed % 2 ? 0.3 : 3.0);
                    double before = case_energy(&it);
                    WadiArena arena = { 0 };
                    WadiFrictionReport report;
                    WadiFrictionSettings settings = settings_of(0.125, iterations, has_momentum);
                    case_solve(&it, &settings, &arena, &report);
                    double after = case_energy(&it);
                    assert_int_equal(report.iterations, iterations);
                    CHECK_AT_MOST(after, before);
                    assert_true(after < 0.99 * before);
#ifdef WADI_CHECKS
                    CHECK_NEAR(report.energy_before, before, 1e-5 * before);
                    CHECK_NEAR(report.energy_after, after, 1e-5 * before);
#endif
                    for (int axis = 0; axis < 3; ++axis) {
                        memcpy(it.velocity[axis], it.start[axis],
                               wadi_rows_floats(&it.grid.rows) * sizeof(float));
                    }
                    settings = settings_of(1.0, iterations, false);
                    case_solve(&it, &settings, &arena, &report);
                    rises_with_one += case_energy(&it) > before;
                    growth = fmax(growth, case_energy(&it) / before);
                    runs += 1;
                    wadi_arena_free(&arena);
                    grid_free(&it.grid);
                }
            }
        }
    }
    print_message("a step of 1 raised the energy in %d of %d solves, up to %.3g times\n", rises_with_one,
                  runs, growth);
    assert_true(rises_with_one > 0);
}

/* Translation and rotation of a ball in the air: no strain, so no stress however strong the sand. */
static void rigid_motion_is_left_alone(void **unused)
{
    (void)unused;
    Case it;
    ball_make(&it, 6.0);
    for (int32_t r = 1; r < it.grid.rows.count; ++r) {
        int32_t cell[3];
        wadi_rows_cell(&it.grid.rows, r, cell);
        for (int lane = 0; lane < 8; ++lane) {
            double x = cell[0] + lane, y = cell[1], z = cell[2];
            size_t at = 8 * (size_t)r + (size_t)lane;
            it.start[0][at] = it.velocity[0][at] = (float)(1.0 + 0.3 * (z + 0.5) - 0.2 * (y + 0.5));
            it.start[1][at] = it.velocity[1][at] = (float)(-2.0 + 0.2 * (x + 0.5) - 0.1 * (z + 0.5));
            it.start[2][at] = it.velocity[2][at] = (float)(0.5 + 0.1 * (y + 0.5) - 0.3 * (x + 0.5));
            it.pressure[at] = 10.0;
        }
    }
    WadiArena arena = { 0 };
    WadiFrictionReport report;
    WadiFrictionSettings settings = settings_of(0.125, 30, true);
    case_solve(&it, &settings, &arena, &report);
    for (size_t at = 8; at < wadi_rows_floats(&it.grid.rows); ++at) {
        for (int axis = 0; axis < 3; ++axis) {
            CHECK_NEAR(it.velocity[axis][at], it.start[axis][at], 3e-6);
        }
    }
    wadi_arena_free(&arena);
    grid_free(&it.grid);
}

/* Chords of a rotation by an angle a step, u = (R - 1) x in cells a step, with the strain -sym(G^2) / 2 of
 * the velocity before, G = 1 - R^T: no stress. Without that strain friction takes the contraction of D(u). */
static void chords_of_a_rotation_are_no_strain(void **unused)
{
    (void)unused;
    static const int first[6] = { 0, 1, 2, 0, 0, 1 }, second[6] = { 0, 1, 2, 1, 2, 2 };
    const double axis[3] = { 0.6, 0.48, 0.64 }, angle = 0.05;
    double r[3][3], g[3][3];
    for (int n = 0; n < 9; ++n) {
        const int a = n / 3, b = n % 3, c = 3 - a - b;
        const double cross = a == b ? 0.0 : (b == (a + 1) % 3 ? -1.0 : 1.0) * axis[c];
        r[a][b] = (a == b) * cos(angle) + (1.0 - cos(angle)) * axis[a] * axis[b] + sin(angle) * cross;
    }
    for (int n = 0; n < 9; ++n) {
        g[n / 3][n % 3] = (n / 3 == n % 3) - r[n % 3][n / 3];
    }
    for (int has_turn = 0; has_turn < 2; ++has_turn) {
        Case it;
        ball_make(&it, 6.0);
        for (int n = 0; n < 6 && has_turn != 0; ++n) {
            double square = 0.0;
            for (int c = 0; c < 3; ++c) {
                square += g[first[n]][c] * g[c][second[n]] + g[second[n]][c] * g[c][first[n]];
            }
            it.turn_strain[n] = grid_floats(&it.grid, (float)(-0.25 * square));
        }
        for (int32_t row = 1; row < it.grid.rows.count; ++row) {
            int32_t cell[3];
            wadi_rows_cell(&it.grid.rows, row, cell);
            for (int n = 0; n < 24; ++n) {
                const int a = n / 8, lane = n % 8;
                double x[3] = { cell[0] + lane + 0.5, cell[1] + 0.5, cell[2] + 0.5 }, u = 0.0;
                x[a] -= 0.5;
                for (int b = 0; b < 3; ++b) {
                    u += (r[a][b] - (a == b)) * x[b];
                }
                const size_t at = 8 * (size_t)row + (size_t)lane;
                it.start[a][at] = it.velocity[a][at] = (float)u;
                it.pressure[at] = 10.0;
            }
        }
        WadiArena arena = { 0 };
        WadiFrictionReport report;
        WadiFrictionSettings settings = settings_of(0.125, 30, true);
        case_solve(&it, &settings, &arena, &report);
        double largest = 0.0;
        for (size_t at = 8; at < wadi_rows_floats(&it.grid.rows); ++at) {
            for (int a = 0; a < 3; ++a) {
                largest = fmax(largest, fabs((double)it.velocity[a][at] - (double)it.start[a][at]));
            }
        }
        print_message("with%s the strain of chords: changed by %.2g cells a step\n", has_turn ? "" : "out",
                      largest);
        if (has_turn != 0) {
            CHECK_AT_MOST(largest, 2e-5);
        } else {
            CHECK_AT_MOST(1e-3, largest);
        }
        wadi_arena_free(&arena);
        grid_free(&it.grid);
    }
}

static void friction_in_the_air_keeps_momentum(void **unused)
{
    (void)unused;
    Case it;
    ball_make(&it, 7.5);
    case_randomise(&it, 5, 1.0);
    WadiArena arena = { 0 };
    WadiFrictionReport report;
    WadiFrictionSettings settings = settings_of(0.125, 20, true);
    case_solve(&it, &settings, &arena, &report);
    for (int axis = 0; axis < 3; ++axis) {
        double sum = 0.0, size = 0.0;
        for (size_t at = 8; at < wadi_rows_floats(&it.grid.rows); ++at) {
            double change = (double)it.velocity[axis][at] - (double)it.start[axis][at];
            sum += change;
            size += fabs(change);
        }
        assert_true(size > 100.0);
        CHECK_NEAR(sum, 0.0, 1e-6 * size);
    }
    wadi_arena_free(&arena);
    grid_free(&it.grid);
}

/* One FLUID cell on a floor: both of its faces get the whole bound, in one direction or along the diagonal.
 * */
static TestCell lone_label(const void *context, int i, int j, int k)
{
    (void)context;
    return k < 0 ? CELL_SOLID : i == 0 && j == 0 && k == 0 ? CELL_FLUID : CELL_AIR;
}

static void a_lone_cell_gets_the_whole_wall_friction(void **unused)
{
    (void)unused;
    static const double direction[3][2] = { { 1.0, 0.0 }, { 0.0, -1.0 }, { 0.6, 0.8 } };
    for (int d = 0; d < 3; ++d) {
        for (int belt = 0; belt < 2; ++belt) {
            Case it;
            case_make(&it, (int[3]){ -2, -2, -2 }, (int[3]){ 3, 3, 3 }, lone_label, NULL);
            size_t here = grid_at(&it.grid, 0, 0, 0);
            size_t face[4] = { here, grid_at(&it.grid, 1, 0, 0), here, grid_at(&it.grid, 0, 1, 0) };
            /* On a belt that moves backwards, the cell at rest is dragged along: the same slip. */
            WadiFrictionWallPoint floor = { .friction = 0.5f };
            for (int axis = 0; axis < 2 && belt; ++axis) {
                floor.velocity[axis] = (float)-direction[d][axis];
            }
            for (int f = 0; f < 4; ++f) {
                float u = belt ? 0.0f : (float)direction[d][f >> 1];
                it.start[f >> 1][face[f]] = it.velocity[f >> 1][face[f]] = u;
            }
            it.pressure[here] = 0.5;
            WadiError error;
            WadiArena arena = { 0 };
            WadiFriction *friction;
            WadiFrictionGrid cells = { .rows = &it.grid.rows,
                                       .fluid = it.grid.fluid,
                                       .solid = it.grid.solid,
                                       .sample_wall = wall_same,
                                       .wall_context = &floor };
            CHECK_OK(wadi_friction_begin(&friction, &cells, NULL, 0.01, &arena, &error), error);
            WadiFrictionLoad load = { it.pressure, it.k, it.cohesion, NULL };
            const float *before[3] = { it.start[0], it.start[1], it.start[2] };
            WadiFrictionReport report;
            WadiFrictionSettings settings = settings_of(0.125, 100, true);
            CHECK_OK(wadi_friction_solve(friction, before, &load, &settings, &arena, &report, &error), error);
            wadi_friction_add(friction, it.velocity);
            for (int f = 0; f < 4; ++f) {
                double change = (double)it.velocity[f >> 1][face[f]] - (double)it.start[f >> 1][face[f]];
                CHECK_NEAR(change, -0.25 * direction[d][f >> 1], 1e-6);
            }
            /* Ten times the pressure: the slip ends, and no more. */
            it.pressure[here] = 5.0;
            for (int f = 0; f < 4; ++f) {
                it.velocity[f >> 1][face[f]] = it.start[f >> 1][face[f]];
            }
            CHECK_OK(wadi_friction_solve(friction, before, &load, &settings, &arena, &report, &error), error);
            wadi_friction_add(friction, it.velocity);
            for (int f = 0; f < 4; ++f) {
                CHECK_NEAR(it.velocity[f >> 1][face[f]], belt ? -direction[d][f >> 1] : 0.0, 1e-5);
            }
            wadi_arena_free(&arena);
            grid_free(&it.grid);
        }
    }
}

static TestCell column_label(const void *context, int i, int j, int k)
{
    (void)context;
    return k < 0 ? CELL_SOLID : i >= 0 && i < 5 && j >= 0 && j < 4 && k < 4 ? CELL_FLUID : CELL_AIR;
}

/* A column that slides to the left over a floor, or seen from a belt that goes with it. */
static WadiFrictionReport slide(Case *it, bool belt, int iterations)
{
    case_make(it, (int[3]){ -2, -2, -2 }, (int[3]){ 7, 6, 6 }, column_label, NULL);
    WadiFrictionWallPoint floor = { .friction = 0.5f, .velocity = { belt ? 1.0f : 0.0f, 0.0f, 0.0f } };
    for (int32_t r = 1; r < it->grid.rows.count; ++r) {
        int32_t cell[3];
        wadi_rows_cell(&it->grid.rows, r, cell);
        for (int lane = 0; lane < 8; ++lane) {
            size_t at = 8 * (size_t)r + (size_t)lane;
            bool moves = !belt && grid_face_is_free(&it->grid, 0, cell[0] + lane, cell[1], cell[2]);
            it->start[0][at] = it->velocity[0][at] = moves ? -1.0f : 0.0f;
            it->pressure[at] = 100.0;
        }
    }
    WadiError error;
    WadiArena arena = { 0 };
    WadiFriction *friction;
    WadiFrictionGrid cells = { .rows = &it->grid.rows,
                               .fluid = it->grid.fluid,
                               .solid = it->grid.solid,
                               .sample_wall = wall_same,
                               .wall_context = &floor };
    CHECK_OK(wadi_friction_begin(&friction, &cells, NULL, 0.01, &arena, &error), error);
    WadiFrictionLoad load = { it->pressure, it->k, it->cohesion, NULL };
    const float *before[3] = { it->start[0], it->start[1], it->start[2] };
    WadiFrictionReport report;
    WadiFrictionSettings settings = settings_of(0.125, iterations, true);
    CHECK_OK(wadi_friction_solve(friction, before, &load, &settings, &arena, &report, &error), error);
    wadi_friction_add(friction, it->velocity);
    wadi_arena_free(&arena);
    return report;
}

/* Momentum may raise the energy once, not twice in a row: the solve restarts. */
static void energy_never_rises_twice(void **unused)
{
    (void)unused;
    double last = INFINITY;
    int rises = 0, in_a_row = 0;
    for (int iterations = 1; iterations <= 200; ++iterations) {
        Case it;
        slide(&it, false, iterations);
        double energy = case_energy(&it);
        in_a_row = energy > last ? in_a_row + 1 : 0;
        rises += energy > last;
        assert_true(in_a_row < 2);
        last = energy;
        grid_free(&it.grid);
    }
    assert_true(rises > 0);
}

/* The work of the tractions on the belt counts: the same stresses, restarted at the same iterations. */
static void a_belt_is_a_floor_in_another_frame(void **unused)
{
    (void)unused;
    Case on[2];
    WadiFrictionReport report[2];
    for (int belt = 0; belt < 2; ++belt) {
        report[belt] = slide(&on[belt], belt, 200);
    }
    assert_true(report[0].restarts > 0);
    assert_int_equal(report[0].restarts, report[1].restarts);
    for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < 6; ++i) {
            size_t at = grid_at(&on[0].grid, i, 2, k);
            CHECK_NEAR(on[1].velocity[0][at] - on[0].velocity[0][at], 1.0, 1e-4);
        }
    }
    grid_free(&on[0].grid);
    grid_free(&on[1].grid);
}

static void an_empty_grid_is_solved_at_once(void **unused)
{
    (void)unused;
    WadiError error;
    WadiTileMap map = { 0 };
    WadiArena arena = { 0 };
    WadiRows rows;
    CHECK_OK(wadi_rows_build(&rows, &map, NULL, &arena, &error), error);
    static const float zero[8];
    static const double zero_pressure[8];
    static const uint8_t none[1];
    WadiFriction *friction;
    WadiFrictionGrid cells = { .rows = &rows, .fluid = none, .solid = none };
    CHECK_OK(wadi_friction_begin(&friction, &cells, NULL, 0.01, &arena, &error), error);
    int depth;
    CHECK_OK(wadi_friction_depth(friction, 2, &depth, &arena, &error), error);
    assert_int_equal(depth, 0);
    WadiFrictionSettings settings = wadi_friction_settings(depth, 0.1);
    WadiFrictionReport report;
    WadiFrictionLoad load = { zero_pressure, zero, NULL, NULL };
    const float *before[3] = { zero, zero, zero };
    CHECK_OK(wadi_friction_solve(friction, before, &load, &settings, &arena, &report, &error), error);
    assert_true(report.has_converged);
    assert_int_equal(report.iterations, 4);
    WadiFrictionMemory memory = { 0 };
    CHECK_OK(wadi_friction_store(friction, &memory, &error), error);
    wadi_friction_memory_free(&memory);
    wadi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress_stays_inside_the_yield_set),
        cmocka_unit_test(weak_sand_yields_everywhere),
        cmocka_unit_test(energy_falls_with_the_default_step_and_rises_with_one),
        cmocka_unit_test(rigid_motion_is_left_alone),
        cmocka_unit_test(chords_of_a_rotation_are_no_strain),
        cmocka_unit_test(friction_in_the_air_keeps_momentum),
        cmocka_unit_test(a_lone_cell_gets_the_whole_wall_friction),
        cmocka_unit_test(energy_never_rises_twice),
        cmocka_unit_test(a_belt_is_a_floor_in_another_frame),
        cmocka_unit_test(an_empty_grid_is_solved_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
