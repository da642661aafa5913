/* Embree 3 or 4. CMake defines WADI_EMBREE_MAJOR, the version that the library is linked with. */
#ifndef WADI_EMBREE_H
#define WADI_EMBREE_H

#include <stddef.h>

#if WADI_EMBREE_MAJOR == 4
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif

/* Finds the nearest hit; without one, geomID stays as it is. */
static inline void wadi_embree_intersect(RTCScene scene, struct RTCRayHit *ray)
{
#if WADI_EMBREE_MAJOR == 4
    rtcIntersect1(scene, ray, NULL);
#else
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcIntersect1(scene, &context, ray);
#endif
}

/* Sets tfar to -INFINITY if there is any hit. */
static inline void wadi_embree_occluded(RTCScene scene, struct RTCRay *ray)
{
#if WADI_EMBREE_MAJOR == 4
    rtcOccluded1(scene, ray, NULL);
#else
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcOccluded1(scene, &context, ray);
#endif
}

#endif
