/* flip: the pressure projection against known divergences, pressures and fluxes. */
#include "core/parallel.h"
#include "core/random.h"
#include "failing_alloc.h"
#include "flip_box.h"

static const int low[3] = { -1, -1, -1 }, high[3] = { 15, 12, 13 };
static const int room_low[3] = { 0, 0, 0 }, room_high[3] = { 14, 11, 12 };

static void stir(FlipTank *tank, uint64_t seed)
{
    for (int a = 0; a < 3; ++a) {
        for (size_t n = WADI_ROW_CELLS; n < wadi_rows_floats(&tank->box.rows); ++n) {
            tank->out.velocity[a][n] =
                (float)(2.0 * wadi_random_unit(seed + (uint64_t)a, n, WADI_RANDOM_TEST) - 1.0);
        }
    }
}

/* A closed room, full at the bottom and filled at random to two thirds above, walls cut at random, two
 * densities. */
static void make_rough_room(FlipTank *tank)
{
    flip_tank_make(tank, low, high, 0.05);
    flip_tank_open(tank, room_low, room_high);
    uint8_t *fluid = flip_box_bits(&tank->box, room_low, (const int[3]){ 14, 11, 6 });
    float *density[3];
    for (int a = 0; a < 3; ++a) {
        density[a] = flip_box_floats(&tank->box, 1000.0f);
        tank->in.density[a] = density[a];
    }
    for (int k = 0; k < 11; ++k) {
        for (int j = 0; j < 11; ++j) {
            for (int i = 0; i < 14; ++i) {
                size_t at = flip_box_at(&tank->box, i, j, k);
                if (wadi_random_unit(9, at, WADI_RANDOM_TEST) < 0.6) {
                    fluid[at / 8] |= (uint8_t)(1u << (at % 8));
                }
                for (int a = 0; a < 3; ++a) {
                    density[a][at] = k < 4 ? 1600.0f : k == 4 && a == 2 ? 1300.0f : 1000.0f;
                    float cut = (float)wadi_random_unit(10 + (uint64_t)a, at, WADI_RANDOM_TEST);
                    tank->open[a][at] *= cut < 0.2f ? 0.0f : cut < 0.5f ? 2.0f * cut : 1.0f;
                    tank->solid[a][at] = tank->open[a][at] < 1.0f ? 0.1f * cut : 0.0f;
                    tank->theta[a][at] = 0.25f + 0.5f * cut;
                }
            }
        }
    }
    /* No closed component: an outlet at the top of every column. */
    for (int a = 0; a < 3; ++a) {
        tank->in.theta[a] = tank->theta[a];
    }
    for (int k = 1; k < 12; ++k) {
        for (int j = 0; j < 11; ++j) {
            for (int i = 0; i < 14; ++i) {
                tank->open[2][flip_box_at(&tank->box, i, j, k)] += 0.125f;
            }
        }
    }
    for (size_t n = 0; n < wadi_rows_floats(&tank->box.rows); ++n) {
        tank->open[2][n] = fminf(tank->open[2][n], 1.0f);
    }
    tank->in.fluid = fluid;
    stir(tank, 1);
}

static void no_divergence_is_left(void **unused)
{
    (void)unused;
    FlipTank tank;
    make_rough_room(&tank);
    tank.in.solver.tolerance = 1e-6;
    flip_tank_project(&tank);
    assert_true(tank.report.solve.has_converged);
    assert_true(tank.report.unknowns > 900);
    /* The right-hand side is at most 6 m/s. */
    CHECK_AT_MOST(tank.report.max_divergence * tank.in.cell_size, 10 * 1e-6 * 6.0);
    assert_true(tank.report.max_divergence >= 0.0);
    flip_tank_free(&tank);
}

static void the_system_is_symmetric_and_dominant(void **unused)
{
    (void)unused;
    FlipTank tank;
    make_rough_room(&tank);
    WadiError error;
    WadiFlipSystem system;
    CHECK_OK(wadi_flip_project_assemble(&tank.in, &system, &tank.scratch, &error), error);
    /* <x, A y> = <A x, y>, and A 1 >= 0. */
    double *x = flip_box_array(&tank.box, sizeof(double)), *y = flip_box_array(&tank.box, sizeof(double));
    double *ax = flip_box_array(&tank.box, sizeof(double)), *ay = flip_box_array(&tank.box, sizeof(double));
    double *one = flip_box_array(&tank.box, sizeof(double));
    size_t count = wadi_rows_floats(&system.rows);
    assert_true(count < wadi_rows_floats(&tank.box.rows));
    for (size_t n = 8; n < count; ++n) {
        bool is_active = (tank.in.fluid[system.full[n / 8]] >> (n % 8) & 1) != 0;
        assert_int_equal(system.diagonal[n] > 0.0f, is_active);
        one[n] = is_active;
        x[n] = one[n] * wadi_random_unit(4, n, WADI_RANDOM_TEST);
        y[n] = one[n] * wadi_random_unit(5, n, WADI_RANDOM_TEST);
    }
    slow_apply(&system.poisson, x, ax);
    slow_apply(&system.poisson, y, ay);
    double xay = 0.0, axy = 0.0;
    for (size_t n = 0; n < count; ++n) {
        xay += x[n] * ay[n];
        axy += ax[n] * y[n];
    }
    CHECK_NEAR(xay, axy, 1e-9 * fabs(xay));
    slow_apply(&system.poisson, one, ax);
    for (size_t n = 0; n < count; ++n) {
        assert_true(ax[n] >= -1e-5);
    }
    flip_tank_free(&tank);
}

