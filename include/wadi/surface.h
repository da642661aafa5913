/* Surfaces: the particles of a frame as one triangle mesh per material. From a run folder to files, where
 * frames are independent, so that several processes or machines may share a run; or in memory, from a
 * simulation or from the caller's particles. */
#ifndef WADI_SURFACE_H
#define WADI_SURFACE_H

#include <stdbool.h>

#include "wadi/progress.h"
#include "wadi/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum WadiSurfaceFormat {
    WADI_SURFACE_PLY = 1,
    WADI_SURFACE_OBJ = 2,
    WADI_SURFACE_VDB = 4, /* the field as a level set; only if wadi was built with OpenVDB */
} WadiSurfaceFormat;

typedef struct WadiSurfaceDef {
    int cookie;                  /* set by wadi_default_surface_def */
    int first_frame, last_frame; /* 0: the run's first and last */
    const char *const *sets;     /* "surface.method=anisotropic", override RUN/scene.yaml */
    int set_count;
    const char *material; /* only this one; NULL: each */
    /* Fraction of a frame, 0 to 1, three decimals: positions are advanced along their velocities by it. */
    double subframe;
    unsigned formats;   /* bits of WadiSurfaceFormat */
    const char *folder; /* NULL: RUN/surface */
    bool is_y_up;       /* convert (x, y, z) to (x, z, -y); not for VDB */
    bool is_forced;     /* make files again that exist with the same particles and settings */
    int threads;        /* 0: all cores */
    /* Experimental. As in WadiRenderDef: each frame is made by one of any number of processes. */
    bool is_shared, is_waiting;
    double stale;                  /* s; 120 */
    WadiProgressFunction progress; /* may be NULL */
    void *progress_user;
    WadiStop stop; /* finishes the current files */
    WadiLog log;   /* warnings: a changed file in RUN/assets */
} WadiSurfaceDef;

WADI_API WadiSurfaceDef wadi_default_surface_def(void);

typedef struct WadiSurfaceReport {
    char folder[4096];                      /* where the files are */
    int frames, files, kept;                /* frames finished, files written, existing files kept */
    int64_t particles, triangles, vertices; /* of the meshes made, over all frames */
    double seconds;                         /* wall-clock */
    double read_seconds, field_seconds, mesh_seconds,
        write_seconds; /* summed over frames processed in parallel */
} WadiSurfaceReport;

/* Files FOLDER/MATERIAL.0001.ply; with a subframe MATERIAL.s500.0001.ply, in thousandths of a frame. Finished
 * files remain after any failure; the report, which may be NULL, is filled as far as known, also
 * after a failure. WADI_ERR_SCENE: a setting is wrong. WADI_ERR_BUSY: see wadi_render. */
WADI_API WadiStatus wadi_surface(const char *run, const WadiSurfaceDef *def, WadiSurfaceReport *report,
                                 WadiError *error);

enum { WADI_MESH_ATTRIBUTE_MAX = 16 };

/* An attribute of vertices or particles: `components` (1 or 3) floats each. */
typedef struct WadiMeshAttribute {
    const char *name; /* "velocity", "wetness", …; at most 47 bytes */
    int components;
    const float *values;
} WadiMeshAttribute;

/* A triangle mesh in memory. It is closed, unless the scene's surface.walls is open, which omits the part at
 * the domain's walls. A zeroed mesh is empty. Release it with wadi_mesh_release. */
typedef struct WadiMeshData {
    size_t vertex_count, triangle_count;
    const double *position;   /* three per vertex, m */
    const float *normal;      /* three per vertex: unit, outward */
    const uint32_t *triangle; /* three vertices per triangle, counterclockwise seen from outside */
    int attribute_count;
    /* Of the vertices, interpolated from the particles. */
    WadiMeshAttribute attribute[WADI_MESH_ATTRIBUTE_MAX];
    void *memory; /* used by the library */
} WadiMeshData;

typedef struct WadiMeshDef {
    int cookie;           /* set by wadi_default_mesh_def */
    const char *material; /* only its particles; NULL: those of all materials in one surface */
    double advance;       /* s: positions are first advanced along their velocities by this time */
    bool is_y_up;         /* convert (x, y, z) to (x, z, -y) */
    int threads;          /* 0: all cores. The mesh does not depend on it */
    WadiTasks tasks;      /* as in WadiSimDef */
    WadiStop stop;
} WadiMeshDef;

WADI_API WadiMeshDef wadi_default_mesh_def(void);

/* The surface of the simulation's present state, with the surface settings of its scene: what wadi_surface
 * writes for that frame. *mesh is empty after a failure. */
WADI_API WadiStatus wadi_sim_surface(const WadiSim *sim, const WadiMeshDef *def, WadiMeshData *mesh,
                                     WadiError *error);

/* The caller's particles, copied during the call. */
typedef struct WadiParticleData {
    int cookie; /* set by wadi_default_particle_data */
    size_t count;
    const double *position;  /* three per particle, m, at most 1e12 */
    const float *velocity;   /* three per particle, m/s; NULL: 0 */
    const float *radius;     /* m: half the edge of the cube that a particle fills; NULL: half of `spacing` */
    double spacing;          /* m, without radii: the edge of that cube, the same for all */
    const uint8_t *material; /* index into the scene's materials; NULL: the first */
    int attribute_count;
    /* Further attributes to interpolate to the vertices. */
    WadiMeshAttribute attribute[WADI_MESH_ATTRIBUTE_MAX];
} WadiParticleData;

WADI_API WadiParticleData wadi_default_particle_data(void);

/* The same for any particles: the scene gives the surface settings, the domain and the materials' names.
 * `velocity` and `radius` are among the attributes of the vertices; of the caller's, those that fit in
 * WADI_MESH_ATTRIBUTE_MAX. WADI_ERR_NUMERIC names the first particle with a value that is not finite. */
WADI_API WadiStatus wadi_particles_surface(const WadiScene *scene, const WadiParticleData *particles,
                                           const WadiMeshDef *def, WadiMeshData *mesh, WadiError *error);

/* Frees the arrays and zeroes the struct. NULL and an empty mesh are allowed. */
WADI_API void wadi_mesh_release(WadiMeshData *mesh);

#ifdef __cplusplus
}
#endif
#endif
