/* Iterations to a true residual of 1e-6, from 30,000 to 3 million cells, thin walls and droplets included.
 * WADI_LONG=1 in the environment: also the large ones. Times are printed; they belong to the machine and are
 * not asserted. */
#include "linsys_problem.h"

static void solve_within(int most, const char *name, Problem *p)
{
    double best = INFINITY;
    WadiPoissonReport report;
    for (int run = 0; run < 3; ++run) {
        memset(p->x, 0, p->cells * sizeof *p->x);
        double start = wadi_time_now();
        report = problem_solve(p, 1e-6);
        best = fmin(best, wadi_time_now() - start);
    }
    print_message("%-34s %8zu cells %3d iterations %9.2f ms, %d threads\n", name, p->unknowns,
                  report.iterations, 1e3 * best, wadi_parallel_threads());
    assert_true(report.has_converged);
    CHECK_AT_MOST(report.iterations, most);
    double *y = calloc(p->cells, sizeof *y), worst = 0.0, largest = 0.0;
    assert_non_null(y);
    wadi_poisson_apply(&p->system, p->x, y);
    for (size_t c = 0; c < p->cells; ++c) {
        worst = fmax(worst, fabs((double)p->b[c] - y[c]));
        largest = fmax(largest, fabs((double)p->b[c]));
    }
    CHECK_NEAR(worst, report.residual, 1e-12 * largest);
    CHECK_AT_MOST(worst, 1e-6 * largest);
    free(y);
    problem_free(p);
}

static void solve_and_count(const char *name, Problem *p)
{
    solve_within(19, name, p);
}

static void a_ball_takes_few_iterations(void **state)
{
    (void)state;
    Problem p;
    problem_ball(&p, 20);
    solve_and_count("ball", &p);
    p = (Problem){
        .rule = ball_rule, .n = 20, .air = 100.0f, .low = { -20, -20, -20 }, .high = { 20, 20, 20 }
    };
    problem_make(&p);
    solve_and_count("ball, air at a hundredth of a cell", &p);
    if (is_long_run()) {
        problem_ball(&p, 43);
        solve_and_count("ball", &p);
        problem_ball(&p, 90);
        solve_and_count("ball", &p);
    }
}

static void droplets_take_no_more(void **state)
{
    (void)state;
    Problem p;
    problem_droplets(&p);
    solve_and_count("ball and droplets", &p);
}

static void thin_walls_take_no_more(void **state)
{
    (void)state;
    Problem p;
    for (int n = 50; n <= (is_long_run() ? 100 : 50); n += 50) {
        for (int place = 0; place < 4; ++place) {
            char name[40];
            snprintf(name, sizeof name, "box %d, wall at %d", n, n / 2 + place);
            problem_box(&p, n, 1 + 256 * place);
            solve_and_count(name, &p);
        }
        problem_box(&p, n, 2);
        solve_and_count("wall with a door", &p);
        problem_box(&p, n, 6);
        solve_and_count("two walls", &p);
    }
}

/* Shafts with walls of one cell every `option` cells and doors of one cell; air above. */
static int maze_rule(const Problem *p, int i, int j, int k)
{
    int side = p->option, a = i % side, b = j % side, middle = side / 2;
    if (i < 0 || j < 0 || k < 0 || i >= p->n || j >= p->n) {
        return SOLID;
    }
    if (k >= p->n) {
        return AIR;
    }
    bool is_door = k % side == middle && (a == middle || b == middle);
    return (a == side - 1 || b == side - 1) && !is_door ? SOLID : FLUID;
}

/* The same with floors: a lattice of rooms. */
static int room_rule(const Problem *p, int i, int j, int k)
{
    int side = p->option, middle = side / 2;
    if (i < 0 || j < 0 || k < 0 || i >= p->n || j >= p->n) {
        return SOLID;
    }
    if (k >= p->n) {
        return AIR;
    }
    int place[3] = { i % side, j % side, k % side }, walls = 0, off = 0;
    for (int a = 0; a < 3; ++a) {
        walls += place[a] == side - 1;
        off += place[a] != side - 1 && place[a] != middle;
    }
    return walls == 0 || (walls == 1 && off == 0) ? FLUID : SOLID;
}

/* Rooms whose walls do not lie on block faces are the hardest known case: each is a mode coupled to its
 * neighbours only through one-cell doors. */
static void rooms_with_doors_take_no_more(void **state)
{
    (void)state;
    static const int sizes[3][2] = { { 40, 8 }, { 80, 8 }, { 80, 20 } };
    for (int s = 0; s < (is_long_run() ? 3 : 1); ++s) {
        for (int r = 0; r < 2; ++r) {
            int n = sizes[s][0];
            Problem p = { .rule = r == 0 ? maze_rule : room_rule, .n = n, .option = sizes[s][1] };
            for (int a = 0; a < 3; ++a) {
                p.high[a] = n - 1;
            }
            problem_make(&p);
            bool is_hard = r == 1 && sizes[s][1] == 20;
            solve_within(is_hard ? 45 : 19, r == 0 ? "shafts with doors" : "rooms with doors", &p);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_takes_few_iterations),
        cmocka_unit_test(droplets_take_no_more),
        cmocka_unit_test(thin_walls_take_no_more),
        cmocka_unit_test(rooms_with_doors_take_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
