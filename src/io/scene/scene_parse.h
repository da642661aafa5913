/* Parses the text of a scene file into a WadiScene and reports all problems at once. */
#ifndef WADI_IO_SCENE_PARSE_H
#define WADI_IO_SCENE_PARSE_H

#include "io/scene/scene_files.h"
#include "wadi/scene.h"
#include "world/scene.h"

WadiStatus wadi_scene_parse(WadiScene **scene, const WadiSceneDef *def, WadiError *error);
/* Frees the scene and everything it owns; NULL is allowed. */
void wadi_scene_free(WadiScene *scene);
/* Parses the scene of a finished run, for code that reads its frames. Meshes and pictures may be missing and
 * are not opened, so `content_hash` is 0. */
WadiStatus wadi_scene_parse_record(WadiScene **scene, const WadiSceneDef *def, WadiError *error);
/* Lists the files that the text names, with its tree; they are not opened. `files` must be empty with
 * yaml.root = -1; free it after a failure, too. */
WadiStatus wadi_scene_parse_files(WadiSceneFiles *files, const WadiSceneDef *def, WadiError *error);

#endif
