/* Caps: parabolic fits to the smooth parts of the surface, one per patch. Internal to the field. */
#ifndef WADI_SURFACE_FIELD_CAPS_H
#define WADI_SURFACE_FIELD_CAPS_H

#include "surface/field/field_patches.h"

/* Distance function x . normal - level + bend r^2, r the distance from the axis through `middle`. Lengths in
 * cells, relative to the centre of the patch's cube. */
typedef struct WadiCap {
    float normal[3], level, bend;
    float middle[3];
    float weight; /* 0: no cap */
} WadiCap;

/* Smooth step: 0 below range[0], 1 above range[1]. */
static inline float wadi_cap_ramp(float x, const float range[2])
{
    float s = (x - range[0]) / (range[1] - range[0]);
    s = s < 0.0f ? 0.0f : s > 1.0f ? 1.0f : s;
    return s * s * (3.0f - 2.0f * s);
}

/* Moves caps towards planes of wider parts of the surface where these are planes except for noise
 * [field_wide.c]. `deviation`, the standard deviation of the averages that the caps come from, and `spacing`
 * in cells. */
WadiStatus wadi_caps_widen(WadiCap *caps, const WadiPatches *patches, double deviation, double spacing,
                           WadiArena *arena, WadiError *error);

#endif
