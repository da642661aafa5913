/* Foam on the surface of water: soft patches that cover a part of it. A path that meets covered water meets
 * white foam with that probability, so that foam thinner than a pixel is a tint and thick foam is opaque. */
#ifndef WADI_RENDER_FOAM_FILM_H
#define WADI_RENDER_FOAM_FILM_H

#include "core/status.h"
#include "render/points/point_buckets.h"

typedef struct WadiFoamPatch {
    WadiVec3f position; /* m, relative to the scene's origin */
    float radius;       /* m */
    uint32_t hash;
} WadiFoamPatch;

/* Patches in the order of buckets for the largest radius. Owned. A zeroed film is valid and empty. */
typedef struct WadiFoamFilm {
    WadiFoamPatch *patches;
    size_t count;
    WadiPointBuckets buckets;
} WadiFoamFilm;

/* Copies the patches whose values are finite and positive. Their order does not depend on threads. */
WadiStatus wadi_foam_film_build(WadiFoamFilm *film, const WadiFoamPatch *patches, size_t count,
                                WadiError *error);
void wadi_foam_film_free(WadiFoamFilm *film);

/* The covered part, 0 to 1, of the water's surface at a point with that normal, for a pixel `width` m wide
 * there. */
float wadi_foam_film_cover(const WadiFoamFilm *film, WadiVec3f position, WadiVec3f normal, float width);

#endif
