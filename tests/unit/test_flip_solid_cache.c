/* flip: samples of solids at rest are cached and shared, for any thread count and with failing memory. */
#include "core/parallel.h"
#include "failing_alloc.h"
#include "flip_solid_fixture.h"

static void resting_solids_are_sampled_once(void **unused)
{
    (void)unused;
    FlipBox box, moved;
    flip_box_make(&box, (const int[3]){ -16, -16, -16 }, (const int[3]){ 16, 16, 16 });
    flip_box_make(&moved, (const int[3]){ -8, -8, -8 }, (const int[3]){ 24, 20, 16 });
    WadiSolid solid;
    WadiShape *shape = shape_of(def_of_sphere(wadi_vec3(0.5, 0, 0), 5.3));
    WadiSolids solids = solids_of(&solid, shape);
    WadiFlipSolidCache cache = { 0 };
    WadiFlipSolid plain = sample(&box, &solids, 1.0, NULL);
    WadiFlipSolid first = sample(&box, &solids, 1.0, &cache);
    assert_true(cache.queried_tiles > 0);
    WadiFlipSolid second = sample(&box, &solids, 1.0, &cache);
    assert_int_equal(cache.queried_tiles, 0);
    WadiFlipSolid shifted = sample(&moved, &solids, 1.0, &cache),
                  shifted_plain = sample(&moved, &solids, 1.0, NULL);
    WadiFlipSolid back = sample(&box, &solids, 1.0, &cache);
    assert_int_equal(cache.queried_tiles, 0);
    const WadiFlipSolid *all[4] = { &first, &second, &back, &shifted };
    for (int n = 0; n < 4; ++n) {
        const WadiFlipSolid *expected = n == 3 ? &shifted_plain : &plain;
        assert_same_values(n == 3 ? &moved.rows : &box.rows, all[n], expected);
        for (int a = 0; a < 3; ++a) {
            assert_null(all[n]->velocity[a]); /* it rests */
        }
    }
    wadi_flip_solid_cache_free(&cache);
    wadi_shape_destroy(shape);
    flip_box_free(&box);
    flip_box_free(&moved);
}

/* A floor on a grid line at z = 0: of 32 layers of rows the four within two cells of it have values of
 * their own, one row each; the others share two, except for the one requested row. */
static void equal_rows_share_their_values(void **unused)
{
    (void)unused;
    FlipBox box;
    flip_box_make(&box, (const int[3]){ 0, 0, -8 }, (const int[3]){ 16, 16, 24 });
    WadiSolids solids = { .domain = endless_box(), .closed_sides = WADI_SIDE_Z_MIN };
    solids.domain.min.z = 0.0;
    WadiFlipSolidCache cache = { 0 };
    WadiFlipSolid out = sample(&box, &solids, 1.0, &cache);
    for (int k = -8; k < 24; ++k) {
        const int32_t row = out.row[flip_box_at(&box, 9, 5, k) / 8];
        const int32_t expected = k < -2 ? WADI_FLIP_SOLID_CLOSED_ROW : WADI_FLIP_SOLID_OPEN_ROW;
        assert_true(k >= -2 && k < 2 ? row >= WADI_FLIP_SOLID_PLAIN_ROWS : row == expected);
    }
    assert_int_equal(out.row_count, WADI_FLIP_SOLID_PLAIN_ROWS + 4);
    assert_int_equal(out.row[0], WADI_FLIP_SOLID_NONE);

    const int32_t row = (int32_t)(flip_box_at(&box, 9, 5, 20) / 8);
    uint64_t *unshared = flip_box_array(&box, sizeof(uint64_t));
    unshared[box.rows.tile[row]] = UINT64_C(1) << box.rows.index_in_tile[row];
    WadiError error;
    WadiFlipSolid with_unshared;
    WadiFlipSolidIn in = {
        .rows = &box.rows, .solids = &solids, .cell_size = 1.0, .unshared_rows = unshared
    };
    CHECK_OK(wadi_flip_solid(&in, &cache, &with_unshared, &box.arena, &error), error);
    assert_int_equal(with_unshared.row_count, out.row_count + 1);
    assert_true(with_unshared.row[row] >= WADI_FLIP_SOLID_PLAIN_ROWS);
    assert_same_values(&box.rows, &with_unshared, &out);
    wadi_flip_solid_cache_free(&cache);
    flip_box_free(&box);
}

/* Fluid that moves far over a floor: old tiles are dropped in time, and only rows near the floor are
 * stored. */
