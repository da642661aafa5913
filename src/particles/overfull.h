/* Regions that are overfull: more material than fits. [theory 7.3] */
#ifndef WADI_PARTICLES_OVERFULL_H
#define WADI_PARTICLES_OVERFULL_H

#include <stdbool.h>
#include <stdint.h>

#include "math/vec3.h"

/* A box with more particles than at rest, and no air to expand into. */
typedef struct WadiOverfullRegion {
    WadiBox box;
    double density; /* relative to that at rest; of the whole body if it is closed */
    bool is_closed; /* the body has no free surface: nothing can be added */
} WadiOverfullRegion;

typedef struct WadiOverfullList {
    WadiOverfullRegion *region;
    int32_t count;
} WadiOverfullList;

#endif
