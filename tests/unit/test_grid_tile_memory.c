/* grid: values that outlive the rows of their step. */
#include "grid/tile_memory.h"

#include <string.h>

#include "expect.h"

static const WadiTileMemoryKind DOUBLES = {
    .what = "pressures", .name = "value", .type = WADI_TYPE_F64, .row_values = 8, .components = 1
};
static const WadiTileMemoryKind FLOATS = {
    .what = "stresses", .name = "stress", .type = WADI_TYPE_F32, .row_values = 16, .components = 16
};

/* Tiles (0, 0, 0) and (1, 0, 0) with these rows; the values of a row are `value` plus its number. */
static WadiTileMemory make(const WadiTileMemoryKind *kind, uint64_t first, uint64_t second, double dt,
                           double value)
{
    WadiError error;
    WadiTileMemory memory = { 0 };
    const size_t rows = (size_t)(__builtin_popcountll(first) + __builtin_popcountll(second));
    CHECK_OK(wadi_tile_memory_reserve(&memory, kind, 2, rows, &error), error);
    wadi_tile_memory_add(&memory, (WadiTile){ 0, 0, 0 }, first);
    wadi_tile_memory_add(&memory, (WadiTile){ 1, 0, 0 }, second);
    assert_int_equal(memory.row_count, rows);
    memory.dt = dt;
    for (size_t i = 0; i < rows * (size_t)kind->row_values; ++i) {
        const double number = value + (double)(i / (size_t)kind->row_values);
        if (kind->type == WADI_TYPE_F64) {
            ((double *)memory.value)[i] = number;
        } else {
            ((float *)memory.value)[i] = (float)number;
        }
    }
    return memory;
}

static double value_of(const WadiTileMemory *memory, int number)
{
    return ((const double *)memory->value)[number];
}

static WadiStatus join(WadiTileMemory *c, const WadiTileMemory *a, const uint8_t *flags_a,
                       const WadiTileMemory *b, const uint8_t *flags_b, WadiError *error)
{
    return wadi_tile_memory_join(c, &DOUBLES, a, flags_a, b, flags_b, NULL, NULL, error);
}

static void two_memories_are_joined(void **unused)
{
    (void)unused;
    WadiError error;
    /* Impulses of twice the dt are twice as large: those of b are halved. */
    WadiTileMemory a = make(&DOUBLES, 0x1, 0x0, 0.1, 10.0), b = make(&DOUBLES, 0x3, 0x4, 0.2, 20.0),
                   c = { 0 };
    CHECK_OK(join(&c, &a, NULL, &b, NULL, &error), error);
    assert_int_equal(c.tile_count, 2);
    assert_true(c.mask[0] == 0x3 && c.mask[1] == 0x4 && c.tile[1].x == 1 && c.first[1] == 2);
    CHECK_NEAR(c.dt, 0.1, 0.0);
    CHECK_NEAR(value_of(&c, 0), 10.0, 0.0);
    CHECK_NEAR(value_of(&c, 8), 10.5, 0.0);
    CHECK_NEAR(value_of(&c, 16), 11.0, 0.0);
    const uint8_t first[2] = { 1, 0 }, second[2] = { 0, 1 }, none[1] = { 0 };
    CHECK_OK(join(&c, &a, none, &b, second, &error), error);
    assert_int_equal(c.tile_count, 1);
    assert_true(c.tile[0].x == 1 && c.row_count == 1);
    CHECK_NEAR(value_of(&c, 0), 11.0, 0.0);
    const WadiTileMemory nothing = { 0 };
    CHECK_OK(join(&c, &nothing, NULL, &b, first, &error), error);
    CHECK_NEAR(c.dt, 0.2, 0.0);
    assert_true(c.tile_count == 1 && c.row_count == 2);
    CHECK_NEAR(value_of(&c, 8), 21.0, 0.0);
    /* Into one of the two, and no larger than what it holds. */
    CHECK_OK(join(&b, &a, none, &b, second, &error), error);
    assert_true(b.tile_count == 1 && b.row_count == 1 && b.value_capacity < 2 * sizeof(double[8]));
    CHECK_NEAR(value_of(&b, 0), 11.0, 0.0);
    wadi_tile_memory_free(&a);
    wadi_tile_memory_free(&b);
    wadi_tile_memory_free(&c);
}

typedef struct Copies {
    const WadiTileMemory *from[4];
    size_t row[4], from_row[4], count;
} Copies;

static void note(void *user, size_t row, const WadiTileMemory *from, size_t from_row, double scale)
{
    Copies *copies = user;
    CHECK_NEAR(scale, from->dt == 0.1 ? 1.0 : 0.5, 0.0);
    copies->from[copies->count] = from;
    copies->row[copies->count] = row;
    copies->from_row[copies->count++] = from_row;
}

