/* Anisotropic kernels: each particle becomes an ellipsoid that is flat where its neighbours lie in a plane.
 * [YT13] */
#ifndef WADI_SURFACE_ANISOTROPY_H
#define WADI_SURFACE_ANISOTROPY_H

#include "math/sym3.h"
#include "surface/cloud/bins.h"

/* Support radius of neighbourhoods and kernels, over that of the field. */
#define WADI_ANISOTROPIC_SUPPORT 1.65

/* Moments of a particle's neighbourhood, weighted by volume times k(d) = 1 - (d / r)^3; r is the larger of
 * the two support radii. */
typedef struct WadiNearMoments {
    double weight;
    double volume;   /* of all neighbours within r, not weighted by k */
    WadiVec3 mean;   /* sum k V (x_j - x_i) */
    WadiSym3 second; /* sum k V (x_j - x_i) (x_j - x_i)^T */
} WadiNearMoments;

/* The kernel amplitude * max(0, 1 - u^T form u)^3; its integral is the particle's volume. */
typedef struct WadiEllipsoid {
    WadiSym3 form;    /* 1/m^2 */
    double amplitude; /* such that the sum is 1 in evenly filled space */
    double support;   /* m, the longest half axis */
} WadiEllipsoid;

/* Half axes are at most `support` spacings. */
WadiEllipsoid wadi_ellipsoid(const WadiNearMoments *moments, double spacing, double support);
/* The smoothing displacement. `own` is the offset from the particle to the mean of its neighbours;
 * `neighbour` is the mean of the neighbours' own offsets, weighted by k V max(0, own . theirs). */
WadiVec3 wadi_anisotropy_shift(WadiVec3 own, WadiVec3 neighbour);

/* Indexed by the order of `bins`, which holds the moved particles. The support radius is that of the
 * ellipsoid. */
typedef struct WadiAnisotropy {
    WadiCloud moved; /* spacing is borrowed from the source cloud; not to be freed */
    WadiBins bins;
    /* the form's xx, yy, zz, 2 xy, 2 xz, 2 yz in 1/unit^2, the amplitude, the spacing in units */
    float (*ellipsoid)[8];
} WadiAnisotropy;

/* `support` in spacings. Memory belongs to the arena. */
WadiStatus wadi_anisotropy_build(WadiAnisotropy *anisotropy, const WadiCloud *cloud, double support,
                                 double unit, WadiArena *arena, WadiError *error);

#endif
