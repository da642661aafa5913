/* Foam as patches on the water of a picture; spray, bubbles and dust as drops, bubbles and grains. */
#ifndef WADI_RENDER_FOAM_H
#define WADI_RENDER_FOAM_H

#include "render/frame_scene.h"

/* Fills frame_scene->foam and foam_patches from def->secondary, as far as the scene wants it drawn. */
WadiStatus wadi_foam_add(WadiFrameScene *frame_scene, const WadiFrameSceneDef *def, WadiError *error);

#endif
