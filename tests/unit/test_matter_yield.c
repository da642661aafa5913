/* matter: the yield law against the table of slope angles derived by hand. */
#include "expect.h"
#include "matter/yield.h"

static const double degree = 0.017453292519943295;
static const double angle[4] = { 20.0, 30.0, 35.0, 40.0 };

static void slope_angles_are_those_of_the_table(void **unused)
{
    (void)unused;
    static const double slope[WADI_YIELD_RULE_COUNT][4] = {
        [WADI_YIELD_TAN] = { 20.0, 30.0, 35.0, 40.0 },
        [WADI_YIELD_PLANE] = { 18.9, 26.6, 29.8, 32.7 },
        [WADI_YIELD_ZB05] = { 22.7, 31.5, 35.1, 38.2 },
        [WADI_YIELD_TRIAXIAL] = { 24.0, 34.7, 39.3, 43.4 },
        [WADI_YIELD_ZB05_PRINTED] = { 22.7, 31.5, 35.1, 38.2 },
    };
    for (int rule = 0; rule < WADI_YIELD_RULE_COUNT; ++rule) {
        for (int i = 0; i < 4; ++i) {
            WadiYield yield = wadi_yield((WadiYieldRule)rule, angle[i] * degree, 0.0);
            CHECK_NEAR(atan(yield.slide) / degree, slope[rule][i], 0.051);
            if (rule != WADI_YIELD_ZB05_PRINTED) {
                assert_true(yield.stop == yield.slide);
            }
        }
    }
}

static void the_printed_pair_differs_by_three_over_root_two(void **unused)
{
    (void)unused;
    static const double stop[4] = { 11.2, 16.1, 18.3, 20.4 };
    for (int i = 0; i < 4; ++i) {
        WadiYield yield = wadi_yield(WADI_YIELD_ZB05_PRINTED, angle[i] * degree, 0.0);
        CHECK_NEAR(atan(yield.stop) / degree, stop[i], 0.051);
        CHECK_NEAR(yield.slide / yield.stop, 3.0 / sqrt(2.0), 1e-12);
    }
}

static void cohesion_is_scaled_by_the_cosine(void **unused)
{
    (void)unused;
    CHECK_NEAR(wadi_yield(WADI_YIELD_TAN, 60.0 * degree, 20.0).cohesion, 10.0, 1e-12);
    /* [ZB05 eq. 5]: sqrt 3 sigma_bar < sin(angle) p + c. */
    CHECK_NEAR(wadi_yield(WADI_YIELD_ZB05_PRINTED, 60.0 * degree, 30.0).cohesion, 30.0 / sqrt(3.0), 1e-12);
}

/* Tension ends at c_k, at the apex c_k / k, or at the strength of the material, whichever comes first. */
static void tension_ends_at_the_apex(void **unused)
{
    (void)unused;
    CHECK_NEAR(wadi_tension_limit(0.5, 100.0, -1.0), 100.0, 1e-12);
    CHECK_NEAR(wadi_tension_limit(2.0, 100.0, -1.0), 50.0, 1e-12);
    CHECK_NEAR(wadi_tension_limit(0.5, 100.0, 30.0), 30.0, 1e-12);
    CHECK_NEAR(wadi_tension_limit(0.5, 100.0, 150.0), 150.0, 1e-12);
    CHECK_NEAR(wadi_tension_limit(0.5, 100.0, 500.0), 200.0, 1e-12);
    CHECK_NEAR(wadi_tension_limit(0.0, 100.0, 500.0), 500.0, 1e-12);
    CHECK_NEAR(wadi_tension_limit(0.5, 0.0, 500.0), 0.0, 0.0);
    CHECK_NEAR(wadi_tension_limit(0.0, 0.0, 500.0), 0.0, 0.0);
    CHECK_NEAR(wadi_yield(WADI_YIELD_TAN, 60.0 * degree, 20.0).tension, 10.0 / sqrt(3.0), 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slope_angles_are_those_of_the_table),
        cmocka_unit_test(the_printed_pair_differs_by_three_over_root_two),
        cmocka_unit_test(tension_ends_at_the_apex),
        cmocka_unit_test(cohesion_is_scaled_by_the_cosine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
