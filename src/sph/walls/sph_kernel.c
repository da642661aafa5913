#include "sph/walls/sph_kernel.h"

#include <math.h>

#include "math/kernels.h"

static const double pi = 3.14159265358979323846;

/* Sum of the kernel over the points of a cubic lattice; with `z_max` < 0 only those at most so high. */
static double lattice_sum(double z_max)
{
    double sum = 0.0;
    for (int k = -2; k <= 2; ++k) {
        for (int j = -2; j <= 2; ++j) {
            for (int i = -2; i <= 2 && k <= z_max; ++i) {
                sum += wadi_kernel_cubic(sqrt((double)(i * i + j * j + k * k)), WADI_SPH_SUPPORT, 3);
            }
        }
    }
    return sum;
}

/* Integral of the kernel over a plane at distance d. */
static double plane_integral(double d)
{
    enum { STEPS = 256 };
    const double h = WADI_SPH_SUPPORT, width = (h - d) / STEPS;
    double sum = 0.0;
    for (int i = 0; i < STEPS; ++i) {
        const double r = d + (i + 0.5) * width;
        sum += 2.0 * pi * r * wadi_kernel_cubic(r, h, 3) * width;
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
        const double slope = fit * 2.0 * d * wadi_kernel_cubic(2.0 * d, WADI_SPH_SUPPORT, 3);
        best = slope > largest ? d : best;
        largest = fmax(slope, largest);
    }
    return best;
}

void wadi_sph_kernel_init(WadiSphKernel *kernel)
{
    enum { STEPS = WADI_SPH_WALL_STEPS };
    const double width = WADI_SPH_WALL_REACH / STEPS, all = lattice_sum(INFINITY);
    kernel->scale = (float)(wadi_kernel_cubic(0.0, WADI_SPH_SUPPORT, 3) / all);
    const double fit = lattice_sum(-0.5) / all / plane_integral(1.0);
    const double knee = steepest_distance(fit);
    for (int i = 0; i <= STEPS; ++i) {
        const double d = i * width, z = 2.0 * fmax(d, knee);
        const double slope = -4.0 * pi * fit * z * wadi_kernel_cubic(z, WADI_SPH_SUPPORT, 3);
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
