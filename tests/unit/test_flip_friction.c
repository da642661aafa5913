/* flip: the friction solve on small grids whose answers are known. */
#include <time.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "core/random.h"
#include "flip/flip_friction.h"
#include "flip_test_grid.h"

typedef struct Case {
    TestGrid grid;
    float *velocity[3], *k, *cohesion, *start[3];
    double *pressure;
} Case;

static void case_make(Case *it, const int low[3], const int high[3], TestLabel label, const void *context)
{
    grid_make(&it->grid, low, high, label, context);
    for (int axis = 0; axis < 3; ++axis) {
        it->velocity[axis] = grid_floats(&it->grid, 0.0f);
        it->start[axis] = grid_floats(&it->grid, 0.0f);
    }
    it->k = grid_floats(&it->grid, 0.5f);
    it->cohesion = grid_floats(&it->grid, 0.0f);
    it->pressure = grid_alloc(&it->grid, wadi_rows_floats(&it->grid.rows), sizeof *it->pressure);
}

static WadiFrictionWallPoint ask_same(const void *context, const double at[3])
{
    (void)at;
    return *(const WadiFrictionWallPoint *)context;
}

/* mu 1/2, at rest. */
static WadiFrictionWallPoint ask_half(const void *context, const double at[3])
{
    (void)context, (void)at;
    return (WadiFrictionWallPoint){ .friction = 0.5f };
}

static double random_signed(uint64_t seed, uint64_t id)
{
    return 2.0 * wadi_random_unit(seed, id, WADI_RANDOM_TEST) - 1.0;
}

/* Closed faces rest, all others get noise; pressures, slopes and cohesion vary from cell to cell. */
static void case_randomise(Case *it, uint64_t seed, double pressure)
{
    const TestGrid *grid = &it->grid;
    for (int32_t r = 1; r < grid->rows.count; ++r) {
        int32_t cell[3];
        wadi_rows_cell(&grid->rows, r, cell);
        for (int lane = 0; lane < 8; ++lane) {
            uint64_t at = 8 * (uint64_t)r + (uint64_t)lane;
            for (int axis = 0; axis < 3; ++axis) {
                bool is_free = grid_face_is_free(grid, axis, cell[0] + lane, cell[1], cell[2]);
                it->velocity[axis][at] = is_free ? (float)random_signed(seed + (uint64_t)axis, at) : 0.0f;
                it->start[axis][at] = it->velocity[axis][at];
            }
            it->pressure[at] = pressure * (random_signed(seed + 3, at) + 0.8);
            it->k[at] = (float)(0.6 + 0.3 * random_signed(seed + 4, at));
            it->cohesion[at] = (float)(0.02 * (1.0 + random_signed(seed + 5, at)));
        }
    }
}

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

static WadiFrictionSettings settings_of(double alpha, int iterations, bool has_momentum)
{
    return (WadiFrictionSettings){ alpha, 0.0, 1, iterations, has_momentum };
}

static WadiFriction *case_solve(Case *it, const WadiFrictionSettings *settings, WadiArena *arena,
                                WadiFrictionReport *report)
{
    WadiError error;
    WadiFriction *friction;
    WadiFrictionGrid cells = {
        .rows = &it->grid.rows, .fluid = it->grid.fluid, .solid = it->grid.solid, .ask = ask_half
    };
    CHECK_OK(wadi_friction_begin(&friction, &cells, NULL, 0.01, arena, &error), error);
    WadiFrictionLoad load = { it->pressure, it->k, it->cohesion };
    const float *before[3] = { it->start[0], it->start[1], it->start[2] };
    CHECK_OK(wadi_friction_solve(friction, before, &load, settings, arena, report, &error), error);
    wadi_friction_add(friction, it->velocity);
    return friction;
}

