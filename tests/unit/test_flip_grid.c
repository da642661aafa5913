/* flip: particles sorted by tile and cell, and the rows of the grid around them. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "core/parallel.h"
#include "core/random.h"
#include "core/timer.h"
#include "expect.h"
#include "flip/transfer/flip_grid.h"

static void scatter(WadiParticles *particles, int64_t count, WadiVec3 middle, double size)
{
    WadiError error;
    int32_t first;
    CHECK_OK(wadi_particles_init(particles, &error), error);
    CHECK_OK(wadi_particles_append(particles, count, &first, &error), error);
    for (int64_t i = 0; i < count; ++i) {
        double u[3];
        wadi_random_unit3(17, (uint64_t)i, WADI_RANDOM_TEST, u);
        particles->x[i] = middle.x + size * (u[0] - 0.5);
        particles->y[i] = middle.y + size * (u[1] - 0.5);
        particles->z[i] = middle.z + size * (u[2] - 0.5);
        particles->vx[i] = (float)i;
    }
}

static void particles_are_sorted_by_tile_then_cell_and_stable(void **unused)
{
    (void)unused;
    WadiError error;
    WadiParticles particles;
    WadiArena arena = { 0 };
    WadiTileSort sort;
    scatter(&particles, 7, wadi_vec3(0, 0, 0), 0);
    /* Cells of 0.5 m, tiles of 4 m: tile (0,0,0) has ids 0, 2, 6 in cell (1,0,0) and 4 in (0,1,0); tile
     * (-1,0,0) has 1 in its last cell along x; tile (0,0,-1) has 3; tile (0,-1,0) has 5. */
    double at[7][3] = { { 0.5, 0.1, 0.1 }, { -1e-12, 0.1, 0.1 }, { 0.99, 0.4, 0.2 }, { 0.1, 0.1, -0.1 },
                        { 0.0, 0.5, 0.0 }, { 0.1, -4.0, 0.1 },   { 0.7, 0.3, 0.3 } };
    for (int i = 0; i < 7; ++i) {
        particles.x[i] = at[i][0];
        particles.y[i] = at[i][1];
        particles.z[i] = at[i][2];
    }
    CHECK_OK(wadi_tile_sort(&sort, &particles, 0.5, &arena, &error), error);
    uint32_t ids[7] = { 3, 5, 1, 0, 2, 6, 4 };
    int32_t tile_start[5] = { 0, 1, 2, 3, 7 }, row_first[5] = { 0, 1, 2, 3, 5 };
    assert_memory_equal(particles.id, ids, sizeof ids);
    assert_int_equal(sort.tiles.count, 4);
    assert_memory_equal(sort.tile_start, tile_start, sizeof tile_start);
    assert_memory_equal(sort.row_first, row_first, sizeof row_first);
    assert_true(sort.row_mask[3] == 3 && sort.row_mask[0] == UINT64_C(1) << 56);
    uint8_t lanes[5] = { 1, 1, 128, 2, 1 };
    assert_memory_equal(sort.lanes, lanes, sizeof lanes);
    assert_true(wadi_tile_sort_validate(&sort, &particles));
    particles.x[3] += 0.5;
    assert_false(wadi_tile_sort_validate(&sort, &particles));
    wadi_arena_free(&arena);
    wadi_particles_free(&particles);
}

/* A sort that skips the first particles gives the lists of the others as if they were a separate store. */
static void the_first_particles_can_be_left_out(void **unused)
{
    (void)unused;
    WadiError error;
    enum { COUNT = 20000 };
    const int32_t firsts[3] = { 1, 3000, 19990 };
    for (int n = 0; n < 3; ++n) {
        int32_t first = firsts[n];
        WadiParticles some, all;
        WadiArena arena = { 0 };
        WadiTileSort part, own;
        scatter(&all, COUNT, wadi_vec3(0, 0, 0), 9.0);
        scatter(&some, COUNT, wadi_vec3(0, 0, 0), 9.0);
        uint8_t is_removed[COUNT] = { 0 };
        memset(is_removed, 1, (size_t)first);
        wadi_particles_remove(&some, is_removed);
        CHECK_OK(wadi_tile_sort(&own, &some, 0.3, &arena, &error), error);
        CHECK_OK(wadi_tile_sort_from(&part, &all, first, 0.3, &arena, &error), error);
        assert_true(wadi_tile_sort_validate(&part, &all) && wadi_particles_validate(&all));
        assert_memory_equal(all.id + first, some.id, (size_t)some.count * sizeof *some.id);
        assert_memory_equal(all.x + first, some.x, (size_t)some.count * sizeof *some.x);
        for (int32_t i = 0; i < first; ++i) {
            assert_true(all.id[i] == (uint32_t)i && all.vx[i] == (float)i);
        }
        assert_int_equal(part.tiles.count, own.tiles.count);
        for (int32_t t = 0; t <= own.tiles.count; ++t) {
            assert_int_equal(part.tile_start[t], own.tile_start[t] + first);
        }
        wadi_arena_free(&arena);
        wadi_particles_free(&some);
        wadi_particles_free(&all);
    }
}

