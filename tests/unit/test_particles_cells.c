/* particles/cells: the sorted table of occupied cells. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "core/parallel.h"
#include "core/random.h"
#include "core/timer.h"
#include "expect.h"
#include "particles/cells.h"

static void scatter(WadiParticles *particles, int64_t count, double x, double size)
{
    WadiError error;
    int32_t first;
    CHECK_OK(wadi_particles_init(particles, &error), error);
    CHECK_OK(wadi_particles_append(particles, count, &first, &error), error);
    for (int64_t i = 0; i < count; ++i) {
        double u[3];
        wadi_random_unit3(11, (uint64_t)i, WADI_RANDOM_TEST, u);
        particles->x[i] = x + size * (u[0] - 0.5);
        particles->y[i] = x + size * (u[1] - 0.5);
        particles->z[i] = x + size * (u[2] - 0.5);
    }
}

static void particles_are_sorted_z_y_x_and_stable(void **unused)
{
    (void)unused;
    WadiError error;
    WadiParticles particles;
    WadiArena arena = { 0 };
    WadiCells cells;
    scatter(&particles, 6, 0, 0);
    /* Cells of 1 m: (0,0,0) twice, (-1,0,0), (0,-1,0), (5,0,-1), (0,0,0) again. */
    double at[6][3] = { { 0.5, 0.5, 0.5 },   { 0.1, 0.9, 0.0 },   { -0.1, 0.5, 0.5 },
                        { 0.5, -1e-9, 0.5 }, { 5.5, 0.5, -0.25 }, { 0.9, 0.9, 0.9 } };
    for (int i = 0; i < 6; ++i) {
        particles.x[i] = at[i][0];
        particles.y[i] = at[i][1];
        particles.z[i] = at[i][2];
    }
    CHECK_OK(wadi_cells_build(&cells, &particles, 1.0, &arena, &error), error);
    int32_t order[6] = { 4, 3, 2, 0, 1, 5 }, start[5] = { 0, 1, 2, 3, 6 };
    assert_int_equal(cells.cell_count, 4);
    assert_memory_equal(cells.order, order, sizeof order);
    assert_memory_equal(cells.start, start, sizeof start);
    assert_int_equal(wadi_cells_find(&cells, 0, 0, 0), 3);
    assert_int_equal(wadi_cells_find(&cells, 5, 0, -1), 0);
    assert_int_equal(wadi_cells_find(&cells, 0, 0, -1), -1);
    const int32_t rows[5][5] = {
        { 0, 0, 0, 2, 6 }, { 1, 0, 0, 3, 6 }, { -2, 0, 0, 2, 3 }, { 2, 0, 0, 0, 0 }, { 4, 0, -1, 0, 1 }
    };
    for (int n = 0; n < 5; ++n) {
        int32_t first, end;
        wadi_cells_find_three(&cells, rows[n][0], rows[n][1], rows[n][2], &first, &end);
        assert_int_equal(first, rows[n][3]);
        assert_int_equal(end, rows[n][4]);
    }
    assert_true(wadi_cells_validate(&cells, &particles));
    cells.order[3] = 1, cells.order[4] = 0;
    assert_false(wadi_cells_validate(&cells, &particles));
    wadi_arena_free(&arena);
    wadi_particles_free(&particles);
}

static void no_particles_give_no_cells(void **unused)
{
    (void)unused;
    WadiError error;
    WadiParticles particles;
    WadiArena arena = { 0 };
    WadiCells cells;
    WadiNeighbours neighbours;
    for (int count = 0; count < 2; ++count) {
        scatter(&particles, count, 3, 1);
        CHECK_OK(wadi_cells_build(&cells, &particles, 0.1, &arena, &error), error);
        assert_int_equal(cells.cell_count, count);
        assert_int_equal(wadi_cells_find(&cells, 0, 0, 0), -1);
        assert_true(wadi_cells_validate(&cells, &particles));
        CHECK_OK(wadi_neighbours_fixed(&neighbours, &cells, &particles, 0.1, &arena, &error), error);
        assert_int_equal(neighbours.start[count], 0);
        wadi_particles_free(&particles);
    }
    wadi_arena_free(&arena);
}

