/* grid: distances and extension by the scheme of fast sweeping [theory 2.7]. */
#include "core/parallel.h"
#include "failing_alloc.h"
#include "flip_box.h"
#include "grid/sweep.h"

typedef struct Ball {
    FlipBox box;
    double h;
    float *exact, *distance;
    uint8_t *known; /* inside the ball and one cell around it */
} Ball;

static void make_ball(Ball *ball, int n)
{
    const int low[3] = { -n / 2, -n / 2, -n / 2 }, high[3] = { n / 2, n / 2, n / 2 };
    flip_box_make(&ball->box, low, high);
    ball->h = 1.0 / n;
    ball->exact = flip_box_floats(&ball->box, 0.0f);
    ball->distance = flip_box_floats(&ball->box, 7.0f);
    ball->known = flip_box_array(&ball->box, sizeof(uint8_t));
    for (size_t at = 8; at < wadi_rows_floats(&ball->box.rows); ++at) {
        int c[3];
        flip_box_cell(&ball->box, at, c);
        double x = ball->h * (c[0] + 0.5), y = ball->h * (c[1] + 0.5), z = ball->h * (c[2] + 0.5);
        ball->exact[at] = (float)(sqrt(x * x + y * y + z * z) - 0.2);
        /* A fixed shell, not one cell: the exact values it starts from are then the same at every resolution.
         */
        if (ball->exact[at] < 0.0625f) {
            ball->known[at / 8] |= (uint8_t)(1u << (at % 8));
            ball->distance[at] = ball->exact[at];
        }
    }
}

static double worst_error(int n, int *rounds)
{
    Ball ball;
    make_ball(&ball, n);
    WadiError error;
    WadiSweepReport report;
    CHECK_OK(wadi_sweep_distance(&ball.box.rows, ball.known, ball.h, 10.0, ball.distance, &ball.box.arena,
                                 &report, &error),
             error);
    assert_true(report.has_converged);
    *rounds = report.rounds;
    double worst = 0.0;
    for (size_t at = 8; at < wadi_rows_floats(&ball.box.rows); ++at) {
        worst = fmax(worst, fabs((double)ball.distance[at] - (double)ball.exact[at]));
    }
    flip_box_free(&ball.box);
    return worst;
}

static void distances_from_a_sphere_are_first_order(void **unused)
{
    (void)unused;
    int rounds[2];
    double coarse = worst_error(16, &rounds[0]), fine = worst_error(64, &rounds[1]);
    double order = log(coarse / fine) / log(4.0);
    print_message("error %.3g (%d rounds), %.3g (%d rounds), order %.2f\n", coarse, rounds[0], fine,
                  rounds[1], order);
    assert_true(order >= 0.9);
    assert_true(rounds[1] < 120);
}

static void distances_from_a_plane_are_exact(void **unused)
{
    (void)unused;
    for (int axis = 0; axis < 3; ++axis) {
        FlipBox box;
        flip_box_make(&box, (const int[3]){ -8, -8, -8 }, (const int[3]){ 8, 8, 8 });
        float *distance = flip_box_floats(&box, -3.0f);
        uint8_t *known = flip_box_array(&box, sizeof(uint8_t));
        for (size_t at = 8; at < wadi_rows_floats(&box.rows); ++at) {
            int c[3];
            flip_box_cell(&box, at, c);
            if (c[axis] < -2) {
                known[at / 8] |= (uint8_t)(1u << (at % 8));
                distance[at] = 0.25f * (float)(c[axis] + 3) - 0.125f;
            }
        }
        WadiError error;
        WadiSweepReport report;
        CHECK_OK(wadi_sweep_distance(&box.rows, known, 0.25, 1.5, distance, &box.arena, &report, &error),
                 error);
        for (size_t at = 8; at < wadi_rows_floats(&box.rows); ++at) {
            int c[3];
            flip_box_cell(&box, at, c);
            CHECK_NEAR((double)distance[at], fmin(0.25 * (c[axis] + 3) - 0.125, 1.5), 1e-6);
        }
        flip_box_free(&box);
    }
}

