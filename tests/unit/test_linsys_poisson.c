/* The Poisson solver on problems with a known answer. */
#include "core/alloc.h"
#include "failing_alloc.h"
#include "linsys_problem.h"
#include "poisson_sor.h"

/* n x n cells across, 2 n high, air above, solid elsewhere. */
static int column_rule(const Problem *p, int i, int j, int k)
{
    if (i < 0 || j < 0 || k < 0 || i >= p->n || j >= p->n) {
        return SOLID;
    }
    return k < 2 * p->n ? FLUID : AIR;
}

static void a_column_has_hydrostatic_pressure(void **state)
{
    (void)state;
    Problem p = { .rule = column_rule, .n = 12, .high = { 11, 11, 23 } };
    problem_make(&p);
    assert_true(wadi_poisson_validate(&p.system));
    /* Pressure 24 - k: balanced everywhere except at the floor, which supports the column. */
    memset(p.b, 0, p.cells * sizeof *p.b);
    for (int32_t row = 1; row < p.rows.count; ++row) {
        int32_t at[3];
        wadi_rows_cell(&p.rows, row, at);
        for (int l = 0; l < 8; ++l) {
            p.b[8 * row + l] = (p.active[row] >> l & 1) != 0 && at[2] == 0 ? 1.0f : 0.0f;
        }
    }
    WadiPoissonReport report = problem_solve(&p, 1e-9);
    assert_true(report.has_converged);
    for (int32_t row = 1; row < p.rows.count; ++row) {
        int32_t at[3];
        wadi_rows_cell(&p.rows, row, at);
        for (int l = 0; l < 8; ++l) {
            if ((p.active[row] >> l & 1) != 0) {
                CHECK_NEAR(p.x[8 * row + l], 24.0 - at[2], 1e-6);
            }
        }
    }
    problem_free(&p);
}

/* A closed box of n; option 1: a second one next to it, open above; option 2: fluid everywhere in a lattice
 * of closed boxes. */
static int closed_rule(const Problem *p, int i, int j, int k)
{
    int n = p->n;
    if (p->option == 1 && i > n) {
        i -= n + 1;
        if (k == n && i < n && j >= 0 && j < n) {
            return AIR;
        }
    }
    if (p->option == 2 && i < 4 * (n + 1) && j < 4 * (n + 1)) {
        i %= n + 1;
        j %= n + 1;
    }
    return i >= 0 && j >= 0 && k >= 0 && i < n && j < n && k < n ? FLUID : SOLID;
}

static double mean_x(const Problem *p, int from, int to)
{
    double sum = 0.0, count = 0.0;
    for (int32_t row = 1; row < p->rows.count; ++row) {
        int32_t at[3];
        wadi_rows_cell(&p->rows, row, at);
        for (int l = 0; l < 8; ++l) {
            if ((p->active[row] >> l & 1) != 0 && at[0] + l >= from && at[0] + l < to) {
                sum += p->x[8 * row + l];
                count += 1.0;
            }
        }
    }
    return sum / count;
}

static void a_closed_box_is_solved_up_to_the_mean(void **state)
{
    (void)state;
    for (int option = 0; option < 3; ++option) {
        Problem p = { .rule = closed_rule, .n = 13, .option = option, .high = { 60, 60, 12 } };
        problem_make(&p);
        for (size_t c = 0; c < p.cells; ++c) {
            p.x[c] = 5.0; /* a warm start with a mean */
        }
        WadiPoissonReport report = problem_solve(&p, 1e-6);
        assert_true(report.has_converged);
        CHECK_AT_MOST(report.iterations, 19);
        assert_int_equal(report.closed_components, option == 2 ? 16 : 1);
        CHECK_NEAR(mean_x(&p, 0, 13), 0.0, 1e-9);
        /* A x is b less its mean in a closed box and b in an open one. */
        double *y = calloc(p.cells, sizeof *y), sum[2] = { 0 }, worst = 0.0, lift = 0.0;
        assert_non_null(y);
        wadi_poisson_apply(&p.system, p.x, y);
        if (option < 2) {
            for (int pass = 0; pass < 2; ++pass) {
                for (int32_t row = 1; row < p.rows.count; ++row) {
                    int32_t at[3];
                    wadi_rows_cell(&p.rows, row, at);
                    for (int l = 0; l < 8; ++l) {
                        bool is_open = at[0] + l > 13;
                        if ((p.active[row] >> l & 1) == 0) {
                            continue;
                        }
                        double b = (double)p.b[8 * row + l];
                        sum[is_open] += pass == 0 ? b : 0.0;
                        double mean = is_open ? 0.0 : sum[0] / (13.0 * 13.0 * 13.0);
                        if (pass == 1) {
                            worst = fmax(worst, fabs(b - mean - y[8 * row + l]));
                            lift = fmax(lift, fabs(b));
                        }
                    }
                }
            }
            CHECK_AT_MOST(worst, 1e-6 * lift);
        }
        free(y);
        problem_free(&p);
    }
}

