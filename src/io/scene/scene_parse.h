/* From the text of a scene file to a WadiScene, with every problem found at once. */
#ifndef WADI_IO_SCENE_PARSE_H
#define WADI_IO_SCENE_PARSE_H

#include "io/scene/scene_files.h"
#include "wadi/scene.h"
#include "world/scene.h"

WadiStatus wadi_scene_parse(WadiScene **scene, const WadiSceneDef *def, WadiError *error);
/* The scene and all it owns; NULL is fine. */
void wadi_scene_free(WadiScene *scene);
/* The scene of a finished run, for those who read its frames: meshes and pictures that it names may be gone by now and are not
 * looked for, so that `content_hash` is 0. */
WadiStatus wadi_scene_parse_record(WadiScene **scene, const WadiSceneDef *def, WadiError *error);
/* The files that the text names, with its tree; not looked for. `files` is empty but for yaml.root, which is -1; a failed call may
 * leave something in it to free. */
WadiStatus wadi_scene_parse_files(WadiSceneFiles *files, const WadiSceneDef *def, WadiError *error);

#endif
