#include "math/sym3.h"

void wadi_sym3_eigenvalues(WadiSym3 a, double value[3])
{
    double mean = wadi_sym3_trace(a) / 3.0;
    WadiSym3 d = wadi_sym3_deviator(a);
    double j2 = 0.5 * (d.xx * d.xx + d.yy * d.yy + d.zz * d.zz) + d.xy * d.xy + d.xz * d.xz + d.yz * d.yz;
    if (!(j2 > 0.0)) {
        value[0] = value[1] = value[2] = mean;
        return;
    }
    double det = d.xx * (d.yy * d.zz - d.yz * d.yz) - d.xy * (d.xy * d.zz - d.yz * d.xz) +
                 d.xz * (d.xy * d.yz - d.yy * d.xz);
    /* Roots of t^3 - j2 t - det = 0 are 2 sqrt(j2/3) cos(angle + 2 pi k/3). */
    double radius = sqrt(j2 / 3.0);
    double cosine = det / (2.0 * radius * radius * radius);
    cosine = cosine > 1.0 ? 1.0 : cosine < -1.0 ? -1.0 : cosine;
    double angle = acos(cosine) / 3.0;
    const double third_turn = 2.09439510239319549;
    value[2] = mean + 2.0 * radius * cos(angle);
    value[0] = mean + 2.0 * radius * cos(angle + third_turn);
    value[1] = 3.0 * mean - value[0] - value[2];
}

/* The slope of a line through two points; 0 where they coincide up to rounding. */
static double slope(double x0, double x1, double y0, double y1, double least)
{
    return x1 - x0 > least ? (y1 - y0) / (x1 - x0) : 0.0;
}

WadiSym3 wadi_sym3_with_values(WadiSym3 a, const double value[3], const double target[3])
{
    /* Newton's interpolation polynomial through the three points, evaluated at the matrix. */
    double least = 1e-7 * fmax(fabs(value[0]), fabs(value[2]));
    double first = slope(value[0], value[1], target[0], target[1], least);
    double next = slope(value[1], value[2], target[1], target[2], least);
    double second = slope(value[0], value[2], first, next, least);
    double u = value[0], v = value[1];
    /* (a - u I)(a - v I) */
    WadiSym3 square = { (a.xx - u) * (a.xx - v) + a.xy * a.xy + a.xz * a.xz,
                        (a.yy - u) * (a.yy - v) + a.xy * a.xy + a.yz * a.yz,
                        (a.zz - u) * (a.zz - v) + a.xz * a.xz + a.yz * a.yz,
                        a.xy * (a.xx + a.yy - u - v) + a.xz * a.yz,
                        a.xz * (a.xx + a.zz - u - v) + a.xy * a.yz,
                        a.yz * (a.yy + a.zz - u - v) + a.xy * a.xz };
    return (WadiSym3){ target[0] + first * (a.xx - u) + second * square.xx,
                       target[0] + first * (a.yy - u) + second * square.yy,
                       target[0] + first * (a.zz - u) + second * square.zz,
                       first * a.xy + second * square.xy,
                       first * a.xz + second * square.xz,
                       first * a.yz + second * square.yz };
}
