/* sph: the density that walls add is what a lattice of particles misses in front of them. */
#include "expect.h"
#include "math/kernels.h"
#include "sph/walls/sph_kernel.h"

/* Density and x-derivative that the particles of a lattice with x, y or z < 0 would give to the one at the
 * origin: the part beyond `walls` planes at half a spacing. */
static void missing_of(int walls, double *density, double *slope)
{
    double all = 0.0;
    *density = *slope = 0.0;
    for (int k = -2; k <= 2; ++k) {
        for (int j = -2; j <= 2; ++j) {
            for (int i = -2; i <= 2; ++i) {
                const double r = sqrt((double)(i * i + j * j + k * k));
                const double w = wadi_kernel_cubic(r, WADI_SPH_SUPPORT, 3);
                const bool is_missing = i < 0 || (walls > 1 && j < 0) || (walls > 2 && k < 0);
                all += w;
                *density += is_missing ? w : 0.0;
                *slope += is_missing ? wadi_kernel_cubic_slope(r, WADI_SPH_SUPPORT, 3) * -i / r : 0.0;
            }
        }
    }
    *density /= all;
    *slope /= all;
}

static void the_first_row_is_as_dense_as_the_others(void **unused)
{
    (void)unused;
    WadiSphKernel kernel;
    wadi_sph_kernel_init(&kernel);
    double part, slope, density, force;
    wadi_sph_kernel_wall(&kernel, 0.5, &part, &slope);
    missing_of(1, &density, &force);
    CHECK_NEAR(part, density, 1e-5);
    /* The pair forces that are missing are (P + P) G: the wall's one is P times its slope. */
    CHECK_NEAR(slope, 2.0 * force, 0.03);
    /* The pressure times the area. */
    CHECK_NEAR(slope, -1.0, 0.01);
}

static void inner_corners_count_once(void **unused)
{
    (void)unused;
    WadiSphKernel kernel;
    wadi_sph_kernel_init(&kernel);
    double part, slope;
    wadi_sph_kernel_wall(&kernel, 0.5, &part, &slope);
    for (int walls = 2; walls <= 3; ++walls) {
        double density, force;
        missing_of(walls, &density, &force);
        CHECK_NEAR(1.0 - pow(1.0 - part, walls), density, 0.01);
        CHECK_NEAR(slope * pow(1.0 - part, walls - 1), 2.0 * force, 0.03);
    }
}

static void the_slope_is_the_derivative(void **unused)
{
    (void)unused;
    WadiSphKernel kernel;
    wadi_sph_kernel_init(&kernel);
    double before = -INFINITY;
    for (double d = -0.3; d < 1.1; d += 0.01) {
        double low, high, part, slope, ignored;
        wadi_sph_kernel_wall(&kernel, d - 1e-3, &low, &ignored);
        wadi_sph_kernel_wall(&kernel, d + 1e-3, &high, &ignored);
        wadi_sph_kernel_wall(&kernel, d, &part, &slope);
        if (part < 0.99) {
            CHECK_NEAR((high - low) / 2e-3, slope, 0.01);
        }
        /* It never weakens towards the wall, and ends at its reach. */
        CHECK_AT_MOST(before, slope + 1e-6);
        before = slope;
    }
    double part, slope;
    wadi_sph_kernel_wall(&kernel, WADI_SPH_WALL_REACH, &part, &slope);
    CHECK_NEAR(part, 0.0, 0.0);
    CHECK_NEAR(slope, 0.0, 0.0);
}

/* The closed form of the plane's integral: W is a cubic polynomial of r from one spacing on. */
static void the_row_s_image_is_the_integral_over_a_plane(void **unused)
{
    (void)unused;
    WadiSphKernel kernel;
    wadi_sph_kernel_init(&kernel);
    double first, slope;
    wadi_sph_kernel_wall(&kernel, 0.5, &first, &slope);
    for (double d = 0.5; d < 1.0; d += 0.05) {
        /* int_q^1 s (1 - s)^3 ds with u = 1 - s, over the same from 1/2. */
        const double u = 1.0 - d;
        const double exact = (pow(u, 4) / 4 - pow(u, 5) / 5) / (pow(0.5, 4) / 4 - pow(0.5, 5) / 5);
        double part;
        wadi_sph_kernel_wall(&kernel, d, &part, &slope);
        CHECK_NEAR(part / first, exact, 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_row_is_as_dense_as_the_others),
        cmocka_unit_test(inner_corners_count_once),
        cmocka_unit_test(the_slope_is_the_derivative),
        cmocka_unit_test(the_row_s_image_is_the_integral_over_a_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