/* A ball in the air, across tile borders and negative coordinates. */
static TestCell ball_label(const void *context, int i, int j, int k)
{
    double radius = *(const double *)context;
    double x = i + 0.5, y = j + 0.5, z = k + 0.5;
    return x * x + y * y + z * z < radius * radius ? CELL_FLUID : CELL_AIR;
}

static void ball_make(Case *it, double radius)
{
    int n = (int)radius + 3;
    case_make(it, (int[3]){ -n, -n, -n }, (int[3]){ n, n, n }, ball_label, &radius);
}

/* Random sand in a box of solid walls with a pillar: every kind of edge and facet. */
static TestCell rubble_label(const void *context, int i, int j, int k)
{
    uint64_t seed = *(const uint64_t *)context;
    if (i < -4 || i > 12 || j < 0 || j > 9 || k < 0 || k > 8 || (i == 3 && j > 2 && j < 6)) {
        return CELL_SOLID;
    }
    uint64_t at = (uint64_t)(i + 8 + 32 * (j + 8) + 1024 * (k + 8));
    return wadi_random_unit(seed, at, WADI_RANDOM_TEST) < 0.75 ? CELL_FLUID : CELL_AIR;
}

static void rubble_make(Case *it, uint64_t seed)
{
    case_make(it, (int[3]){ -6, -2, -2 }, (int[3]){ 15, 12, 11 }, rubble_label, &seed);
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
                                       .ask = ask_same,
                                       .ask_context = &floor };
            CHECK_OK(wadi_friction_begin(&friction, &cells, NULL, 0.01, &arena, &error), error);
            WadiFrictionLoad load = { it.pressure, it.k, it.cohesion };
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

static WadiStatus solve_once(Case *it, const WadiFrictionMemory *from, double dt, int iterations,
                             WadiFrictionMemory *memory, WadiError *error)
{
    WadiArena arena = { 0 };
    WadiFriction *friction;
    WadiFrictionGrid cells = {
        .rows = &it->grid.rows, .fluid = it->grid.fluid, .solid = it->grid.solid, .ask = ask_half
    };
    WadiStatus status = wadi_friction_begin(&friction, &cells, from, dt, &arena, error);
    if (status == WADI_OK && iterations > 0) {
        WadiFrictionLoad load = { it->pressure, it->k, it->cohesion };
        const float *before[3] = { it->start[0], it->start[1], it->start[2] };
        WadiFrictionReport report;
        WadiFrictionSettings settings = settings_of(0.125, iterations, true);
        status = wadi_friction_solve(friction, before, &load, &settings, &arena, &report, error);
    }
    if (status == WADI_OK) {
        wadi_friction_add(friction, it->velocity);
        status = wadi_friction_keep(friction, memory, error);
    }
    wadi_arena_free(&arena);
    return status;
}

static void any_thread_count_gives_the_same_bytes(void **unused)
{
    (void)unused;
    static const int threads[3] = { 1, 2, 5 };
    WadiError error;
    Case it;
    ball_make(&it, 14.0);
    case_randomise(&it, 3, 0.5);
    size_t bytes = wadi_rows_floats(&it.grid.rows) * sizeof(float);
    float *first = grid_alloc(&it.grid, 3, bytes);
    for (int t = 0; t < 3; ++t) {
        wadi_parallel_set_threads(threads[t]);
        WadiFrictionMemory memory = { 0 };
        for (int axis = 0; axis < 3; ++axis) {
            memcpy(it.velocity[axis], it.start[axis], bytes);
        }
        CHECK_OK(solve_once(&it, NULL, 0.01, 12, &memory, &error), error);
        for (int axis = 0; axis < 3; ++axis) {
            float *kept = first + (size_t)axis * wadi_rows_floats(&it.grid.rows);
            if (t == 0) {
                memcpy(kept, it.velocity[axis], bytes);
            }
            assert_memory_equal(kept, it.velocity[axis], bytes);
        }
        wadi_friction_memory_free(&memory);
    }
    wadi_parallel_set_threads(0);
    grid_free(&it.grid);
}

