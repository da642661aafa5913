#include "sph/walls/sph_kernel.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* Part of surface tension that is an attraction. */
static const double ATTRACTION = 0.25;

typedef struct Shape {
    double support, reach, cut;
} Shape;

static const Shape shapes[2] = { { WADI_SPH_WATER_SUPPORT, WADI_SPH_WATER_SUPPORT, 0.0 },
                                 { WADI_SPH_SUPPORT, WADI_SPH_REACH, WADI_SPH_CUT } };

/* The kernel over the spline at distance 0. */
static double kernel_at(const Shape *s, double r)
{
    const double t = 1.0 - r / s->support, m = fmax(0.0, 0.5 - r / s->support);
    return r < s->reach ? 2.0 * t * t * t - 8.0 * m * m * m - s->cut : 0.0;
}

/* Sum of the kernel over the points of a cubic lattice; with `z_max` < 0 only those at most so high. */
static double lattice_sum(const Shape *s, double z_max)
{
    double sum = 0.0;
    for (int k = -2; k <= 2; ++k) {
        for (int j = -2; j <= 2; ++j) {
            for (int i = -2; i <= 2 && k <= z_max; ++i) {
                sum += kernel_at(s, sqrt((double)(i * i + j * j + k * k)));
            }
        }
    }
    return sum;
}

/* Integral of the kernel over a plane at distance d. */
static double plane_integral(const Shape *s, double d)
{
    enum { STEPS = 256 };
    const double width = fmax(0.0, s->reach - d) / STEPS;
    double sum = 0.0;
    for (int i = 0; i < STEPS; ++i) {
        const double r = d + (i + 0.5) * width;
        sum += 2.0 * pi * r * kernel_at(s, r) * width;
    }
    return sum;
}

/* Where the slope of the cover is largest. */
static double steepest_distance(const Shape *s, double fit)
{
    enum { STEPS = 2000 };
    double best = 0.0, largest = 0.0;
    for (int i = 1; i < STEPS; ++i) {
        const double d = 0.5 * s->support * i / STEPS;
        const double slope = fit * 2.0 * d * kernel_at(s, 2.0 * d);
        best = slope > largest ? d : best;
        largest = fmax(slope, largest);
    }
    return best;
}

/* 2 sum W_xx over the points of a cubic lattice with odd x. */
static double lattice_stiffness(const Shape *s)
{
    double sum = 0.0;
    for (int n = 0; n < 125; ++n) {
        const int x = n % 5 - 2, y = n / 5 % 5 - 2, z = n / 25 - 2;
        const double r = sqrt((double)(x * x + y * y + z * z)), h = s->support;
        const double t = 1.0 - r / h, m = fmax(0.0, 0.5 - r / h);
        const double slope = -6.0 * (t * t - 4.0 * m * m) / h, curve = 12.0 * (t - 4.0 * m) / (h * h);
        const double along = x * x / (r * r);
        sum += x % 2 != 0 && r < s->reach ? 2.0 * (curve * along + slope / r * (1.0 - along)) : 0.0;
    }
    return sum;
}

/* Energy of a unit of attraction q (1 - q)^2 beside a cut, mean over its directions: h/4 sum_j r_j I(r_j /
 * h), I(q) the integral of x (1 - x)^2 from q to 1. */
static double lattice_attraction(const Shape *s)
{
    double sum = 0.0;
    for (int n = 0; n < 125; ++n) {
        const int x = n % 5 - 2, y = n / 5 % 5 - 2, z = n / 25 - 2;
        const double r = sqrt((double)(x * x + y * y + z * z)), q = r / s->support;
        sum += q < 1.0 ? r * (1.0 / 12.0 - q * q * (1.0 / 2.0 - q * (2.0 / 3.0 - q / 4.0))) : 0.0;
    }
    return 0.25 * s->support * sum;
}

/* |sum_j grad W| of the outermost row of a lattice. */
static double lattice_surface(const Shape *s)
{
    double sum = 0.0;
    for (int n = 0; n < 125; ++n) {
        const int x = n % 5 - 2, y = n / 5 % 5 - 2, z = n / 25 - 2;
        const double r = sqrt((double)(x * x + y * y + z * z)), q = r / s->support;
        const double t = 1.0 - q, m = fmax(0.0, 0.5 - q);
        sum += x > 0 && r < s->reach ? 6.0 * (t * t - 4.0 * m * m) / s->support * x / r : 0.0;
    }
    return sum;
}

static void init_spline(WadiSphSpline *spline, const Shape *s)
{
    enum { STEPS = WADI_SPH_WALL_STEPS };
    const double width = 0.5 * s->support / STEPS, all = lattice_sum(s, INFINITY);
    spline->support = (float)s->support;
    spline->reach = (float)s->reach;
    spline->cut = (float)s->cut;
    spline->scale = (float)(1.0 / all);
    spline->attraction = (float)(ATTRACTION / lattice_attraction(s));
    spline->surface = (float)((1.0 - ATTRACTION) / (lattice_surface(s) / all));
    spline->stiffness = (float)(lattice_stiffness(s) / all);
    spline->own = (float)(kernel_at(s, 0.0) / all);
    const double fit = lattice_sum(s, -0.5) / all / plane_integral(s, 1.0);
    const double knee = steepest_distance(s, fit);
    for (int i = 0; i <= STEPS; ++i) {
        const double d = i * width, z = 2.0 * fmax(d, knee);
        const double slope = -4.0 * pi * fit * z * kernel_at(s, z);
        spline->wall[i] = (float)(fit * plane_integral(s, z) + slope * fmin(0.0, d - knee));
        spline->wall_slope[i] = (float)slope;
    }
}

void wadi_sph_kernel_init(WadiSphKernel *kernel, bool has_sand)
{
    init_spline(&kernel->of[0], &shapes[has_sand]);
    init_spline(&kernel->of[1], &shapes[1]);
}

void wadi_sph_kernel_wall(const WadiSphSpline *spline, double distance, double *part, double *slope)
{
    const double at = distance * (WADI_SPH_WALL_STEPS / (0.5 * (double)spline->support));
    if (!(at > 0.0)) {
        *slope = (double)spline->wall_slope[0];
        *part = (double)spline->wall[0] + *slope * distance;
        return;
    }
    if (!(at < WADI_SPH_WALL_STEPS)) {
        *part = *slope = 0.0;
        return;
    }
    const int i = (int)at;
    const double t = at - i;
    *part = (1.0 - t) * (double)spline->wall[i] + t * (double)spline->wall[i + 1];
    *slope = (1.0 - t) * (double)spline->wall_slope[i] + t * (double)spline->wall_slope[i + 1];
}
