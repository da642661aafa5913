/* flip: arrays of some rows with a table, against the same arrays with all rows. */
#include "core/random.h"
#include "flip/pressure/flip_pressure_memory.h"
#include "flip/pressure/flip_relax.h"
#include "flip/transfer/flip_row_table.h"
#include "flip_box.h"

static float random_signed(uint64_t seed, size_t at)
{
    return (float)(2.0 * wadi_random_unit(seed, at, WADI_RANDOM_TEST) - 1.0);
}

static void tables_number_the_rows_in_order(void **unused)
{
    (void)unused;
    FlipBox box;
    WadiError error;
    flip_box_make(&box, (const int[3]){ 0, 0, 0 }, (const int[3]){ 16, 8, 8 });
    /* The rows of two layers in each of the two tiles. */
    uint8_t *bits = flip_box_bits(&box, (const int[3]){ 3, 0, 2 }, (const int[3]){ 12, 8, 4 });
    int32_t *table = NULL, count = 0;
    CHECK_OK(wadi_table_of_rows(&box.rows, bits, &table, &count, &box.arena, &error), error);
    assert_int_equal(count, 1 + 2 * 2 * 8);
    assert_int_equal(table[0], 0);
    int32_t next = 1;
    for (int32_t r = 1; r < box.rows.count; ++r) {
        int32_t cell[3];
        wadi_rows_cell(&box.rows, r, cell);
        assert_int_equal(table[r], cell[2] == 2 || cell[2] == 3 ? next++ : 0);
    }
    const size_t at = flip_box_at(&box, 5, 6, 3);
    assert_int_equal(wadi_table_cell(table, at), 8 * (size_t)table[at / 8] + 5);
    assert_int_equal(wadi_table_cell(NULL, at), at);
    assert_int_equal(wadi_table_row(NULL, 7), 7);

    /* Neighbours of rows in an array of those rows and in one of all rows. */
    float *all = flip_box_floats(&box, 0.0f), *some = flip_box_floats(&box, 0.0f);
    for (size_t n = 8; n < wadi_rows_floats(&box.rows); ++n) {
        if (table[n / 8] != 0) {
            all[n] = some[wadi_table_cell(table, n)] = random_signed(1, n);
        }
    }
    for (int32_t r = 1; r < box.rows.count; ++r) {
        for (int side = 0; side < 6; ++side) {
            float expected[8], found[8];
            wadi_row_neighbours(&box.rows, all, r, side, expected);
            wadi_table_row_neighbours(&box.rows, table, some, r, side, found);
            assert_memory_equal(found, expected, sizeof found);
        }
    }
    flip_box_free(&box);
}

/* Fluid at random places of a room with cut and moving walls, and a wanted expansion. */
static void make_room(FlipTank *tank)
{
    flip_tank_make(tank, (const int[3]){ -1, -1, -1 }, (const int[3]){ 17, 10, 11 }, 0.1);
    flip_tank_open(tank, (const int[3]){ 0, 0, 0 }, (const int[3]){ 16, 9, 10 });
    uint8_t *fluid = flip_box_bits(&tank->box, (const int[3]){ 2, 2, 0 }, (const int[3]){ 11, 7, 5 });
    float *expansion = flip_box_floats(&tank->box, 0.0f);
    for (size_t n = 8; n < wadi_rows_floats(&tank->box.rows); ++n) {
        for (int a = 0; a < 3; ++a) {
            float cut = 0.5f + 0.5f * random_signed(10 + (uint64_t)a, n);
            tank->open[a][n] *= cut < 0.2f ? 0.0f : cut;
            tank->solid[a][n] = random_signed(20 + (uint64_t)a, n);
            tank->out.velocity[a][n] = random_signed(30 + (uint64_t)a, n);
        }
        expansion[n] = (fluid[n / 8] >> n % 8 & 1) != 0 ? random_signed(40, n) : 0.0f;
        tank->out.pressure[n] = (double)random_signed(50, n);
    }
    tank->in.fluid = fluid;
    tank->in.expansion = expansion;
    tank->in.solver = (WadiPoissonSettings){ .tolerance = 1e-6, .max_iterations = 300 };
    tank->in.solve = wadi_poisson_solve;
}

/* The rows of `values` in the order of a table. */
static void move_floats(FlipTank *tank, const int32_t *table, const float **values)
{
    float *moved = flip_box_floats(&tank->box, 0.0f);
    for (size_t n = 8; n < wadi_rows_floats(&tank->box.rows); ++n) {
        if (table[n / 8] != 0) {
            moved[wadi_table_cell(table, n)] = (*values)[n];
        }
    }
    *values = moved;
}

