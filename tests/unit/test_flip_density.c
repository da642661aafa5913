/* flip: which cells expand, which contract, and how fast. */
#include "flip/volume/flip_density.h"
#include "flip_box.h"

static const int low[3] = { 0, 0, 0 }, high[3] = { 16, 9, 10 };

typedef struct Bed {
    FlipBox box;
    WadiFlipDensityIn in;
    float *fill, *fraction, *sand, *expansion;
    uint8_t *solid;
} Bed;

/* Fluid in 2 <= i < 14, 2 <= j < 7, 2 <= k < 8 under air; the cells around it are solid except those
 * above. */
static void make(Bed *bed)
{
    flip_box_make(&bed->box, low, high);
    bed->fill = flip_box_floats(&bed->box, 0.0f);
    bed->fraction = flip_box_floats(&bed->box, 0.0f);
    bed->sand = flip_box_floats(&bed->box, 0.0f);
    bed->expansion = flip_box_floats(&bed->box, 9.0f);
    bed->solid = flip_box_array(&bed->box, 1);
    uint8_t *fluid = flip_box_bits(&bed->box, (const int[3]){ 2, 2, 2 }, (const int[3]){ 14, 7, 8 });
    for (size_t at = 8; at < wadi_rows_floats(&bed->box.rows); ++at) {
        int c[3];
        flip_box_cell(&bed->box, at, c);
        bool is_fluid = (fluid[at / 8] >> at % 8 & 1) != 0;
        bed->fill[at] = is_fluid ? 1.0f : 0.0f;
        bed->solid[at / 8] |= (uint8_t)((!is_fluid && c[2] < 8) << at % 8);
    }
    bed->in = (WadiFlipDensityIn){ .rows = &bed->box.rows,
                                   .fluid = fluid,
                                   .solid = bed->solid,
                                   .fill = bed->fill,
                                   .fraction = bed->fraction,
                                   .band = { 0.05f, 0.2f },
                                   .rate = 20.0f };
}

static double at(const Bed *bed, int i, int j, int k)
{
    return (double)bed->expansion[flip_box_at(&bed->box, i, j, k)];
}

static void set(Bed *bed, int i, int j, int k, float fill)
{
    bed->fill[flip_box_at(&bed->box, i, j, k)] = fill;
}

static void full_cells_are_not_changed(void **unused)
{
    (void)unused;
    Bed bed;
    make(&bed);
    wadi_flip_density(&bed.in, bed.expansion);
    for (size_t n = 0; n < wadi_rows_floats(&bed.box.rows); ++n) {
        int c[3] = { 0, 0, 0 };
        if (n >= 8) {
            flip_box_cell(&bed.box, n, c);
        }
        CHECK_NEAR((double)bed.expansion[n], 0.0,
                   0.0); /* air above counts, but nothing contracts next to it */
    }
    flip_box_free(&bed.box);
}

/* Of an excess of 0.55 beyond the band, 0.3 was emitted: that part is removed within a step of 1/50 s, but
 * not next to air. */
static void emitted_excess_is_removed_in_the_step(void **unused)
{
    (void)unused;
    Bed bed;
    make(&bed);
    float *emitted = flip_box_floats(&bed.box, 0.0f);
    bed.in.emitted = emitted;
    bed.in.emitted_rate = 50.0f;
    emitted[flip_box_at(&bed.box, 7, 4, 4)] = 0.3f;
    set(&bed, 7, 4, 4, 2.2f);
    emitted[flip_box_at(&bed.box, 11, 4, 4)] =
        2.0f; /* more emitted than the excess: the whole excess, and no more */
    set(&bed, 11, 4, 4, 1.5f);
    emitted[flip_box_at(&bed.box, 4, 4, 4)] = 0.5f; /* air is near */
    set(&bed, 4, 4, 4, 1.0f);
    emitted[flip_box_at(&bed.box, 4, 4, 7)] = 0.5f;
    set(&bed, 4, 4, 7, 3.0f);
    wadi_flip_density(&bed.in, bed.expansion);
    CHECK_NEAR(at(&bed, 7, 4, 4), 50.0 * 0.3, 1e-4);
    CHECK_NEAR(at(&bed, 11, 4, 4), 50.0 * (0.25 - 0.05), 1e-4);
    CHECK_NEAR(at(&bed, 4, 4, 4), 0.0, 0.0);
    CHECK_NEAR(at(&bed, 4, 4, 7), 20.0 * (1.0 - 1.0 / 12.0 - 0.05), 1e-4);
    flip_box_free(&bed.box);
}

/* Half of the excess of a cell counts in itself, a twelfth in each neighbour; 8 | 7 crosses a row. */
static void a_dense_cell_expands_and_a_thin_one_contracts(void **unused)
{
    (void)unused;
    Bed bed;
    make(&bed);
    set(&bed, 7, 4, 4, 1.0f + 1.2f);
    set(&bed, 11, 4, 4, 1.0f - 0.48f);
    wadi_flip_density(&bed.in, bed.expansion);
    CHECK_NEAR(at(&bed, 7, 4, 4), 20.0 * (0.6 - 0.05), 1e-4);
    const int beside[6][3] = { { 6, 4, 4 }, { 8, 4, 4 }, { 7, 3, 4 }, { 7, 5, 4 }, { 7, 4, 3 }, { 7, 4, 5 } };
    for (int n = 0; n < 6; ++n) {
        CHECK_NEAR(at(&bed, beside[n][0], beside[n][1], beside[n][2]), 20.0 * (0.1 - 0.05), 1e-4);
    }
    CHECK_NEAR(at(&bed, 11, 4, 4), 20.0 * (-0.24 + 0.05), 1e-4);
    CHECK_NEAR(at(&bed, 11, 4, 5), 0.0, 0.0); /* 0.04: inside the band */
    flip_box_free(&bed.box);
}

