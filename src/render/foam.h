/* Foam, spray, bubbles and dust as balls of a picture. */
#ifndef WADI_RENDER_FOAM_H
#define WADI_RENDER_FOAM_H

#include "render/frame_scene.h"

/* Fills frame_scene->foam from def->secondary, as far as the scene wants it drawn. */
WadiStatus wadi_foam_add(WadiFrameScene *frame_scene, const WadiFrameSceneDef *def, WadiError *error);

#endif
