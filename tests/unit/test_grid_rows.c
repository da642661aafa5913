/* grid: rows of eight cells over sparse tiles. */
#include "core/random.h"
#include "expect.h"
#include "grid/rows.h"

static void rows_have_their_neighbours(void **unused)
{
    (void)unused;
    WadiError error;
    WadiTile tiles[60];
    uint64_t mask[60];
    for (uint64_t i = 0; i < 60; ++i) {
        uint64_t bits = wadi_random_bits(1, i, WADI_RANDOM_TEST);
        tiles[i] =
            (WadiTile){ (int32_t)(bits & 3) - 2, (int32_t)(bits >> 2 & 3) - 2, (int32_t)(bits >> 4 & 3) - 2 };
        mask[i] = wadi_random_bits(2, i, WADI_RANDOM_TEST) & wadi_random_bits(3, i, WADI_RANDOM_TEST);
    }
    WadiTileMap map;
    CHECK_OK(wadi_tile_map_create(&map, tiles, 60, &error), error);
    CHECK_OK(wadi_tile_map_link(&map, &error), error);
    WadiArena arena = { 0 };
    WadiRows rows;
    CHECK_OK(wadi_rows_build(&rows, &map, mask, &arena, &error), error);
    int expected = 1;
    for (int32_t t = 0; t < map.count; ++t) {
        expected += __builtin_popcountll(mask[t]);
    }
    assert_int_equal(rows.count, expected);
    assert_true(wadi_rows_validate(&rows));
    /* Against a test of every row of every tile. */
    int found = 0;
    for (int32_t t = 0; t < map.count; ++t) {
        for (int place = 0; place < WADI_TILE_ROWS; ++place) {
            int32_t row = wadi_rows_find(&rows, 8 * map.tiles[t].x + 5, 8 * map.tiles[t].y + (place & 7),
                                         8 * map.tiles[t].z + (place >> 3));
            assert_int_equal(row != 0, mask[t] >> place & 1);
            found += row != 0;
        }
    }
    assert_int_equal(found, rows.count - 1);
    rows.neighbour[1][WADI_ROW_Y_MAX] += 1;
    assert_false(wadi_rows_validate(&rows));
    wadi_arena_free(&arena);
    wadi_tile_map_free(&map);
}

static void an_empty_grid_has_the_null_row(void **unused)
{
    (void)unused;
    WadiError error;
    WadiTileMap map = { 0 };
    WadiArena arena = { 0 };
    WadiRows rows;
    CHECK_OK(wadi_rows_build(&rows, &map, NULL, &arena, &error), error);
    assert_int_equal(rows.count, 1);
    assert_int_equal(wadi_rows_find(&rows, 0, 0, 0), 0);
    wadi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_their_neighbours),
        cmocka_unit_test(an_empty_grid_has_the_null_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
