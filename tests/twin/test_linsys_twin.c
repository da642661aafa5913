/* The multigrid solver against elimination in double on small random problems, with couplings from 1e-3 to 1,
 * gaps, walls on single faces, and bodies with and without an outlet. */
#include "linsys_problem.h"

/* Cells at random in a box of n; option: seed. */
static int random_rule(const Problem *p, int i, int j, int k)
{
    if (i < 0 || j < 0 || k < 0 || i >= p->n || j >= p->n || k >= p->n) {
        return SOLID;
    }
    uint64_t id = (uint64_t)(((p->option * 64 + i) * 64 + j) * 64 + k);
    double v = noise(id);
    return v < 0.5 ? FLUID : v < 0.75 ? AIR : SOLID;
}

/* Random couplings, some of them cut; the diagonal follows. */
static void shake(Problem *p)
{
    for (int32_t row = 1; row < p->rows.count; ++row) {
        for (int l = 0; l < 8; ++l) {
            size_t c = 8 * (size_t)row + (size_t)l;
            const int32_t *n = p->rows.neighbour[row];
            size_t beside[3] = { l > 0 ? c - 1 : 8 * (size_t)n[0] + 7, 8 * (size_t)n[2] + (size_t)l,
                                 8 * (size_t)n[4] + (size_t)l };
            for (int a = 0; a < 3; ++a) {
                if (p->c[a][c] > 0.0f) {
                    double v = noise(3 * c + (size_t)a + 77);
                    float to = v < -0.7 ? 0.0f : (float)pow(10.0, 1.5 * (v - 1.0));
                    p->diagonal[c] += to - 1.0f;
                    p->diagonal[beside[a]] += to - 1.0f;
                    p->c[a][c] = to;
                }
            }
        }
    }
    /* Diagonals recomputed from the couplings, so that they dominate: the contribution of air is an integer
     * by construction. */
    for (size_t c = 8; c < p->cells; ++c) {
        int32_t row = (int32_t)(c / 8);
        int l = (int)(c % 8);
        const int32_t *n = p->rows.neighbour[row];
        double sum = (double)p->c[0][c] + (double)p->c[1][c] + (double)p->c[2][c];
        sum += (double)p->c[0][l < 7 ? c + 1 : 8 * (size_t)n[1]];
        sum += (double)p->c[1][8 * (size_t)n[3] + (size_t)l] + (double)p->c[2][8 * (size_t)n[5] + (size_t)l];
        p->diagonal[c] = (float)(sum + fmax(0.0, round((double)p->diagonal[c] - sum)));
    }
}

/* Columns of A by applying it to unit vectors. */
static double *dense_matrix(const Problem *p, const size_t *cell, size_t n)
{
    double *a = calloc(n * n, sizeof *a), *x = calloc(p->cells, sizeof *x), *y = calloc(p->cells, sizeof *y);
    assert_true(a != NULL && x != NULL && y != NULL);
    for (size_t j = 0; j < n; ++j) {
        x[cell[j]] = 1.0;
        wadi_poisson_apply(&p->system, x, y);
        x[cell[j]] = 0.0;
        for (size_t i = 0; i < n; ++i) {
            a[i * n + j] = y[cell[i]];
            assert_true(i != j || fabs(a[i * n + i] - (double)p->diagonal[cell[i]]) <= 2e-6 * a[i * n + i]);
        }
    }
    free(x);
    free(y);
    return a;
}

/* A x of the solver's solution against b less what elimination finds inconsistent: A = L D L^T; where a pivot
 * vanishes the component is closed. Returns the number of closed components; x gets a solution with 0 at each
 * vanished pivot. */