static void each_joined_row_is_reported(void **unused)
{
    (void)unused;
    WadiError error;
    WadiTileMemory a = make(&FLOATS, 0x2, 0x8, 0.1, 10.0), b = make(&FLOATS, 0x3, 0x4, 0.2, 20.0), c = { 0 };
    Copies copies = { 0 };
    CHECK_OK(wadi_tile_memory_join(&c, &FLOATS, &a, NULL, &b, NULL, note, &copies, &error), error);
    assert_int_equal(copies.count, 4);
    const WadiTileMemory *const from[4] = { &b, &a, &b, &a };
    const size_t from_row[4] = { 0, 0, 2, 1 };
    const float value[4] = { 10.0f, 10.0f, 11.0f, 11.0f };
    for (size_t n = 0; n < 4; ++n) {
        assert_true(copies.from[n] == from[n] && copies.row[n] == n && copies.from_row[n] == from_row[n]);
        assert_true(((float *)c.value)[16 * n] == value[n] && ((float *)c.value)[16 * n + 15] == value[n]);
    }
    wadi_tile_memory_free(&a);
    wadi_tile_memory_free(&b);
    wadi_tile_memory_free(&c);
}

static void stored_rows_are_found_from_those_of_a_grid(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    WadiTileMap map;
    WadiRows rows;
    const WadiTile tiles[3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 5, 0, 0 } };
    const uint64_t mask[3] = { 0x7, 0x30, 0x1 };
    CHECK_OK(wadi_tile_map_create_in_arena(&map, tiles, 3, &arena, &error), error);
    CHECK_OK(wadi_rows_build(&rows, &map, mask, &arena, &error), error);
    WadiTileMemory memory = make(&DOUBLES, 0x15, 0x22, 0.1, 0.0);
    WadiTileMemoryFinder finder = { &memory, &rows, -1, 0 };
    const int32_t expected[7] = { -1, 0, -1, 1, -1, 4, -1 }; /* rows 1 .. 6: bits 0, 1, 2; 4, 5; 0 */
    for (int32_t r = 1; r < rows.count; ++r) {
        assert_int_equal(wadi_tile_memory_find(&finder, r), expected[r]);
    }
    wadi_tile_memory_free(&memory);
    wadi_arena_free(&arena);
}

static void checkpoints_hold_it_and_damaged_ones_are_refused(void **unused)
{
    (void)unused;
    WadiError error;
    WadiTileMemory memory = make(&FLOATS, 0x6, 0x1, 0.1, 3.0), loaded = { 0 };
    WadiState state = { 0 };
    CHECK_OK(wadi_tile_memory_save(&memory, &FLOATS, "here", &state, &error), error);
    CHECK_OK(wadi_tile_memory_load(&loaded, &FLOATS, "here", &state, &error), error);
    assert_true(loaded.dt == 0.1 && loaded.tile_count == 2 && loaded.row_count == 3);
    assert_memory_equal(loaded.value, memory.value, 3 * sizeof(float[16]));
    assert_memory_equal(loaded.first, memory.first, 2 * sizeof *memory.first);
    double *dt = wadi_state_find(&state, "here_dt")->data;
    WadiTile *tile = wadi_state_find(&state, "here_tile")->data;
    uint64_t *mask = wadi_state_find(&state, "here_mask")->data;
    for (int n = 0; n < 4; ++n) {
        const double good_dt = *dt;
        const WadiTile good_tile = tile[1];
        const uint64_t good_mask = mask[0];
        *dt = n == 0 ? -1.0 : good_dt;
        tile[1].x = n == 1 ? 0 : n == 2 ? 1 << 28 : good_tile.x; /* twice the same, out of range */
        mask[0] = n == 3 ? 0x2 : good_mask;                      /* fewer rows than values */
        assert_int_equal(wadi_tile_memory_load(&loaded, &FLOATS, "here", &state, &error), WADI_ERR_FORMAT);
        assert_true(loaded.dt == 0.0 && loaded.tile_count == 0 && loaded.row_count == 0);
        *dt = good_dt, tile[1] = good_tile, mask[0] = good_mask;
    }
    CHECK_OK(wadi_tile_memory_load(&loaded, &FLOATS, "here", &state, &error), error);
    wadi_state_free(&state);
    wadi_tile_memory_free(&memory);
    wadi_tile_memory_free(&loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_memories_are_joined),
        cmocka_unit_test(each_joined_row_is_reported),
        cmocka_unit_test(stored_rows_are_found_from_those_of_a_grid),
        cmocka_unit_test(checkpoints_hold_it_and_damaged_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
