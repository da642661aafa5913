/* flip: transfers far away, on any number of threads, with nothing to transfer, with failing memory, and what
 * they cost. WADI_LONG=1 asserts the times. */
#include <stdlib.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "core/parallel.h"
#include "core/timer.h"
#include "failing_alloc.h"
#include "flip_fixture.h"

static const float two_masses[2] = { 1.0f, 2.5f };

/* All results of a step, in the order of ids, relative to the position of the body. */
static void results_at(double far, uint64_t *hash, double *sample)
{
    Fluid fluid;
    fluid_make_ball(&fluid, 6.0, wadi_vec3(0.3, 0.4, 0.5), 0.0625);
    for (int32_t i = 0; i < fluid.particles.count; ++i) {
        fluid.particles.x[i] += far;
        fluid.particles.y[i] += far;
        fluid.particles.z[i] -= far;
    }
    fluid_set_random_velocity(&fluid);
    fluid_make_grid(&fluid);
    fluid_to_grid(&fluid, NULL, 0, false);
    WadiFlipPath path = fluid_to_particles(&fluid, 0.0, false, 0.05, 2);
    for (int32_t i = 0; i < fluid.particles.count; ++i) {
        double *to = sample + 6 * fluid.particles.id[i];
        to[0] = (double)fluid.particles.vx[i];
        to[1] = (double)fluid.particles.vy[i];
        to[2] = (double)fluid.particles.vz[i];
        to[3] = path.x[i] - far;
        to[4] = path.y[i] - far;
        to[5] = path.z[i] + far;
    }
    *hash = wadi_hash_bytes(0, fluid.particles.vx, (size_t)fluid.particles.count * sizeof(float));
    fluid_free(&fluid);
}

static void results_are_the_same_tiles_or_a_kilometre_away(void **unused)
{
    (void)unused;
    enum { VALUES = 6 * 8 * 12 * 12 * 12 };
    static double here[VALUES], there[VALUES];
    uint64_t hash;
    results_at(0.0, &hash, here);
    const double far[3] = { 4.0, 1000.0, -1000.5 }; /* m; a tile is half a metre */
    for (int n = 0; n < 3; ++n) {
        results_at(far[n], &hash, there);
        for (int i = 0; i < VALUES; ++i) {
            CHECK_NEAR(there[i], here[i], 1e-6);
        }
    }
}

static uint64_t hash_of_step(int threads, bool is_affine)
{
    wadi_parallel_set_threads(threads);
    Fluid fluid;
    fluid_make_ball(&fluid, 14.0, wadi_vec3(0.3, 0.4, 0.5), 0.1);
    fluid_set_random_velocity(&fluid);
    fluid_make_grid(&fluid);
    fluid_to_grid(&fluid, two_masses, 2, is_affine);
    fluid.grid.velocity[2][100] += 1.0f;
    WadiFlipPath path = fluid_to_particles(&fluid, is_affine ? 0.0 : 0.9, is_affine, 0.25, 3);
    size_t count = (size_t)fluid.particles.count;
    uint64_t hash = 0;
    for (int a = 0; a < 3; ++a) {
        size_t bytes = wadi_rows_floats(&fluid.grid.rows) * sizeof(float);
        hash = wadi_hash_bytes(hash, fluid.saved[a], bytes);
        hash = wadi_hash_bytes(hash, fluid.grid.face_mass[a], bytes);
    }
    hash = wadi_hash_bytes(hash, fluid.particles.vz, count * sizeof(float));
    hash = wadi_hash_bytes(hash, wadi_particles_column(&fluid.particles, fluid.affine.column[5]),
                           count * sizeof(float));
    hash = wadi_hash_bytes(hash, path.x, count * sizeof(double));
    hash = wadi_hash_bytes(hash, &path.long_paths, sizeof path.long_paths);
    fluid_free(&fluid);
    wadi_parallel_set_threads(0);
    return hash;
}

static void threads_do_not_change_a_byte(void **unused)
{
    (void)unused;
    for (int is_affine = 0; is_affine < 2; ++is_affine) {
        uint64_t one = hash_of_step(1, is_affine);
        assert_true(hash_of_step(2, is_affine) == one);
        assert_true(hash_of_step(5, is_affine) == one);
    }
}

