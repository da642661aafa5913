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