static void a_piston_pushes_out_what_it_displaces(void **unused)
{
    (void)unused;
    FlipTank tank;
    flip_tank_make(&tank, low, high, 0.1);
    flip_tank_open(&tank, room_low, (const int[3]){ 15, 11, 12 });
    tank.in.fluid = flip_box_bits(&tank.box, room_low, room_high); /* air beyond x = 14 */
    stir(&tank, 2);
    for (int k = 0; k < 12; ++k) {
        for (int j = 0; j < 11; ++j) {
            tank.solid[0][flip_box_at(&tank.box, 0, j, k)] = 0.75f;
        }
    }
    flip_tank_project(&tank);
    double flux = 0.0;
    for (int k = 0; k < 12; ++k) {
        for (int j = 0; j < 11; ++j) {
            flux += (double)tank.out.velocity[0][flip_box_at(&tank.box, 14, j, k)];
            CHECK_NEAR((double)tank.out.velocity[0][flip_box_at(&tank.box, 0, j, k)], 0.75, 0.0);
        }
    }
    CHECK_NEAR(flux / (11 * 12), 0.75, 1e-6);
    flip_tank_free(&tank);
}

static void fluid_expands_as_prescribed(void **unused)
{
    (void)unused;
    FlipTank tank;
    flip_tank_make(&tank, low, high, 0.1);
    flip_tank_open(&tank, room_low, (const int[3]){ 15, 11, 12 });
    tank.in.fluid = flip_box_bits(&tank.box, room_low, room_high);
    float *expansion = flip_box_floats(&tank.box, 0.0f);
    expansion[flip_box_at(&tank.box, 3, 4, 5)] = 20.0f; /* 1/s of one cell: 20 * 0.1^3 m^3/s */
    tank.in.expansion = expansion;
    flip_tank_project(&tank);
    double flux = 0.0;
    for (int k = 0; k < 12; ++k) {
        for (int j = 0; j < 11; ++j) {
            flux += 0.01 * (double)tank.out.velocity[0][flip_box_at(&tank.box, 14, j, k)];
        }
    }
    CHECK_NEAR(flux, 0.02, 1e-7);
    CHECK_AT_MOST(tank.report.max_divergence, 1e-4);
    flip_tank_free(&tank);
}

/* Solve, make cells in tension air, solve again: plain and slow. */
static WadiStatus slow_solve_unilateral(const WadiPoisson *system, const float *b,
                                        const WadiPoissonSettings *settings, double *x, WadiArena *scratch,
                                        WadiPoissonReport *report, WadiError *error)
{
    WADI_TRY(slow_solve(system, b, settings, x, scratch, report, error));
    const size_t count = wadi_rows_floats(system->rows);
    float *array[5];
    const float *from[5] = { system->diagonal, system->cx, system->cy, system->cz, b };
    for (int n = 0; n < 5; ++n) {
        WADI_TRY(WADI_ARENA_NEW(scratch, &array[n], count, "slow solver", error));
        memcpy(array[n], from[n], count * sizeof(float));
    }
    for (size_t at = 8; at < count; ++at) {
        WadiRowCell cell = { (int32_t)(at / 8), (int)(at % 8) };
        if (x[at] < 0.0) {
            array[0][at] = array[4][at] = 0.0f;
            for (int a = 0; a < 3; ++a) {
                array[1 + a][at] = 0.0f;
                array[1 + a][wadi_row_cell_index(wadi_row_cell_neighbour(system->rows, cell, 2 * a + 1))] =
                    0.0f;
            }
        }
    }
    for (size_t at = 0; at < count; ++at) {
        x[at] = fmax(x[at], 0.0);
    }
    WadiPoisson rest = *system;
    rest.diagonal = array[0];
    rest.cx = array[1];
    rest.cy = array[2];
    rest.cz = array[3];
    return slow_solve(&rest, array[4], settings, x, scratch, report, error);
}

