/* Private parts of the tracer, shared by its files. */
#ifndef WADI_RENDER_TRACER_INTERNAL_H
#define WADI_RENDER_TRACER_INTERNAL_H

#include <stdatomic.h>

#include "geom/mesh/embree.h"
#include "render/bed/grain_bed.h"
#include "render/points/foam_film.h"
#include "render/trace/bsdf.h"
#include "render/trace/caustics.h"
#include "render/trace/sphere_clusters.h"
#include "render/trace/tracer.h"

/* A mesh or a set of spheres; its index in `parts` is Embree's geomID. Vertices and triangles lie in Embree's
 * buffers, the attributes are owned copies. */
typedef struct WadiPart {
    const struct WadiTracer *tracer;
    const WadiLook *look;
    bool is_spheres;
    WadiClusters clusters;
    size_t vertex_count, triangle_count;
    const float *start, *end; /* vertices when the shutter opens and closes; equal without motion */
    const uint32_t *triangles;
    float (*normal)[3];
    float *wetness;
    float (*colour)[3];
    float (*texture)[3];
    float (*anchor)[3];
    uint32_t *anchor_hash;
    size_t anchor_count;
    uint32_t (*owner)[WADI_TRACE_OWNERS];
} WadiPart;

/* Two trees: opaque surfaces and transmitting ones. A shadow ray tests the first for any hit and walks
 * through the second, which most pictures do not have. */
struct WadiTracer {
    RTCDevice device;
    RTCScene opaque, clear; /* NULL: empty */
    WadiPart *parts;
    int part_count;
    WadiLook *looks;
    int look_count;
    WadiTraceGround ground;
    float air;                     /* m */
    float ground_height;           /* m, relative to the origin */
    float pit_low[3], pit_high[2]; /* m, relative to the origin */
    double texture_offset[2];      /* m: the origin's position in the ground's pattern */
    WadiLight *light;
    WadiCaustics caustics; /* empty: sunlight passes water in a straight line */
    WadiFoamFilm foam;     /* on all water */
    WadiLook foam_look;
    WadiRgb level; /* radiance of a level white sheet in the open */
    WadiVec3 origin;
    float open, span;          /* s */
    float contact;             /* m */
    WadiBox bounds;            /* relative to the origin */
    float linear_of_byte[256]; /* sRGB */
    WadiGrainShape shapes[WADI_GRAIN_SHAPES];
    atomic_llong embree_bytes;
};

typedef struct WadiTraceRay {
    WadiVec3f origin, direction; /* unit */
    float time;                  /* 0..1 between opening and closing of the shutter */
} WadiTraceRay;

typedef struct WadiTraceHit {
    float distance;
    WadiVec3f position;
    WadiVec3f normal;  /* of the geometry, unit, outward */
    WadiVec3f shading; /* smooth, unit, on the side of `normal` */
    const WadiLook *look;
    WadiRgb colour;
    float wetness;
    const WadiPart *part; /* NULL: the ground */
    uint32_t vertex[3];   /* of the triangle */
    WadiVec3f rest;       /* the position at the frame's time */
    /* water that touches the surface, from inside of which it is seen; NULL: none */
    const WadiLook *touching;
} WadiTraceHit;

/* The nearest surface, or false. */
bool wadi_tracer_nearest(const WadiTracer *tracer, const WadiTraceRay *ray, WadiTraceHit *hit);
/* The nearest transmitting surface closer than `far`. */
bool wadi_tracer_nearest_clear(const WadiTracer *tracer, const WadiTraceRay *ray, float far,
                               WadiTraceHit *hit);
/* True when an opaque surface is anywhere on the ray. */
bool wadi_tracer_is_blocked(const WadiTracer *tracer, const WadiTraceRay *ray);

/* Origin of a new ray: off the surface by more than its rounding error, on the side of `direction`. */
WadiVec3f wadi_tracer_offset(const WadiTraceHit *hit, WadiVec3f direction);

/* Result of one path. */
typedef struct WadiPathSample {
    WadiRgb light;
    WadiRgb albedo;
    WadiVec3f normal;
    float distance; /* 0: sky */
} WadiPathSample;

struct WadiSampler;
/* Light that arrives along the ray, which begins in `medium` (NULL: air). `spread`: width of a pixel at
 * distance 1. */
WadiPathSample wadi_trace_path(const WadiTracer *tracer, WadiTraceRay ray, const WadiLook *medium,
                               float spread, const WadiTraceQuality *quality, struct WadiSampler *sampler);

/* tracer_bed.c: the grain of sand that is seen at a hit, for a pixel `width` m wide there and u in [0, 1).
 * Sets the colour of the hit, and *grain where single grains are large enough to be seen; false: they are
 * not. */
bool wadi_tracer_find_grain(const WadiTracer *tracer, WadiTraceHit *hit, WadiVec3f direction, float width,
                            float u, WadiBsdfGrain *grain);

#endif
