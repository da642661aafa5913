/* Particles as small lit balls, seen from far away and coloured by speed: a quick look at a frame. */
#ifndef WADI_RENDER_SPLAT_H
#define WADI_RENDER_SPLAT_H

#include "core/state.h"
#include "math/vec3.h"
#include "render/image/image.h"

/* An orthographic camera: `right` and `up` span the picture, `away` points from it into the scene. */
typedef struct WadiSplatView {
    WadiVec3 right, up, away;
    double low[2], high[2]; /* m, along right and up: what the picture shows */
    double near, far;       /* m, along away: shades depth */
    double speed;           /* m/s that gets the brightest colour */
    double streak;          /* s: a particle is drawn along its way of the last `streak` seconds; 0: a ball */
} WadiSplatView;

/* Looks along +y turned by `azimuth` about z and down by `elevation`, degrees. The bounds are empty. */
WadiSplatView wadi_splat_view(double azimuth, double elevation);
/* Widen the bounds so that the particles of a frame are inside; `state` is a frame: position and radius. */
WadiStatus wadi_splat_include(WadiSplatView *view, const WadiState *state, WadiError *error);

/* Draw a frame (position, velocity, radius) into the part of the picture with this corner and size; the aspect of the
 * bounds is kept. */
WadiStatus wadi_splat_draw(const WadiSplatView *view, const WadiState *state, WadiImage *image, int left,
                           int top, int width, int height, WadiError *error);

#endif
