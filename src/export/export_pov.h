/* A frame as a scene of POV-Ray 3.7. Coordinates stay wadi's: the camera's vectors are written out, so that the picture is not
 * mirrored although POV-Ray counts its axes left-handed. */
#ifndef WADI_EXPORT_POV_H
#define WADI_EXPORT_POV_H

#include "export/export_scene.h"

/* NAME.inc: materials, light and ground, the same for all frames; `sky` is the name of the .hdr picture beside it. A macro for
 * sand, a declaration for each other look: the place to change how things look. frame->frame_scene is needed for the looks. */
WadiStatus wadi_export_pov_shared(const WadiExportFrame *frame, const char *path, const char *sky,
                                  WadiError *error);

/* One frame, which includes `shared`: camera, meshes as mesh2, and grains as one union of spheres for each colour and wetness,
 * the form that POV-Ray parses fastest and keeps smallest. `arena` for scratch. */
WadiStatus wadi_export_pov_frame(const WadiExportFrame *frame, const char *path, const char *shared,
                                 WadiArena *arena, WadiError *error);

#endif
