/* flip: which cells swell, which shrink, and how fast. */
#include "flip/volume/flip_density.h"
#include "flip_box.h"

static const int low[3] = { 0, 0, 0 }, high[3] = { 16, 9, 10 };

typedef struct Bed {
    FlipBox box;
    WadiFlipDensityIn in;
    float *fill, *fraction, *sand, *expansion;
    uint8_t *solid;
} Bed;

/* Fluid in 2 <= i < 14, 2 <= j < 7, 2 <= k < 8 under air; the cells around it are solid but for those
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

static void full_cells_are_left_alone(void **unused)
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
        CHECK_NEAR((double)bed.expansion[n], 0.0, 0.0); /* air above counts, but nothing shrinks beside it */
    }
    flip_box_free(&bed.box);
}

/* Of an excess of 0.55 beyond the band 0.3 were emitted: that goes within a step of 1/50 s, but not beside
 * air. */
static void what_was_emitted_is_pushed_out_in_the_step(void **unused)
{
    (void)unused;
    Bed bed;
    make(&bed);
    float *emitted = flip_box_floats(&bed.box, 0.0f);
    bed.in.emitted = emitted;
    bed.in.emitted_rate = 50.0f;
    emitted[flip_box_at(&bed.box, 7, 4, 4)] = 0.3f;
    set(&bed, 7, 4, 4, 2.2f);
    emitted[flip_box_at(&bed.box, 11, 4, 4)] = 2.0f; /* more than is too much: all of that, and no more */
    set(&bed, 11, 4, 4, 1.5f);
    emitted[flip_box_at(&bed.box, 4, 4, 4)] = 0.5f; /* there is room */
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

/* Half of the excess of one cell is seen by itself, a twelfth by each neighbour; 8 | 7 crosses a row. */
static void a_crowded_cell_swells_and_a_thin_one_shrinks(void **unused)
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

static void walls_count_as_the_cell_itself_and_cut_cells_by_their_open_part(void **unused)
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

static void beside_air_nothing_shrinks_but_what_is_crowded_swells(void **unused)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_cells_are_left_alone),
        cmocka_unit_test(what_was_emitted_is_pushed_out_in_the_step),
        cmocka_unit_test(a_crowded_cell_swells_and_a_thin_one_shrinks),
        cmocka_unit_test(walls_count_as_the_cell_itself_and_cut_cells_by_their_open_part),
        cmocka_unit_test(beside_air_nothing_shrinks_but_what_is_crowded_swells),
        cmocka_unit_test(sand_has_a_wider_band),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
