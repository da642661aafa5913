/* Attributes of particles as colours, with a legend that tells which colour is which number. */
#ifndef WADI_RENDER_FALSE_COLOUR_H
#define WADI_RENDER_FALSE_COLOUR_H

#include "core/state.h"
#include "render/frame_scene.h"
#include "render/image/colour_map.h"
#include "render/image/image.h"

enum { WADI_FALSE_COLOUR_KINDS = 16 }; /* lines of a legend of kinds */

/* What is shown and how. Made by wadi_false_colour_open; the range is then empty until frames are shown to it or it is set. */
typedef struct WadiFalseColour {
    char attribute[WADI_STATE_NAME_SIZE]; /* "speed", "pressure", "velocity.x", … */
    char unit[16];
    WadiColourMap map;
    double low, high;
    bool is_kind;                              /* whole numbers that are names: material, rigid */
    const char *kind[WADI_FALSE_COLOUR_KINDS]; /* their names, borrowed; NULL: the number */
} WadiFalseColour;

/* `frame` is any frame of the run: WADI_ERR_ARGUMENT when it has no such attribute, listing those it has. `map` NULL: the one
 * that fits. `speed` is the length of `velocity`; of a vector, `.x`, `.y`, `.z` are its components and its name its length. */
WadiStatus wadi_false_colour_open(WadiFalseColour *colour, const char *attribute, const char *map,
                                  const WadiState *frame, const WadiScene *scene, WadiError *error);

/* Widen the range so that it holds the frame's values, but for the outermost two thousandths at either end, which would take
 * the colours from all others. */
WadiStatus wadi_false_colour_include(WadiFalseColour *colour, const WadiState *frame, WadiError *error);
/* After all frames were included: round ends, and a range where all values are the same. */
void wadi_false_colour_finish(WadiFalseColour *colour);

/* For WadiFrameSceneDef.colours; `colour` must outlive the frame scene. */
WadiFrameSceneColours wadi_false_colour_frame_scene(WadiFalseColour *colour);

/* A scale in the right part of the picture with numbers and the attribute's name. */
void wadi_false_colour_legend(const WadiFalseColour *colour, WadiImage *image);

/* Numbers with one, two or five in front between low and high, about `wanted` of them, in rising order; returns how many. */
int wadi_scale_ticks(double low, double high, int wanted, double *tick, int tick_max);

#endif