static void any_place_and_spread_is_sorted(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    /* Near, far from the origin, all in one cell, and so far apart that a key does not hold the three
     * coordinates. */
    double place[4][2] = { { 0, 10 }, { 1e6, 10 }, { 0.5, 0.1 }, { 0, 4.2e8 } };
    for (int c = 0; c < 4; ++c) {
        WadiParticles particles;
        WadiCells cells;
        uint64_t hashes[3];
        int threads[3] = { 1, 2, 5 };
        scatter(&particles, 100000, place[c][0], place[c][1]);
        for (int t = 0; t < 3; ++t) {
            wadi_parallel_set_threads(threads[t]);
            CHECK_OK(wadi_cells_build(&cells, &particles, c == 2 ? 1.0 : 0.1, &arena, &error), error);
            hashes[t] = wadi_hash_bytes(0, cells.order, 100000 * sizeof(int32_t));
            hashes[t] = wadi_hash_bytes(hashes[t], cells.slot, (cells.slot_mask + 1) * sizeof(int32_t));
        }
        wadi_parallel_set_threads(0);
        assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
        assert_true(wadi_cells_validate(&cells, &particles));
        assert_int_equal(cells.particle_count, 100000);
        assert_true(c != 2 || cells.cell_count == 1);
        wadi_particles_free(&particles);
    }
    wadi_arena_free(&arena);
}

static void a_particle_without_a_cell_is_named(void **unused)
{
    (void)unused;
    double places[4] = { NAN, INFINITY, 1e10, -1e300 };
    for (int c = 0; c < 4; ++c) {
        WadiError error = { 0 };
        WadiParticles particles;
        WadiArena arena = { 0 };
        WadiCells cells;
        scatter(&particles, 100000, 0, 1);
        particles.id[77777] = 123456;
        particles.y[77777] = places[c];
        particles.z[88888] = NAN;
        assert_int_equal(wadi_cells_build(&cells, &particles, 0.1, &arena, &error), WADI_ERR_NUMERIC);
        assert_non_null(strstr(error.text, "123456"));
        assert_int_equal(cells.cell_count, 0);
        wadi_arena_free(&arena);
        wadi_particles_free(&particles);
    }
}

/* Not a limit on slow machines: an order of magnitude above what two threads take here. */
static void a_million_particles_are_sorted_quickly(void **unused)
{
    (void)unused;
    WadiError error;
    WadiParticles particles;
    WadiArena arena = { 0 };
    WadiCells cells;
    scatter(&particles, 1000000, 0, 1);
    double best = INFINITY, best_sorted = INFINITY;
    for (int round = 0; round < 6; ++round) {
        CHECK_OK(wadi_arena_reset(&arena, &error), error);
        double start = wadi_time_now();
        CHECK_OK(wadi_cells_build(&cells, &particles, 0.02, &arena, &error), error);
        double built = wadi_time_now();
        CHECK_OK(wadi_particles_permute(&particles, cells.order, &error), error);
        if (round == 0) {
            print_message("first: build %.1f ms, permute %.1f ms\n", 1e3 * (built - start),
                          1e3 * (wadi_time_now() - built));
        }
        best = fmin(best, built - start);
        best_sorted = fmin(best_sorted, wadi_time_now() - built);
    }
    print_message("warm, already sorted: build %.1f ms, permute %.1f ms\n", 1e3 * best, 1e3 * best_sorted);
    WadiNeighbours neighbours;
    double start = wadi_time_now();
    CHECK_OK(wadi_neighbours_fixed(&neighbours, &cells, &particles, 0.02, &arena, &error), error);
    print_message("neighbours: %.1f ms, %.1f each\n", 1e3 * (wadi_time_now() - start),
                  (double)neighbours.start[1000000] * 1e-6);
    CHECK_BENCH(best, 0.6);
    wadi_arena_free(&arena);
    wadi_particles_free(&particles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(particles_are_sorted_z_y_x_and_stable),
        cmocka_unit_test(no_particles_give_no_cells),
        cmocka_unit_test(any_place_and_spread_is_sorted),
        cmocka_unit_test(a_particle_without_a_cell_is_named),
        cmocka_unit_test(a_million_particles_are_sorted_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
