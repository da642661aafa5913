/* grid: the sparse tile map. */
#include "core/random.h"
#include "expect.h"
#include "grid/tile_map.h"

static void tiles_are_sorted_found_and_linked(void **unused)
{
    (void)unused;
    enum { COUNT = 3000 };
    static WadiTile tiles[COUNT];
    for (uint64_t i = 0; i < COUNT; ++i) {
        double u[3];
        wadi_random_unit3(1, i, WADI_RANDOM_TEST, u);
        tiles[i] =
            (WadiTile){ (int32_t)(30 * u[0]) - 15, (int32_t)(30 * u[1]) - 15, (int32_t)(10 * u[2]) - 5 };
    }
    tiles[0] = (WadiTile){ INT32_MAX, INT32_MIN, 0 };
    WadiError error;
    WadiTileMap map;
    CHECK_OK(wadi_tile_map_create(&map, tiles, COUNT, &error), error);
    CHECK_OK(wadi_tile_map_link(&map, &error), error);
    assert_true(wadi_tile_map_validate(&map));
    assert_true(map.count < COUNT && map.count > COUNT / 2);
    for (int i = 0; i < COUNT; ++i) {
        int32_t index = wadi_tile_map_find(&map, tiles[i]);
        assert_true(index >= 0);
        assert_int_equal(map.tiles[index].x, tiles[i].x);
        if (i > 0) {
            WadiTile right = { tiles[i].x + 1, tiles[i].y, tiles[i].z };
            assert_int_equal(map.neighbours[index][14], wadi_tile_map_find(&map, right));
        }
    }
    assert_int_equal(wadi_tile_map_find(&map, (WadiTile){ 100, 0, 0 }), -1);
    wadi_tile_map_free(&map);
}

static void the_tile_before_is_of_the_same_row(void **unused)
{
    (void)unused;
    const WadiTile tiles[] = { { 5, 0, 0 }, { -3, 0, 0 }, { 0, 1, 0 }, { 5, 0, 0 } };
    WadiError error;
    WadiTileMap map;
    CHECK_OK(wadi_tile_map_create(&map, tiles, 4, &error), error);
    assert_int_equal(map.count, 3);
    assert_int_equal(wadi_tile_map_find_before(&map, (WadiTile){ 4, 0, 0 }), 0);
    assert_int_equal(wadi_tile_map_find_before(&map, (WadiTile){ 9, 0, 0 }), 1);
    assert_int_equal(wadi_tile_map_find_before(&map, (WadiTile){ -4, 0, 0 }), -1);
    assert_int_equal(wadi_tile_map_find_before(&map, (WadiTile){ -1, 1, 0 }), -1);
    wadi_tile_map_free(&map);
    CHECK_OK(wadi_tile_map_create(&map, NULL, 0, &error), error);
    assert_int_equal(wadi_tile_map_find(&map, (WadiTile){ 0, 0, 0 }), -1);
    assert_int_equal(wadi_tile_map_find_before(&map, (WadiTile){ 0, 0, 0 }), -1);
    wadi_tile_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_sorted_found_and_linked),
        cmocka_unit_test(the_tile_before_is_of_the_same_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