/* A block in flight whose halves part: without tension they keep their speeds, with it they do not. */
static double parting_speed(bool is_unilateral, double *least_pressure)
{
    FlipTank tank;
    flip_tank_make(&tank, low, high, 0.1);
    flip_tank_open(&tank, low, high);
    tank.in.fluid = flip_box_bits(&tank.box, (const int[3]){ 3, 3, 3 }, (const int[3]){ 11, 8, 8 });
    tank.in.is_unilateral = is_unilateral;
    tank.in.solve = is_unilateral ? slow_solve_unilateral : slow_solve;
    for (size_t n = 8; n < wadi_rows_floats(&tank.box.rows); ++n) {
        int cell[3];
        flip_box_cell(&tank.box, n, cell);
        tank.out.velocity[0][n] = cell[0] < 7 ? -1.0f : cell[0] > 7 ? 1.0f : 0.0f;
        tank.out.velocity[2][n] = -5.0f;
    }
    flip_tank_project(&tank);
    assert_int_equal(tank.report.dropped > 0, is_unilateral);
    CHECK_AT_MOST(tank.report.max_divergence, 1e-4);
    *least_pressure = INFINITY;
    for (size_t n = 0; n < wadi_rows_floats(&tank.box.rows); ++n) {
        *least_pressure = fmin(*least_pressure, tank.out.pressure[n]);
    }
    double speed = (double)tank.out.velocity[0][flip_box_at(&tank.box, 9, 5, 5)];
    CHECK_NEAR((double)tank.out.velocity[2][flip_box_at(&tank.box, 9, 5, 5)], -5.0,
               is_unilateral ? 1e-6 : 1.0);
    flip_tank_free(&tank);
    return speed;
}

static void unilateral_pressure_does_not_pull(void **unused)
{
    (void)unused;
    double least;
    CHECK_AT_MOST(parting_speed(false, &least), 0.9);
    CHECK_AT_MOST(least, -0.1);
    CHECK_NEAR(parting_speed(true, &least), 1.0, 1e-6);
    CHECK_NEAR(least, 0.0, 0.0);
}

static WadiStatus unilateral(const WadiPoisson *system, const float *b, const WadiPoissonSettings *settings,
                             double *x, WadiArena *scratch, WadiPoissonReport *report, WadiError *error)
{
    return wadi_poisson_solve_unilateral(system, b, settings, 2, x, scratch, report, NULL, error);
}

/* Two velocities through one projector, and each through its own projection: the same bytes. */
static void a_projector_can_be_used_again(void **unused)
{
    (void)unused;
    const WadiPoissonSolveFn solvers[2] = { wadi_poisson_solve, unilateral };
    for (int s = 0; s < 2; ++s) {
        FlipTank twice, alone[2];
        WadiError error;
        WadiFlipProjector *projector = NULL;
        make_rough_room(&twice);
        twice.in.solver = (WadiPoissonSettings){ .tolerance = 1e-6, .max_iterations = 200 };
        twice.in.solve = solvers[s];
        twice.in.is_unilateral = s == 1;
        CHECK_OK(wadi_flip_projector_begin(&projector, &twice.in, &twice.scratch, &error), error);
        for (int n = 0; n < 2; ++n) {
            make_rough_room(&alone[n]);
            alone[n].in.solver = twice.in.solver;
            alone[n].in.solve = twice.in.solve;
            alone[n].in.is_unilateral = twice.in.is_unilateral;
            size_t count = wadi_rows_floats(&twice.box.rows);
            memcpy(alone[n].out.pressure, twice.out.pressure, count * sizeof(double));
            stir(&alone[n], 5 + 3 * (uint64_t)n);
            stir(&twice, 5 + 3 * (uint64_t)n);
            flip_tank_project(&alone[n]);
            CHECK_OK(wadi_flip_projector_run(projector, &twice.out, &twice.scratch, &twice.report, &error),
                     error);
            assert_true(twice.report.solve.has_converged && twice.report.solve.iterations > 2);
            assert_memory_equal(twice.out.pressure, alone[n].out.pressure, count * sizeof(double));
            assert_memory_equal(twice.out.velocity[1], alone[n].out.velocity[1], count * sizeof(float));
            assert_true(twice.report.dropped == alone[n].report.dropped);
            flip_tank_free(&alone[n]);
        }
        flip_tank_free(&twice);
    }
}

