/* One surface of one frame: particles -> bins -> field -> mesh -> attributes -> files. */
#ifndef WADI_SURFACE_SURFACE_FRAME_H
#define WADI_SURFACE_SURFACE_FRAME_H

#include "core/timer.h"
#include "surface/mesh/surface_mesh.h"
#include "surface/write/mesh_file.h"
#include "wadi/surface.h"
#include "world/scene.h"

typedef struct WadiSurfaceFrameDef {
    WadiFieldDef field;
    int mesh_smoothing;   /* passes */
    double bumps;         /* spacings: shorter waves are removed from the mesh; 0: none */
    bool are_walls_open;  /* no triangles in the planes of field.clip */
    bool has_sharp_edges; /* along those planes; without it they are bevelled over a cell */
    bool has_no_voids;    /* bubbles are left out of the mesh */
    double memory;        /* bytes; 0: no limit */
} WadiSurfaceFrameDef;

/* From the scene's settings; no memory limit. */
WadiSurfaceFrameDef wadi_surface_frame_def(const WadiScene *scene);

typedef struct WadiSurfaceFrame {
    WadiSurfaceMesh surface; /* owned: wadi_surface_mesh_free */
    WadiField field;         /* in the arena */
} WadiSurfaceFrame;

/* After a failure the frame is empty. WADI_ERR_MEMORY when the estimate exceeds def->memory, before the field
 * is built; the message names a cell size that fits. */
WadiStatus wadi_surface_frame_build(WadiSurfaceFrame *frame, const WadiCloud *cloud,
                                    const WadiSurfaceFrameDef *def, WadiArena *arena, WadiStageTimes *times,
                                    WadiError *error);

/* Estimated bytes of field and mesh, from the surface area of the bins. */
double wadi_surface_frame_estimate(const WadiBins *bins, const WadiFieldDef *def);

/* Writes one file; `format` is one bit of WadiSurfaceFormat. */
WadiStatus wadi_surface_frame_write(const WadiSurfaceFrame *frame, const char *path, WadiSurfaceFormat format,
                                    const WadiMeshFileInfo *info, WadiError *error);
/* True when the file exists and was made from these particles with these settings. */
bool wadi_surface_frame_is_made(const char *path, WadiSurfaceFormat format, uint64_t key);

/* "ply" */
const char *wadi_surface_format_name(WadiSurfaceFormat format);
/* WADI_ERR_UNSUPPORTED names what must be installed. */
WadiStatus wadi_surface_format_check(WadiSurfaceFormat format, WadiError *error);

#endif