/* Kept on one grid, recalled on another with other tiles: where sand still is the stress is the same, scaled
 * by the step. */
static TestCell lower_ball_label(const void *context, int i, int j, int k)
{
    return k < 2 ? ball_label(context, i, j, k) : CELL_AIR;
}

static void stresses_are_carried_across_changing_rows(void **unused)
{
    (void)unused;
    WadiError error;
    Case it, other;
    double radius = 6.0;
    ball_make(&it, radius);
    case_randomise(&it, 9, 0.5);
    WadiFrictionMemory memory = { 0 }, recalled = { 0 };
    CHECK_OK(solve_once(&it, NULL, 0.01, 10, &memory, &error), error);
    case_make(&other, (int[3]){ -20, -9, -9 }, (int[3]){ 9, 17, 9 }, lower_ball_label, &radius);
    CHECK_OK(solve_once(&other, &memory, 0.02, 0, &recalled, &error), error);
    int compared = 0;
    for (int k = -6; k < 0; ++k) {
        for (int j = -6; j < 6; ++j) {
            for (int i = -6; i < 6; ++i) {
                for (int axis = 0; axis < 3; ++axis) {
                    size_t at = grid_at(&it.grid, i, j, k), to = grid_at(&other.grid, i, j, k);
                    double force = (double)it.velocity[axis][at] - (double)it.start[axis][at];
                    CHECK_NEAR((double)other.velocity[axis][to], 2.0 * force, 1e-6);
                    compared += fabs(force) > 1e-3;
                }
            }
        }
    }
    assert_true(compared > 500);
    /* Through a checkpoint: the same bytes; and a damaged one is refused. */
    WadiState state = { 0 };
    WadiFrictionMemory loaded = { 0 };
    CHECK_OK(wadi_friction_memory_save(&memory, &state, &error), error);
    CHECK_OK(wadi_friction_memory_load(&loaded, &state, &error), error);
    assert_int_equal(loaded.row_count, memory.row_count);
    assert_memory_equal(loaded.stress, memory.stress, memory.row_count * sizeof *memory.stress);
    assert_memory_equal(loaded.first, memory.first, memory.tile_count * sizeof *memory.first);
    for (int a = 0; a < state.count; ++a) {
        if (strcmp(state.array[a].name, "friction_mask") == 0) {
            ((uint64_t *)state.array[a].data)[0] ^= 1;
        }
    }
    assert_int_equal(wadi_friction_memory_load(&loaded, &state, &error), WADI_ERR_FORMAT);
    assert_true(loaded.dt == 0.0);
    wadi_state_free(&state);
    wadi_friction_memory_free(&memory);
    wadi_friction_memory_free(&recalled);
    wadi_friction_memory_free(&loaded);
    grid_free(&it.grid);
    grid_free(&other.grid);
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
    WadiFrictionLoad load = { zero_pressure, zero, NULL };
    const float *before[3] = { zero, zero, zero };
    CHECK_OK(wadi_friction_solve(friction, before, &load, &settings, &arena, &report, &error), error);
    assert_true(report.has_converged);
    assert_int_equal(report.iterations, 4);
    WadiFrictionMemory memory = { 0 };
    CHECK_OK(wadi_friction_keep(friction, &memory, &error), error);
    wadi_friction_memory_free(&memory);
    wadi_arena_free(&arena);
}

static long calls, fail_at;

static void *failing_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    if (++calls == fail_at) {
        return NULL;
    }
    return aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

static void plain_free(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}

