/* Moving least squares of planes: the definition against the fast rows, half-spaces, lone particles, sheets,
 * mixed sizes, and the surface turned with its particles. */
#include "surface_rows.h"

static WadiFieldDef def_of(double cell)
{
    return (WadiFieldDef){ .method = WADI_SURFACE_MLS, .cell = cell, .support = 2.0, .radius = 1.0 };
}

static void rows_agree_with_the_definition(void **unused)
{
    (void)unused;
    WadiCloud cloud = { 0 };
    cloud_add_block(&cloud, wadi_vec3(1000, -50, 3), 5, 5, 5, 0.1, 0.4);
    cloud_add(&cloud, wadi_vec3(1000.9, -49.2, 3.4), 0.1);
    WadiFieldDef def = def_of(0.04);
    TestSampler t;
    test_sampler_init(&t, &wadi_field_mls, &cloud, &def);
    t.sampler.outside = (float)wadi_field_outside(&cloud, &def);
    const WadiBox box = { { 999.8, -50.2, 2.8 }, { 1000.8, -49.2, 3.8 } };
    const double error = test_rows_error(&t, box, 6);
    print_message("rows against definition: %.2g spacings\n", error);
    assert_true(error < 2e-5);
    test_sampler_free(&t);
    cloud_free(&cloud);
}

static void sizes_mix(void **unused)
{
    (void)unused;
    WadiCloud cloud = { 0 };
    cloud_add_block(&cloud, wadi_vec3(0, 0, 0), 2, 2, 2, 0.8, 0.0);
    cloud_add_block(&cloud, wadi_vec3(0.4, 0.4, 1.6), 6, 6, 4, 0.1, 0.25);
    WadiFieldDef def = def_of(0.04);
    TestSampler t;
    test_sampler_init(&t, &wadi_field_mls, &cloud, &def);
    t.sampler.outside = (float)wadi_field_outside(&cloud, &def);
    const WadiBox box = { { 0.3, 0.3, 1.4 }, { 0.7, 1.0, 2.0 } };
    const double error = test_rows_error(&t, box, 3);
    print_message("mixed sizes: %.2g spacings\n", error);
    assert_true(error < 1e-4);
    test_sampler_free(&t);
    cloud_free(&cloud);
}

enum { ACROSS = 16, DEEP = 6, COLUMNS = 16 };

/* Where the definition's value becomes positive above `at`, by bisection between a spacing below the top of
 * the block and one above it. */
static double reference_height(const WadiCloud *cloud, const WadiFieldDef *def, WadiVec3 at, double spacing)
{
    double low = (DEEP - 1) * spacing, high = (DEEP + 1) * spacing;
    for (int n = 0; n < 16; ++n) {
        const double middle = 0.5 * (low + high);
        *(wadi_field_reference(cloud, def, wadi_vec3(at.x, at.y, middle)) < 0.0 ? &low : &high) = middle;
    }
    return low;
}

/* Mean and standard deviation, in spacings, of the height of a surface above the top of a block, over its
 * inner part: by rows of `mls`, by the definition of `zhu_bridson`. */
static void heights_of(WadiSurfaceMethod method, double jitter, double found[2])
{
    const double spacing = 0.1;
    WadiCloud cloud = { 0 };
    cloud_add_block(&cloud, wadi_vec3(0, 0, 0), ACROSS, ACROSS, DEEP, spacing, jitter);
    WadiFieldDef def = def_of(0.04);
    def.method = method;
    TestSampler t;
    test_sampler_init(&t, &wadi_field_mls, &cloud, &def);
    double sum = 0.0, squares = 0.0;
    for (int n = 0; n < COLUMNS * COLUMNS; ++n) {
        const WadiVec3 at = wadi_vec3((4.0 + 0.5 * (n % COLUMNS)) * spacing,
                                      (4.0 + 0.5 * (n / COLUMNS)) * spacing, (DEEP - 2.0) * spacing);
        const double top = method == WADI_SURFACE_MLS ? test_height_of(&t, at, 0.1 * spacing, 60)
                                                      : reference_height(&cloud, &def, at, spacing);
        const double height = top / spacing - DEEP;
        assert_true(isfinite(height));
        sum += height;
        squares += height * height;
    }
    found[0] = sum / (COLUMNS * COLUMNS);
    found[1] = sqrt(fmax(0.0, squares / (COLUMNS * COLUMNS) - found[0] * found[0]));
    test_sampler_free(&t);
    cloud_free(&cloud);
}

