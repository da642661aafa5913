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

/* The rotation in the plane of axes p and q that makes a[p][q] zero. */
static void rotate(double a[3][3], double v[3][3], int p, int q)
{
    double off = a[p][q];
    if (off == 0.0) {
        return;
    }
    double ratio = (a[q][q] - a[p][p]) / (2.0 * off);
    double t = copysign(1.0, ratio) / (fabs(ratio) + sqrt(ratio * ratio + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    int r = 3 - p - q;
    double rp = a[r][p], rq = a[r][q];
    a[p][p] -= t * off;
    a[q][q] += t * off;
    a[p][q] = a[q][p] = 0.0;
    a[r][p] = a[p][r] = c * rp - s * rq;
    a[r][q] = a[q][r] = s * rp + c * rq;
    for (int i = 0; i < 3; ++i) {
        double vp = v[i][p], vq = v[i][q];
        v[i][p] = c * vp - s * vq;
        v[i][q] = s * vp + c * vq;
    }
}

void wadi_sym3_eigen(WadiSym3 m, double value[3], WadiVec3 axis[3])
{
    double a[3][3] = { { m.xx, m.xy, m.xz }, { m.xy, m.yy, m.yz }, { m.xz, m.yz, m.zz } };
    double v[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    /* Converges quadratically: five sweeps reach rounding from anywhere, the rest costs three comparisons. */
    for (int sweep = 0; sweep < 8; ++sweep) {
        rotate(a, v, 0, 1);
        rotate(a, v, 0, 2);
        rotate(a, v, 1, 2);
    }
    int order[3] = { 0, 1, 2 };
    for (int i = 1; i < 3; ++i) {
        for (int j = i; j > 0 && a[order[j]][order[j]] < a[order[j - 1]][order[j - 1]]; --j) {
            int swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
    }
    for (int i = 0; i < 3; ++i) {
        int k = order[i];
        value[i] = a[k][k];
        axis[i] = (WadiVec3){ v[0][k], v[1][k], v[2][k] };
    }
}
