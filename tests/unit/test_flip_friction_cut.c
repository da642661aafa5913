/* flip: friction where faces are cut by solids or hold other densities. */
#include "core/random.h"
#include "flip/friction/flip_friction.h"
#include "flip/friction/flip_friction_rate.h"
#include "flip_test_grid.h"
#include <stdlib.h>

typedef struct Cut {
    TestGrid grid;
    float *open[3], *density[3], *velocity[3], *k;
    double *pressure;
} Cut;

static TestCell block_label(const void *context, int i, int j, int k)
{
    const int *high = context;
    return i >= 0 && i < high[0] && j >= 0 && j < high[1] && k >= 0 && k < high[2] ? CELL_FLUID : CELL_AIR;
}

static double unit(uint64_t seed, size_t at)
{
    return wadi_random_unit(seed, at, WADI_RANDOM_TEST);
}

/* `context`: velocity of the walls, or NULL. */
static WadiFrictionWallPoint sample_random_wall(const void *context, const double at[3])
{
    const float *wind = context;
    uint64_t id =
        (uint64_t)(2.0 * (at[0] + 64.0) + 256.0 * 2.0 * (at[1] + 64.0) + 65536.0 * 2.0 * (at[2] + 64.0));
    float aligned = wadi_random_unit(7, id, WADI_RANDOM_TEST) < 0.3 ? 1.0f : 0.5f;
    WadiFrictionWallPoint wall = { .friction = 0.5f, .normal = { aligned, aligned, aligned } };
    for (int axis = 0; axis < 3 && wind != NULL; ++axis) {
        wall.velocity[axis] = wind[axis];
    }
    return wall;
}

/* A block of 12 x 9 x 7 cells. Open parts: a third closed, a third wholly open, a third anything from
 * 0.02. */
static void cut_make(Cut *cut, uint64_t seed, bool has_solids, bool has_densities)
{
    int high[3] = { 12, 9, 7 };
    grid_make(&cut->grid, (int[3]){ -2, -2, -2 }, (int[3]){ 15, 12, 10 }, block_label, high);
    size_t count = wadi_rows_floats(&cut->grid.rows);
    cut->k = grid_floats(&cut->grid, 0.6f);
    cut->pressure = grid_alloc(&cut->grid, count, sizeof *cut->pressure);
    for (int axis = 0; axis < 3; ++axis) {
        cut->open[axis] = grid_floats(&cut->grid, 1.0f);
        cut->density[axis] = grid_floats(&cut->grid, 1600.0f);
        cut->velocity[axis] = grid_floats(&cut->grid, 0.0f);
    }
    for (size_t at = 8; at < count; ++at) {
        cut->pressure[at] = 0.2 * unit(seed, at);
        for (uint64_t axis = 0; axis < 3; ++axis) {
            double kind = unit(seed + 2 + axis, at), part = 0.02 + 0.98 * unit(seed + 5 + axis, at);
            if (has_solids) {
                cut->open[axis][at] = kind < 0.33 ? 0.0f : kind < 0.66 ? 1.0f : (float)part;
            }
            cut->density[axis][at] =
                has_densities ? (float)(800.0 + 2400.0 * unit(seed + 11 + axis, at)) : 1600.0f;
            bool is_open = cut->open[axis][at] > 0.0f;
            cut->velocity[axis][at] = is_open ? (float)(2.0 * unit(seed + 8 + axis, at) - 1.0) : 0.0f;
        }
    }
}

/* 1/2 sum m u^2 over free faces, m as the pressure has it. */
static double cut_energy(const Cut *cut)
{
    double sum = 0.0;
    for (int k = 0; k < 8; ++k) {
        for (int j = 0; j < 10; ++j) {
            for (int i = 0; i < 13; ++i) {
                for (int axis = 0; axis < 3; ++axis) {
                    int low[3] = { i - (axis == 0), j - (axis == 1), k - (axis == 2) };
                    bool here = grid_kind(&cut->grid, i, j, k) == CELL_FLUID;
                    bool there = grid_kind(&cut->grid, low[0], low[1], low[2]) == CELL_FLUID;
                    if (here || there) {
                        size_t at = grid_at(&cut->grid, i, j, k);
                        double density = (double)cut->density[axis][at] / 1600.0;
                        double u = (double)cut->velocity[axis][at];
                        sum += 0.5 * (double)cut->open[axis][at] * density * u * u;
                    }
                }
            }
        }
    }
    return sum;
}

/* Open parts of the sides of a cell. */
static void cut_sides(const Cut *cut, int32_t row, int lane, double side[6])
{
    int32_t cell[3];
    wadi_rows_cell(&cut->grid.rows, row, cell);
    for (int axis = 0; axis < 3; ++axis) {
        int i = cell[0] + lane, j = cell[1], k = cell[2];
        int to[3] = { i + (axis == 0), j + (axis == 1), k + (axis == 2) };
        side[2 * axis] = (double)cut->open[axis][grid_at(&cut->grid, i, j, k)];
        side[2 * axis + 1] = (double)cut->open[axis][grid_at(&cut->grid, to[0], to[1], to[2])];
    }
}

