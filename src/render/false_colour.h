/* Particle attributes as colours, with a legend. */
#ifndef WADI_RENDER_FALSE_COLOUR_H
#define WADI_RENDER_FALSE_COLOUR_H

#include "core/state.h"
#include "render/frame_scene.h"
#include "render/image/colour_map.h"
#include "render/image/image.h"

enum { WADI_FALSE_COLOUR_KINDS = 16 }; /* lines in a legend of kinds */

/* Made by wadi_false_colour_open. The range is empty until frames are included or it is set. */
typedef struct WadiFalseColour {
    char attribute[WADI_STATE_NAME_SIZE]; /* "speed", "pressure", "velocity.x", … */
    char unit[16];
    WadiColourMap map;
    double low, high;
    bool is_kind;                              /* integers that stand for names: material, rigid */
    const char *kind[WADI_FALSE_COLOUR_KINDS]; /* their names, borrowed; NULL: the number */
} WadiFalseColour;

/* `frame` is any frame of the run: WADI_ERR_ARGUMENT lists its attributes when it has none of that name.
 * `map` NULL: the attribute's default map. `speed` is the length of `velocity`; for a vector, `.x`, `.y`,
 * `.z` select a component and the bare name its length. */
WadiStatus wadi_false_colour_open(WadiFalseColour *colour, const char *attribute, const char *map,
                                  const WadiState *frame, const WadiScene *scene, WadiError *error);

/* Widens the range to the frame's values, except for 0.2 % at either end: outliers would compress the colours
 * of all others. */
WadiStatus wadi_false_colour_include(WadiFalseColour *colour, const WadiState *frame, WadiError *error);
/* Call after all frames are included: rounds the ends, and widens a range of equal values. */
void wadi_false_colour_finish(WadiFalseColour *colour);

/* For WadiFrameSceneDef.colours; `colour` must outlive the frame scene. */
WadiFrameSceneColours wadi_false_colour_frame_scene(WadiFalseColour *colour);

/* Draws a scale with numbers and the attribute's name at the right side of the picture. */
void wadi_false_colour_legend(const WadiFalseColour *colour, WadiImage *image);

/* About `wanted` numbers 1, 2 or 5 times a power of ten between low and high, in rising order; returns the
 * count. */
int wadi_scale_ticks(double low, double high, int wanted, double *tick, int tick_max);

#endif
