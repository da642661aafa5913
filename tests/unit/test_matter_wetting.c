/* Laws of wet sand: values at the ends and at the ideal saturation are exact, and nothing jumps. */
#include <math.h>

#include "expect.h"
#include "matter/wetting.h"

static const WadiPoresDef PORES = { .porosity = 0.4,
                                    .permeability = 1e-9,
                                    .capillary_pressure = 1000.0,
                                    .capillary_exponent = 0.5,
                                    .flow_exponent = 3.0,
                                    .ideal_saturation = 0.4,
                                    .cohesion_wet = 700.0,
                                    .mud_viscosity = 5.0,
                                    .residual_friction = 0.2 };

static void the_laws_have_their_values_at_the_ends(void **unused)
{
    (void)unused;
    const double ideal = PORES.ideal_saturation;
    assert_true(wadi_wet_cohesion(&PORES, 5.0, 0.0) == 5.0);
    assert_true(wadi_wet_cohesion(&PORES, 5.0, ideal) == 700.0);
    assert_true(wadi_wet_cohesion(&PORES, 5.0, 1.0) == 0.0);
    assert_true(wadi_wet_friction(&PORES, 0.0) == 1.0);
    assert_true(wadi_wet_friction(&PORES, ideal) == 1.0);
    assert_true(wadi_wet_friction(&PORES, 1.0) == 0.2);
    assert_true(wadi_mud_viscosity(&PORES, 0.0) == 0.0);
    assert_true(wadi_mud_viscosity(&PORES, ideal) == 0.0);
    assert_true(wadi_mud_viscosity(&PORES, 1.0) == 5.0);
    assert_true(wadi_wet_stickiness(&PORES, 0.0) == 0.0);
    assert_true(wadi_wet_stickiness(&PORES, ideal) == 1.0);
    assert_true(wadi_wet_stickiness(&PORES, 1.0) == 0.0);
    assert_true(wadi_suction(&PORES, 0.0) == 1000.0);
    assert_true(wadi_suction(&PORES, 1.0) == 0.0);
    assert_true(wadi_relative_permeability(&PORES, 0.0) == 0.0);
    assert_true(wadi_relative_permeability(&PORES, 1.0) == 1.0);
    CHECK_NEAR(wadi_suction(&PORES, 0.75), 500.0, 1e-9);
    CHECK_NEAR(wadi_relative_permeability(&PORES, 0.5), 0.125, 1e-15);
}

/* Steps of 1e-6 change no law by more than its steepest slope allows. */
static void the_laws_are_continuous(void **unused)
{
    (void)unused;
    const double step = 1e-6;
    for (double s = 0.0; s <= 1.0 - step; s += step) {
        const double t = s + step;
        CHECK_AT_MOST(fabs(wadi_wet_cohesion(&PORES, 5.0, t) - wadi_wet_cohesion(&PORES, 5.0, s)),
                      1.01 * 700.0 / 0.4 * step);
        CHECK_AT_MOST(fabs(wadi_wet_friction(&PORES, t) - wadi_wet_friction(&PORES, s)), 1.01 / 0.6 * step);
        CHECK_AT_MOST(fabs(wadi_mud_viscosity(&PORES, t) - wadi_mud_viscosity(&PORES, s)), 5.05 / 0.6 * step);
        CHECK_AT_MOST(fabs(wadi_wet_stickiness(&PORES, t) - wadi_wet_stickiness(&PORES, s)),
                      1.01 / 0.4 * step);
        CHECK_AT_MOST(wadi_suction(&PORES, s) - wadi_suction(&PORES, t),
                      1.0001 * wadi_suction_slope(&PORES, t) * step);
        assert_true(wadi_suction(&PORES, s) >= wadi_suction(&PORES, t));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_laws_have_their_values_at_the_ends),
        cmocka_unit_test(the_laws_are_continuous),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
