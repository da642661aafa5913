/* A frame as a scene of POV-Ray 3.7. Coordinates stay wadi's: the camera's vectors are written explicitly, so
 * that the picture is not mirrored although POV-Ray is left-handed. */
#ifndef WADI_EXPORT_POV_H
#define WADI_EXPORT_POV_H

#include "export/export_scene.h"

/* NAME.inc: materials, light and ground, common to all frames, for users to edit: a macro for sand, a
 * declaration for each other look. `sky` is the .hdr picture in the same folder. Needs frame->frame_scene for
 * the looks. */
WadiStatus wadi_export_pov_shared(const WadiExportFrame *frame, const char *path, const char *sky,
                                  WadiError *error);

/* One frame in `folder`, which includes `shared` and the solids that stand still: camera, meshes as mesh2,
 * and grains as one union of spheres per colour and wetness, the form that POV-Ray parses fastest and with
 * the least memory. `arena` for scratch. */
WadiStatus wadi_export_pov_frame(const WadiExportFrame *frame, const char *folder, const char *path,
                                 const char *shared, WadiArena *arena, WadiError *error);

#endif