static void nothing_and_one_particle_are_sorted_and_gridded(void **unused)
{
    (void)unused;
    WadiError error;
    for (int count = 0; count < 2; ++count) {
        WadiParticles particles;
        WadiArena arena = { 0 };
        WadiTileSort sort;
        WadiFlipGrid grid;
        scatter(&particles, count, wadi_vec3(0.45, 0.45, 0.45), 0); /* cell (4, 4, 4) of 0.1 m */
        CHECK_OK(wadi_tile_sort(&sort, &particles, 0.1, &arena, &error), error);
        CHECK_OK(wadi_flip_grid_build(&grid, &sort, WADI_FLIP_MARGIN, &arena, &error), error);
        assert_true(wadi_tile_sort_validate(&sort, &particles) && wadi_flip_grid_validate(&grid, &sort));
        /* Cells 2 .. 6 along each axis: 5 x 5 rows in one tile. */
        assert_int_equal(grid.rows.count, 1 + 25 * count);
        assert_int_equal(grid.tiles.count, count);
        wadi_arena_free(&arena);
        wadi_particles_free(&particles);
    }
}

/* The grid has exactly the rows within the margin of a particle's cell, checked for every row nearby. */
static void the_grid_has_exactly_the_rows_near_fluid(void **unused)
{
    (void)unused;
    WadiError error;
    for (int margin = WADI_FLIP_MARGIN_MIN; margin <= WADI_FLIP_MARGIN_MAX; ++margin) {
        WadiParticles particles;
        WadiArena arena = { 0 };
        WadiTileSort sort;
        WadiFlipGrid grid;
        enum { COUNT = 40 };
        scatter(&particles, COUNT, wadi_vec3(0, 0, 0), 50.0);
        CHECK_OK(wadi_tile_sort(&sort, &particles, 1.0, &arena, &error), error);
        CHECK_OK(wadi_flip_grid_build(&grid, &sort, margin, &arena, &error), error);
        assert_true(wadi_flip_grid_validate(&grid, &sort));
        int32_t found = 1;
        for (int32_t k = -40; k < 40; ++k) {
            for (int32_t j = -40; j < 40; ++j) {
                for (int32_t i = -40; i < 40; i += 8) {
                    bool is_near = false;
                    unsigned fluid = 0;
                    for (int32_t p = 0; p < COUNT; ++p) {
                        int32_t c[3] = { (int32_t)floor(particles.x[p]), (int32_t)floor(particles.y[p]),
                                         (int32_t)floor(particles.z[p]) };
                        is_near = is_near || (abs(c[2] - k) <= margin && abs(c[1] - j) <= margin &&
                                              c[0] >= i - margin && c[0] <= i + 7 + margin);
                        fluid |= c[2] == k && c[1] == j && c[0] >= i && c[0] < i + 8 ? 1u << (c[0] - i) : 0;
                    }
                    int32_t row = wadi_rows_find(&grid.rows, i, j, k);
                    assert_int_equal(row != 0, is_near);
                    assert_int_equal(grid.occupied[row], fluid);
                    found += is_near;
                }
            }
        }
        assert_int_equal(grid.rows.count, found);
        wadi_arena_free(&arena);
        wadi_particles_free(&particles);
    }
}

static void a_particle_without_a_cell_is_named(void **unused)
{
    (void)unused;
    const double bad[] = { NAN, INFINITY, -INFINITY, 3e9, -3e9 };
    for (size_t n = 0; n < sizeof bad / sizeof *bad; ++n) {
        WadiError error;
        WadiParticles particles;
        WadiArena arena = { 0 };
        WadiTileSort sort;
        scatter(&particles, 20000, wadi_vec3(0, 0, 0), 10.0);
        particles.y[9001] = bad[n];
        assert_int_equal(wadi_tile_sort(&sort, &particles, 1.0, &arena, &error), WADI_ERR_NUMERIC);
        assert_non_null(strstr(error.text, "particle 9001 "));
        assert_int_equal(sort.tiles.count, 0);
        assert_int_equal(particles.id[9001], 9001);
        /* Just inside the limit there is a cell. */
        particles.y[9001] = bad[n] < 0.0 ? -2147483584.0 : 2147483584.0;
        CHECK_OK(wadi_tile_sort(&sort, &particles, 1.0, &arena, &error), error);
        WadiFlipGrid grid;
        CHECK_OK(wadi_flip_grid_build(&grid, &sort, WADI_FLIP_MARGIN_MAX, &arena, &error), error);
        assert_true(wadi_tile_sort_validate(&sort, &particles));
        wadi_arena_free(&arena);
        wadi_particles_free(&particles);
    }
}