/* Solids in the reverse order; P and the expansion on the rows with fluid, and on these and some others. */
static void use_tables(FlipTank *tank, bool has_more)
{
    WadiError error;
    const WadiRows *rows = &tank->box.rows;
    int32_t *solid_row = flip_box_array(&tank->box, sizeof(int32_t)), *fluid_row = NULL;
    uint8_t *bits = flip_box_array(&tank->box, sizeof(uint8_t));
    for (int32_t r = 1; r < rows->count; ++r) {
        solid_row[r] = rows->count - r;
        bits[r] = tank->in.fluid[r] != 0 || (has_more && r % 3 == 0);
    }
    CHECK_OK(wadi_table_of_rows(rows, bits, &fluid_row, &tank->in.fluid_rows, &tank->box.arena, &error),
             error);
    for (int a = 0; a < 3; ++a) {
        move_floats(tank, solid_row, &tank->in.open[a]);
        move_floats(tank, solid_row, &tank->in.solid_velocity[a]);
    }
    move_floats(tank, fluid_row, &tank->in.expansion);
    double *pressure = flip_box_array(&tank->box, sizeof(double));
    for (size_t n = 8; n < wadi_rows_floats(rows); ++n) {
        if (fluid_row[n / 8] != 0) {
            pressure[wadi_table_cell(fluid_row, n)] = tank->out.pressure[n];
        }
    }
    tank->out.pressure = pressure;
    tank->in.solid_row = solid_row;
    tank->in.fluid_row = fluid_row;
}

static void a_projection_does_not_depend_on_tables(void **unused)
{
    (void)unused;
    for (int n = 0; n < 4; ++n) {
        FlipTank plain, with_tables, *both[2] = { &plain, &with_tables };
        WadiError error;
        make_room(&plain);
        make_room(&with_tables);
        use_tables(&with_tables, n % 2 == 1);
        for (int t = 0; t < 2; ++t) {
            if (n < 2) {
                flip_tank_project(both[t]);
                assert_true(both[t]->report.solve.has_converged && both[t]->report.solve.iterations > 2);
            } else {
                both[t]->in.solver.max_iterations = 20;
                CHECK_OK(wadi_flip_relax(&both[t]->in, 1.5, &both[t]->out, &both[t]->scratch,
                                         &both[t]->report, &error),
                         error);
            }
        }
        const size_t floats = wadi_rows_floats(&plain.box.rows);
        for (int a = 0; a < 3; ++a) {
            assert_memory_equal(with_tables.out.velocity[a], plain.out.velocity[a], floats * sizeof(float));
            assert_memory_equal(with_tables.out.known[a], plain.out.known[a], floats / 8);
        }
        double largest = 0.0;
        for (size_t c = 0; c < floats; ++c) {
            double p = with_tables.out.pressure[wadi_table_cell(with_tables.in.fluid_row, c)];
            assert_true(p == plain.out.pressure[c]);
            largest = fmax(largest, fabs(p));
        }
        assert_true(largest > 0.1);
        assert_true(with_tables.report.max_divergence == plain.report.max_divergence);
        flip_tank_free(&plain);
        flip_tank_free(&with_tables);
    }
}

/* P of one step is found by the next one, on a grid that has moved on and a step twice as long. */
static void a_memory_of_pressure_goes_by_place(void **unused)
{
    (void)unused;
    FlipBox box, next;
    WadiError error;
    WadiTileMemory memory = { 0 };
    flip_box_make(&box, (const int[3]){ 0, 0, 0 }, (const int[3]){ 16, 16, 8 });
    flip_box_make(&next, (const int[3]){ -8, 4, 0 }, (const int[3]){ 16, 16, 16 });
    uint8_t *bits = flip_box_bits(&box, (const int[3]){ 2, 2, 2 }, (const int[3]){ 14, 9, 6 }),
            *next_bits = flip_box_bits(&next, (const int[3]){ -4, 5, 1 }, (const int[3]){ 14, 12, 6 });
    int32_t *table = NULL, *next_table = NULL, count = 0, next_count = 0;
    CHECK_OK(wadi_table_of_rows(&box.rows, bits, &table, &count, &box.arena, &error), error);
    CHECK_OK(wadi_table_of_rows(&next.rows, next_bits, &next_table, &next_count, &next.arena, &error), error);
    double *pressure = flip_box_array(&box, sizeof(double)), *found = flip_box_array(&next, sizeof(double));
    for (int32_t r = 1; r < box.rows.count; ++r) {
        int32_t cell[3];
        wadi_rows_cell(&box.rows, r, cell);
        for (int l = 0; l < 8 && table[r] != 0; ++l) {
            pressure[8 * table[r] + l] = 1 + cell[0] + l + 100 * cell[1] + 10000 * cell[2];
        }
    }
    CHECK_OK(wadi_flip_pressure_store(&memory, &box.rows, table, count, pressure, 0.25, &error), error);
    wadi_flip_pressure_recall(&memory, &next.rows, next_table, 0.5, found);
    for (int32_t r = 0; r < next.rows.count; ++r) {
        int32_t cell[3] = { 0 };
        if (r > 0) {
            wadi_rows_cell(&next.rows, r, cell);
        }
        bool is_kept = r > 0 && next_table[r] != 0 && cell[0] >= 0 && cell[1] < 9 && cell[2] >= 2;
        for (int l = 0; l < 8 && (r == 0 || next_table[r] != 0); ++l) {
            double expected = 1 + cell[0] + l + 100 * cell[1] + 10000 * cell[2];
            CHECK_NEAR(found[8 * next_table[r] + l], is_kept ? 2.0 * expected : 0.0, 0.0);
        }
    }
    wadi_tile_memory_free(&memory);
    flip_box_free(&box);
    flip_box_free(&next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_number_the_rows_in_order),
        cmocka_unit_test(a_projection_does_not_depend_on_tables),
        cmocka_unit_test(a_memory_of_pressure_goes_by_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