static void a_cache_that_travels_stays_small(void **unused)
{
    (void)unused;
    enum { WIDTH = 32, PLACES = 160, TILES = 4 * 4 * 4 };
    WadiSolid solid;
    WadiShape *shape = shape_of(def_of(WADI_SHAPE_HALF_SPACE, wadi_vec3(0, 0, 0.3), wadi_vec3(0, 0, 1)));
    WadiSolids solids = solids_of(&solid, shape);
    WadiFlipSolidCache cache = { 0 };
    int32_t most = 0;
    bool has_forgotten = false;
    for (int n = 0; n < PLACES; ++n) {
        FlipBox box;
        flip_box_make(&box, (const int[3]){ WIDTH * n, 0, -8 }, (const int[3]){ WIDTH * (n + 1), WIDTH, 24 });
        const int32_t before = cache.tile_count;
        WadiFlipSolid out = sample(&box, &solids, 1.0, &cache);
        has_forgotten = has_forgotten || cache.tile_count < before;
        most = cache.tile_count > most ? cache.tile_count : most;
        /* Distances are cut off at two cells: of the 16 layers around the floor four are near it. */
        assert_true(cache.tile_row_count <= cache.tile_count / TILES * 4 * 4 * 4 * WADI_TILE_ROWS / 8);
        assert_int_equal(cache.row_count, 4);
        if (n % 16 == 15 || cache.tile_count < before) {
            WadiFlipSolid plain = sample(&box, &solids, 1.0, NULL);
            assert_same_values(&box.rows, &out, &plain);
        }
        flip_box_free(&box);
    }
    assert_true(has_forgotten && most < 4096 + 4 * TILES);
    wadi_flip_solid_cache_free(&cache);
    wadi_shape_destroy(shape);
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    FlipBox box;
    flip_box_make(&box, (const int[3]){ -16, -16, -16 }, (const int[3]){ 16, 16, 16 });
    WadiSolid solid;
    WadiShape *shape = shape_of(def_of_sphere(wadi_vec3(0.5, 0, 0), 9.3));
    WadiSolids solids = solids_of(&solid, shape);
    WadiFlipSolid out[3];
    for (int n = 0; n < 3; ++n) {
        wadi_parallel_set_threads(n + 1);
        WadiFlipSolidCache cache = { 0 };
        out[n] = sample(&box, &solids, 1.0, n == 1 ? &cache : NULL);
        wadi_flip_solid_cache_free(&cache);
    }
    wadi_parallel_set_threads(0);
    for (int n = 1; n < 3; ++n) {
        assert_same_values(&box.rows, &out[0], &out[n]);
    }
    wadi_shape_destroy(shape);
    flip_box_free(&box);
}

static void an_empty_grid_has_no_solids(void **unused)
{
    (void)unused;
    FlipBox box;
    flip_box_make(&box, (const int[3]){ 0, 0, 0 }, (const int[3]){ 0, 0, 0 });
    WadiSolids solids = { .domain = endless_box() };
    WadiFlipSolidCache cache = { 0 };
    WadiFlipSolid out = sample(&box, &solids, 1.0, &cache);
    assert_true(out.open[0] != NULL && out.open[0][0] == 0.0f);
    wadi_flip_solid_cache_free(&cache);
    flip_box_free(&box);
}

static void every_failing_allocation_is_reported(void **unused)
{
    (void)unused;
    wadi_set_allocator(&failing_allocator);
    FlipBox box;
    flip_box_make(&box, (const int[3]){ -16, -16, -16 }, (const int[3]){ 16, 16, 16 });
    WadiSolid solid;
    WadiShape *shape = shape_of(def_of_sphere(wadi_vec3(0.5, 0, 0), 5.3));
    WadiSolids solids = solids_of(&solid, shape);
    size_t live = wadi_alloc_live_bytes();
    int failures = 0;
    WadiStatus status = WADI_ERR_MEMORY;
    for (int n = 0; status != WADI_OK; ++n) {
        WadiFlipSolidCache cache = { 0 };
        WadiFlipSolid out;
        WadiArena arena = { 0 };
        WadiError error;
        WadiFlipSolidIn in = { .rows = &box.rows, .solids = &solids, .cell_size = 1.0 };
        alloc_calls_left = n;
        status = wadi_flip_solid(&in, &cache, &out, &arena, &error);
        failures += status == WADI_ERR_MEMORY;
        assert_true(status == WADI_OK || out.open[0] == NULL);
        alloc_calls_left = INT_MAX;
        wadi_flip_solid_cache_free(&cache);
        wadi_arena_free(&arena);
        assert_int_equal(wadi_alloc_live_bytes(), live);
    }
    assert_true(failures >= 11);
    wadi_shape_destroy(shape);
    flip_box_free(&box);
    wadi_set_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resting_solids_are_sampled_once),
        cmocka_unit_test(equal_rows_share_their_values),
        cmocka_unit_test(a_cache_that_travels_stays_small),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(an_empty_grid_has_no_solids),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
