/* Blobbies: a lone particle, the definition against the fast rows, mixed sizes. */
#include "surface_rows.h"

static const WadiFieldDef DEF = {
    .method = WADI_SURFACE_BLOBBY, .cell = 0.04, .support = 2.0, .radius = 1.0
};

/* A ball of the particle's own volume, wherever it is. */
static void a_lone_particle_keeps_its_volume(void **unused)
{
    (void)unused;
    const double places[] = { 0.0, 12345.678 };
    for (int n = 0; n < 2; ++n) {
        WadiCloud cloud = { 0 };
        double x = places[n];
        cloud_add(&cloud, wadi_vec3(x, -x, x), 0.1);
        TestSampler t;
        test_sampler_init(&t, &wadi_field_blobby, &cloud, &DEF);
        double radius = (test_height_of(&t, wadi_vec3(x, -x, x), 0.01, 100) - x) / 0.1;
        CHECK_NEAR(4.0 / 3.0 * 3.14159265358979324 * pow(radius, 3.0), 1.0, 1e-4);
        test_sampler_free(&t);
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
    test_sampler_init(&t, &wadi_field_blobby, &cloud, &DEF);
    WadiBox box = { { 299.5, -0.5, -0.5 }, { 302, 2, 3 } };
    double error = test_rows_error(&t, box, 400);
    print_message("rows against definition: %.2g spacings\n", error);
    assert_true(error < 1e-4);
    test_sampler_free(&t);
    cloud_free(&cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_particle_keeps_its_volume),
        cmocka_unit_test(rows_agree_with_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
