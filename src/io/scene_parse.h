/* From the text of a scene file to a WadiScene, with every problem found at once. */
#ifndef WADI_IO_SCENE_PARSE_H
#define WADI_IO_SCENE_PARSE_H

#include "wadi/scene.h"
#include "world/scene.h"

WadiStatus wadi_scene_parse(WadiScene **scene, const WadiSceneDef *def, WadiError *error);

#endif
