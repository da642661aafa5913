/* flip: the friction solve step by step: same bytes for any thread count, stresses of the last step, failing
 * memory, cost. */
#include <time.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "failing_alloc.h"
#include "friction_case.h"

static WadiStatus solve_once(Case *it, const WadiFrictionMemory *from, double dt, int iterations,
                             WadiFrictionMemory *memory, WadiError *error)
{
    WadiArena arena = { 0 };
    WadiFriction *friction;
    WadiFrictionGrid cells = {
        .rows = &it->grid.rows, .fluid = it->grid.fluid, .solid = it->grid.solid, .sample_wall = wall_half
    };
    WadiStatus status = wadi_friction_begin(&friction, &cells, from, dt, &arena, error);
    if (status == WADI_OK && iterations > 0) {
        WadiFrictionLoad load = { it->pressure, it->k, it->cohesion, NULL };
        const float *before[3] = { it->start[0], it->start[1], it->start[2] };
        WadiFrictionReport report;
        WadiFrictionSettings settings = settings_of(0.125, iterations, true);
        status = wadi_friction_solve(friction, before, &load, &settings, &arena, &report, error);
    }
    if (status == WADI_OK) {
        wadi_friction_add(friction, it->velocity);
        status = wadi_friction_store(friction, memory, error);
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
            float *expected = first + (size_t)axis * wadi_rows_floats(&it.grid.rows);
            if (t == 0) {
                memcpy(expected, it.velocity[axis], bytes);
            }
            assert_memory_equal(expected, it.velocity[axis], bytes);
        }
        wadi_friction_memory_free(&memory);
    }
    wadi_parallel_set_threads(0);
    grid_free(&it.grid);
}

/* Stored on one grid, recalled on another with other tiles: cells with sand on both have the same stress,
 * scaled by dt. */
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
    CHECK_OK(wadi_friction_memory_save(&memory, "friction", &state, &error), error);
    CHECK_OK(wadi_friction_memory_load(&loaded, "friction", &state, &error), error);
    const WadiTileMemory *stress = &memory.stress;
    assert_int_equal(loaded.stress.row_count, stress->row_count);
    assert_memory_equal(loaded.stress.value, stress->value, stress->row_count * sizeof(float[112]));
    assert_memory_equal(loaded.stress.first, stress->first, stress->tile_count * sizeof *stress->first);
    assert_memory_equal(loaded.wall, memory.wall, stress->row_count * sizeof *memory.wall);
    assert_memory_equal(loaded.traction, memory.traction, memory.wall_count * sizeof *memory.traction);
    for (int a = 0; a < state.count; ++a) {
        if (strcmp(state.array[a].name, "friction_mask") == 0) {
            ((uint64_t *)state.array[a].data)[0] ^= 1;
        }
    }
    assert_int_equal(wadi_friction_memory_load(&loaded, "friction", &state, &error), WADI_ERR_FORMAT);
    assert_true(loaded.stress.dt == 0.0);
    wadi_state_free(&state);
    wadi_friction_memory_free(&memory);
    wadi_friction_memory_free(&recalled);
    wadi_friction_memory_free(&loaded);
    grid_free(&it.grid);
    grid_free(&other.grid);
}

static void every_failed_allocation_is_reported(void **unused)
{
    (void)unused;
    wadi_set_allocator(&failing_allocator);
    Case it;
    uint64_t seed = 1;
    alloc_fails_at = 0;
    rubble_make(&it, seed);
    case_randomise(&it, 2, 0.5);
    size_t live = wadi_alloc_live_bytes();
    WadiError error;
    int failures = 0;
    for (int n = 1;; ++n) {
        WadiFrictionMemory memory = { 0 };
        alloc_calls = 0;
        alloc_fails_at = n;
        WadiStatus status = solve_once(&it, NULL, 0.01, 4, &memory, &error);
        alloc_fails_at = 0;
        assert_true(status == WADI_OK || memory.stress.dt == 0.0);
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

/* Asserts nothing: prints the cost of an iteration, and those of begin (with a warm start) and store in
 * iterations. */
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
            double best = INFINITY, begin = INFINITY, store = INFINITY;
            for (int repeat = 0; repeat < 4; ++repeat) {
                WadiError error;
                WadiFriction *friction;
                WadiFrictionGrid cells = { .rows = &it.grid.rows,
                                           .fluid = it.grid.fluid,
                                           .solid = it.grid.solid,
                                           .sample_wall = wall_half };
                CHECK_OK(wadi_arena_reset(&arena, &error), error);
                double time = seconds();
                CHECK_OK(wadi_friction_begin(&friction, &cells, &memory, 0.01, &arena, &error), error);
                begin = fmin(begin, seconds() - time);
                WadiFrictionLoad load = { it.pressure, it.k, it.cohesion, NULL };
                const float *before[3] = { it.start[0], it.start[1], it.start[2] };
                WadiFrictionReport report;
                WadiFrictionSettings settings = settings_of(0.125, ITERATIONS, true);
                time = seconds();
                CHECK_OK(wadi_friction_solve(friction, before, &load, &settings, &arena, &report, &error),
                         error);
                best = fmin(best, (seconds() - time) / ITERATIONS);
                time = seconds();
                CHECK_OK(wadi_friction_store(friction, &memory, &error), error);
                store = fmin(store, seconds() - time);
                assert_int_equal(report.iterations, ITERATIONS);
            }
            print_message(
                "%lld cells, %d threads: %.1f ns a cell and iteration; begin %.1f, store %.1f iterations\n",
                (long long)it.grid.fluid_cells, threads, 1e9 * best / (double)it.grid.fluid_cells,
                begin / best, store / best);
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
        cmocka_unit_test(any_thread_count_gives_the_same_bytes),
        cmocka_unit_test(stresses_are_carried_across_changing_rows),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(the_cost_of_an_iteration_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
