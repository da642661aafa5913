/* Particles as small shaded balls in orthographic view, coloured by speed: a quick preview of a frame. */
#ifndef WADI_RENDER_SPLAT_H
#define WADI_RENDER_SPLAT_H

#include "core/state.h"
#include "math/vec3.h"
#include "render/image/image.h"

/* An orthographic camera: `right` and `up` span the picture, `away` points from it into the scene. */
typedef struct WadiSplatView {
    WadiVec3 right, up, away;
    double low[2], high[2]; /* m, along right and up: the visible range */
    double near, far;       /* m, along away: shades depth */
    double speed;           /* m/s shown in the brightest colour */
    double streak;          /* s: draws a particle's path over the last `streak` seconds; 0: a ball */
} WadiSplatView;

/* View along +y, rotated by `azimuth` about z and down by `elevation`, degrees. The bounds are empty. */
WadiSplatView wadi_splat_view(double azimuth, double elevation);
/* Widens the bounds to the particles of a frame (position and radius). */
WadiStatus wadi_splat_include(WadiSplatView *view, const WadiState *state, WadiError *error);

/* Draws a frame (position, velocity, radius) into the part of the picture with this corner and size, with the
 * aspect ratio of the bounds. */
WadiStatus wadi_splat_draw(const WadiSplatView *view, const WadiState *state, WadiImage *image, int left,
                           int top, int width, int height, WadiError *error);

#endif
