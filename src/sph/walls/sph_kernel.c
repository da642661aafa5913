#include "sph/walls/sph_kernel.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* The kernel over the spline at distance 0. */
static double kernel_at(double r)
{
    const double t = 1.0 - r / WADI_SPH_SUPPORT, m = fmax(0.0, 0.5 - r / WADI_SPH_SUPPORT);
    return r < WADI_SPH_REACH ? 2.0 * t * t * t - 8.0 * m * m * m - WADI_SPH_CUT : 0.0;
}

/* Sum of the kernel over the points of a cubic lattice; with `z_max` < 0 only those at most so high. */
static double lattice_sum(double z_max)
{
    double sum = 0.0;
    for (int k = -2; k <= 2; ++k) {
        for (int j = -2; j <= 2; ++j) {
            for (int i = -2; i <= 2 && k <= z_max; ++i) {
                sum += kernel_at(sqrt((double)(i * i + j * j + k * k)));
            }
        }
    }
    return sum;
}

/* Integral of the kernel over a plane at distance d. */
static double plane_integral(double d)
{
    enum { STEPS = 256 };
    const double width = fmax(0.0, WADI_SPH_REACH - d) / STEPS;
    double sum = 0.0;
    for (int i = 0; i < STEPS; ++i) {
        const double r = d + (i + 0.5) * width;
        sum += 2.0 * pi * r * kernel_at(r) * width;
    }
    return sum;
}

/* Where the slope of the cover is largest. */
static double steepest_distance(double fit)
{
    enum { STEPS = 2000 };
    double best = 0.0, largest = 0.0;
    for (int i = 1; i < STEPS; ++i) {
        const double d = WADI_SPH_WALL_REACH * i / STEPS;
        const double slope = fit * 2.0 * d * kernel_at(2.0 * d);
        best = slope > largest ? d : best;
        largest = fmax(slope, largest);
    }
    return best;
}

void wadi_sph_kernel_init(WadiSphKernel *kernel)
{
    enum { STEPS = WADI_SPH_WALL_STEPS };
    const double width = WADI_SPH_WALL_REACH / STEPS, all = lattice_sum(INFINITY);
    kernel->scale = (float)(1.0 / all);
    kernel->own = (float)(kernel_at(0.0) / all);
    const double fit = lattice_sum(-0.5) / all / plane_integral(1.0);
    const double knee = steepest_distance(fit);
    for (int i = 0; i <= STEPS; ++i) {
        const double d = i * width, z = 2.0 * fmax(d, knee);
        const double slope = -4.0 * pi * fit * z * kernel_at(z);
        kernel->wall[i] = (float)(fit * plane_integral(z) + slope * fmin(0.0, d - knee));
        kernel->wall_slope[i] = (float)slope;
    }
}

void wadi_sph_kernel_wall(const WadiSphKernel *kernel, double distance, double *part, double *slope)
{
    const double at = distance * (WADI_SPH_WALL_STEPS / WADI_SPH_WALL_REACH);
    if (!(at > 0.0)) {
        *slope = (double)kernel->wall_slope[0];
        *part = (double)kernel->wall[0] + *slope * distance;
        return;
    }
    if (!(at < WADI_SPH_WALL_STEPS)) {
        *part = *slope = 0.0;
        return;
    }
    const int i = (int)at;
    const double t = at - i;
    *part = (1.0 - t) * (double)kernel->wall[i] + t * (double)kernel->wall[i + 1];
    *slope = (1.0 - t) * (double)kernel->wall_slope[i] + t * (double)kernel->wall_slope[i + 1];
}
