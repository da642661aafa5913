/* Places where more material is than fits. */
#ifndef WADI_PARTICLES_CROWD_H
#define WADI_PARTICLES_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#include "math/vec3.h"

/* A box without room: more particles than at rest, and no air to swell into. */
typedef struct WadiCrowd {
    WadiBox box;
    double density; /* over that at rest: of the whole body where it is closed */
    bool is_closed; /* the body has no free surface: nothing fits in */
} WadiCrowd;

typedef struct WadiCrowds {
    WadiCrowd *crowd;
    int32_t count;
} WadiCrowds;

#endif