static uint64_t hash_of_sort(int threads, double size)
{
    WadiError error;
    WadiParticles particles;
    WadiArena arena = { 0 };
    WadiTileSort sort;
    WadiFlipGrid grid;
    wadi_parallel_set_threads(threads);
    scatter(&particles, 100000, wadi_vec3(1.0, -2.0, 3.0), size);
    CHECK_OK(wadi_tile_sort(&sort, &particles, 0.1, &arena, &error), error);
    CHECK_OK(wadi_flip_grid_build(&grid, &sort, WADI_FLIP_MARGIN, &arena, &error), error);
    assert_true(wadi_tile_sort_validate(&sort, &particles));
    size_t tiles = (size_t)sort.tiles.count, rows = (size_t)sort.row_first[tiles];
    uint64_t hash = wadi_hash_bytes(0, particles.id, sizeof *particles.id * (size_t)particles.count);
    hash = wadi_hash_bytes(hash, particles.x, sizeof *particles.x * (size_t)particles.count);
    hash = wadi_hash_bytes(hash, sort.tiles.tiles, tiles * sizeof *sort.tiles.tiles);
    hash = wadi_hash_bytes(hash, sort.cell_start, (8 * rows + 1) * sizeof *sort.cell_start);
    hash = wadi_hash_bytes(hash, grid.mask, (size_t)grid.tiles.count * sizeof *grid.mask);
    hash = wadi_hash_bytes(hash, grid.occupied, (size_t)grid.rows.count);
    hash = wadi_hash_bytes(hash, grid.tiles.neighbours,
                           (size_t)grid.tiles.count * sizeof *grid.tiles.neighbours);
    wadi_arena_free(&arena);
    wadi_particles_free(&particles);
    wadi_parallel_set_threads(0);
    return hash;
}

static void threads_do_not_change_a_byte(void **unused)
{
    (void)unused;
    const double sizes[] = { 2.0, 40.0 }; /* dense; two thirds of the particles alone in a tile */
    for (int s = 0; s < 2; ++s) {
        uint64_t one = hash_of_sort(1, sizes[s]);
        assert_true(hash_of_sort(2, sizes[s]) == one);
        assert_true(hash_of_sort(5, sizes[s]) == one);
    }
}

/* The step's map, built from a sorted list in one pass, against the general one, built by look-ups. */
static void a_map_of_sorted_tiles_is_the_general_map(void **unused)
{
    (void)unused;
    enum { COUNT = 9000 };
    static WadiTile tiles[COUNT];
    WadiError error;
    for (uint64_t i = 0; i < COUNT; ++i) {
        uint64_t bits = wadi_random_bits(4, i, WADI_RANDOM_TEST);
        tiles[i] = (WadiTile){ (int32_t)(bits & 31) - 16, (int32_t)(bits >> 5 & 31) - 16,
                               (int32_t)(bits >> 10 & 15) };
    }
    tiles[0] = (WadiTile){ INT32_MAX, INT32_MAX, INT32_MAX };
    tiles[1] = (WadiTile){ INT32_MIN, INT32_MIN, INT32_MIN };
    tiles[2] = (WadiTile){ INT32_MIN + 1, INT32_MIN, INT32_MIN };
    WadiTileMap general, walked;
    WadiArena arena = { 0 };
    CHECK_OK(wadi_tile_map_create(&general, tiles, COUNT, &error), error);
    CHECK_OK(wadi_tile_map_link(&general, &error), error);
    size_t count = (size_t)general.count;
    CHECK_OK(wadi_tile_map_create_in_arena(&walked, general.tiles, count, &arena, &error), error);
    assert_int_equal(walked.count, general.count);
    assert_true(wadi_tile_map_validate(&walked));
    assert_memory_equal(walked.tiles, general.tiles, count * sizeof *general.tiles);
    assert_memory_equal(walked.neighbours, general.neighbours, count * sizeof *general.neighbours);
    CHECK_OK(wadi_tile_map_create_in_arena(&walked, NULL, 0, &arena, &error), error);
    assert_int_equal(wadi_tile_map_find(&walked, tiles[0]), -1);
    wadi_arena_free(&arena);
    wadi_tile_map_free(&general);
}

/* Ids in sorted order and the rows of the grid do not change when everything moves by whole tiles or by a
 * kilometre. */
