/* The kernels of [MCG03], and walls as half spaces of the same fluid, in closed form: neither paper says how
 * walls act on particles. */
#include "sph/published/sph_printed.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

/* Over a cubic lattice of two particles a radius, h^3 / 8 times the sum of poly6:
 * 315/(64 pi 8) (64 + 6 27 + 12 8 + 8) / 64. */
static double lattice_sum(void)
{
    return 315.0 / (64.0 * PI * 8.0) * (64.0 + 162.0 + 96.0 + 8.0) / 64.0;
}

double wadi_sph_printed_weight(double distance, double radius)
{
    const double q = distance / radius, u = 1.0 - q * q;
    const double scale = 315.0 / (64.0 * PI * lattice_sum());
    return u > 0.0 ? scale * u * u * u / (radius * radius * radius) : 0.0;
}

double wadi_sph_printed_slope(double distance, double radius)
{
    const double q = distance / radius, u = 1.0 - q * q, square = radius * radius;
    const double scale = 945.0 / (32.0 * PI * lattice_sum());
    return u > 0.0 ? -scale * u * u / (square * square * radius) : 0.0;
}

double wadi_sph_printed_spiky_slope(double distance, double radius)
{
    const double far = radius - distance, cube = radius * radius * radius;
    return far > 0.0 && distance > 0.0 ? -45.0 / (PI * cube * cube) * far * far / distance : 0.0;
}

double wadi_sph_printed_laplacian(double distance, double radius)
{
    const double cube = radius * radius * radius;
    return distance < radius ? 45.0 / (PI * cube * cube) * (radius - distance) : 0.0;
}

/* Integral of 315/256 (1 - z^2)^4 from q to 1: poly6 over planes. Scaled so that the first row of a lattice,
 * a quarter of the radius from the wall, has its density at rest: (27 + 4 8 + 4) of the lattice's sum. */
static double poly6_beyond(double q)
{
    const double s = q * q;
    const double odd = q * (1.0 - s * (4.0 / 3.0 - s * (6.0 / 5.0 - s * (4.0 / 7.0 - s / 9.0))));
    const double all = 1.0 - 4.0 / 3.0 + 6.0 / 5.0 - 4.0 / 7.0 + 1.0 / 9.0;
    return 315.0 / 256.0 * (all - odd);
}

double wadi_sph_printed_wall_part(double distance, double radius)
{
    const double q = distance / radius, row = 63.0 / 330.0;
    const double scale = row / poly6_beyond(0.25);
    return q < 1.0 ? scale * poly6_beyond(q > 0.0 ? q : 0.0) : 0.0;
}

double wadi_sph_printed_wall_slope(double distance, double radius)
{
    const double q = distance > 0.0 ? distance / radius : 0.0, u = 1.0 - q;
    const double fourth = u * u * u * u;
    return q < 1.0 ? 30.0 * (fourth / 4.0 - fourth * u / 5.0) / radius : 0.0;
}
