/* Points sorted by hashed cells twice as wide as a radius: all points within the radius of a position lie in
 * at most eight buckets. The points themselves are the caller's array, which has the order of the buckets. */
#ifndef WADI_RENDER_POINT_BUCKETS_H
#define WADI_RENDER_POINT_BUCKETS_H

#include "core/status.h"
#include "render/image/vec3f.h"

enum { WADI_POINT_BUCKETS_NEAR = 8 };

/* A zeroed table is valid and has no points. */
typedef struct WadiPointBuckets {
    uint32_t *start; /* bucket b: start[b] .. start[b + 1]; owned */
    uint32_t count;  /* of buckets; a power of two */
    float radius;    /* m */
} WadiPointBuckets;

typedef struct WadiPointSpan {
    uint32_t first, end;
} WadiPointSpan;

/* A table for `points` points. Then wadi_point_buckets_add for each of them, wadi_point_buckets_sum once, and
 * wadi_point_buckets_place for each of them again, which returns the index that the point is stored at.
 * Points of a bucket keep the order in which they were placed. */
WadiStatus wadi_point_buckets_create(WadiPointBuckets *buckets, size_t points, float radius,
                                     WadiError *error);
void wadi_point_buckets_add(WadiPointBuckets *buckets, WadiVec3f position);
void wadi_point_buckets_sum(WadiPointBuckets *buckets);
uint32_t wadi_point_buckets_place(WadiPointBuckets *buckets, WadiVec3f position);
void wadi_point_buckets_free(WadiPointBuckets *buckets);

/* The number of spans, which contain all points within the radius of x and others, none twice. */
int wadi_point_buckets_near(const WadiPointBuckets *buckets, WadiVec3f x,
                            WadiPointSpan spans[WADI_POINT_BUCKETS_NEAR]);

#endif
