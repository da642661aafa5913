/* The colour field: 1 inside, a lone particle, the definition against the fast rows, mixed sizes. */
#include "surface_rows.h"

static const WadiFieldDef DEF = {
    .method = WADI_SURFACE_COLOR_FIELD, .cell = 0.04, .support = 2.0, .radius = 1.0
};

/* c = (1 - d^2 / R^2)^3 of a lone particle is a half at d = R sqrt(1 - 2^(-1/3)). */
static void a_lone_particle_is_a_ball(void **unused)
{
    (void)unused;
    WadiCloud cloud = { 0 };
    cloud_add(&cloud, wadi_vec3(-7, 2, 9000), 0.1);
    TestSampler t;
    test_sampler_init(&t, &wadi_field_color, &cloud, &DEF);
    double radius = test_height_of(&t, wadi_vec3(-7, 2, 9000), 0.01, 100) - 9000.0;
    CHECK_NEAR(radius, 0.2 * sqrt(1.0 - pow(2.0, -1.0 / 3.0)), 1e-5);
    test_sampler_free(&t);
    cloud_free(&cloud);
}

/* In the middle of a lattice c is 1 whatever the spacing is said to be: (0.5 - 1) * 0.6 R. */
static void evenly_filled_space_is_one(void **unused)
{
    (void)unused;
    const double stated[] = { 0.1, 0.13 };
    for (int n = 0; n < 2; ++n) {
        WadiCloud cloud = { 0 };
        cloud_add_block(&cloud, wadi_vec3(0, 0, 0), 10, 10, 10, 0.1, 0.0);
        for (int32_t i = 0; i < cloud.count; ++i) {
            cloud.spacing[i] = (float)stated[n];
        }
        cloud.spacing_min = cloud.spacing_max = (double)(float)stated[n];
        double c = 0.5 - wadi_field_color.reference(&cloud, &DEF, wadi_vec3(0.47, 0.52, 0.5)) /
                             (0.6 * 2.0 * stated[n]);
        CHECK_NEAR(c, 1.0, 0.02);
        cloud_free(&cloud);
    }
}

static void rows_agree_with_the_definition(void **unused)
{
    (void)unused;
    WadiCloud cloud = { 0 };
    cloud_add_block(&cloud, wadi_vec3(300, 0, 0), 2, 2, 2, 0.8, 0.0);
    cloud_add_block(&cloud, wadi_vec3(300, 0, 1.6), 10, 10, 10, 0.1, 0.25);
    TestSampler t;
    test_sampler_init(&t, &wadi_field_color, &cloud, &DEF);
    WadiBox box = { { 299.5, -0.5, -0.5 }, { 302, 2, 3 } };
    double error = test_rows_error(&t, box, 200);
    print_message("rows against definition: %.2g spacings\n", error);
    assert_true(error < 1e-4);
    test_sampler_free(&t);
    cloud_free(&cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_particle_is_a_ball),
        cmocka_unit_test(evenly_filled_space_is_one),
        cmocka_unit_test(rows_agree_with_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