/* Area of the wall across a cell, in cell sides. */
static double cut_area(const Cut *cut, int32_t row, int lane)
{
    double side[6], square = 0.0;
    cut_sides(cut, row, lane, side);
    for (int axis = 0; axis < 3; ++axis) {
        square += pow(side[2 * axis + 1] - side[2 * axis], 2.0);
    }
    return sqrt(square);
}

/* Whatever the walls and masses, a solve removes energy, at every iteration count; stresses stay inside. */
static void friction_on_cut_cells_removes_energy(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 24; ++seed) {
        for (int kind = 1; kind < 4; ++kind) {
            WadiError error;
            Cut cut;
            cut_make(&cut, 100 * seed, kind & 1, kind & 2);
            WadiArena arena = { 0 };
            WadiFrictionGrid grid = { .rows = &cut.grid.rows,
                                      .fluid = cut.grid.fluid,
                                      .solid = cut.grid.solid,
                                      .open = { cut.open[0], cut.open[1], cut.open[2] },
                                      .sample_wall = sample_random_wall,
                                      .density = { cut.density[0], cut.density[1], cut.density[2] },
                                      .reference_density = 1600.0 };
            WadiFriction *friction;
            CHECK_OK(wadi_friction_begin(&friction, &grid, NULL, 0.01, &arena, &error), error);
            WadiFrictionLoad load = { .pressure = cut.pressure, .k = cut.k };
            WadiFrictionSettings settings = { .alpha = 0.125,
                                              .min_iterations = 1,
                                              .max_iterations = 1 + 6 * (int)(seed % 8),
                                              .has_momentum = seed % 3 != 0 };
            WadiFrictionReport report;
            const float *before[3] = { cut.velocity[0], cut.velocity[1], cut.velocity[2] };
            double start = cut_energy(&cut);
            CHECK_OK(wadi_friction_solve(friction, before, &load, &settings, &arena, &report, &error), error);
            wadi_friction_add(friction, cut.velocity);
            CHECK_AT_MOST(cut_energy(&cut), 0.999 * start);
            int at_yield = 0, walls = 0;
            for (int32_t r = 1; r < cut.grid.rows.count; ++r) {
                for (int lane = 0; lane < 8; ++lane) {
                    double p = cut.pressure[8 * r + lane], stress = wadi_friction_stress(friction, r, lane);
                    if (cut.grid.fluid[r] >> lane & 1) {
                        CHECK_AT_MOST(stress, 0.6 * p * (1.0 + 1e-5) + 1e-30);
                        at_yield += stress > 0.59 * p;
                        double traction = wadi_friction_traction(friction, r, lane, 6);
                        CHECK_AT_MOST(traction, 0.5 * p * cut_area(&cut, r, lane) * (1.0 + 1e-5) + 1e-30);
                        walls += traction > 0.0;
                    }
                }
            }
            assert_true(at_yield > 100 || settings.max_iterations < 6);
            assert_true((walls > 50) == (kind & 1));
            wadi_arena_free(&arena);
            grid_free(&cut.grid);
        }
    }
}

/* Solves and adds the result to cut->velocity. `wind` is the velocity of all walls. */
static WadiFrictionReport cut_solve(Cut *cut, const float wind[3], int iterations)
{
    WadiError error;
    WadiArena arena = { 0 };
    WadiFrictionGrid grid = { .rows = &cut->grid.rows,
                              .fluid = cut->grid.fluid,
                              .solid = cut->grid.solid,
                              .open = { cut->open[0], cut->open[1], cut->open[2] },
                              .sample_wall = sample_random_wall,
                              .wall_context = wind,
                              .density = { cut->density[0], cut->density[1], cut->density[2] },
                              .reference_density = 1600.0 };
    WadiFriction *friction;
    CHECK_OK(wadi_friction_begin(&friction, &grid, NULL, 0.01, &arena, &error), error);
    WadiFrictionLoad load = { .pressure = cut->pressure, .k = cut->k };
    WadiFrictionSettings settings = {
        .alpha = 0.125, .min_iterations = 1, .max_iterations = iterations, .has_momentum = true
    };
    WadiFrictionReport report;
    const float *before[3] = { cut->velocity[0], cut->velocity[1], cut->velocity[2] };
    CHECK_OK(wadi_friction_solve(friction, before, &load, &settings, &arena, &report, &error), error);
    wadi_friction_add(friction, cut->velocity);
    wadi_arena_free(&arena);
    return report;
}