static int eliminate(double *a, double *x, size_t n)
{
    int closed = 0;
    for (size_t k = 0; k < n; ++k) {
        if (a[k * n + k] < 1e-7) {
            ++closed;
            a[k * n + k] = 0.0;
            x[k] = 0.0;
            continue;
        }
        for (size_t i = k + 1; i < n; ++i) {
            double f = a[i * n + k] / a[k * n + k];
            if (f != 0.0) {
                for (size_t j = k; j < n; ++j) {
                    a[i * n + j] -= f * a[k * n + j];
                }
                x[i] -= f * x[k];
            }
        }
    }
    for (size_t k = n; k-- > 0;) {
        if (a[k * n + k] > 0.0) {
            for (size_t j = k + 1; j < n; ++j) {
                x[k] -= a[k * n + j] * x[j];
            }
            x[k] /= a[k * n + k];
        }
    }
    return closed;
}

/* Component of each unknown by plain flood over the dense matrix. */
static int flood(const double *a, size_t n, int *of)
{
    int count = 0;
    size_t *stack = calloc(n, sizeof *stack);
    assert_non_null(stack);
    for (size_t i = 0; i < n; ++i) {
        of[i] = -1;
    }
    for (size_t s = 0; s < n; ++s) {
        if (of[s] >= 0) {
            continue;
        }
        size_t top = 0;
        stack[top++] = s;
        of[s] = count;
        while (top > 0) {
            size_t i = stack[--top];
            for (size_t j = 0; j < n; ++j) {
                if (a[i * n + j] != 0.0 && of[j] < 0) {
                    of[j] = count;
                    stack[top++] = j;
                }
            }
        }
        ++count;
    }
    free(stack);
    return count;
}

/* Subtracts the mean over each closed component. */
static void centre(const int *of, int components, const bool *is_closed, double *v, size_t n)
{
    for (int c = 0; c < components; ++c) {
        double sum = 0.0, count = 0.0;
        for (size_t i = 0; i < n; ++i) {
            sum += of[i] == c ? v[i] : 0.0;
            count += of[i] == c;
        }
        for (size_t i = 0; i < n; ++i) {
            v[i] -= of[i] == c && is_closed[c] ? sum / count : 0.0;
        }
    }
}

static void compare(int seed)
{
    Problem p = { .rule = random_rule, .n = 10, .option = seed, .high = { 9, 9, 9 } };
    problem_make(&p);
    shake(&p);
    assert_true(wadi_poisson_validate(&p.system));
    size_t n = p.unknowns, at = 0;
    size_t *cell = calloc(n, sizeof *cell);
    double *b = calloc(n, sizeof *b);
    int *of = calloc(n, sizeof *of);
    bool *is_closed = calloc(n, sizeof *is_closed);
    assert_true(cell != NULL && b != NULL && of != NULL && is_closed != NULL);
    for (size_t c = 8; c < p.cells; ++c) {
        if ((p.active[c / 8] >> c % 8 & 1) != 0) {
            b[at] = (double)p.b[c];
            cell[at++] = c;
        }
    }
    double *a = dense_matrix(&p, cell, n);
    int components = flood(a, n, of), closed = 0, singles = 0;
    for (int c = 0; c < components; ++c) {
        double rows = 0.0;
        int size = 0;
        for (size_t i = 0; i < n; ++i) {
            for (size_t j = 0; j < n && of[i] == c; ++j) {
                rows += a[i * n + j];
            }
            size += of[i] == c;
        }
        is_closed[c] = rows < 1e-9;
        closed += is_closed[c] && size > 1;
        singles += is_closed[c] && size == 1;
    }
    centre(of, components, is_closed, b, n);
    assert_int_equal(eliminate(a, b, n), closed + singles);
    centre(of, components, is_closed, b, n);
    WadiPoissonReport report = problem_solve(&p, 1e-9);
    assert_true(report.has_converged);
    assert_int_equal(report.closed_components, closed);
    double largest = 0.0, worst = 0.0;
    for (size_t i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(b[i]));
        worst = fmax(worst, fabs(b[i] - p.x[cell[i]]));
    }
    CHECK_AT_MOST(worst, 1e-6 * largest);
    free(a);
    free(b);
    free(cell);
    free(of);
    free(is_closed);
    problem_free(&p);
}

static void random_problems_have_the_solution_of_elimination(void **state)
{
    (void)state;
    for (int seed = 0; seed < (is_long_run() ? 60 : 6); ++seed) {
        compare(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems_have_the_solution_of_elimination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
