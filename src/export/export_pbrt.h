/* A frame as a scene of pbrt-v4. */
#ifndef WADI_EXPORT_PBRT_H
#define WADI_EXPORT_PBRT_H

#include "export/export_scene.h"

/* NAME.materials.pbrt: named materials and the medium of each water, for users to edit. */
WadiStatus wadi_export_pbrt_shared(const WadiExportFrame *frame, const char *path, WadiError *error);

/* One frame, which includes `shared` and the sky picture `sky` of the same folder. Meshes are
 * NAME.MATERIAL.0001.ply and NAME.solid.INDEX.0001.ply in `folder`. `arena` for scratch. */
WadiStatus wadi_export_pbrt_frame(const WadiExportFrame *frame, const char *folder, const char *path,
                                  const char *shared, const char *sky, WadiArena *arena, WadiError *error);

#endif
