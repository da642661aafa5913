/* Shared by the parts of wadi_export. */
#ifndef WADI_API_EXPORT_JOB_H
#define WADI_API_EXPORT_JOB_H

#include "api/render/render_picture.h"
#include "export/export_scene.h"
#include "wadi/export.h"

typedef struct WadiExportJob {
    const WadiExportDef *def; /* borrowed */
    WadiExportReport *report; /* borrowed */
    const char *folder;       /* points into the report */
    double start;             /* s */
    WadiOutputIndex outputs;  /* of the folder, while files are written */
} WadiExportJob;

bool wadi_export_is_stopped(const WadiExportJob *job);
/* Adds the frame, the index-th of `count`, to the report and calls the progress function. */
void wadi_export_report_frame(WadiExportJob *job, int frame, int index, int count, const char *path,
                              bool is_kept, int64_t grains, int64_t triangles);

/* POV, PBRT, BLENDER: scenes with camera, light and looks. */
WadiStatus wadi_export_scenes(WadiExportJob *job, const char *run, WadiError *error);
/* PLY, OBJ, VDB. */
WadiStatus wadi_export_meshes(WadiExportJob *job, const char *run, WadiError *error);

#endif
