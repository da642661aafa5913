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

void wadi_sph_kernel_init(WadiSphKernel *kernel)
{
    enum { STEPS = WADI_SPH_WALL_STEPS };
    const double h = WADI_SPH_SUPPORT, width = h / STEPS;
    const double all = lattice_sum(INFINITY);
    kernel->scale = (float)(wadi_kernel_cubic(0.0, h, 3) / all);
    double slope[STEPS + 1], part[STEPS + 1];
    slope[STEPS] = part[STEPS] = 0.0;
    for (int i = STEPS - 1; i >= 0; --i) {
        slope[i] = -plane_integral(i * width);
        part[i] = part[i + 1] - 0.5 * width * (slope[i] + slope[i + 1]);
    }
    const double missing = lattice_sum(-0.5) / all, half = 0.5 / width;
    const double fit = missing / part[(int)half];
    for (int i = 0; i <= STEPS; ++i) {
        kernel->wall[i] = (float)(fit * part[i]);
        kernel->wall_slope[i] = (float)(fit * slope[i]);
    }
}

void wadi_sph_kernel_wall(const WadiSphKernel *kernel, double distance, double *part, double *slope)
{
    const double at = fabs(distance) * (WADI_SPH_WALL_STEPS / WADI_SPH_SUPPORT);
    if (!(at < WADI_SPH_WALL_STEPS)) {
        *part = distance > 0.0 ? 0.0 : 1.0;
        *slope = distance > 0.0 ? 0.0 : (double)kernel->wall_slope[0];
        return;
    }
    const int i = (int)at;
    const double t = at - i;
    const double outside = (1.0 - t) * (double)kernel->wall[i] + t * (double)kernel->wall[i + 1];
    const double surface = (double)kernel->wall[0];
    *part = distance >= 0.0 ? outside : 2.0 * surface - outside;
    *slope = distance >= 0.0
                 ? (1.0 - t) * (double)kernel->wall_slope[i] + t * (double)kernel->wall_slope[i + 1]
                 : (double)kernel->wall_slope[0];
}
