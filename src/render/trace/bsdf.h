/* Reflection of a rough surface: an energy-preserving rough diffuse base under a glossy coat. Directions are
 * unit vectors in the surface's frame, z along its normal, both pointing away from it. */
#ifndef WADI_RENDER_BSDF_H
#define WADI_RENDER_BSDF_H

#include "render/bed/grain_bed.h"
#include "render/image/look.h"

/* A single grain of sand that is seen. */
typedef struct WadiBsdfGrain {
    WadiGrainBed bed;
    WadiGrainHit hit;
    WadiVec3f axis[3]; /* those of the surface's frame in the frame of the bed */
    WadiVec3f mirror;  /* unit: the normal of a facet that flashes, in the frame of the bed */
} WadiBsdfGrain;

typedef struct WadiBsdf {
    WadiRgb albedo; /* of the grain, or of the surface */
    WadiRgb mean;   /* of a bed: of the grains around, which light that is reflected more than once meets */
    float bed;      /* fraction of the base that is a bed of grains; the rest is a smooth surface */
    const WadiBsdfGrain *grain; /* NULL: grains are too small to be seen, the mean over a bed */
    float sparkle;              /* of the grain, for this light */
    float roughness;            /* of the base: 0 Lambert .. 1 */
    float coat;                 /* fraction of the surface that the coat covers */
    float alpha;                /* GGX */
    float index;                /* of refraction, of the coat relative to its surroundings */
} WadiBsdf;

/* `outside`: index of refraction of the surrounding medium. Under water the film does not darken sand: the
 * water is the film, and is traced. */
WadiBsdf wadi_bsdf_of_look(const WadiLook *look, WadiRgb colour, float wetness, float outside);
/* The fraction of wet sand that a film of water covers: none up to a wetness of 0.4. */
float wadi_wet_film(float wetness);
/* Reflectance of grains with water between them, from that of dry ones: they scatter forward, by the
 * similarity relations of [TBM86]. */
float wadi_wet_grains(float colour, float wetness);
/* Light after one reflection from the bed, over that of a white Lambertian surface. */
float wadi_bsdf_bed(const WadiBsdf *bsdf, WadiVec3f out, WadiVec3f in);

/* f(out, in) cos(in), and the probability density of `in` in wadi_bsdf_sample. 0 unless both are above the
 * surface. */
WadiRgb wadi_bsdf_eval(const WadiBsdf *bsdf, WadiVec3f out, WadiVec3f in, float *pdf);
/* A direction for three values in [0, 1); may lie below the surface, where eval is 0. */
WadiVec3f wadi_bsdf_sample(const WadiBsdf *bsdf, WadiVec3f out, const float u[3]);

/* Fresnel reflectance of a smooth boundary for unpolarised light. `index`: of the other side relative to this
 * one. */
float wadi_fresnel(float cosine, float index);
/* Its mean over uniform light from inside a body with that index (> 1). */
float wadi_fresnel_inside(float index);

#endif
