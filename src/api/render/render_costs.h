/* What makes the pictures of a scene slow. */
#ifndef WADI_API_RENDER_COSTS_H
#define WADI_API_RENDER_COSTS_H

#include "render/frame_scene.h"

/* Of caustics, water, glass, depth of field and motion blur those that the pictures have, separated by commas; empty:
 * none. */
enum { WADI_RENDER_COSTS_SIZE = 80 };
void wadi_render_costs(const WadiScene *scene, const WadiTraceQuality *quality,
                       char text[WADI_RENDER_COSTS_SIZE]);

#endif
