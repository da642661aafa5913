/* sph: the density that walls add is what a lattice of particles misses in front of them. */
#include "expect.h"
#include "sph/walls/sph_kernel.h"

/* The cubic spline of support h [theory 11.1], with the integral 1, and its derivative. */
static double spline(double r, double h)
{
    const double q = r / h, s = 8.0 / (3.14159265358979323846 * h * h * h);
    return q >= 1.0 ? 0.0 : q <= 0.5 ? s * (6.0 * (q * q * q - q * q) + 1.0) : 2.0 * s * pow(1.0 - q, 3.0);
}

static double spline_slope(double r, double h)
{
    const double q = r / h, s = 8.0 / (3.14159265358979323846 * h * h * h * h);
    return q >= 1.0 ? 0.0 : q <= 0.5 ? s * (18.0 * q * q - 12.0 * q) : -6.0 * s * (1.0 - q) * (1.0 - q);
}

/* Support and reach by kind: water, sand. */
static const double SUPPORT[2] = { WADI_SPH_WATER_SUPPORT, WADI_SPH_SUPPORT };
static const double REACH[2] = { WADI_SPH_WATER_SUPPORT, WADI_SPH_REACH };

/* The spline less what it is at the reach, and 0 from there on. */
static double kernel_at(int kind, double r)
{
    return r < REACH[kind] ? spline(r, SUPPORT[kind]) - spline(REACH[kind], SUPPORT[kind]) : 0.0;
}

/* Density and x-derivative that the particles of a lattice with x, y or z < 0 would give to the one at the
 * origin: the part beyond `walls` planes at half a spacing. */