static void nothing_and_one_particle_pass(void **unused)
{
    (void)unused;
    for (int count = 0; count < 2; ++count) {
        WadiError error;
        int32_t first;
        Fluid fluid = { .cell_size = 0.1 };
        CHECK_OK(wadi_particles_init(&fluid.particles, &error), error);
        CHECK_OK(wadi_particles_append(&fluid.particles, count, &first, &error), error);
        for (int i = 0; i < count; ++i) {
            fluid.particles.x[i] = fluid.particles.y[i] = fluid.particles.z[i] = -0.7;
            fluid.particles.vx[i] = 0.3f;
        }
        fluid_make_grid(&fluid);
        fluid_to_grid(&fluid, NULL, 0, false);
        fluid_to_particles(&fluid, 0.0, false, 0.1, 2);
        for (int i = 0; i < count; ++i) {
            CHECK_NEAR((double)fluid.particles.vx[i], (double)0.3f, 1e-7);
        }
        fluid_free(&fluid);
    }
}

static WadiStatus small_step(WadiError *error)
{
    WadiParticles particles;
    WadiArena arena = { 0 };
    WadiTileSort sort;
    WadiFlipGrid grid;
    WadiFlipPath path;
    int32_t first;
    WadiStatus status = wadi_particles_init(&particles, error);
    status = status == WADI_OK ? wadi_particles_append(&particles, 50, &first, error) : status;
    for (int32_t i = 0; i < particles.count; ++i) {
        particles.x[i] = 0.3 * i;
    }
    status = status == WADI_OK ? wadi_tile_sort(&sort, &particles, 0.1, &arena, error) : status;
    status = status == WADI_OK ? wadi_flip_grid_build(&grid, &sort, 3, &arena, error) : status;
    WadiFlipToGridIn to_grid = { .sort = &sort, .particles = &particles };
    status = status == WADI_OK ? wadi_flip_particles_to_grid(&grid, &to_grid, &arena, error) : status;
    WadiFlipToParticlesIn back = { .sort = &sort, .grid = &grid, .dt = 0.1, .order = 2 };
    status =
        status == WADI_OK ? wadi_flip_grid_to_particles(&particles, &path, &back, &arena, error) : status;
    wadi_arena_free(&arena);
    wadi_particles_free(&particles);
    return status;
}

static void an_allocation_failing_anywhere_is_an_error_without_a_leak(void **unused)
{
    (void)unused;
    wadi_set_allocator(&failing_allocator);
    WadiStatus status = WADI_ERR_MEMORY;
    size_t live = wadi_alloc_live_bytes();
    for (alloc_fails_at = 1; status != WADI_OK; ++alloc_fails_at) {
        WadiError error = { 0 };
        alloc_calls = 0;
        status = small_step(&error);
        assert_true(status == WADI_OK || status == WADI_ERR_MEMORY);
        assert_int_equal(wadi_alloc_live_bytes(), live);
    }
    assert_true(alloc_fails_at > 30);
    wadi_set_allocator(NULL);
}

/* ns a particle of sort, to grid, to particles with their path: two million particles, or isolated
 * droplets. */
