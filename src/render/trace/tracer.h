/* A path tracer: sun and surround on meshes, spheres and a ground, seen by a camera. Linear light comes out; render/trace/film.h makes
 * a picture of it. The same scene gives the same bytes for any number of threads.
 *
 *   WadiTracer *tracer;
 *   WADI_TRY(wadi_tracer_create(&tracer, &scene, error));      // once a frame: copies and sorts, then the scene may go
 *   WADI_TRY(wadi_tracer_render(tracer, &camera, &quality, &film, error));
 *   wadi_tracer_destroy(tracer);
 */
#ifndef WADI_RENDER_TRACER_H
#define WADI_RENDER_TRACER_H

#include "core/status.h"
#include "render/image/look.h"
#include "render/trace/camera.h"
#include "render/trace/film.h"
#include "render/trace/light.h"

/* Arrays are borrowed until wadi_tracer_create returns, and as long as vertex_count; NULL where optional. Triangles that have no
 * area or a vertex that is not finite are not seen. */
typedef struct WadiTraceMesh {
    size_t vertex_count, triangle_count;
    const WadiVec3 *vertices; /* m */
    const uint32_t (*triangles)[3];
    const float (*normal)[3];   /* optional: smooth shading; need not be unit */
    const float (*velocity)[3]; /* optional: m/s, blurs */
    const float *wetness;       /* optional: 0..1, SAND */
    const float (*colour)[3];   /* optional: linear, replaces the look's colour */
    int look;                   /* index into the scene's looks */
} WadiTraceMesh;

/* What a sphere has of its own, in four bytes. */
typedef struct WadiTraceColour {
    uint8_t red, green, blue; /* sRGB */
    uint8_t wetness;          /* 255 is soaked */
} WadiTraceColour;

/* Many spheres of one look. Borrowed like a mesh's arrays. Spheres whose radius is not positive or which are not finite are not
 * seen. The tracer keeps about 42 bytes a sphere, its tree included, and 17 more when there are velocities; while it is created
 * 32 more. */
typedef struct WadiTraceSpheres {
    size_t count;
    const float (*sphere)[4];      /* m: x, y, z relative to the scene's origin, and the radius */
    const WadiTraceColour *colour; /* optional */
    const float (*velocity)[3];    /* optional: m/s, blurs */
    int look;
} WadiTraceSpheres;

typedef struct WadiTraceGround {
    bool is_present;
    double height; /* m: the plane z = height, without end */
    WadiLook look; /* PLAIN or SAND */
} WadiTraceGround;

typedef struct WadiTraceScene {
    WadiVec3 origin; /* m: near what is seen; rays are traced in float relative to it */
    const WadiLook *looks;
    int look_count;
    const WadiTraceMesh *meshes;
    int mesh_count;
    const WadiTraceSpheres *spheres;
    int spheres_count; /* sets */
    WadiTraceGround ground;
    WadiLightDef light;
    double contact; /* m: water so near before something opaque touches it; 0: 3e-3 of the size; < 0: never */
    double open, close; /* s, relative to the frame's moment: the shutter; equal: velocities are not used */
} WadiTraceScene;

typedef struct WadiTraceQuality {
    int samples;  /* paths a pixel, 1 .. 65536 */
    int depth;    /* surfaces that a path may meet, 1 .. 64; smooth water and glass count a quarter */
    double clamp; /* light that is seen reflected or after a bounce is cut to this; 0: not (exact, noisier) */
    double noise; /* relative error at which a pixel stops early, 0: never. About 0.01 */
    uint32_t seed; /* another pattern of noise; the frame's number, or 0 for a noise that stands still */
    bool is_denoised;
} WadiTraceQuality;

/* Under 3 s, under 15 s and some minutes for 960 x 540 pixels on two cores with millions of grains. */
WadiTraceQuality wadi_trace_draft(void);
WadiTraceQuality wadi_trace_preview(void);
WadiTraceQuality wadi_trace_final(void);

typedef struct WadiTracer WadiTracer;

WadiStatus wadi_tracer_create(WadiTracer **tracer, const WadiTraceScene *scene, WadiError *error);
void wadi_tracer_destroy(WadiTracer *tracer);
/* What it holds, the tree of Embree included. */
size_t wadi_tracer_bytes(const WadiTracer *tracer);
/* Bounds of everything but the ground; empty when there is nothing. */
WadiBox wadi_tracer_bounds(const WadiTracer *tracer);

/* Overwrites the film, which has its size already. */
WadiStatus wadi_tracer_render(const WadiTracer *tracer, const WadiCamera *camera,
                              const WadiTraceQuality *quality, WadiFilm *film, WadiError *error);

#endif
