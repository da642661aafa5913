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

/* What one frame of one material became. Pointers are valid during the call only. */
typedef struct WadiSurfaceProgress {
    int frame, frames_done, frame_count;
    const char *material;
    const char *path; /* of the file; NULL: it was there already */
    int64_t particles, triangles, vertices;
    double seconds;      /* wall-clock since the call began */
    double seconds_left; /* estimate; negative while unknown */
} WadiSurfaceProgress;

typedef struct WadiSurfaceDef {
    int cookie;                  /* set by wadi_default_surface_def */
    int first_frame, last_frame; /* 0: the run's first and last */
    const char *const
        *settings; /* "method=anisotropic": keys of the scene's `surface`, over what RUN/scene.yaml says */
    int setting_count;
    const char *material; /* this one only; NULL: each */
    double subframe;      /* of a frame, 0 to 1: positions are moved along their velocities that far */
    unsigned formats;     /* bits of WadiSurfaceFormat */
    const char *folder;   /* NULL: RUN/surface */
    bool is_forced;       /* redo files that are there and newer than their frame */
    int threads;          /* 0: all cores */
    WadiLog log;
    void (*progress)(void *user, const WadiSurfaceProgress *progress); /* may be NULL */
    void *progress_user;
    const volatile int *stop; /* when not NULL and not 0: finish the files begun, return WADI_ERR_STOPPED */
} WadiSurfaceDef;

WADI_API WadiSurfaceDef wadi_default_surface_def(void);

typedef struct WadiSurfaceReport {
    int frames, files, kept; /* frames looked at, files written, files that were there already */
    int64_t particles, triangles, vertices;
    double seconds;
    double field_seconds, mesh_seconds, read_seconds, write_seconds;
} WadiSurfaceReport;

/* `report` may be NULL. Every finished file stays whatever happens. */
WADI_API WadiStatus wadi_surface(const char *run, const WadiSurfaceDef *def, WadiSurfaceReport *report,
                                 WadiError *error);

#ifdef __cplusplus
}
#endif
#endif