static void step_costs_follow_the_particles(void **unused)
{
    (void)unused;
    bool is_long = is_long_run();
    Fluid fluid;
    fluid_make_ball(&fluid, is_long ? 40.0 : 16.0, wadi_vec3(0.3, 0.4, 0.5), 0.1);
    fluid_set_random_velocity(&fluid);
    double best[4] = { INFINITY, INFINITY, INFINITY, INFINITY };
    for (int repeat = 0; repeat < 5; ++repeat) {
        WadiError error;
        double t[5];
        CHECK_OK(wadi_arena_reset(&fluid.arena, &error), error);
        t[0] = wadi_time_now();
        CHECK_OK(wadi_tile_sort(&fluid.sort, &fluid.particles, 0.1, &fluid.arena, &error), error);
        t[1] = wadi_time_now();
        CHECK_OK(wadi_flip_grid_build(&fluid.grid, &fluid.sort, WADI_FLIP_MARGIN, &fluid.arena, &error),
                 error);
        t[2] = wadi_time_now();
        fluid_to_grid(&fluid, two_masses, 2, false);
        t[3] = wadi_time_now();
        fluid_to_particles(&fluid, 0.95, false, 0.05, 2);
        t[4] = wadi_time_now();
        for (int s = 0; s < 4; ++s) {
            double each = 1e9 * (t[s + 1] - t[s]) / fluid.particles.count;
            best[s] = each < best[s] ? each : best[s];
        }
    }
    print_message(
        "%d particles, %d threads, ns each: sort %.1f, grid %.1f, to grid %.1f, to particles and path %.1f\n",
        fluid.particles.count, wadi_parallel_threads(), best[0], best[1], best[2], best[3]);
    assert_true(best[0] > 0.0);
    if (is_long) { /* two quiet cores */
        CHECK_BENCH(best[0], 25.0);
        CHECK_BENCH(best[1], 1.0);
        CHECK_BENCH(best[2], 10.0);
        CHECK_BENCH(best[3], 20.0);
    }
    fluid_free(&fluid);
}

/* Sort alone, or the whole step (a grid of a million droplets would take 9 GB: 38 rows each). */
static double droplet_seconds(int32_t count, bool is_whole)
{
    WadiError error;
    int32_t first;
    Fluid fluid = { .cell_size = 1.0 };
    CHECK_OK(wadi_particles_init(&fluid.particles, &error), error);
    CHECK_OK(wadi_particles_append(&fluid.particles, count, &first, &error), error);
    double best = INFINITY;
    for (int repeat = 0; repeat < 4; ++repeat) {
        for (int32_t i = 0; i < count; ++i) {
            double u[3];
            wadi_random_unit3(8, (uint64_t)i, WADI_RANDOM_TEST, u);
            fluid.particles.x[i] = 1e6 * u[0];
            fluid.particles.y[i] = 1e6 * u[1];
            fluid.particles.z[i] = 1e6 * u[2];
        }
        CHECK_OK(wadi_arena_reset(&fluid.arena, &error), error);
        double start = wadi_time_now();
        if (is_whole) {
            fluid_make_grid(&fluid);
            fluid_to_grid(&fluid, NULL, 0, false);
            fluid_to_particles(&fluid, 0.95, false, 0.01, 2);
        } else {
            CHECK_OK(wadi_tile_sort(&fluid.sort, &fluid.particles, 1.0, &fluid.arena, &error), error);
        }
        double seconds = wadi_time_now() - start;
        best = seconds < best ? seconds : best;
    }
    CHECK_NEAR((double)fluid.sort.tiles.count / count, 1.0, 1e-4);
    if (is_whole) {
        CHECK_NEAR((double)fluid.grid.rows.count / count, 25.0 * 1.5, 1.0); /* test_flip_grid */
    }
    fluid_free(&fluid);
    return best;
}

static void isolated_droplets_cost_by_their_number(void **unused)
{
    (void)unused;
    bool is_long = is_long_run();
    int32_t count = is_long ? 10000 : 2000;
    double few = droplet_seconds(count, true), many = droplet_seconds(8 * count, true);
    print_message("droplets a million cells apart, us each: %.2f of %d, %.2f of %d\n", 1e6 * few / count,
                  count, 1e6 * many / (8 * count), 8 * count);
    assert_true(few > 0.0 && many > 0.0);
    if (is_long) {
        CHECK_BENCH(many / few, 16.0);
        CHECK_BENCH(1e6 * many / (8 * count), 20.0);
        few = droplet_seconds(125000, false);
        many = droplet_seconds(1000000, false);
        print_message("sort of droplets, us each: %.2f of 125000, %.2f of 1000000\n", 8.0 * few, many);
        CHECK_BENCH(many / few, 16.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_the_same_tiles_or_a_kilometre_away),
        cmocka_unit_test(threads_do_not_change_a_byte),
        cmocka_unit_test(nothing_and_one_particle_pass),
        cmocka_unit_test(an_allocation_failing_anywhere_is_an_error_without_a_leak),
        cmocka_unit_test(step_costs_follow_the_particles),
        cmocka_unit_test(isolated_droplets_cost_by_their_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