static void a_closed_cell_is_not_changed(void **unused)
{
    (void)unused;
    FlipTank tank;
    flip_tank_make(&tank, low, high, 0.1);
    flip_tank_open(&tank, room_low, room_high);
    tank.in.fluid = flip_box_bits(&tank.box, room_low, (const int[3]){ 14, 11, 4 });
    const size_t shut = flip_box_at(&tank.box, 5, 5, 1);
    const size_t beyond[3] = { flip_box_at(&tank.box, 6, 5, 1), flip_box_at(&tank.box, 5, 6, 1),
                               flip_box_at(&tank.box, 5, 5, 2) };
    for (int a = 0; a < 3; ++a) {
        tank.open[a][shut] = tank.open[a][beyond[a]] = 0.0f;
    }
    tank.solid[0][shut] = 1.0f; /* and squeezed */
    flip_tank_add(&tank, 2, -1.0f);
    flip_tank_project(&tank);
    assert_int_equal(tank.report.unknowns, 14 * 11 * 4 - 1);
    assert_true(tank.out.pressure[shut] == 0.0);
    CHECK_NEAR((double)tank.out.velocity[0][shut], 1.0, 0.0);
    CHECK_AT_MOST(tank.report.max_divergence, 1e-4);
    flip_tank_free(&tank);
}

static void known_faces_are_the_open_ones_next_to_fluid(void **unused)
{
    (void)unused;
    FlipTank tank;
    flip_tank_make(&tank, low, high, 0.1);
    flip_tank_open(&tank, room_low, room_high);
    tank.in.fluid = flip_box_bits(&tank.box, room_low, (const int[3]){ 14, 11, 4 });
    flip_tank_add(&tank, 2, -1.0f);
    flip_tank_project(&tank);
    for (int k = 0; k < 12; ++k) {
        size_t at = flip_box_at(&tank.box, 5, 5, k);
        assert_int_equal(tank.out.known[2][at / 8] >> 5 & 1, k >= 1 && k <= 4);
        assert_int_equal(tank.out.known[0][at / 8] >> 5 & 1, k < 4);
        /* Far above the fluid nothing changes; walls have their own velocity. */
        CHECK_NEAR((double)tank.out.velocity[2][at], k > 4 ? -1.0 : 0.0, 1e-6);
    }
    flip_tank_free(&tank);
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    FlipTank tank[3];
    for (int n = 0; n < 3; ++n) {
        wadi_parallel_set_threads(1 + n);
        make_rough_room(&tank[n]);
        flip_tank_project(&tank[n]);
    }
    wadi_parallel_set_threads(0);
    size_t count = wadi_rows_floats(&tank[0].box.rows);
    for (int n = 1; n < 3; ++n) {
        for (int a = 0; a < 3; ++a) {
            assert_memory_equal(tank[0].out.velocity[a], tank[n].out.velocity[a], count * sizeof(float));
            assert_memory_equal(tank[0].out.known[a], tank[n].out.known[a], count / 8);
        }
        assert_memory_equal(tank[0].out.pressure, tank[n].out.pressure, count * sizeof(double));
        assert_memory_equal(&tank[0].report.max_divergence, &tank[n].report.max_divergence, sizeof(double));
        flip_tank_free(&tank[n]);
    }
    flip_tank_free(&tank[0]);
}

static void an_empty_grid_projects_to_nothing(void **unused)
{
    (void)unused;
    FlipTank tank;
    flip_tank_make(&tank, room_low, room_low, 0.1);
    assert_int_equal(tank.box.rows.count, 1);
    tank.in.fluid = flip_box_array(&tank.box, sizeof(uint8_t));
    flip_tank_project(&tank);
    assert_int_equal(tank.report.unknowns, 0);
    CHECK_NEAR(tank.report.max_divergence, 0.0, 0.0);
    flip_tank_free(&tank);
}

static WadiStatus project_with(int calls)
{
    FlipTank tank;
    WadiError error;
    make_rough_room(&tank);
    alloc_calls_left = calls;
    WadiStatus status = wadi_flip_project(&tank.in, &tank.out, &tank.scratch, &tank.report, &error);
    alloc_calls_left = INT_MAX;
    flip_tank_free(&tank);
    return status;
}

static void every_failing_allocation_is_reported(void **unused)
{
    (void)unused;
    assert_true(failures_until_it_works(project_with) >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_divergence_is_left),
        cmocka_unit_test(the_system_is_symmetric_and_dominant),
        cmocka_unit_test(a_piston_pushes_out_what_it_displaces),
        cmocka_unit_test(fluid_expands_as_prescribed),
        cmocka_unit_test(unilateral_pressure_does_not_pull),
        cmocka_unit_test(a_projector_can_be_used_again),
        cmocka_unit_test(a_closed_cell_is_not_changed),
        cmocka_unit_test(known_faces_are_the_open_ones_next_to_fluid),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(an_empty_grid_projects_to_nothing),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