static void walls_count_as_the_cell_itself_and_cut_cells_by_their_open_fraction(void **unused)
{
    (void)unused;
    Bed bed;
    make(&bed);
    set(&bed, 2, 2, 2, 0.4f); /* three of its neighbours are walls */
    set(&bed, 12, 4, 4, 1.5f);
    set(&bed, 6, 4, 4, 0.5f);
    bed.fraction[flip_box_at(&bed.box, 12, 4, 4)] = bed.fraction[flip_box_at(&bed.box, 6, 4, 4)] = 0.5f;
    wadi_flip_density(&bed.in, bed.expansion);
    CHECK_NEAR(at(&bed, 2, 2, 2), 20.0 * (-0.6 * (0.5 + 3.0 / 12.0) + 0.05), 1e-4);
    CHECK_NEAR(at(&bed, 12, 4, 4), 0.5 * 20.0 * (1.25 / 0.75 - 1.0 - 0.05), 1e-4);
    CHECK_NEAR(at(&bed, 6, 4, 4), 0.0, 0.0);
    flip_box_free(&bed.box);
}

static void next_to_air_nothing_contracts_but_dense_cells_expand(void **unused)
{
    (void)unused;
    Bed bed;
    make(&bed);
    set(&bed, 5, 4, 7, 0.2f);
    set(&bed, 10, 4, 7, 3.0f);
    wadi_flip_density(&bed.in, bed.expansion);
    CHECK_NEAR(at(&bed, 5, 4, 7), 0.0, 0.0);
    CHECK_NEAR(at(&bed, 10, 4, 7), 20.0 * (1.0 - 1.0 / 12.0 - 0.05), 1e-4);
    bed.in.is_one_sided = true;
    set(&bed, 5, 4, 4, 0.2f);
    wadi_flip_density(&bed.in, bed.expansion);
    CHECK_NEAR(at(&bed, 5, 4, 4), 0.0, 0.0);
    flip_box_free(&bed.box);
}

static void sand_has_a_wider_band(void **unused)
{
    (void)unused;
    Bed bed;
    make(&bed);
    bed.in.sand = bed.sand;
    bed.sand[flip_box_at(&bed.box, 7, 4, 4)] = 1.0f;
    set(&bed, 7, 4, 4, 2.2f);
    set(&bed, 11, 4, 4, 2.2f);
    wadi_flip_density(&bed.in, bed.expansion);
    CHECK_NEAR(at(&bed, 7, 4, 4), 20.0 * (0.6 - 0.2), 1e-4);
    CHECK_NEAR(at(&bed, 11, 4, 4), 20.0 * (0.6 - 0.05), 1e-4);
    flip_box_free(&bed.box);
}

/* At rest nothing expands but cells that a solid compressed, of excess 0.6, and those beside them, of 0.1. */
static void at_rest_only_what_a_solid_compressed_expands(void **unused)
{
    (void)unused;
    Bed bed;
    make(&bed);
    const float *still = flip_box_floats(&bed.box, 0.0f);
    const int here[3] = { 11, 4, 4 }, after[3] = { 12, 5, 5 };
    bed.in.slow[0] = 1.0f;
    bed.in.compressed = flip_box_bits(&bed.box, here, after);
    bed.in.has_room = flip_box_array(&bed.box, 1);
    for (int axis = 0; axis < 3; ++axis) {
        bed.in.velocity[axis] = still;
    }
    set(&bed, 7, 4, 4, 1.0f + 1.2f);
    set(&bed, 11, 4, 4, 1.0f + 1.2f);
    set(&bed, 4, 4, 4, 0.0f);
    wadi_flip_density(&bed.in, bed.expansion);
    CHECK_NEAR(at(&bed, 7, 4, 4), 0.0, 0.0);
    CHECK_NEAR(at(&bed, 11, 4, 4), 20.0 * (0.6 - 0.05), 1e-4);
    CHECK_NEAR(at(&bed, 12, 4, 4), 20.0 * (0.1 - 0.05), 1e-4);
    CHECK_NEAR(at(&bed, 4, 4, 4), 0.0, 0.0); /* nothing contracts at rest */
    const size_t dense = flip_box_at(&bed.box, 11, 4, 4), full = flip_box_at(&bed.box, 9, 4, 4);
    assert_int_equal(bed.in.has_room[dense / 8] >> dense % 8 & 1, 0);
    assert_int_equal(bed.in.has_room[full / 8] >> full % 8 & 1, 1);
    flip_box_free(&bed.box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_cells_are_not_changed),
        cmocka_unit_test(emitted_excess_is_removed_in_the_step),
        cmocka_unit_test(a_dense_cell_expands_and_a_thin_one_contracts),
        cmocka_unit_test(walls_count_as_the_cell_itself_and_cut_cells_by_their_open_fraction),
        cmocka_unit_test(next_to_air_nothing_contracts_but_dense_cells_expand),
        cmocka_unit_test(sand_has_a_wider_band),
        cmocka_unit_test(at_rest_only_what_a_solid_compressed_expands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
