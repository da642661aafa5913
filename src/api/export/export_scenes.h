/* Shared by the targets of scenes. */
#ifndef WADI_API_EXPORT_SCENES_H
#define WADI_API_EXPORT_SCENES_H

#include "api/export/export_job.h"

typedef struct WadiSceneExporter {
    WadiExportJob *job;
    WadiRenderDef render;
    WadiRenderPlan plan;
    WadiPictureMaker maker; /* used for its frame and frame scene */
    WadiLightDef light;
    uint64_t settings; /* hash of what all frames share */
    uint64_t shared_key;
    bool has_shared;      /* written by this call, or verified to exist */
    WadiFileNames shared; /* the same for files of solids that stand still */
} WadiSceneExporter;

/* Reads a frame, and writes the shared files where that is not done. `frame` has no key and no list of
 * files. */
WadiStatus wadi_scene_exporter_read(WadiSceneExporter *e, WadiFrameHeader *header, WadiExportFrame *frame,
                                    WadiError *error);
WadiStatus wadi_scene_exporter_key(const WadiSceneExporter *e, const WadiFrameLayout *layout, uint64_t *key,
                                   WadiError *error);
/* Whether the file and all files made with it exist and are complete. */
bool wadi_scene_exporter_has(const WadiSceneExporter *e, const char *path, uint64_t key, bool is_editable);
void wadi_scene_exporter_count(const WadiFrameScene *frame_scene, int64_t *grains, int64_t *triangles);

/* USD. The shared files are NAME.usda and the layers that it names but those of frames. */
void wadi_usd_target_shared_name(const char *name, char *file);
WadiStatus wadi_usd_target_write_shared(const WadiSceneExporter *e, const WadiExportFrame *frame,
                                        const char *path, WadiError *error);
WadiStatus wadi_usd_target_write_frame(WadiSceneExporter *e, const WadiExportFrame *frame, const char *path,
                                       WadiError *error);
/* Of the shared files: e->settings and what else they have. */
uint64_t wadi_usd_target_key(const WadiSceneExporter *e);
/* NAME.usdc with all frames, instead of one for each. */
WadiStatus wadi_usd_target_write_one_file(WadiSceneExporter *e, WadiError *error);

#endif
