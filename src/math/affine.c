#include "math/affine.h"

#include "math/sym3.h"

WadiAffine wadi_affine_identity(void)
{
    return (WadiAffine){ { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, { 0, 0, 0 } };
}

/* sin and cos of an angle in degrees, exact at multiples of 90: a box rotated by 90 degrees stays a box. */
static void sin_cos_degrees(double degrees, double *sine, double *cosine)
{
    if (degrees == 0.0) {
        *sine = 0.0, *cosine = 1.0;
        return;
    }
    double reduced = degrees - 360.0 * nearbyint(degrees / 360.0);
    double quarter = nearbyint(reduced / 90.0);
    double remainder_angle = (reduced - 90.0 * quarter) * (3.14159265358979323846 / 180.0);
    double s = sin(remainder_angle), c = cos(remainder_angle);
    switch (((int)quarter % 4 + 4) % 4) {
    case 0: *sine = s, *cosine = c; break;
    case 1: *sine = c, *cosine = -s; break;
    case 2: *sine = -s, *cosine = -c; break;
    default: *sine = -c, *cosine = s; break;
    }
}

WadiAffine wadi_affine_compose(WadiVec3 translate, WadiVec3 rotate_degrees, WadiVec3 scale, WadiVec3 pivot)
{
    double sx, cx, sy, cy, sz, cz;
    sin_cos_degrees(rotate_degrees.x, &sx, &cx);
    sin_cos_degrees(rotate_degrees.y, &sy, &cy);
    sin_cos_degrees(rotate_degrees.z, &sz, &cz);
    /* Rz Ry Rx diag(scale) */
    WadiAffine a = {
        { { cz * cy * scale.x, (cz * sy * sx - sz * cx) * scale.y, (cz * sy * cx + sz * sx) * scale.z },
          { sz * cy * scale.x, (sz * sy * sx + cz * cx) * scale.y, (sz * sy * cx - cz * sx) * scale.z },
          { -sy * scale.x, cy * sx * scale.y, cy * cx * scale.z } },
        { 0, 0, 0 }
    };
    a.t = wadi_add(translate, wadi_sub(pivot, wadi_affine_vector(&a, pivot)));
    return a;
}

bool wadi_affine_inverse(const WadiAffine *a, WadiAffine *inverse)
{
    const double(*m)[3] = a->m;
    double c00 = m[1][1] * m[2][2] - m[1][2] * m[2][1];
    double c01 = m[1][2] * m[2][0] - m[1][0] * m[2][2];
    double c02 = m[1][0] * m[2][1] - m[1][1] * m[2][0];
    double det = m[0][0] * c00 + m[0][1] * c01 + m[0][2] * c02;
    *inverse = wadi_affine_identity();
    if (!(fabs(det) > 0.0) || !isfinite(det)) {
        return false;
    }
    double s = 1.0 / det;
    inverse->m[0][0] = s * c00;
    inverse->m[0][1] = s * (m[0][2] * m[2][1] - m[0][1] * m[2][2]);
    inverse->m[0][2] = s * (m[0][1] * m[1][2] - m[0][2] * m[1][1]);
    inverse->m[1][0] = s * c01;
    inverse->m[1][1] = s * (m[0][0] * m[2][2] - m[0][2] * m[2][0]);
    inverse->m[1][2] = s * (m[0][2] * m[1][0] - m[0][0] * m[1][2]);
    inverse->m[2][0] = s * c02;
    inverse->m[2][1] = s * (m[0][1] * m[2][0] - m[0][0] * m[2][1]);
    inverse->m[2][2] = s * (m[0][0] * m[1][1] - m[0][1] * m[1][0]);
    inverse->t = wadi_scale(wadi_affine_vector(inverse, a->t), -1.0);
    return true;
}

void wadi_affine_stretch(const WadiAffine *a, double *smallest, double *largest)
{
    const double(*m)[3] = a->m;
    /* Singular values of m are the roots of the eigenvalues of m^T m. */
    WadiSym3 g = { 0 };
    for (int i = 0; i < 3; ++i) {
        g.xx += m[i][0] * m[i][0];
        g.yy += m[i][1] * m[i][1];
        g.zz += m[i][2] * m[i][2];
        g.xy += m[i][0] * m[i][1];
        g.xz += m[i][0] * m[i][2];
        g.yz += m[i][1] * m[i][2];
    }
    double value[3];
    wadi_sym3_eigenvalues(g, value);
    *smallest = sqrt(fmax(value[0], 0.0));
    *largest = sqrt(fmax(value[2], 0.0));
}
