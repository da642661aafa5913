/* Caps: what the surface around each patch is like, as far as it is a plane but for its bumps. Internal to the field. */
#ifndef WADI_SURFACE_FIELD_CAPS_H
#define WADI_SURFACE_FIELD_CAPS_H

#include "surface/field/field_patches.h"

/* x . normal - level + bend r^2 is the distance from it, r that from its axis through `middle`. Cells, from the middle of the cube
 * of its patch. */
typedef struct WadiCap {
    float normal[3], level, bend;
    float middle[3];
    float weight; /* 0: there is none */
} WadiCap;

/* 0 below range[0], 1 above range[1]. */
static inline float wadi_cap_ramp(float x, const float range[2])
{
    float s = (x - range[0]) / (range[1] - range[0]);
    s = s < 0.0f ? 0.0f : s > 1.0f ? 1.0f : s;
    return s * s * (3.0f - 2.0f * s);
}

/* Move caps, one a patch, towards planes of wider parts of the surface where it is one but for what is too low to be a wave
 * [field_wide.c]. `reach` of the averages that they come from and `spacing` in cells. */
WadiStatus wadi_caps_widen(WadiCap *caps, const WadiPatches *patches, double reach, double spacing,
                           WadiArena *arena, WadiError *error);

#endif