static void every_failed_allocation_is_reported(void **unused)
{
    (void)unused;
    WadiAllocator allocator = { failing_alloc, plain_free, NULL };
    wadi_set_allocator(&allocator);
    Case it;
    uint64_t seed = 1;
    fail_at = 0;
    rubble_make(&it, seed);
    case_randomise(&it, 2, 0.5);
    size_t live = wadi_alloc_live_bytes();
    WadiError error;
    int failures = 0;
    for (int n = 1;; ++n) {
        WadiFrictionMemory memory = { 0 };
        calls = 0;
        fail_at = n;
        WadiStatus status = solve_once(&it, NULL, 0.01, 4, &memory, &error);
        fail_at = 0;
        assert_true(status == WADI_OK || memory.dt == 0.0);
        wadi_friction_memory_free(&memory);
        assert_int_equal(wadi_alloc_live_bytes(), live);
        if (status == WADI_OK) {
            break;
        }
        assert_int_equal(status, WADI_ERR_MEMORY);
        failures += 1;
    }
    assert_true(failures > 5);
    grid_free(&it.grid);
    wadi_set_allocator(NULL);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Not a gate: prints what an iteration costs, and in iterations what begin (with a warm start) and keep do.
 * */
static void the_cost_of_an_iteration_is_printed(void **unused)
{
    (void)unused;
#ifdef WADI_CHECKS
    enum { SIZES = 1, ITERATIONS = 4 };
#else
    enum { SIZES = 2, ITERATIONS = 40 };
#endif
    for (int n = 0; n < SIZES; ++n) {
        Case it;
        ball_make(&it, n == 0 ? 20.0 : 40.0);
        case_randomise(&it, 1, 0.5);
        WadiFrictionMemory memory = { 0 };
        WadiArena arena = { 0 };
        for (int threads = 1; threads <= 2; ++threads) {
            wadi_parallel_set_threads(threads);
            double best = INFINITY, begin = INFINITY, keep = INFINITY;
            for (int repeat = 0; repeat < 4; ++repeat) {
                WadiError error;
                WadiFriction *friction;
                WadiFrictionGrid cells = {
                    .rows = &it.grid.rows, .fluid = it.grid.fluid, .solid = it.grid.solid, .ask = ask_half
                };
                CHECK_OK(wadi_arena_reset(&arena, &error), error);
                double time = seconds();
                CHECK_OK(wadi_friction_begin(&friction, &cells, &memory, 0.01, &arena, &error), error);
                begin = fmin(begin, seconds() - time);
                WadiFrictionLoad load = { it.pressure, it.k, it.cohesion };
                const float *before[3] = { it.start[0], it.start[1], it.start[2] };
                WadiFrictionReport report;
                WadiFrictionSettings settings = settings_of(0.125, ITERATIONS, true);
                time = seconds();
                CHECK_OK(wadi_friction_solve(friction, before, &load, &settings, &arena, &report, &error),
                         error);
                best = fmin(best, (seconds() - time) / ITERATIONS);
                time = seconds();
                CHECK_OK(wadi_friction_keep(friction, &memory, &error), error);
                keep = fmin(keep, seconds() - time);
                assert_int_equal(report.iterations, ITERATIONS);
            }
            print_message(
                "%lld cells, %d threads: %.1f ns a cell and iteration; begin %.1f, keep %.1f iterations\n",
                (long long)it.grid.fluid_cells, threads, 1e9 * best / (double)it.grid.fluid_cells,
                begin / best, keep / best);
        }
        wadi_parallel_set_threads(0);
        wadi_friction_memory_free(&memory);
        wadi_arena_free(&arena);
        grid_free(&it.grid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress_stays_inside_the_yield_set),
        cmocka_unit_test(energy_falls_with_the_default_step_and_rises_with_one),
        cmocka_unit_test(rigid_motion_is_left_alone),
        cmocka_unit_test(friction_in_the_air_keeps_momentum),
        cmocka_unit_test(a_lone_cell_gets_the_whole_wall_friction),
        cmocka_unit_test(any_thread_count_gives_the_same_bytes),
        cmocka_unit_test(stresses_are_carried_across_changing_rows),
        cmocka_unit_test(an_empty_grid_is_solved_at_once),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(the_cost_of_an_iteration_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
