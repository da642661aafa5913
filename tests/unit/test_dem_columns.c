/* Sand as columns: the BCRE equations on a height field. */
#include <string.h>
#include <time.h>

#include "core/parallel.h"
#include "core/random.h"
#include "dem/columns/dem_columns.h"
#include "expect.h"

#define DEGREE (3.14159265358979323846 / 180.0)

static WadiDemColumns *flat(int nx, int ny, double width)
{
    WadiError error;
    WadiDemColumns *columns = NULL;
    CHECK_OK(wadi_dem_columns_create_flat(&columns, nx, ny, width, &error), error);
    return columns;
}

/* A ridge along y with flanks of the slope `degrees`, `half` columns wide each. */
static void make_wedge(WadiDemColumns *c, int half, double degrees)
{
    for (int32_t i = 0; i < c->count; ++i) {
        const double away = fabs((double)(i % c->nx) + 0.5 - 0.5 * c->nx);
        c->height[i] = fmax(0.0, (half - away) * c->wx * tan(degrees * DEGREE));
    }
}

static void make_cone(WadiDemColumns *c, double radius, double degrees)
{
    for (int32_t i = 0; i < c->count; ++i) {
        const double x = (double)(i % c->nx) + 0.5 - 0.5 * c->nx;
        const double y = (double)(i / c->nx) + 0.5 - 0.5 * c->ny;
        c->height[i] = fmax(0.0, (radius - sqrt(x * x + y * y)) * c->wx * tan(degrees * DEGREE));
    }
}

/* Steps until nothing rolls; returns their number. */
static int run_to_rest(WadiDemColumns *c, const WadiDemBcre *law, int most)
{
    WadiError error;
    const double dt = wadi_dem_bcre_largest_dt(c, law);
    for (int step = 0; step < most; ++step) {
        double rolling = 0.0;
        CHECK_OK(wadi_dem_bcre_step(c, law, dt, &error), error);
        for (int32_t i = 0; i < c->count; ++i) {
            rolling += c->rolling[i];
        }
        if (rolling == 0.0) {
            return step + 1;
        }
    }
    return most;
}

/* On a plane of constant slope with walls far away, R = R_0 exp(gamma (theta - theta_0) t). */
static double growth_error(double step)
{
    WadiError error;
    const double d = 0.01, slope = 33.0 * DEGREE;
    WadiDemBcre law = wadi_dem_bcre_default(d, 30.0 * DEGREE, 9.81);
    law.speed = 1e-9; /* no transport */
    WadiDemColumns *c = flat(9, 9, 2.0 * d);
    for (int32_t i = 0; i < c->count; ++i) {
        c->height[i] = 1.0 + (i % c->nx) * c->wx * tan(slope);
        c->rolling[i] = 1e-4 * d;
    }
    const int32_t middle = 4 * 9 + 4;
    const int steps = (int)(2.0 / step + 0.5);
    const double dt = step / law.rate, before = c->height[middle] + c->rolling[middle];
    law.settle = 0.0;
    law.hysteresis = 10.0 * DEGREE; /* nothing starts by itself */
    for (int k = 0; k < steps; ++k) {
        CHECK_OK(wadi_dem_bcre_step(c, &law, dt, &error), error);
    }
    const double exact = 1e-4 * d * exp(law.rate * (slope - law.repose) * dt * steps);
    const double relative = c->rolling[middle] / exact - 1.0;
    CHECK_NEAR(c->height[middle] + c->rolling[middle], before, 1e-13);
    wadi_dem_columns_destroy(c);
    return fabs(relative);
}

static void test_exchange_grows_as_its_exponential_to_first_order(void **state)
{
    (void)state;
    const double coarse = growth_error(0.04), middle = growth_error(0.02), fine = growth_error(0.01);
    print_message("errors %.3g %.3g %.3g\n", coarse, middle, fine);
    CHECK_AT_MOST(fine, 0.01);
    CHECK_NEAR(coarse / middle, 2.0, 0.1);
    CHECK_NEAR(middle / fine, 2.0, 0.1);
}

static void check_avalanche(WadiDemColumns *c, double hysteresis)
{
    WadiDemBcre law = wadi_dem_bcre_default(0.01, 30.0 * DEGREE, 9.81);
    law.hysteresis = hysteresis * DEGREE;
    const double volume = wadi_dem_columns_volume(c);
    const int steps = run_to_rest(c, &law, 20000);
    const double steepest = atan(wadi_dem_columns_steepest(c)) / DEGREE;
    print_message("%d steps, steepest %.2f deg, volume changed by %.2g\n", steps, steepest,
                  wadi_dem_columns_volume(c) / volume - 1.0);
    assert_true(steps < 20000);
    CHECK_AT_MOST(steepest, 30.0 + hysteresis + 0.1);
    CHECK_NEAR(wadi_dem_columns_volume(c) / volume, 1.0, 1e-12);
    wadi_dem_columns_destroy(c);
}

static void test_steep_wedges_and_cones_come_to_rest_below_their_angle(void **state)
{
    (void)state;
    for (int hysteresis = 0; hysteresis < 2; ++hysteresis) {
        WadiDemColumns *wedge = flat(120, 5, 0.02), *cone = flat(80, 80, 0.02);
        make_wedge(wedge, 30, 45.0);
        make_cone(cone, 20.0, 45.0);
        check_avalanche(wedge, hysteresis);
        check_avalanche(cone, hysteresis);
    }
}