static void missing_of(int kind, int walls, double *density, double *slope)
{
    double all = 0.0;
    *density = *slope = 0.0;
    for (int k = -2; k <= 2; ++k) {
        for (int j = -2; j <= 2; ++j) {
            for (int i = -2; i <= 2; ++i) {
                const double r = sqrt((double)(i * i + j * j + k * k));
                const double w = kernel_at(kind, r);
                const bool is_missing = i < 0 || (walls > 1 && j < 0) || (walls > 2 && k < 0);
                all += w;
                *density += is_missing ? w : 0.0;
                *slope += is_missing && r < REACH[kind] ? spline_slope(r, SUPPORT[kind]) * -i / r : 0.0;
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
    wadi_sph_kernel_init(&kernel, false);
    for (int kind = 0; kind < 2; ++kind) {
        double part, slope, density, force;
        wadi_sph_kernel_wall(&kernel.of[kind], 0.5, &part, &slope);
        missing_of(kind, 1, &density, &force);
        CHECK_NEAR(part, density, 1e-5);
        /* The pair forces that are missing are (P + P) G: the wall's one is P times its slope. */
        CHECK_NEAR(slope, 2.0 * force, 0.03);
        /* The pressure times the area; water has images instead. */
        if (kind == 1) {
            CHECK_NEAR(slope, -1.0, 0.01);
        }
    }
}

/* Moments of the kernels of the solver, by shells; and the density of a lattice, at its points and anywhere
 * between them. */
static void a_lattice_has_density_one_everywhere(void **unused)
{
    (void)unused;
    enum { SHELLS = 2000, POINTS = 9 };
    const double pi = 3.14159265358979323846;
    WadiSphKernel kernel;
    wadi_sph_kernel_init(&kernel, false);
    for (int kind = 0; kind < 2; ++kind) {
        /* The kernel of theory has the integral 1; that of the solver the lattice's sum. */
        const double h = SUPPORT[kind], scale = (double)kernel.of[kind].scale / spline(0.0, h);
        double integral = 0.0, cut = 0.0;
        for (int n = 0; n < SHELLS; ++n) {
            const double r = (n + 0.5) * h / SHELLS;
            integral += 4.0 * pi * r * r * spline(r, h) * h / SHELLS;
            cut += 4.0 * pi * r * r * kernel_at(kind, r) * h / SHELLS;
        }
        CHECK_NEAR(integral, 1.0, 1e-4);
        CHECK_NEAR(cut, 1.0, 0.01);
        double worst = 0.0;
        for (int n = 0; n < POINTS * POINTS * POINTS; ++n) {
            const int at[3] = { n % POINTS, n / POINTS % POINTS, n / (POINTS * POINTS) };
            double sum = 0.0;
            for (int m = 0; m < 6 * 6 * 6; ++m) {
                const int cell[3] = { m % 6 - 2, m / 6 % 6 - 2, m / 36 - 2 };
                double square = 0.0;
                for (int a = 0; a < 3; ++a) {
                    const double d = cell[a] - (double)at[a] / (POINTS - 1);
                    square += d * d;
                }
                sum += scale * kernel_at(kind, sqrt(square));
            }
            if (n == 0) {
                CHECK_NEAR(sum, 1.0, 1e-6);
            }
            worst = fmax(worst, fabs(sum - 1.0));
        }
        print_message("support %.1f: density between the points of a lattice: within %.4f\n", h, worst);
        CHECK_AT_MOST(worst, 0.02);
    }
}

static void inner_corners_count_once(void **unused)
{
    (void)unused;
    WadiSphKernel kernel;
    wadi_sph_kernel_init(&kernel, false);
    double part, slope;
    wadi_sph_kernel_wall(&kernel.of[1], 0.5, &part, &slope);
    for (int walls = 2; walls <= 3; ++walls) {
        double density, force;
        missing_of(1, walls, &density, &force);
        CHECK_NEAR(1.0 - pow(1.0 - part, walls), density, 0.01);
        CHECK_NEAR(slope * pow(1.0 - part, walls - 1), 2.0 * force, 0.03);
    }
}

static void the_slope_is_the_derivative(void **unused)
{
    (void)unused;
    WadiSphKernel kernel;
    wadi_sph_kernel_init(&kernel, false);
    double before = -INFINITY;
    for (double d = -0.3; d < 1.1; d += 0.01) {
        double low, high, part, slope, ignored;
        wadi_sph_kernel_wall(&kernel.of[1], d - 1e-3, &low, &ignored);
        wadi_sph_kernel_wall(&kernel.of[1], d + 1e-3, &high, &ignored);
        wadi_sph_kernel_wall(&kernel.of[1], d, &part, &slope);
        if (part < 0.99) {
            CHECK_NEAR((high - low) / 2e-3, slope, 0.01);
        }
        /* It never weakens towards the wall, and ends at its reach. */
        CHECK_AT_MOST(before, slope + 1e-6);
        before = slope;
    }
    double part, slope;
    wadi_sph_kernel_wall(&kernel.of[1], WADI_SPH_WALL_REACH, &part, &slope);
    CHECK_NEAR(part, 0.0, 0.0);
    CHECK_NEAR(slope, 0.0, 0.0);
}

/* int_q^e s ((1 - s)^3 - (1 - e)^3) ds, e the reach over the support, with u = 1 - s. */
static double plane_of(double q)
{
    const double e = WADI_SPH_REACH / WADI_SPH_SUPPORT, u = 1.0 - q, v = 1.0 - e;
    const double whole = (pow(u, 4) - pow(v, 4)) / 4 - (pow(u, 5) - pow(v, 5)) / 5;
    return q < e ? whole - pow(v, 3) * (e * e - q * q) / 2 : 0.0;
}

/* The closed form of the plane's integral: W is a cubic polynomial of r from one spacing on. */
static void the_row_s_image_is_the_integral_over_a_plane(void **unused)
{
    (void)unused;
    WadiSphKernel kernel;
    wadi_sph_kernel_init(&kernel, false);
    double first, slope;
    wadi_sph_kernel_wall(&kernel.of[1], 0.5, &first, &slope);
    for (double d = 0.5; d < 1.0; d += 0.05) {
        const double exact = plane_of(d) / plane_of(0.5);
        double part;
        wadi_sph_kernel_wall(&kernel.of[1], d, &part, &slope);
        CHECK_NEAR(part / first, exact, 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_row_is_as_dense_as_the_others),
        cmocka_unit_test(a_lattice_has_density_one_everywhere),
        cmocka_unit_test(inner_corners_count_once),
        cmocka_unit_test(the_slope_is_the_derivative),
        cmocka_unit_test(the_row_s_image_is_the_integral_over_a_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
