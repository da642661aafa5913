/* flip: particles that are too close push each other apart. */
#include "flip/move/flip_separate.h"

#include "core/parallel.h"
#include "core/random.h"
#include "expect.h"
#include "failing_alloc.h"

enum { SIDE = 12, CLOUD = SIDE * SIDE * SIDE };

typedef struct Cloud {
    WadiParticles particles;
    WadiArena arena;
    double x[CLOUD], y[CLOUD], z[CLOUD];
} Cloud;

/* `count` particles, all positions 0. */
static Cloud *cloud_make(int count)
{
    WadiError error;
    static Cloud cloud;
    int32_t first;
    cloud = (Cloud){ 0 };
    CHECK_OK(wadi_particles_init(&cloud.particles, &error), error);
    CHECK_OK(wadi_particles_append(&cloud.particles, count, &first, &error), error);
    return &cloud;
}

static void cloud_free(Cloud *cloud)
{
    wadi_particles_free(&cloud->particles);
    wadi_arena_free(&cloud->arena);
}

static int64_t separate(Cloud *cloud, double diameter, int iterations)
{
    WadiError error;
    WadiFlipSeparateReport report;
    WadiFlipSeparateIn in = { &cloud->particles, diameter, iterations };
    CHECK_OK(wadi_arena_reset(&cloud->arena, &error), error);
    CHECK_OK(wadi_flip_separate(&in, cloud->x, cloud->y, cloud->z, &cloud->arena, &report, &error), error);
    return report.contacts;
}

static double distance(const Cloud *cloud, int i, int j)
{
    double x = cloud->x[i] - cloud->x[j], y = cloud->y[i] - cloud->y[j], z = cloud->z[i] - cloud->z[j];
    return sqrt(x * x + y * y + z * z);
}

static void a_pair_goes_to_a_diameter_in_one_iteration(void **unused)
{
    (void)unused;
    Cloud *cloud = cloud_make(4);
    cloud->x[0] = 5.0;
    cloud->x[1] = 5.6;
    cloud->y[2] = cloud->y[3] = 9.0; /* two at the same position */
    assert_int_equal(separate(cloud, 1.0, 1), 2);
    CHECK_NEAR(cloud->x[0], 4.8, 1e-15);
    CHECK_NEAR(cloud->x[1], 5.8, 1e-15);
    CHECK_NEAR(distance(cloud, 2, 3), 1.0, 1e-12);
    CHECK_NEAR(cloud->y[2] + cloud->y[3], 18.0, 1e-14);
    assert_int_equal(separate(cloud, 0.999, 1), 0);
    cloud_free(cloud);
}

/* A cube of particles at the rest density, at random positions. */
static void fill_cube(Cloud *cloud)
{
    for (int i = 0; i < CLOUD; ++i) {
        double u[3];
        wadi_random_unit3(2, (uint64_t)i, WADI_RANDOM_TEST, u);
        cloud->x[i] = SIDE * u[0];
        cloud->y[i] = SIDE * u[1];
        cloud->z[i] = SIDE * u[2];
    }
}

static double sum(const double *values)
{
    double total = 0.0;
    for (int i = 0; i < CLOUD; ++i) {
        total += values[i];
    }
    return total;
}

static double overlap(const Cloud *cloud, double *deepest)
{
    double total = 0.0;
    *deepest = 0.0;
    for (int i = 0; i < CLOUD; ++i) {
        for (int j = 0; j < i; ++j) {
            double depth = 1.0 - distance(cloud, i, j);
            total += depth > 0.0 ? depth : 0.0;
            *deepest = fmax(*deepest, depth);
        }
    }
    return total;
}

static void a_cloud_spreads_evenly_and_its_centre_stays(void **unused)
{
    (void)unused;
    Cloud *cloud = cloud_make(CLOUD);
    fill_cube(cloud);
    double centre[3] = { sum(cloud->x), sum(cloud->y), sum(cloud->z) };
    double deepest, before = overlap(cloud, &deepest), first = before, first_deepest = deepest;
    for (int k = 0; k < 4; ++k) {
        separate(cloud, 1.0, 2);
        double after = overlap(cloud, &deepest);
        assert_true(after < before);
        before = after;
    }
    print_message("overlap of all pairs %.1f -> %.2f diameters, deepest %.3f -> %.3f, after 8 iterations\n",
                  first, before, first_deepest, deepest);
    CHECK_AT_MOST(before, 0.35 * first);
    CHECK_AT_MOST(deepest, 0.5 * first_deepest);
    CHECK_NEAR(sum(cloud->x), centre[0], 1e-9);
    CHECK_NEAR(sum(cloud->y), centre[1], 1e-9);
    CHECK_NEAR(sum(cloud->z), centre[2], 1e-9);
    cloud_free(cloud);
}

static void threads_do_not_change_a_byte(void **unused)
{
    (void)unused;
    static double kept[3][CLOUD];
    for (int t = 0; t < 3; ++t) {
        wadi_parallel_set_threads((int[3]){ 1, 2, 5 }[t]);
        Cloud *cloud = cloud_make(CLOUD);
        fill_cube(cloud);
        separate(cloud, 1.0, 3);
        for (int a = 0; a < 3; ++a) {
            const double *now = a == 0 ? cloud->x : a == 1 ? cloud->y : cloud->z;
            for (int i = 0; i < CLOUD; ++i) {
                kept[a][i] = t == 0 ? now[i] : kept[a][i];
                assert_true(kept[a][i] == now[i]);
            }
        }
        cloud_free(cloud);
    }
    wadi_parallel_set_threads(0);
}

/* The diameter is the distance of the seeded lattice: at the rest density nothing moves. */
static void a_lattice_at_rest_density_has_no_contact(void **unused)
{
    (void)unused;
    Cloud *cloud = cloud_make(CLOUD);
    double diameter = wadi_flip_separate_diameter(0.1, 2);
    CHECK_NEAR(diameter, 0.05, 1e-15);
    for (int i = 0; i < CLOUD; ++i) {
        cloud->x[i] = 0.05 * (1.0 + 1e-9) * (i % SIDE);
        cloud->y[i] = 0.05 * (1.0 + 1e-9) * (i / SIDE % SIDE);
        cloud->z[i] = 0.05 * (1.0 + 1e-9) * (i / SIDE / SIDE);
    }
    assert_int_equal(separate(cloud, diameter, 1), 0);
    cloud_free(cloud);
}

static void failed_allocations_are_reported(void **unused)
{
    (void)unused;
    WadiError error;
    WadiStatus status = WADI_ERR_MEMORY;
    wadi_set_allocator(&failing_allocator);
    Cloud *cloud = cloud_make(CLOUD);
    fill_cube(cloud);
    WadiFlipSeparateIn in = { &cloud->particles, 1.0, 2 };
    int failures = 0;
    for (; status != WADI_OK && failures < 100; ++failures) {
        WadiFlipSeparateReport report;
        WadiArena arena = { 0 };
        alloc_calls_left = failures;
        status = wadi_flip_separate(&in, cloud->x, cloud->y, cloud->z, &arena, &report, &error);
        alloc_calls_left = INT_MAX;
        assert_true(status == WADI_OK || status == WADI_ERR_MEMORY);
        wadi_arena_free(&arena);
    }
    assert_true(failures > 1 && status == WADI_OK);
    cloud_free(cloud);
    wadi_set_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_goes_to_a_diameter_in_one_iteration),
        cmocka_unit_test(a_cloud_spreads_evenly_and_its_centre_stays),
        cmocka_unit_test(threads_do_not_change_a_byte),
        cmocka_unit_test(a_lattice_at_rest_density_has_no_contact),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
