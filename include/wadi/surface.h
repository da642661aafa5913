/* Surfaces: every frame's particles become a triangle mesh per material. Reads a run folder, never a solver; frames are
 * independent of each other, so that several processes or machines may share a run. */
#ifndef WADI_SURFACE_H
#define WADI_SURFACE_H

#include <stdbool.h>

#include "wadi/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum WadiSurfaceFormat {
    WADI_SURFACE_PLY = 1,
    WADI_SURFACE_OBJ = 2,
    WADI_SURFACE_VDB = 4, /* the field as a level set; only where wadi was built with OpenVDB */
} WadiSurfaceFormat;

/* A file that is there now. Pointers are valid during the call only. */
typedef struct WadiSurfaceProgress {
    int frame, frames_done,
        frame_count; /* frames_done: those of which all files are told, this one included */
    const char *material;
    const char *path; /* of the file */
    bool is_kept;     /* it was there already; the counts are then 0 */
    int64_t particles, triangles, vertices;
    double seconds;      /* wall-clock since the call began */
    double seconds_left; /* estimate; negative while unknown */
} WadiSurfaceProgress;

typedef struct WadiSurfaceDef {
    int cookie;                  /* set by wadi_default_surface_def */
    int first_frame, last_frame; /* 0: the run's first and last */
    const char *const *sets;     /* "surface.method=anisotropic", over what RUN/scene.yaml says */
    int set_count;
    const char *material; /* this one only; NULL: each */
    double
        subframe; /* of a frame, 0 to 1, to three decimals: positions are moved along their velocities so far */
    unsigned formats;   /* bits of WadiSurfaceFormat */
    const char *folder; /* NULL: RUN/surface */
    bool is_y_up;       /* turn (x, y, z) into (x, z, -y); not for VDB */
    bool is_forced;     /* redo files that were made of the same particles with the same settings */
    int threads;        /* 0: all cores */
    void (*progress)(
        void *user, const WadiSurfaceProgress *progress); /* may be NULL; from the calling thread, in order */
    void *progress_user;
    const volatile int *stop; /* when not NULL and not 0: finish the files begun, return WADI_ERR_STOPPED */
} WadiSurfaceDef;

WADI_API WadiSurfaceDef wadi_default_surface_def(void);

typedef struct WadiSurfaceReport {
    char folder[4096];       /* where the files are */
    int frames, files, kept; /* frames finished, files written, files that were there already */
    int64_t particles, triangles, vertices;                          /* of the meshes made, over all frames */
    double seconds;                                                  /* wall-clock */
    double read_seconds, field_seconds, mesh_seconds, write_seconds; /* summed over frames made at once */
} WadiSurfaceReport;

/* Files FOLDER/MATERIAL.0001.ply; with a subframe MATERIAL.s500.0001.ply, in thousandths of a frame. Every finished file stays
 * whatever happens, and the report, which may be NULL, is filled as far as it is known. WADI_ERR_SCENE: a setting is wrong. */
WADI_API WadiStatus wadi_surface(const char *run, const WadiSurfaceDef *def, WadiSurfaceReport *report,
                                 WadiError *error);

#ifdef __cplusplus
}
#endif
#endif
