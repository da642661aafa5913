/* Export of a run for other programs: whole scenes for POV-Ray, pbrt and Blender, and files of meshes and
 * particles. */
#ifndef WADI_EXPORT_H
#define WADI_EXPORT_H

#include <stdbool.h>

#include "wadi/progress.h"
#include "wadi/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum WadiExportTarget {
    WADI_EXPORT_POV,  /* NAME.0001.pov, rendered by povray without changes, and NAME.inc, NAME.sky.hdr */
    WADI_EXPORT_PBRT, /* NAME.0001.pbrt for pbrt-v4 with its meshes, and NAME.materials.pbrt, NAME.sky.pfm */
    WADI_EXPORT_BLENDER, /* load.py, a script for Blender 3.4 and later, and the files it reads */
    WADI_EXPORT_PLY,     /* meshes as wadi_surface makes them, and particles in MATERIAL.particles.0001.ply */
    WADI_EXPORT_OBJ,     /* meshes as wadi_surface makes them */
    WADI_EXPORT_VDB,     /* level sets as wadi_surface makes them */
    WADI_EXPORT_USD,     /* NAME.usda for programs that read USD, and the binary layers it names */
    WADI_EXPORT_TARGET_COUNT
} WadiExportTarget;

/* "pov"; static storage. */
WADI_API const char *wadi_export_target_name(WadiExportTarget target);

typedef struct WadiExportDef {
    int cookie; /* set by wadi_default_export_def */
    WadiExportTarget target;
    int first_frame, last_frame; /* 0: the run's first and last */
    const char *const
        *sets; /* "render.width=1280", "materials.sand.look.preset=desert", "surface.radius=1"; meshes
                                    alone (PLY, OBJ, VDB): surface settings only */
    int set_count;
    const char *folder; /* NULL: RUN/export/TARGET */
    bool is_one_file;   /* USD: one NAME.usdc for all frames instead of value clips, one file a frame */
    bool is_y_up;       /* convert (x, y, z) to (x, z, -y); not for VDB */
    bool is_forced;     /* make files again that exist with the same particles and settings */
    int threads;        /* 0: all cores. Files do not depend on it */
    WadiLog log;
    WadiProgressFunction progress; /* may be NULL */
    void *progress_user;
    WadiStop stop; /* finishes the current frame */
} WadiExportDef;

WADI_API WadiExportDef wadi_default_export_def(void);

typedef struct WadiExportReport {
    char folder[4096];
    int frames, kept;          /* finished frames, and those of them that existed already */
    int64_t grains, triangles; /* of the frames written */
    double seconds;
} WadiExportReport;

/* Finished files remain after any failure, and no file is ever incomplete. `report` may be NULL.
 * WADI_ERR_SCENE: a setting is wrong; WADI_ERR_NUMERIC: a frame has a value that is not finite. */
WADI_API WadiStatus wadi_export(const char *run, const WadiExportDef *def, WadiExportReport *report,
                                WadiError *error);

#ifdef __cplusplus
}
#endif
#endif
