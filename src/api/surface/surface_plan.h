/* Plan of a wadi_surface call: frames, materials, settings and output files. */
#ifndef WADI_API_SURFACE_PLAN_H
#define WADI_API_SURFACE_PLAN_H

#include "api/run_view.h"
#include "surface/surface_frame.h"

/* One surface per frame. */
typedef struct WadiSurfacePart {
    const char *name; /* borrowed from the scene */
    int material;     /* index; -1: all */
} WadiSurfacePart;

/* Immutable once open, so that threads may share it. */
typedef struct WadiSurfacePlan {
    WadiRunView view;
    char folder[4096];
    double subframe;
    bool is_y_up;
    unsigned formats;
    WadiSurfaceFrameDef frame;
    int part_count;
    WadiSurfacePart part[WADI_RUN_MATERIAL_MAX];
    uint64_t settings_hash;
} WadiSurfacePlan;

/* Nothing is written. After a failure there is nothing to close. */
WadiStatus wadi_surface_plan_open(WadiSurfacePlan *plan, const char *run, const WadiSurfaceDef *def,
                                  WadiError *error);
void wadi_surface_plan_close(WadiSurfacePlan *plan);

void wadi_surface_plan_path(const WadiSurfacePlan *plan, int part, int frame, WadiSurfaceFormat format,
                            char *path, size_t size);
/* Equal keys mean equal files: made from the settings, the part and the checksums of the frame's arrays. */
uint64_t wadi_surface_plan_key(const WadiSurfacePlan *plan, int part, const WadiFrameLayout *frame);

#endif
