/* Sunlight that passes water, as photons where it arrives: bright lines on the floor of a pool. */
#ifndef WADI_RENDER_CAUSTICS_H
#define WADI_RENDER_CAUSTICS_H

#include "core/status.h"
#include "render/points/point_buckets.h"

struct WadiTracer;

typedef struct WadiPhoton {
    WadiVec3f position; /* m */
    WadiVec3f in;       /* unit, towards where it came from */
    WadiRgb flux;
} WadiPhoton;

/* Photons in the order of their buckets. Owned. A zeroed map is valid and empty. */
typedef struct WadiCaustics {
    WadiPhoton *photons;
    size_t count;
    WadiPointBuckets buckets;
    float radius; /* m, over which photons are averaged */
} WadiCaustics;

/* About `budget` photons over all water of a tracer whose trees are built; none without a sun or water. Their
 * order does not depend on threads. */
WadiStatus wadi_caustics_build(struct WadiTracer *tracer, int budget, WadiError *error);
void wadi_caustics_free(WadiCaustics *caustics);

/* Irradiance at a point with that normal, and the mean direction it comes from; 0: none. */
WadiRgb wadi_caustics_light(const WadiCaustics *caustics, WadiVec3f position, WadiVec3f normal,
                            WadiVec3f *in);

#endif