static void nearly_closed_boxes_converge(void **state)
{
    (void)state;
    Problem p = { .rule = closed_rule, .n = 13, .option = 2, .high = { 60, 60, 12 } };
    problem_make(&p);
    for (int box = 0; box < 16; ++box) {
        int32_t row = wadi_rows_find(&p.rows, 14 * (box % 4), 14 * (box / 4) + 3, 4);
        p.diagonal[8 * row + (14 * (box % 4) & 7)] += box % 2 == 0 ? 1.0f : 1e-3f;
    }
    WadiPoissonReport report = problem_solve(&p, 1e-6);
    assert_int_equal(report.closed_components, 0);
    assert_true(report.has_converged);
    CHECK_AT_MOST(report.iterations, 19);
    problem_free(&p);
}

/* Isolated cells on a lattice of three; option 1: surrounded by solids. */
static int single_rule(const Problem *p, int i, int j, int k)
{
    bool is_cell = i % 3 == 0 && j % 3 == 0 && k % 3 == 0;
    return is_cell ? FLUID : p->option == 1 ? SOLID : AIR;
}

static void single_cells_are_solved_directly(void **state)
{
    (void)state;
    for (int option = 0; option < 2; ++option) {
        Problem p = { .rule = single_rule, .option = option, .high = { 23, 23, 23 } };
        problem_make(&p);
        WadiPoissonReport report = problem_solve(&p, 1e-6);
        assert_true(report.has_converged);
        assert_int_equal(report.iterations, 0);
        for (size_t c = 8; c < p.cells; ++c) {
            double expected = option == 0 ? (double)p.b[c] / 6.0 : 0.0;
            CHECK_NEAR(p.x[c], expected, 1e-15);
        }
        problem_free(&p);
    }
}

static void nothing_to_do_is_done_at_once(void **state)
{
    (void)state;
    Problem p;
    problem_ball(&p, 9);
    memset(p.b, 0, p.cells * sizeof *p.b);
    p.x[8 * 5 + 3] = 4.0;
    WadiPoissonReport report = problem_solve(&p, 1e-6);
    assert_true(report.has_converged);
    assert_int_equal(report.iterations, 0);
    for (int32_t row = 1; row < p.rows.count; ++row) {
        for (int l = 0; l < 8; ++l) {
            assert_true((p.active[row] >> l & 1) == 0 || p.x[8 * row + l] == 0.0);
        }
    }
    problem_free(&p);
    p = (Problem){ 0 };
    WadiError error;
    CHECK_OK(wadi_rows_build(&p.rows, &p.tiles, NULL, &p.arena, &error), error);
    float zero[8] = { 0 };
    double x[8] = { 0 };
    uint8_t active[1] = { 0 };
    WadiPoisson none = { &p.rows, active, zero, zero, zero, zero, NULL, NULL };
    WadiPoissonSettings settings = { .tolerance = 1e-6, .max_iterations = 10 };
    CHECK_OK(wadi_poisson_solve(&none, zero, &settings, x, &p.scratch, &report, &error), error);
    assert_true(report.has_converged);
    problem_free(&p);
}

