/* Affine maps, for the placement and motion of shapes. */
#ifndef WADI_MATH_AFFINE_H
#define WADI_MATH_AFFINE_H

#include "math/vec3.h"

/* p -> m p + t; m is row-major. */
typedef struct WadiAffine {
    double m[3][3];
    WadiVec3 t;
} WadiAffine;

WadiAffine wadi_affine_identity(void);

/* Scales about `pivot`, rotates about `pivot` by Euler angles in degrees (first x, then y, then z, about the
 * fixed axes), then translates: the order of Blender's "XYZ Euler" object transform. */
WadiAffine wadi_affine_compose(WadiVec3 translate, WadiVec3 rotate_degrees, WadiVec3 scale, WadiVec3 pivot);

/* false (and identity) when the map is not invertible. */
bool wadi_affine_inverse(const WadiAffine *a, WadiAffine *inverse);

/* Smallest and largest factor by which the map stretches a vector: its singular values. */
void wadi_affine_stretch(const WadiAffine *a, double *smallest, double *largest);

static inline WadiVec3 wadi_affine_vector(const WadiAffine *a, WadiVec3 v)
{
    return (WadiVec3){ a->m[0][0] * v.x + a->m[0][1] * v.y + a->m[0][2] * v.z,
                       a->m[1][0] * v.x + a->m[1][1] * v.y + a->m[1][2] * v.z,
                       a->m[2][0] * v.x + a->m[2][1] * v.y + a->m[2][2] * v.z };
}

static inline WadiVec3 wadi_affine_point(const WadiAffine *a, WadiVec3 p)
{
    return wadi_add(wadi_affine_vector(a, p), a->t);
}

/* m^T v: transforms a gradient from the map's image to its source; with the inverse map, normals forward. */
static inline WadiVec3 wadi_affine_transposed_vector(const WadiAffine *a, WadiVec3 v)
{
    return (WadiVec3){ a->m[0][0] * v.x + a->m[1][0] * v.y + a->m[2][0] * v.z,
                       a->m[0][1] * v.x + a->m[1][1] * v.y + a->m[2][1] * v.z,
                       a->m[0][2] * v.x + a->m[1][2] * v.y + a->m[2][2] * v.z };
}

#endif
