/* Reflection of a rough surface: an energy-preserving rough diffuse base under a glossy coat. Directions are
 * unit vectors in the surface's frame, z along its normal, both pointing away from it. */
#ifndef WADI_RENDER_BSDF_H
#define WADI_RENDER_BSDF_H

#include "render/image/look.h"

typedef struct WadiBsdf {
    WadiRgb albedo;
    float roughness; /* of the base: 0 Lambert .. 1 */
    float coat;      /* fraction of the surface that the coat covers */
    float alpha;     /* GGX */
    float index;     /* of refraction, of the coat relative to its surroundings */
} WadiBsdf;

/* `outside`: index of refraction of the surrounding medium. Under water the film does not darken sand: the
 * water is the film, and is traced. */
WadiBsdf wadi_bsdf_of_look(const WadiLook *look, WadiRgb colour, float wetness, float outside);

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