static void a_divergence_that_is_not_finite_is_an_error(void **state)
{
    (void)state;
    Problem p;
    problem_ball(&p, 6);
    int32_t row = wadi_rows_find(&p.rows, 2, 1, 1);
    float bad[2] = { NAN, INFINITY };
    for (int i = 0; i < 2; ++i) {
        p.b[8 * row + 2] = bad[i];
        WadiError error;
        WadiPoissonReport report;
        WadiPoissonSettings settings = { .tolerance = 1e-6, .max_iterations = 10 };
        assert_int_equal(wadi_poisson_solve(&p.system, p.b, &settings, p.x, &p.scratch, &report, &error),
                         WADI_ERR_NUMERIC);
        assert_int_equal(poisson_sor(&p.system, p.b, 1.5, &settings, p.x, &p.scratch, &report, &error),
                         WADI_ERR_NUMERIC);
    }
    problem_free(&p);
}

static void only_unknowns_are_read(void **state)
{
    (void)state;
    Problem p;
    problem_ball(&p, 9);
    for (int32_t row = 1; row < p.rows.count; ++row) {
        for (int l = 0; l < 8; ++l) {
            if ((p.active[row] >> l & 1) == 0) {
                p.x[8 * row + l] = NAN;
                p.b[8 * row + l] = NAN;
            }
        }
    }
    assert_true(problem_solve(&p, 1e-6).has_converged);
    for (int32_t row = 1; row < p.rows.count; ++row) {
        for (int l = 0; l < 8; ++l) {
            assert_true((p.active[row] >> l & 1) != 0 ? isfinite(p.x[8 * row + l]) : p.x[8 * row + l] == 0.0);
        }
    }
    problem_free(&p);
}

static void the_result_has_the_same_bytes_for_any_thread_count(void **state)
{
    (void)state;
    static const int threads[3] = { 1, 2, 5 };
    Problem p;
    problem_box(&p, 40, 5);
    double *first = calloc(p.cells, sizeof *first);
    assert_non_null(first);
    for (int t = 0; t < 3; ++t) {
        wadi_parallel_set_threads(threads[t]);
        memset(p.x, 0, p.cells * sizeof *p.x);
        assert_true(problem_solve(&p, 1e-6).has_converged);
        if (t == 0) {
            memcpy(first, p.x, p.cells * sizeof *p.x);
        }
        assert_memory_equal(first, p.x, p.cells * sizeof *p.x);
    }
    wadi_parallel_set_threads(0);
    free(first);
    problem_free(&p);
}

static void a_warm_start_saves_iterations(void **state)
{
    (void)state;
    Problem p;
    problem_ball(&p, 20);
    int cold = problem_solve(&p, 1e-6).iterations;
    WadiPoissonReport same = problem_solve(&p, 1e-6);
    assert_int_equal(same.iterations, 0);
    assert_true(same.has_converged);
    for (size_t c = 0; c < p.cells; ++c) {
        p.b[c] *= 1.0f + 0.001f * (float)noise(c);
    }
    WadiPoissonReport warm = problem_solve(&p, 1e-6);
    assert_true(warm.has_converged);
    CHECK_AT_MOST(warm.iterations, cold - 2);
    for (size_t c = 0; c < p.cells; ++c) {
        p.x[c] = 1e12 * noise(c); /* worse than nothing */
    }
    CHECK_AT_MOST(problem_solve(&p, 1e-6).iterations, cold + 1);
    problem_free(&p);
}

/* Any positive multiple of the solution is scaled back to it; a start of the opposite sign is not used. */
static void a_warm_start_is_scaled(void **state)
{
    (void)state;
    Problem p;
    problem_ball(&p, 20);
    const int cold = problem_solve(&p, 1e-6).iterations;
    assert_true(cold >= 4);
    for (int n = 0; n < 3; ++n) {
        const double factor[3] = { 40.0, 0.25, 0.01 };
        for (size_t i = 0; i < p.cells; ++i) {
            p.x[i] *= factor[n];
        }
        const WadiPoissonReport report = problem_solve(&p, 1e-6);
        assert_true(report.has_converged);
        CHECK_AT_MOST(report.iterations, 1); /* the solution was known to 1e-6, in energy a little worse */
    }
    for (int n = 0; n < 2; ++n) {
        for (size_t i = 0; i < p.cells; ++i) {
            p.x[i] *= n == 0 ? -0.5 : 1e-12; /* opposite sign; too small to be significant */
        }
        CHECK_AT_MOST(problem_solve(&p, 1e-6).iterations, cold);
    }
    problem_free(&p);
}

