/* Particles moved and stretched so that together they make a smooth surface: each becomes an ellipsoid that is flat where its
 * neighbours lie flat. [YT13] */
#ifndef WADI_SURFACE_ANISOTROPY_H
#define WADI_SURFACE_ANISOTROPY_H

#include "math/sym3.h"
#include "surface/cloud/bins.h"

/* How far neighbours are looked for and kernels go, of the field's reach. */
#define WADI_ANISOTROPIC_REACH 1.65

/* Weighted by k(d) = 1 - (d / r)^3 and volume, r the longer of the two reaches: what a particle's neighbours are like. */
typedef struct WadiNearMoments {
    double weight;
    double volume;   /* of all within r, unweighted */
    WadiVec3 mean;   /* sum k V (x_j - x_i) */
    WadiSym3 second; /* sum k V (x_j - x_i) (x_j - x_i)^T */
} WadiNearMoments;

/* amplitude * (1 - u^T form u)^3 where that is positive; its integral is the particle's volume. */
typedef struct WadiEllipsoid {
    WadiSym3 form;    /* 1/m^2 */
    double amplitude; /* the field of evenly filled space is 1 */
    double reach;     /* m, the longest half axis */
} WadiEllipsoid;

/* Half axes of at most `reach` spacings. */
WadiEllipsoid wadi_ellipsoid(const WadiNearMoments *moments, double spacing, double reach);
/* The part of the way to the neighbours' mean that is taken: `own` is the particle's way, mean - place, `near` the mean way of
 * its neighbours, with the weight k V max(0, own . theirs). */
WadiVec3 wadi_anisotropy_shift(WadiVec3 own, WadiVec3 near);

/* By slots of `bins`, which are those of the moved particles; their reach is that of the ellipsoid. */
typedef struct WadiAnisotropy {
    WadiCloud moved; /* spacing is borrowed from the cloud it was made of; not to be freed */
    WadiBins bins;
    float (*ellipsoid)
        [8]; /* xx, yy, zz, 2 xy, 2 xz, 2 yz of the form in 1/unit^2, the amplitude, the spacing in units */
} WadiAnisotropy;

/* `reach` in spacings. Memory belongs to the arena. */
WadiStatus wadi_anisotropy_build(WadiAnisotropy *anisotropy, const WadiCloud *cloud, double reach,
                                 double unit, WadiArena *arena, WadiError *error);

#endif
