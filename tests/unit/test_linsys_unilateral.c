/* Solves under x >= least: material that may separate, without tension or with a bounded one. */
#include "linsys_problem.h"

static int closed_box(const Problem *p, int i, int j, int k)
{
    const int n = p->n;
    return i >= 0 && j >= 0 && k >= 0 && i < n && j < n && k < n ? FLUID : SOLID;
}

static WadiPoissonReport solve_unilateral(Problem *p, int64_t *dropped)
{
    WadiError error;
    WadiPoissonReport report;
    WadiPoissonSettings settings = { .tolerance = 1e-6, .max_iterations = 100 };
    CHECK_OK(wadi_poisson_solve_unilateral(&p->system, p->b, &settings, 2, p->x, &p->scratch, &report,
                                           dropped, &error),
             error);
    return report;
}

static void fluid_that_pulls_apart_has_no_pressure(void **state)
{
    (void)state;
    Problem p;
    problem_ball(&p, 12);
    for (size_t c = 0; c < p.cells; ++c) {
        p.b[c] = -fabsf(p.b[c]);
    }
    int64_t dropped;
    assert_true(solve_unilateral(&p, &dropped).has_converged);
    assert_int_equal(dropped, (int64_t)p.unknowns);
    for (size_t c = 0; c < p.cells; ++c) {
        assert_true(p.x[c] == 0.0);
    }
    problem_free(&p);
}

static void pressure_pushes_where_it_may_and_never_pulls(void **state)
{
    (void)state;
    Problem p;
    problem_ball(&p, 12);
    for (int32_t row = 1; row < p.rows.count; ++row) {
        int32_t at[3];
        wadi_rows_cell(&p.rows, row, at);
        for (int l = 0; l < 8; ++l) {
            p.b[8 * row + l] = at[0] + l < 0 ? 1.0f : -1.0f; /* compressed below 0, pulled apart above */
        }
    }
    int64_t dropped;
    assert_true(solve_unilateral(&p, &dropped).has_converged);
    assert_true(dropped > 0 && dropped < (int64_t)p.unknowns);
    double *y = calloc(p.cells, sizeof *y), largest = 0.0, worst = 0.0;
    assert_non_null(y);
    wadi_poisson_apply(&p.system, p.x, y);
    size_t below = 0;
    for (size_t c = 0; c < p.cells; ++c) {
        assert_true(p.x[c] >= 0.0);
        largest = fmax(largest, fabs((double)p.b[c]));
        /* Where there is pressure the equation holds, unless a neighbour was cut off after the last solve. */
        if (p.x[c] > 0.0 && fabs((double)p.b[c] - y[c]) > 1e-6 * largest + 1e-5) {
            worst = fmax(worst, fabs((double)p.b[c] - y[c]));
            ++below;
        }
    }
    CHECK_AT_MOST((double)below, 0.05 * (double)p.unknowns);
    CHECK_AT_MOST(worst, largest);
    free(y);
    problem_free(&p);
    /* A closed box cannot separate: only the constant changes. */
    p = (Problem){ .rule = closed_box, .n = 9, .high = { 8, 8, 8 } };
    problem_make(&p);
    solve_unilateral(&p, &dropped);
    assert_int_equal(dropped, 0);
    problem_free(&p);
}

/* x >= -T is x' = x + T >= 0 with the right-hand side b + A T. */
static void bounded_tension_is_a_shift_of_the_unknowns(void **state)
{
    (void)state;
    Problem p;
    problem_ball(&p, 12);
    float *least;
    double *array[3];
    WadiError error;
    CHECK_OK(WADI_ARENA_NEW(&p.arena, &least, p.cells, "test", &error), error);
    for (int n = 0; n < 3; ++n) {
        CHECK_OK(WADI_ARENA_NEW(&p.arena, &array[n], p.cells, "test", &error), error);
    }
    double *const tension = array[0], *const shift = array[1], *const bounded = array[2];
    for (size_t c = 0; c < p.cells; ++c) {
        const double is_unknown = p.active[c / 8] >> (c % 8) & 1;
        tension[c] = is_unknown * (0.5 + 0.25 * (double)(c % 3));
        least[c] = (float)-tension[c];
        p.b[c] = (float)(is_unknown * (0.2 * sin(0.7 * (double)c) - 0.1));
    }
    int64_t dropped;
    p.system.least = least;
    assert_true(solve_unilateral(&p, &dropped).has_converged);
    assert_true(dropped > 0 && dropped < (int64_t)p.unknowns);
    memcpy(bounded, p.x, p.cells * sizeof *bounded);
    p.system.least = NULL;
    wadi_poisson_apply(&p.system, tension, shift);
    for (size_t c = 0; c < p.cells; ++c) {
        p.b[c] += (float)shift[c];
    }
    assert_true(solve_unilateral(&p, &dropped).has_converged);
    for (size_t c = 0; c < p.cells; ++c) {
        CHECK_NEAR(bounded[c], p.x[c] - tension[c], 1e-3);
    }
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fluid_that_pulls_apart_has_no_pressure),
        cmocka_unit_test(pressure_pushes_where_it_may_and_never_pulls),
        cmocka_unit_test(bounded_tension_is_a_shift_of_the_unknowns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