/* Twice the density and twice the pressure: the same motion. */
static void heavy_sand_moves_like_light_sand(void **unused)
{
    (void)unused;
    Cut cut[2];
    for (int n = 0; n < 2; ++n) {
        cut_make(&cut[n], 5, true, false);
        for (size_t at = 8; at < wadi_rows_floats(&cut[n].grid.rows); ++at) {
            for (int axis = 0; axis < 3; ++axis) {
                cut[n].density[axis][at] *= n == 0 ? 1.0f : 2.0f;
            }
            cut[n].pressure[at] *= n == 0 ? 1.0 : 2.0;
        }
        cut_solve(&cut[n], NULL, 2000);
    }
    for (int axis = 0; axis < 3; ++axis) {
        for (size_t at = 8; at < wadi_rows_floats(&cut[0].grid.rows); ++at) {
            CHECK_NEAR(cut[1].velocity[axis][at], cut[0].velocity[axis][at], 0.02);
        }
    }
    grid_free(&cut[0].grid);
    grid_free(&cut[1].grid);
}

/* Sand and walls that all move along: the same stresses, restarted at the same iterations. So the restart
 * test must include the work on moving walls and closed faces. */
static void a_moving_frame_changes_nothing(void **unused)
{
    (void)unused;
    static const float wind[3] = { 1.5f, -2.0f, 0.5f };
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        Cut cut[2];
        WadiFrictionReport report[2];
        for (int n = 0; n < 2; ++n) {
            cut_make(&cut[n], 100 * seed, true, seed % 2);
            for (size_t at = 8; at < wadi_rows_floats(&cut[n].grid.rows); ++at) {
                cut[n].pressure[at] *= 20.0;
                for (int axis = 0; axis < 3; ++axis) {
                    cut[n].velocity[axis][at] += n == 0 ? 0.0f : wind[axis];
                }
            }
            report[n] = cut_solve(&cut[n], n == 0 ? NULL : wind, 60);
        }
        assert_int_equal(report[1].restarts, report[0].restarts);
        for (int axis = 0; axis < 3; ++axis) {
            for (size_t at = 8; at < wadi_rows_floats(&cut[0].grid.rows); ++at) {
                CHECK_NEAR(cut[1].velocity[axis][at], cut[0].velocity[axis][at] + wind[axis], 2e-4);
            }
        }
        grid_free(&cut[0].grid);
        grid_free(&cut[1].grid);
    }
}

/* Simple shear u = G z: 2 |D| = G, so I = G d / sqrt(p / rho); at I = I_0 half of the difference is
 * reached. */
static void slopes_follow_the_rate_of_shear(void **unused)
{
    (void)unused;
    Cut cut;
    cut_make(&cut, 1, false, false);
    const double cell_size = 0.02, dt = 0.004, grain = 0.001, shear = 40.0;
    double p = pow(shear * grain / 0.3, 2); /* over rho */
    for (int32_t r = 1; r < cut.grid.rows.count; ++r) {
        int32_t cell[3];
        wadi_rows_cell(&cut.grid.rows, r, cell);
        for (int lane = 0; lane < 8; ++lane) {
            size_t at = 8 * (size_t)r + (size_t)lane;
            cut.velocity[0][at] = (float)(shear * cell_size * cell[2]);
            cut.velocity[1][at] = cut.velocity[2][at] = 0.0f;
            cut.pressure[at] = p * dt / cell_size;
        }
    }
    size_t floats = wadi_rows_floats(&cut.grid.rows);
    float *ratio = malloc(floats * sizeof *ratio), *size = malloc(floats * sizeof *size);
    assert_true(ratio != NULL && size != NULL);
    for (size_t i = 0; i < floats; ++i) {
        ratio[i] = 1.5f;
        size[i] = (float)grain;
    }
    WadiFrictionRateIn in = { .rows = &cut.grid.rows,
                              .fluid = cut.grid.fluid,
                              .velocity = { cut.velocity[0], cut.velocity[1], cut.velocity[2] },
                              .pressure = cut.pressure,
                              .cell_size = cell_size,
                              .dt = dt,
                              .gravity_dt = 9.81 * dt,
                              .ratio = ratio,
                              .grain_size = size,
                              .inertial_number = 0.3 };
    wadi_friction_rate(&in, cut.k);
    free(ratio);
    free(size);
    for (int32_t r = 1; r < cut.grid.rows.count; ++r) {
        for (int lane = 0; lane < 8; ++lane) {
            bool is_fluid = cut.grid.fluid[r] >> lane & 1;
            CHECK_NEAR(cut.k[8 * r + lane], is_fluid ? 0.6 * 1.25 : 0.6, 1e-5);
        }
    }
    grid_free(&cut.grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_on_cut_cells_removes_energy),
        cmocka_unit_test(heavy_sand_moves_like_light_sand),
        cmocka_unit_test(a_moving_frame_changes_nothing),
        cmocka_unit_test(slopes_follow_the_rate_of_shear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
