/* Generalised winding number: how often a mesh turns around a point. 1 inside a closed mesh, 0 outside, in
 * between near holes; sums over overlapping parts. */
#ifndef WADI_GEOM_WINDING_H
#define WADI_GEOM_WINDING_H

#include "geom/mesh/mesh.h"

/* Sum of the solid angles of triangles. Small half angles are multiplied as complex numbers 1 + i tan,
 * with one arc tangent for seven of them: their sum stays below half a turn. */
typedef struct WadiAngleSum {
    double half_angle;
    double re, im;
    int count;
} WadiAngleSum;

static inline WadiAngleSum wadi_angle_sum(void)
{
    return (WadiAngleSum){ 0.0, 1.0, 0.0, 0 };
}

/* [OS83]. A triangle with x in its plane adds nothing; never NaN. */
static inline void wadi_angle_sum_add(WadiAngleSum *sum, WadiVec3 v0, WadiVec3 v1, WadiVec3 v2, WadiVec3 x)
{
    WadiVec3 a = wadi_sub(v0, x), b = wadi_sub(v1, x), c = wadi_sub(v2, x);
    double la = wadi_norm(a), lb = wadi_norm(b), lc = wadi_norm(c);
    double triple = wadi_dot(a, wadi_cross(b, c));
    double base = la * lb * lc + wadi_dot(a, b) * lc + wadi_dot(b, c) * la + wadi_dot(c, a) * lb;
    if (triple == 0.0) {
        return;
    }
    if (fabs(triple) < 0.4 * base) { /* tan(pi / 8) = 0.414 */
        double t = triple / base, re = sum->re;
        sum->re = re - t * sum->im;
        sum->im += t * re;
        if (++sum->count == 7) {
            sum->half_angle += atan2(sum->im, sum->re);
            sum->re = 1.0;
            sum->im = 0.0;
            sum->count = 0;
        }
    } else {
        sum->half_angle += atan2(triple, base);
    }
}

/* As a fraction of the full sphere. */
static inline double wadi_angle_sum_fraction(const WadiAngleSum *sum)
{
    return (sum->half_angle + atan2(sum->im, sum->re)) / 6.283185307179586477;
}

typedef struct WadiWinding WadiWinding;

/* `mesh` is borrowed. */
WadiStatus wadi_winding_create(WadiWinding **winding, const WadiMesh *mesh, WadiError *error);
void wadi_winding_destroy(WadiWinding *winding);

/* Clusters farther than `beta` times their radius are expanded; 2 is good to about 0.01, 6 to 1e-4. */
double wadi_winding_number(const WadiWinding *winding, WadiVec3 x, double beta);
/* The sum over all triangles. */
double wadi_winding_number_exact(const WadiMesh *mesh, WadiVec3 x);

/* Whether the winding number exceeds one half: approximate where that is safe, exact where it is close.
 * `sign` is -1 for meshes that face inward. */
bool wadi_winding_is_inside(const WadiWinding *winding, WadiVec3 x, double sign);

#endif