static void extension_of_a_constant_is_exact(void **unused)
{
    (void)unused;
    Ball ball;
    make_ball(&ball, 32);
    WadiError error;
    WadiSweepReport report;
    float *value = flip_box_floats(&ball.box, 99.0f);
    for (size_t at = 8; at < wadi_rows_floats(&ball.box.rows); ++at) {
        value[at] = ball.known[at / 8] >> (at % 8) & 1 ? 0.1f : 99.0f;
    }
    CHECK_OK(
        wadi_sweep_extend(&ball.box.rows, ball.known, ball.exact, value, &ball.box.arena, &report, &error),
        error);
    assert_true(report.has_converged);
    for (size_t at = 8; at < wadi_rows_floats(&ball.box.rows); ++at) {
        assert_true(value[at] == 0.1f);
    }
    flip_box_free(&ball.box);
}

/* A value that depends on the direction from the centre only is carried outwards unchanged. */
static double direction_error(int n)
{
    Ball ball;
    make_ball(&ball, n);
    WadiError error;
    WadiSweepReport report;
    float *value = flip_box_floats(&ball.box, 99.0f);
    double worst = 0.0;
    for (int pass = 0; pass < 2; ++pass) {
        for (size_t at = 8; at < wadi_rows_floats(&ball.box.rows); ++at) {
            int c[3];
            flip_box_cell(&ball.box, at, c);
            double x = c[0] + 0.5, y = c[1] + 0.5, z = c[2] + 0.5;
            double wanted = x / sqrt(x * x + y * y + z * z);
            if (pass == 0) {
                value[at] = (float)wanted;
            } else {
                worst = fmax(worst, fabs((double)value[at] - wanted));
            }
        }
        if (pass == 0) {
            CHECK_OK(wadi_sweep_extend(&ball.box.rows, ball.known, ball.exact, value, &ball.box.arena,
                                       &report, &error),
                     error);
        }
    }
    flip_box_free(&ball.box);
    return worst;
}

static void extension_follows_the_normals(void **unused)
{
    (void)unused;
    double coarse = direction_error(16), fine = direction_error(64);
    print_message("extension error %.3g, %.3g\n", coarse, fine);
    assert_true(log(coarse / fine) / log(4.0) >= 0.8);
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    Ball ball[3];
    for (int n = 0; n < 3; ++n) {
        wadi_parallel_set_threads(n + 1);
        make_ball(&ball[n], 32);
        WadiError error;
        WadiSweepReport report;
        CHECK_OK(wadi_sweep_distance(&ball[n].box.rows, ball[n].known, ball[n].h, 10.0, ball[n].distance,
                                     &ball[n].box.arena, &report, &error),
                 error);
    }
    wadi_parallel_set_threads(0);
    size_t bytes = wadi_rows_floats(&ball[0].box.rows) * sizeof(float);
    assert_memory_equal(ball[0].distance, ball[1].distance, bytes);
    assert_memory_equal(ball[0].distance, ball[2].distance, bytes);
    for (int n = 0; n < 3; ++n) {
        flip_box_free(&ball[n].box);
    }
}

static void every_failing_allocation_is_reported(void **unused)
{
    (void)unused;
    wadi_set_allocator(&failing_allocator);
    int failures = 0;
    for (int n = 0, succeeded = 0; succeeded < 2; ++n) {
        Ball ball;
        alloc_calls_left = INT_MAX;
        make_ball(&ball, 16);
        WadiError error;
        WadiSweepReport report;
        WadiArena scratch = { 0 };
        succeeded = 0;
        alloc_calls_left = n;
        succeeded += wadi_sweep_distance(&ball.box.rows, ball.known, ball.h, 10.0, ball.distance, &scratch,
                                         &report, &error) == WADI_OK;
        alloc_calls_left = n;
        succeeded += wadi_sweep_extend(&ball.box.rows, ball.known, ball.distance, ball.exact, &scratch,
                                       &report, &error) == WADI_OK;
        failures += 2 - succeeded;
        alloc_calls_left = INT_MAX;
        wadi_arena_free(&scratch);
        flip_box_free(&ball.box);
        assert_int_equal(wadi_alloc_live_bytes(), 0);
    }
    wadi_set_allocator(NULL);
    assert_int_equal(failures, 4 + 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_from_a_sphere_are_first_order),
        cmocka_unit_test(distances_from_a_plane_are_exact),
        cmocka_unit_test(extension_of_a_constant_is_exact),
        cmocka_unit_test(extension_follows_the_normals),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