static void test_a_slope_below_the_angle_of_repose_does_not_move(void **state)
{
    (void)state;
    WadiError error;
    WadiDemColumns *c = flat(60, 60, 0.02);
    make_wedge(c, 20, 29.0);
    double before[3600];
    memcpy(before, c->height, sizeof(before));
    WadiDemBcre law = wadi_dem_bcre_default(0.01, 30.0 * DEGREE, 9.81);
    for (int k = 0; k < 50; ++k) {
        CHECK_OK(wadi_dem_bcre_step(c, &law, wadi_dem_bcre_largest_dt(c, &law), &error), error);
    }
    assert_memory_equal(before, c->height, sizeof(before));
    wadi_dem_columns_destroy(c);
}

/* The foot of a step is not eroded by it: it only gains sand. */
static void test_the_foot_of_a_step_is_not_eroded(void **state)
{
    (void)state;
    WadiError error;
    WadiDemColumns *c = flat(40, 3, 0.02);
    for (int32_t i = 0; i < c->count; ++i) {
        c->height[i] = i % c->nx < 20 ? 0.5 : 0.2;
    }
    WadiDemBcre law = wadi_dem_bcre_default(0.01, 30.0 * DEGREE, 9.81);
    for (int k = 0; k < 200; ++k) {
        CHECK_OK(wadi_dem_bcre_step(c, &law, wadi_dem_bcre_largest_dt(c, &law), &error), error);
        for (int32_t i = 20; i < 40; ++i) {
            assert_true(c->height[i] + c->rolling[i] >= 0.2 - 1e-12);
        }
    }
    wadi_dem_columns_destroy(c);
}

/* Rough sand of random heights. */
static WadiDemColumns *make_rough(int nx, int ny)
{
    WadiDemColumns *c = flat(nx, ny, 0.02);
    for (int32_t i = 0; i < c->count; ++i) {
        c->floor[i] = -0.1 * wadi_random_unit(7, (uint64_t)i, WADI_RANDOM_TEST);
        c->height[i] = c->floor[i] + 0.3 * wadi_random_unit(8, (uint64_t)i, WADI_RANDOM_TEST);
        c->rolling[i] = 0.01 * wadi_random_unit(9, (uint64_t)i, WADI_RANDOM_TEST);
    }
    return c;
}

/* The vectorised rows and the loop over links are the same arithmetic; threads change nothing. */
static void test_rows_and_links_give_the_same_bytes_for_any_threads(void **state)
{
    (void)state;
    WadiError error;
    WadiDemColumns *reference = make_rough(67, 45);
    WadiDemBcre law = wadi_dem_bcre_default(0.01, 30.0 * DEGREE, 9.81);
    const double dt = wadi_dem_bcre_largest_dt(reference, &law);
    for (int k = 0; k < 40; ++k) {
        CHECK_OK(wadi_dem_bcre_step(reference, &law, dt, &error), error);
    }
    for (int variant = 0; variant < 4; ++variant) {
        WadiDemColumns *c = make_rough(67, 45);
        if (variant % 2 == 1) {
            CHECK_OK(wadi_dem_columns_add_links(c, true, 0.0, &error), error);
        }
        wadi_parallel_set_threads(variant < 2 ? 2 : 5);
        for (int k = 0; k < 40; ++k) {
            CHECK_OK(wadi_dem_bcre_step(c, &law, dt, &error), error);
        }
        wadi_parallel_set_threads(1);
        assert_memory_equal(c->height, reference->height, (size_t)c->count * sizeof(double));
        assert_memory_equal(c->rolling, reference->rolling, (size_t)c->count * sizeof(double));
        wadi_dem_columns_destroy(c);
    }
    wadi_dem_columns_destroy(reference);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Dunes of 1000 x 1000 columns: 24 steps a second on two cores. */
static void test_large_dunes_are_fast(void **state)
{
    (void)state;
    WadiError error;
    const int n = is_sanitized() ? 100 : 1000;
    WadiDemColumns *c = make_rough(n, n);
    WadiDemBcre law = wadi_dem_bcre_default(0.01, 30.0 * DEGREE, 9.81);
    const double dt = wadi_dem_bcre_largest_dt(c, &law), volume = wadi_dem_columns_volume(c);
    const int steps = is_long_run() ? 100 : 10;
    wadi_parallel_set_threads(2);
    const double start = seconds();
    for (int k = 0; k < steps; ++k) {
        CHECK_OK(wadi_dem_bcre_step(c, &law, dt, &error), error);
    }
    const double each = (seconds() - start) / steps;
    wadi_parallel_set_threads(1);
    print_message("%d columns: %.1f ms a step, %.1f steps a second\n", c->count, 1e3 * each, 1.0 / each);
    CHECK_BENCH(each, 1.0 / 24.0);
    CHECK_NEAR(wadi_dem_columns_volume(c) / volume, 1.0, 1e-12);
    wadi_dem_columns_destroy(c);
}

static void test_a_step_that_is_too_long_is_refused(void **state)
{
    (void)state;
    WadiError error;
    WadiDemColumns *c = flat(4, 4, 0.02);
    WadiDemBcre law = wadi_dem_bcre_default(0.01, 30.0 * DEGREE, 9.81);
    assert_int_equal(wadi_dem_bcre_step(c, &law, 1.0, &error), WADI_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "at most"));
    wadi_dem_columns_destroy(c);
    assert_int_equal(wadi_dem_columns_create_flat(&c, 0, 4, 0.02, &error), WADI_ERR_ARGUMENT);
    assert_null(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchange_grows_as_its_exponential_to_first_order),
        cmocka_unit_test(test_steep_wedges_and_cones_come_to_rest_below_their_angle),
        cmocka_unit_test(test_a_slope_below_the_angle_of_repose_does_not_move),
        cmocka_unit_test(test_the_foot_of_a_step_is_not_eroded),
        cmocka_unit_test(test_rows_and_links_give_the_same_bytes_for_any_threads),
        cmocka_unit_test(test_large_dunes_are_fast),
        cmocka_unit_test(test_a_step_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
