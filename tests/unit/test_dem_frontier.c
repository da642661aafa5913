/* The published frontier of static and rolling sand: its rates are known [ZY10 eq. 1, eq. 3, eq. 4]. */
#include "core/random.h"
#include "dem/published/dem_frontier.h"
#include "expect.h"

#define DEGREE (3.14159265358979323846 / 180.0)
enum { N = 12 };
static const double WIDTH = 0.02, LEAST = 0.025;
static const WadiDemFrontier LAW = { .repose = 30.0 * DEGREE, .rate = 31.3, .thinnest = 0.025 };

/* A plane that rises along x by `degrees`, under a rolling layer of equal thickness; H, m. */
static WadiDemColumns *make_plane(double degrees, double rolling, double surface[N * N])
{
    WadiError error;
    WadiDemColumns *c = NULL;
    CHECK_OK(wadi_dem_columns_create_flat(&c, N, N, WIDTH, &error), error);
    for (int32_t i = 0; i < c->count; ++i) {
        c->height[i] = 0.5 + (i % N) * WIDTH * tan(degrees * DEGREE);
        c->rolling[i] = rolling;
        surface[i] = c->height[i] + rolling;
    }
    return c;
}

static void at_the_angle_of_repose_nothing_is_exchanged(void **unused)
{
    (void)unused;
    double surface[N * N];
    WadiDemColumns *c = make_plane(30.0, 0.06, surface);
    for (int step = 0; step < 1000; ++step) {
        wadi_dem_frontier_evolve(c, surface, &LAW, 1e-3);
    }
    for (int32_t i = 0; i < c->count; ++i) {
        CHECK_NEAR(c->height[i], surface[i] - 0.06, 1e-12);
        CHECK_NEAR(c->rolling[i], 0.06, 1e-12);
    }
    wadi_dem_columns_destroy(c);
}

/* dh = -gamma R (theta - theta_0) dt, h + R = H. */
static void slopes_erode_and_flats_are_filled_at_the_printed_rate(void **unused)
{
    (void)unused;
    const double degrees[] = { 0.0, 12.0, 29.0, 31.0, 40.0, 55.0 }, dt = 5e-4, rolling = 0.06;
    for (int k = 0; k < 6; ++k) {
        double surface[N * N];
        WadiDemColumns *c = make_plane(degrees[k], rolling, surface);
        CHECK_NEAR(wadi_dem_frontier_angle(c, 5 * N + 5), degrees[k] * DEGREE, 1e-12);
        wadi_dem_frontier_evolve(c, surface, &LAW, dt);
        const double eroded = LAW.rate * rolling * (degrees[k] * DEGREE - LAW.repose) * dt;
        for (int32_t i = 0; i < c->count; ++i) {
            CHECK_NEAR(c->height[i], surface[i] - rolling - eroded, 1e-12);
            CHECK_NEAR(c->rolling[i], rolling + eroded, 1e-12);
        }
        wadi_dem_columns_destroy(c);
    }
}

/* R = R_0 exp(gamma (theta - theta_0) t) below a surface that stays. */
static double error_of_growth(double degrees, double time, int steps)
{
    double surface[N * N];
    WadiDemColumns *c = make_plane(degrees, 0.1, surface);
    for (int step = 0; step < steps; ++step) {
        wadi_dem_frontier_evolve(c, surface, &LAW, time / steps);
    }
    const double exact = 0.1 * exp(LAW.rate * (degrees * DEGREE - LAW.repose) * time);
    const double error = c->rolling[5 * N + 5] / exact - 1.0;
    wadi_dem_columns_destroy(c);
    return error;
}

static void the_layer_grows_and_shrinks_as_its_exponential(void **unused)
{
    (void)unused;
    const double slopes[] = { 0.0, 45.0 };
    for (int k = 0; k < 2; ++k) {
        const double coarse = error_of_growth(slopes[k], 0.05, 50),
                     fine = error_of_growth(slopes[k], 0.05, 100);
        CHECK_AT_MOST(fabs(coarse), 0.02);
        CHECK_NEAR(coarse / fine, 2.0, 0.05);
    }
}

/* Deposition ends at the threshold of R, and on the floor. */
static void the_layer_is_never_thinner_than_the_threshold(void **unused)
{
    (void)unused;
    double surface[N * N];
    WadiDemColumns *c = make_plane(0.0, 0.1, surface);
    for (int step = 0; step < 2000; ++step) {
        wadi_dem_frontier_evolve(c, surface, &LAW, 1e-3);
    }
    for (int32_t i = 0; i < c->count; ++i) {
        CHECK_NEAR(c->rolling[i], LEAST, 1e-12);
        CHECK_NEAR(c->height[i] + c->rolling[i], surface[i], 1e-15);
        surface[i] = 0.01; /* most of the sand has gone */
    }
    wadi_dem_frontier_evolve(c, surface, &LAW, 1e-3);
    for (int32_t i = 0; i < c->count; ++i) {
        CHECK_NEAR(c->height[i], 0.0, 0.0);
        CHECK_NEAR(c->rolling[i], 0.01, 1e-15);
    }
    wadi_dem_columns_destroy(c);
}

/* What the printed law gets wrong: beside a cliff of h the column at its foot has the cliff's slope too, so
 * that it digs down to the floor, and the cliff with it. */
static void a_cliff_digs(void **unused)
{
    (void)unused;
    double surface[N * N];
    WadiDemColumns *c = make_plane(0.0, 0.1, surface);
    for (int32_t i = 0; i < c->count; ++i) {
        c->height[i] = i % N < N / 2 ? 0.4 : 0.5;
    }
    for (int step = 0; step < 2000; ++step) {
        wadi_dem_frontier_evolve(c, surface, &LAW, 1e-3);
    }
    assert_true(c->height[5 * N + N / 2 - 1] < 0.3);
    wadi_dem_columns_destroy(c);
}

/* H = h + R in every gap after every step, whatever the heights are. */
static void exchange_moves_no_sand_up_or_down(void **unused)
{
    (void)unused;
    double surface[N * N];
    WadiDemColumns *c = make_plane(0.0, 0.0, surface);
    for (int32_t i = 0; i < c->count; ++i) {
        c->height[i] = 0.2 * wadi_random_unit(3, (uint64_t)i, WADI_RANDOM_TEST);
        surface[i] = c->height[i] + 0.2 * wadi_random_unit(4, (uint64_t)i, WADI_RANDOM_TEST);
    }
    for (int step = 0; step < 500; ++step) {
        wadi_dem_frontier_evolve(c, surface, &LAW, 5e-4);
        for (int32_t i = 0; i < c->count; ++i) {
            CHECK_NEAR(c->height[i] + c->rolling[i], surface[i], 1e-15);
            assert_true(c->height[i] >= 0.0 && (c->rolling[i] >= LEAST - 1e-15 || c->height[i] == 0.0));
        }
    }
    wadi_dem_columns_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_angle_of_repose_nothing_is_exchanged),
        cmocka_unit_test(slopes_erode_and_flats_are_filled_at_the_printed_rate),
        cmocka_unit_test(the_layer_grows_and_shrinks_as_its_exponential),
        cmocka_unit_test(the_layer_is_never_thinner_than_the_threshold),
        cmocka_unit_test(a_cliff_digs),
        cmocka_unit_test(exchange_moves_no_sand_up_or_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
