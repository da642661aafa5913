#include <math.h>

#include "secondary/fine_grains.h"

/* 1/(1/a + 1/b + 1/c) of the variances a, b, c along the principal axes, over the variance along an axis of
 * neighbours that fill space evenly: below the first there is no map, from the second on all of it. In the
 * corner of a box it is 0.07, in a layer one particle thick 0. */
static const double FLAT = 0.01, FULL = 0.03;
/* The variance along an axis of neighbours that fill space evenly with weights (1 - q^2)^3, over R^2. */
static const double EVEN_VARIANCE = 1.0 / 11.0;

void wadi_carry_add(WadiCarry *carry, double weight, const double r[3], const double d[3])
{
    static const int pair[6][2] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 0, 1 }, { 0, 2 }, { 1, 2 } };
    carry->weight += weight;
    for (int k = 0; k < 6; ++k) {
        carry->rr[k] += weight * r[pair[k][0]] * r[pair[k][1]];
    }
    for (int a = 0; a < 3; ++a) {
        carry->r[a] += weight * r[a];
        carry->d[a] += weight * d[a];
        for (int b = 0; b < 3; ++b) {
            carry->dr[3 * a + b] += weight * d[a] * r[b];
        }
    }
}

/* det(m), and the matrix of cofactors, of a symmetric matrix xx yy zz xy xz yz. */
static double cofactors(const double m[6], double c[6])
{
    c[0] = m[1] * m[2] - m[5] * m[5];
    c[1] = m[0] * m[2] - m[4] * m[4];
    c[2] = m[0] * m[1] - m[3] * m[3];
    c[3] = m[4] * m[5] - m[3] * m[2];
    c[4] = m[3] * m[5] - m[4] * m[1];
    c[5] = m[3] * m[4] - m[0] * m[5];
    return m[0] * c[0] + m[3] * c[3] + m[4] * c[4];
}

void wadi_carry_displacement(const WadiCarry *carry, double support, double d[3])
{
    const double inverse = carry->weight > 0.0 ? 1.0 / carry->weight : 0.0;
    double r[3], m[6], c[6];
    for (int a = 0; a < 3; ++a) {
        r[a] = carry->r[a] * inverse;
        d[a] = carry->d[a] * inverse;
    }
    const double square[6] = { r[0] * r[0], r[1] * r[1], r[2] * r[2], r[0] * r[1], r[0] * r[2], r[1] * r[2] };
    for (int k = 0; k < 6; ++k) {
        m[k] = carry->rr[k] * inverse - square[k];
    }
    const double det = cofactors(m, c), minors = c[0] + c[1] + c[2], even = EVEN_VARIANCE * support * support;
    const double thinnest = minors > 0.0 ? det / minors / even : 0.0;
    const double part = fmin(fmax((thinnest - FLAT) / (FULL - FLAT), 0.0), 1.0);
    if (!(part > 0.0)) {
        return;
    }
    /* d - A r, A = C M^-1 with C the covariance of displacements and positions. */
    const double back[3] = { (c[0] * r[0] + c[3] * r[1] + c[4] * r[2]) / det,
                             (c[3] * r[0] + c[1] * r[1] + c[5] * r[2]) / det,
                             (c[4] * r[0] + c[5] * r[1] + c[2] * r[2]) / det };
    const double mean[3] = { d[0], d[1], d[2] };
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            d[a] -= part * (carry->dr[3 * a + b] * inverse - mean[a] * r[b]) * back[b];
        }
    }
}