/* The surface lies where the filling ends, without an offset, and is flatter by a third than that of Zhu and
 * Bridson. */
static void a_half_space_ends_in_its_plane(void **unused)
{
    (void)unused;
    static const double jitters[] = { 0.0, 0.25, 0.5 };
    for (int n = 0; n < 3; ++n) {
        double plane[2], bridson[2];
        heights_of(WADI_SURFACE_MLS, jitters[n], plane);
        heights_of(WADI_SURFACE_ZHU_BRIDSON, jitters[n], bridson);
        print_message("jitter %.2f: %.3f +- %.3f spacings above the filling (zhu_bridson %.3f +- %.3f)\n",
                      jitters[n], plane[0], plane[1], bridson[0], bridson[1]);
        CHECK_NEAR(plane[0], 0.0, 0.05);
        assert_true(plane[1] < (n == 0 ? 0.005 : 0.7 * bridson[1]));
    }
}

static void a_lone_particle_is_a_ball_of_its_volume(void **unused)
{
    (void)unused;
    WadiCloud cloud = { 0 };
    cloud_add(&cloud, wadi_vec3(5, 5, 5), 0.01);
    WadiFieldDef def = def_of(0.004);
    TestSampler t;
    test_sampler_init(&t, &wadi_field_mls, &cloud, &def);
    const double radius = (test_height_of(&t, wadi_vec3(5, 5, 5), 0.001, 100) - 5.0) / 0.01;
    CHECK_NEAR(4.0 / 3.0 * 3.14159265358979 * radius * radius * radius, 1.0, 1e-4);
    test_sampler_free(&t);
    cloud_free(&cloud);
}

/* Sheets of one to four layers are as thick as their volume, within 0.3 spacings on either side, before
 * the volume is corrected. */
static void sheets_keep_their_thickness(void **unused)
{
    (void)unused;
    for (int layers = 1; layers <= 4; ++layers) {
        WadiCloud cloud = { 0 };
        cloud_add_block(&cloud, wadi_vec3(0, 0, 0), 16, 16, layers, 0.1, 0.1);
        WadiFieldDef def = def_of(0.04);
        TestSampler t;
        test_sampler_init(&t, &wadi_field_mls, &cloud, &def);
        const double middle = 0.05 * layers;
        double sum = 0.0;
        for (int n = 0; n < 100; ++n) {
            const WadiVec3 at = wadi_vec3(0.5 + 0.06 * (n % 10), 0.5 + 0.06 * (n / 10), middle);
            sum += (test_height_of(&t, at, 0.01, 100) - middle) / 0.1;
        }
        print_message("sheet of %d: half thickness %.3f of %.1f spacings\n", layers, sum / 100, 0.5 * layers);
        CHECK_NEAR(sum / 100, 0.5 * layers, 0.3);
        test_sampler_free(&t);
        cloud_free(&cloud);
    }
}

static WadiVec3 turned(WadiVec3 x)
{
    const double c = cos(0.7), s = sin(0.7);
    const WadiVec3 y = { c * x.x - s * x.y, s * x.x + c * x.y, x.z };
    return (WadiVec3){ y.x, c * y.y - s * y.z, s * y.y + c * y.z };
}

static void values_turn_with_the_particles(void **unused)
{
    (void)unused;
    WadiCloud cloud = { 0 }, other = { 0 };
    cloud_add_block(&cloud, wadi_vec3(0, 0, 0), 6, 6, 3, 0.1, 0.5);
    for (int32_t i = 0; i < cloud.count; ++i) {
        cloud_add(&other, turned(cloud.position[i]), 0.1);
    }
    const WadiFieldDef def = def_of(0.04);
    for (int n = 0; n < 40; ++n) {
        double r[3];
        wadi_random_unit3(3, (uint64_t)n, WADI_RANDOM_TEST, r);
        const WadiVec3 x = wadi_vec3(0.8 * r[0] - 0.1, 0.8 * r[1] - 0.1, 0.5 * r[2] - 0.1);
        CHECK_NEAR(wadi_field_reference(&other, &def, turned(x)), wadi_field_reference(&cloud, &def, x),
                   1e-6);
    }
    cloud_free(&cloud);
    cloud_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_agree_with_the_definition),
        cmocka_unit_test(sizes_mix),
        cmocka_unit_test(a_half_space_ends_in_its_plane),
        cmocka_unit_test(a_lone_particle_is_a_ball_of_its_volume),
        cmocka_unit_test(sheets_keep_their_thickness),
        cmocka_unit_test(values_turn_with_the_particles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