static void the_order_is_the_same_a_kilometre_away(void **unused)
{
    (void)unused;
    WadiError error;
    const double far[] = { 0.0, 16.0, 1024.0,
                           -1024.0 }; /* m, multiples of a tile of 8 cells of 1/16 m: exact in double */
    uint64_t expected = 0;
    for (int n = 0; n < 4; ++n) {
        WadiParticles particles;
        WadiArena arena = { 0 };
        WadiTileSort sort;
        WadiFlipGrid grid;
        scatter(&particles, 30000, wadi_vec3(0, 0, 0), 1.5);
        for (int32_t i = 0; i < particles.count; ++i) {
            /* On a lattice of 2^-30 m, so that shifting is exact. */
            particles.x[i] = ldexp(floor(ldexp(particles.x[i], 30)), -30) + far[n];
            particles.y[i] = ldexp(floor(ldexp(particles.y[i], 30)), -30) - far[n];
            particles.z[i] = ldexp(floor(ldexp(particles.z[i], 30)), -30) + far[n];
        }
        CHECK_OK(wadi_tile_sort(&sort, &particles, 0.0625, &arena, &error), error);
        CHECK_OK(wadi_flip_grid_build(&grid, &sort, WADI_FLIP_MARGIN, &arena, &error), error);
        uint64_t hash = wadi_hash_bytes(0, particles.id, sizeof *particles.id * (size_t)particles.count);
        hash = wadi_hash_bytes(hash, grid.mask, (size_t)grid.tiles.count * sizeof *grid.mask);
        hash = wadi_hash_bytes(hash, grid.occupied, (size_t)grid.rows.count);
        expected = n == 0 ? hash : expected;
        assert_true(hash == expected);
        wadi_arena_free(&arena);
        wadi_particles_free(&particles);
    }
}

/* Bytes per droplet do not depend on the space between them: an isolated droplet needs its particle, a few
 * tiles and rows. */
static void droplets_cost_memory_by_their_number(void **unused)
{
    (void)unused;
    WadiError error;
    const int64_t counts[2] = { 2000, 20000 };
    double bytes[2];
    for (int n = 0; n < 2; ++n) {
        WadiParticles particles;
        WadiArena arena = { 0 };
        WadiTileSort sort;
        WadiFlipGrid grid;
        scatter(&particles, counts[n], wadi_vec3(0, 0, 0), n == 0 ? 3e4 : 1e6);
        CHECK_OK(wadi_tile_sort(&sort, &particles, 1.0, &arena, &error), error);
        CHECK_OK(wadi_flip_grid_build(&grid, &sort, WADI_FLIP_MARGIN, &arena, &error), error);
        bytes[n] = (double)arena.high_water / (double)counts[n];
        assert_int_equal(sort.row_first[sort.tiles.count], counts[n]);
        /* 5 x 5 rows, and twice that for the 4 of 8 lanes whose margin crosses the tile: 37.5 on average. */
        CHECK_NEAR((double)grid.rows.count / (double)counts[n], 25.0 * 1.5, 1.0);
        wadi_arena_free(&arena);
        wadi_particles_free(&particles);
    }
    CHECK_NEAR(bytes[1] / bytes[0], 1.0, 0.25);
}

static void a_warm_step_calls_no_allocator(void **unused)
{
    (void)unused;
    WadiError error;
    WadiParticles particles;
    WadiArena arena = { 0 };
    scatter(&particles, 3000, wadi_vec3(0, 0, 0), 5.0);
    size_t calls = 0;
    for (int step = 0; step < 3; ++step) {
        WadiTileSort sort;
        WadiFlipGrid grid;
        CHECK_OK(wadi_arena_reset(&arena, &error), error);
        calls = wadi_alloc_call_count();
        CHECK_OK(wadi_tile_sort(&sort, &particles, 0.3, &arena, &error), error);
        CHECK_OK(wadi_flip_grid_build(&grid, &sort, WADI_FLIP_MARGIN, &arena, &error), error);
    }
    assert_int_equal(wadi_alloc_call_count(), calls);
    wadi_arena_free(&arena);
    wadi_particles_free(&particles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(particles_are_sorted_by_tile_then_cell_and_stable),
        cmocka_unit_test(the_first_particles_can_be_left_out),
        cmocka_unit_test(nothing_and_one_particle_are_sorted_and_gridded),
        cmocka_unit_test(the_grid_has_exactly_the_rows_near_fluid),
        cmocka_unit_test(a_particle_without_a_cell_is_named),
        cmocka_unit_test(threads_do_not_change_a_byte),
        cmocka_unit_test(a_map_of_sorted_tiles_is_the_general_map),
        cmocka_unit_test(the_order_is_the_same_a_kilometre_away),
        cmocka_unit_test(droplets_cost_memory_by_their_number),
        cmocka_unit_test(a_warm_step_calls_no_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
