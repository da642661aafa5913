/* A path tracer for meshes, spheres and a ground, lit by sun and surround. Its output is linear light;
 * render/trace/film.h converts it to a picture. Same bytes for any number of threads.
 *
 *   WadiTracer *tracer;
 *   WADI_TRY(wadi_tracer_create(&tracer, &scene, error)); // once per frame: copies, the scene may be freed
 *   WADI_TRY(wadi_tracer_render(tracer, &camera, &quality, &film, error));
 *   wadi_tracer_destroy(tracer);
 */
#ifndef WADI_RENDER_TRACER_H
#define WADI_RENDER_TRACER_H

#include "core/status.h"
#include "render/image/look.h"
#include "render/points/foam_film.h"
#include "render/trace/camera.h"
#include "render/trace/film.h"
#include "render/trace/light.h"

enum { WADI_TRACE_OWNERS = 4 };

/* Arrays are borrowed until wadi_tracer_create returns, and have vertex_count elements; optional ones may be
 * NULL. Triangles without area or with a vertex that is not finite are invisible. */
typedef struct WadiTraceMesh {
    size_t vertex_count, triangle_count;
    const WadiVec3 *vertices; /* m */
    const uint32_t (*triangles)[3];
    const float (*normal)[3];   /* optional: smooth shading; need not be unit */
    const float (*velocity)[3]; /* optional: m/s, for motion blur */
    const float *wetness;       /* optional: 0..1, SAND */
    const float (*colour)[3];   /* optional: linear, replaces the look's colour */
    const float (*texture)[3];  /* optional: m, position in the look's texture */
    /* Optional, SAND with grains: particles that the grains belong to, x, y, z in m relative to the scene's
     * origin, their hashes, and for each vertex the nearest of them; UINT32_MAX: none. */
    const float (*anchor)[3];
    const uint32_t *anchor_hash;
    size_t anchor_count;
    const uint32_t (*owner)[WADI_TRACE_OWNERS];
    int look; /* index into the scene's looks */
} WadiTraceMesh;

/* Attributes of one sphere, in four bytes. */
typedef struct WadiTraceColour {
    uint8_t red, green, blue; /* sRGB */
    uint8_t wetness;          /* 255 is soaked */
} WadiTraceColour;

/* Many spheres of one look. Borrowed like a mesh's arrays. Spheres that are not finite or have no positive
 * radius are invisible. The tracer holds about 42 bytes per sphere including its tree, 17 more with
 * velocities, and 32 more during creation. */
typedef struct WadiTraceSpheres {
    size_t count;
    const float (*sphere)[4];      /* m: x, y, z relative to the scene's origin, and the radius */
    const WadiTraceColour *colour; /* optional */
    const float (*velocity)[3];    /* optional: m/s, for motion blur */
    bool is_angular;               /* stones within the spheres instead of the spheres */
    int look;
} WadiTraceSpheres;

typedef struct WadiTraceGround {
    bool is_present;
    double height; /* m: the infinite plane z = height */
    WadiLook look; /* PLAIN or SAND */
    float wetness; /* 0..1, SAND */
    bool has_pit;  /* the ground is lower in a rectangle; its sides are meshes of the scene */
    WadiBox pit;   /* m: the rectangle, and its floor at min.z */
} WadiTraceGround;

typedef struct WadiTraceScene {
    WadiVec3 origin; /* m: near the visible scene; rays are traced in float relative to it */
    const WadiLook *looks;
    int look_count;
    const WadiTraceMesh *meshes;
    int mesh_count;
    const WadiTraceSpheres *spheres;
    int spheres_count;         /* sets */
    const WadiFoamPatch *foam; /* on the water's meshes; borrowed like them */
    size_t foam_count;
    WadiTraceGround ground;
    double air; /* m: distance at which the ground fades to 1/e into the sky at the horizon; 0: 2500 */
    WadiLightDef light;
    /* m: water closer than this in front of an opaque surface touches it; 0: 3e-3 of the size; < 0: never */
    double contact;
    int photons; /* sunlight through water as about this many photons; 0: it passes in a straight line */
    double open, close; /* s, shutter relative to the frame's time; equal: no motion blur */
} WadiTraceScene;

typedef struct WadiTraceQuality {
    int samples;   /* paths per pixel, 1 .. 65536 */
    int depth;     /* surfaces per path, 1 .. 64; smooth water and glass count a quarter */
    double clamp;  /* upper bound of indirect and reflected light; 0: none (unbiased, noisier) */
    double noise;  /* relative error at which a pixel stops early; 0: never. About 0.01 */
    uint32_t seed; /* noise pattern; the frame's number, or 0 for the same noise in every frame */
    bool is_denoised;
    int photons; /* for WadiTraceScene.photons, which is set before the tracer is made */
} WadiTraceQuality;

/* Under 3 s, under 15 s and some minutes for 960 x 540 pixels on two cores with millions of grains. */
WadiTraceQuality wadi_trace_draft(void);
WadiTraceQuality wadi_trace_preview(void);
WadiTraceQuality wadi_trace_final(void);

typedef struct WadiTracer WadiTracer;

WadiStatus wadi_tracer_create(WadiTracer **tracer, const WadiTraceScene *scene, WadiError *error);
void wadi_tracer_destroy(WadiTracer *tracer);
/* Bytes held, Embree's trees included. */
size_t wadi_tracer_bytes(const WadiTracer *tracer);

/* Overwrites the film, which must be initialized. */
WadiStatus wadi_tracer_render(const WadiTracer *tracer, const WadiCamera *camera,
                              const WadiTraceQuality *quality, WadiFilm *film, WadiError *error);

#endif
