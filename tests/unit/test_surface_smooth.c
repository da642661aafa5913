/* surface: passes of smoothing on the band against the same passes over a dense box, by the definition. */
#include "expect.h"
#include "surface/field/field_band.h"
#include "surface_clouds.h"

enum { SIZE = 40 };

typedef struct Dense {
    double value[SIZE][SIZE][SIZE]; /* [k][j][i], node (i, j, k) - LOW */
} Dense;

static const int32_t LOW = -SIZE / 2;

static void sample_dense(Dense *dense, const WadiCloud *cloud, const WadiFieldDef *def)
{
    for (int k = 0; k < SIZE; ++k) {
        for (int j = 0; j < SIZE; ++j) {
            for (int i = 0; i < SIZE; ++i) {
                WadiVec3 x = { (LOW + i) * def->cell, (LOW + j) * def->cell, (LOW + k) * def->cell };
                dense->value[k][j][i] = wadi_field_reference(cloud, def, x);
            }
        }
    }
}

static void smooth_dense(Dense *to, const Dense *from, bool is_lowering)
{
    *to = *from;
    for (int k = 1; k < SIZE - 1; ++k) {
        for (int j = 1; j < SIZE - 1; ++j) {
            for (int i = 1; i < SIZE - 1; ++i) {
                double mean =
                    (from->value[k][j][i - 1] + from->value[k][j][i + 1] + from->value[k][j - 1][i] +
                     from->value[k][j + 1][i] + from->value[k - 1][j][i] + from->value[k + 1][j][i]) /
                    6.0;
                to->value[k][j][i] = is_lowering ? fmin(mean, from->value[k][j][i]) : mean;
            }
        }
    }
}

/* Every node of a cell that the zero passes through is in the band with the value of the dense passes. */
static int compare(const WadiField *field, const Dense *dense)
{
    int compared = 0;
    for (int k = 0; k < SIZE - 1; ++k) {
        for (int j = 0; j < SIZE - 1; ++j) {
            for (int i = 0; i < SIZE - 1; ++i) {
                int below = 0;
                for (int n = 0; n < 8; ++n) {
                    below += dense->value[k + (n >> 2)][j + (n >> 1 & 1)][i + (n & 1)] < 0.0;
                }
                for (int n = 0; n < 8 && below % 8 != 0; ++n) {
                    int x = i + (n & 1), y = j + (n >> 1 & 1), z = k + (n >> 2);
                    int32_t row = wadi_rows_find(&field->rows, LOW + x, LOW + y, LOW + z);
                    assert_int_not_equal(row, 0);
                    double value = (double)field->value[8 * (size_t)row + (size_t)((LOW + x) & 7)];
                    assert_true(fabs(value - dense->value[z][y][x]) <= 1e-4 * field->cell);
                    ++compared;
                }
            }
        }
    }
    return compared;
}

static void passes_are_those_of_a_dense_box(void **unused)
{
    (void)unused;
    static Dense dense[2];
    WadiCloud f = { 0 };
    for (uint64_t n = 0; n < 40; ++n) {
        cloud_add(&f, wadi_scale(cloud_jitter(1, n), 0.5), 0.25);
    }
    const int passes[][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 1, 1 }, { 3, 0 }, { 2, 2 } };
    for (size_t c = 0; c < sizeof passes / sizeof passes[0]; ++c) {
        WadiFieldDef def = {
            .cell = 0.0625, .support = 2.0, .radius = 1.0, .smoothing = passes[c][0], .lowering = passes[c][1]
        };
        int from = 0;
        sample_dense(&dense[0], &f, &def);
        for (int p = 0; p < def.smoothing + def.lowering; ++p, from = !from) {
            smooth_dense(&dense[!from], &dense[from], p >= def.smoothing);
        }
        WadiArena arena = { 0 };
        WadiError error = { 0 };
        WadiBins bins;
        WadiField field;
        CHECK_OK(wadi_bins_build(&bins, &f, def.support, &arena, &error), error);
        CHECK_OK(wadi_field_build(&field, &f, &bins, &def, &arena, &error), error);
        assert_true(compare(&field, &dense[from]) > 5000);
        wadi_arena_free(&arena);
    }
    cloud_free(&f);
}

/* A pass preserves linear fields; a lowering pass removes peaks and preserves pits. */
static void linear_fields_are_unchanged(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiArena arena = { 0 };
    WadiTile tiles[27];
    uint64_t mask[27];
    for (int t = 0; t < 27; ++t) {
        tiles[t] = (WadiTile){ t % 3, t / 3 % 3, t / 9 };
        mask[t] = ~UINT64_C(0);
    }
    WadiField field = { .cell = 1.0 };
    CHECK_OK(wadi_tile_map_create_in_arena(&field.tiles, tiles, 27, &arena, &error), error);
    CHECK_OK(wadi_rows_build(&field.rows, &field.tiles, mask, &arena, &error), error);
    CHECK_OK(WADI_ARENA_NEW(&arena, &field.value, wadi_rows_floats(&field.rows), "values", &error), error);
    for (int lowering = 0; lowering < 2; ++lowering) {
        for (int32_t r = 1; r < field.rows.count; ++r) {
            int32_t node[3];
            wadi_rows_cell(&field.rows, r, node);
            for (int l = 0; l < 8; ++l) {
                field.value[8 * (size_t)r + (size_t)l] =
                    (float)(6 * (node[0] + l) - 12 * node[1] + 3 * node[2]);
            }
        }
        size_t peak = 8 * (size_t)wadi_rows_find(&field.rows, 8, 12, 12),
               dent = 8 * (size_t)wadi_rows_find(&field.rows, 8, 6, 6);
        field.value[peak + 4] += 60.0f;
        field.value[dent + 4] -= 60.0f;
        float before[2] = { field.value[peak + 4], field.value[dent + 4] };
        CHECK_OK(wadi_field_smooth(&field, !lowering, lowering, &arena, &error), error);
        assert_float_equal(field.value[peak + 4], before[0] - 60.0f, 1e-4);
        assert_float_equal(field.value[dent + 4], lowering ? before[1] : before[1] + 60.0f, 1e-4);
        assert_float_equal(field.value[peak + 3], 6 * 11 - 12 * 12 + 3 * 12 + (lowering ? 0 : 10), 1e-4);
        assert_float_equal(field.value[dent + 5], 6 * 13 - 12 * 6 + 3 * 6 - 10, 1e-4);
        int32_t row = wadi_rows_find(&field.rows, 16, 16, 16);
        assert_float_equal(field.value[8 * (size_t)row], 6 * 16 - 12 * 16 + 3 * 16, 1e-4);
    }
    wadi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_are_those_of_a_dense_box),
        cmocka_unit_test(linear_fields_are_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
