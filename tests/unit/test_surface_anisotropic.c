/* Stretched kernels: the definition against the fast rows, known shapes of neighbourhoods, lone particles,
 * mixed sizes. */
#include "math/sym3.h"
#include "surface/cloud/anisotropy.h"
#include "surface_rows.h"

static WadiFieldDef def_of(double cell)
{
    return (WadiFieldDef){ .method = WADI_SURFACE_ANISOTROPIC, .cell = cell, .support = 2.0, .radius = 1.0 };
}

static void rows_agree_with_the_definition(void **unused)
{
    (void)unused;
    WadiCloud cloud = { 0 };
    cloud_add_block(&cloud, wadi_vec3(1000, -50, 3), 5, 5, 5, 0.1, 0.4);
    cloud_add(&cloud, wadi_vec3(1000.9, -49.2, 3.4), 0.1);
    WadiFieldDef def = def_of(0.04);
    TestSampler t;
    test_sampler_init(&t, &wadi_field_anisotropic, &cloud, &def);
    WadiBox box = { { 999.8, -50.2, 2.8 }, { 1000.8, -49.2, 3.8 } };
    double error = test_rows_error(&t, box, 4);
    print_message("rows against definition: %.2g spacings\n", error);
    assert_true(error < 2e-5);
    test_sampler_free(&t);
    cloud_free(&cloud);
}

/* Sizes that differ by eight: large ones below, small ones on them. */
static void sizes_mix(void **unused)
{
    (void)unused;
    WadiCloud cloud = { 0 };
    cloud_add_block(&cloud, wadi_vec3(0, 0, 0), 2, 2, 2, 0.8, 0.0);
    cloud_add_block(&cloud, wadi_vec3(0.4, 0.4, 1.6), 6, 6, 4, 0.1, 0.25);
    WadiFieldDef def = def_of(0.04);
    TestSampler t;
    test_sampler_init(&t, &wadi_field_anisotropic, &cloud, &def);
    WadiBox box = { { 0.3, 0.3, 1.4 }, { 0.7, 1.0, 2.0 } };
    double error = test_rows_error(&t, box, 1);
    print_message("mixed sizes: %.2g spacings\n", error);
    assert_true(error < 1e-4);
    test_sampler_free(&t);
    cloud_free(&cloud);
}

/* Half axes of a neighbourhood's ellipsoid over support radius, longest first. */
static void stretches_of(WadiNearMoments m, double stretch[3])
{
    WadiEllipsoid e = wadi_ellipsoid(&m, 1.0, 3.0);
    double value[3];
    wadi_sym3_eigenvalues(e.form, value);
    for (int a = 0; a < 3; ++a) {
        stretch[a] = 1.0 / (3.0 * sqrt(value[a]));
        assert_true(isfinite(stretch[a]));
    }
    /* The integral is the volume. */
    double integral =
        e.amplitude * 64.0 * 3.14159265358979324 / 315.0 * 27.0 * stretch[0] * stretch[1] * stretch[2];
    CHECK_NEAR(integral, 1.0, 1e-9);
}

static void degenerate_neighbourhoods_have_ellipsoids(void **unused)
{
    (void)unused;
    double full = 0.15 * 9.0, s[3];
    stretches_of((WadiNearMoments){ 1, 113, { 0, 0, 0 }, { full, full, full, 0, 0, 0 } }, s);
    CHECK_NEAR(s[2], 1.0, 1e-9);
    /* At the surface of an evenly filled half-space: 0.15 and 0.15 - 0.3214^2 of r^2. */
    double mean = 0.3214285714 * 3.0;
    stretches_of((WadiNearMoments){ 1, 57, { 0, 0, -mean }, { full, full, full, 0, 0, 0 } }, s);
    CHECK_NEAR(s[0], 1.0, 1e-7); /* where two eigenvalues are one, their formula has half the digits */
    CHECK_NEAR(s[2], 0.31122, 1e-4);
    /* In a plane, in a line, in a point, and too few. */
    stretches_of((WadiNearMoments){ 1, 30, { 0, 0, 0 }, { full, 0.5 * full, 0, 0.2 * full, 0, 0 } }, s);
    CHECK_NEAR(s[2], 0.25, 1e-9);
    stretches_of((WadiNearMoments){ 1, 30, { 0, 0, 0 }, { full, full, full, full, full, full } }, s);
    CHECK_NEAR(s[0], 1.0, 1e-9);
    CHECK_NEAR(s[1], 0.25, 1e-9);
    stretches_of((WadiNearMoments){ 1, 30, { 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 } }, s);
    CHECK_NEAR(s[0], 1.3 / 3.0, 1e-9);
    CHECK_NEAR(s[2], 1.3 / 3.0, 1e-9);
    stretches_of((WadiNearMoments){ 1, 5, { 0, 0, 0 }, { full, 0, 0, 0, 0, 0 } }, s);
    CHECK_NEAR(s[0], 1.3 / 3.0, 1e-9);
    CHECK_NEAR(s[2], 1.3 / 3.0, 1e-9);
}

static void a_lone_particle_is_a_ball(void **unused)
{
    (void)unused;
    WadiCloud cloud = { 0 };
    cloud_add(&cloud, wadi_vec3(5, 5, 5), 0.01);
    WadiFieldDef def = def_of(0.004);
    TestSampler t;
    test_sampler_init(&t, &wadi_field_anisotropic, &cloud, &def);
    double radius = (test_height_of(&t, wadi_vec3(5, 5, 5), 0.001, 100) - 5.0) / 0.01;
    /* 315 / (64 pi 1.3^3) (1 - q^2)^3 = 0.33, radius = 1.3 q: within 1 % that of a ball of the particle's
     * volume, 0.6204. */
    CHECK_NEAR(radius, 0.61874, 1e-4);
    test_sampler_free(&t);
    cloud_free(&cloud);
}

/* Coincident particles: a surface, and no NaN. */
static void coincident_particles_are_a_ball(void **unused)
{
    (void)unused;
    WadiCloud cloud = { 0 };
    for (int i = 0; i < 100; ++i) {
        cloud_add(&cloud, wadi_vec3(1, 1, 1), 0.1);
    }
    WadiFieldDef def = def_of(0.04);
    TestSampler t;
    test_sampler_init(&t, &wadi_field_anisotropic, &cloud, &def);
    double radius = (test_height_of(&t, wadi_vec3(1, 1, 1), 0.01, 100) - 1.0) / 0.1;
    print_message("a hundred in one place: half height %.3f spacings\n", radius);
    assert_true(radius > 0.2 && radius < 1.6);
    test_sampler_free(&t);
    cloud_free(&cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(degenerate_neighbourhoods_have_ellipsoids),
        cmocka_unit_test(rows_agree_with_the_definition),
        cmocka_unit_test(sizes_mix),
        cmocka_unit_test(a_lone_particle_is_a_ball),
        cmocka_unit_test(coincident_particles_are_a_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
