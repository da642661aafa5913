#include "math/kernels.h"

#include "core/check.h"

static const double pi = 3.14159265358979323846;

static double cubic_scale(double h, int dimension)
{
    WADI_ASSERT(dimension == 2 || dimension == 3);
    return dimension == 3 ? 8.0 / (pi * h * h * h) : 40.0 / (7.0 * pi * h * h);
}

double wadi_kernel_cubic(double r, double h, int dimension)
{
    double q = r / h, s = cubic_scale(h, dimension);
    if (q >= 1.0) {
        return 0.0;
    }
    return q <= 0.5 ? s * (6.0 * (q * q * q - q * q) + 1.0) : s * 2.0 * (1.0 - q) * (1.0 - q) * (1.0 - q);
}

double wadi_kernel_cubic_slope(double r, double h, int dimension)
{
    double q = r / h, s = cubic_scale(h, dimension) / h;
    if (q >= 1.0) {
        return 0.0;
    }
    return q <= 0.5 ? s * (18.0 * q * q - 12.0 * q) : -s * 6.0 * (1.0 - q) * (1.0 - q);
}

double wadi_kernel_poly6(double r, double h)
{
    double d = h * h - r * r, h3 = h * h * h;
    return r < h ? 315.0 / (64.0 * pi * h3 * h3 * h3) * d * d * d : 0.0;
}

double wadi_kernel_spiky(double r, double h)
{
    double d = h - r, h3 = h * h * h;
    return r < h ? 15.0 / (pi * h3 * h3) * d * d * d : 0.0;
}

double wadi_kernel_spiky_slope(double r, double h)
{
    double d = h - r, h3 = h * h * h;
    return r < h ? -45.0 / (pi * h3 * h3) * d * d : 0.0;
}

double wadi_kernel_viscosity_laplacian(double r, double h)
{
    double h3 = h * h * h;
    return r < h ? 45.0 / (pi * h3 * h3) * (h - r) : 0.0;
}