static void a_warmed_up_solve_does_not_allocate(void **state)
{
    (void)state;
    Problem p;
    problem_droplets(&p);
    problem_solve(&p, 1e-6);
    WadiError error;
    CHECK_OK(wadi_arena_reset(&p.scratch, &error), error);
    size_t calls = wadi_alloc_call_count();
    problem_solve(&p, 1e-6);
    assert_int_equal(wadi_alloc_call_count(), calls);
    problem_free(&p);
}

static void memory_that_runs_out_is_an_error_at_every_call(void **state)
{
    (void)state;
    wadi_set_allocator(&failing_allocator);
    size_t live = wadi_alloc_live_bytes();
    Problem p = { .rule = closed_rule, .n = 5, .option = 1, .high = { 20, 20, 12 } };
    problem_make(&p);
    WadiPoissonSettings settings = { .tolerance = 1e-6, .max_iterations = 50 };
    WadiStatus status = WADI_ERR_MEMORY;
    for (long n = 1; status != WADI_OK; ++n) {
        alloc_calls = 0;
        alloc_fails_at = n;
        WadiError error;
        WadiPoissonReport report;
        WadiArena scratch = { 0 };
        status =
            wadi_poisson_solve_unilateral(&p.system, p.b, &settings, 2, p.x, &scratch, &report, NULL, &error);
        wadi_arena_free(&scratch);
        assert_true(status == WADI_OK ? alloc_calls < n : status == WADI_ERR_MEMORY);
        assert_true(n < 500);
    }
    alloc_fails_at = 0;
    problem_free(&p);
    assert_int_equal(wadi_alloc_live_bytes(), live);
    wadi_set_allocator(NULL);
}

static void over_relaxation_needs_a_fifth_of_the_sweeps(void **state)
{
    (void)state;
    Problem p = { .rule = column_rule, .n = 16, .high = { 15, 15, 31 } };
    problem_make(&p);
    WadiError error;
    WadiPoissonSettings settings = { .tolerance = 1e-4, .max_iterations = 20000 };
    int sweeps[2];
    double *by_sor = calloc(p.cells, sizeof *by_sor);
    assert_non_null(by_sor);
    for (int i = 0; i < 2; ++i) {
        WadiPoissonReport report;
        memset(by_sor, 0, p.cells * sizeof *by_sor);
        CHECK_OK(
            poisson_sor(&p.system, p.b, i == 0 ? 1.0 : 1.9, &settings, by_sor, &p.scratch, &report, &error),
            error);
        assert_true(report.has_converged);
        sweeps[i] = report.iterations;
    }
    CHECK_AT_MOST(5 * sweeps[1], sweeps[0]);
    problem_solve(&p, 1e-6);
    double largest = 0.0, difference = 0.0;
    for (size_t c = 0; c < p.cells; ++c) {
        largest = fmax(largest, fabs(p.x[c]));
        difference = fmax(difference, fabs(p.x[c] - by_sor[c]));
    }
    CHECK_AT_MOST(difference, 1e-3 * largest);
    free(by_sor);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_has_hydrostatic_pressure),
        cmocka_unit_test(a_closed_box_is_solved_up_to_the_mean),
        cmocka_unit_test(nearly_closed_boxes_converge),
        cmocka_unit_test(single_cells_are_solved_directly),
        cmocka_unit_test(nothing_to_do_is_done_at_once),
        cmocka_unit_test(a_divergence_that_is_not_finite_is_an_error),
        cmocka_unit_test(only_unknowns_are_read),
        cmocka_unit_test(the_result_has_the_same_bytes_for_any_thread_count),
        cmocka_unit_test(a_warm_start_saves_iterations),
        cmocka_unit_test(a_warm_start_is_scaled),
        cmocka_unit_test(a_warmed_up_solve_does_not_allocate),
        cmocka_unit_test(memory_that_runs_out_is_an_error_at_every_call),
        cmocka_unit_test(over_relaxation_needs_a_fifth_of_the_sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
