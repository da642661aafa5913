#include "render/points/point_buckets.h"

#include <math.h>

#include "core/alloc.h"
#include "core/hash.h"

enum { BUCKETS_LEAST = 1024, POINTS_PER_BUCKET = 4 };

static int32_t cell_of(const WadiPointBuckets *buckets, float x)
{
    return (int32_t)floorf(x / (2.0f * buckets->radius));
}

static uint32_t bucket_of(const WadiPointBuckets *buckets, int32_t i, int32_t j, int32_t k)
{
    uint64_t hash = wadi_hash_combine(wadi_hash_combine((uint64_t)(uint32_t)i, (uint64_t)(uint32_t)j),
                                      (uint64_t)(uint32_t)k);
    return (uint32_t)hash & (buckets->count - 1);
}

static uint32_t bucket_at(const WadiPointBuckets *buckets, WadiVec3f x)
{
    return bucket_of(buckets, cell_of(buckets, x.x), cell_of(buckets, x.y), cell_of(buckets, x.z));
}

/* Two more than buckets: while points are placed, start[b + 1] is where the next one of bucket b goes. */
static size_t start_size(const WadiPointBuckets *buckets)
{
    return (size_t)buckets->count + 2;
}

WadiStatus wadi_point_buckets_create(WadiPointBuckets *buckets, size_t points, float radius, WadiError *error)
{
    *buckets = (WadiPointBuckets){ .count = BUCKETS_LEAST, .radius = radius };
    while (buckets->count < points / POINTS_PER_BUCKET && buckets->count < 1u << 30) {
        buckets->count *= 2;
    }
    return WADI_NEW(&buckets->start, start_size(buckets), "points of a picture", error);
}

void wadi_point_buckets_add(WadiPointBuckets *buckets, WadiVec3f position)
{
    buckets->start[bucket_at(buckets, position) + 2] += 1;
}

void wadi_point_buckets_sum(WadiPointBuckets *buckets)
{
    for (size_t b = 2; b < start_size(buckets); ++b) {
        buckets->start[b] += buckets->start[b - 1];
    }
}

uint32_t wadi_point_buckets_place(WadiPointBuckets *buckets, WadiVec3f position)
{
    return buckets->start[bucket_at(buckets, position) + 1]++;
}

void wadi_point_buckets_free(WadiPointBuckets *buckets)
{
    WADI_DELETE(buckets->start, buckets->start != NULL ? start_size(buckets) : 0);
    *buckets = (WadiPointBuckets){ 0 };
}

int wadi_point_buckets_near(const WadiPointBuckets *buckets, WadiVec3f x,
                            WadiPointSpan spans[WADI_POINT_BUCKETS_NEAR])
{
    if (buckets->start == NULL) {
        return 0;
    }
    const float r = buckets->radius;
    const int32_t low[3] = { cell_of(buckets, x.x - r), cell_of(buckets, x.y - r),
                             cell_of(buckets, x.z - r) },
                  high[3] = { cell_of(buckets, x.x + r), cell_of(buckets, x.y + r),
                              cell_of(buckets, x.z + r) };
    uint32_t visited[WADI_POINT_BUCKETS_NEAR];
    int count = 0;
    for (int n = 0; n < WADI_POINT_BUCKETS_NEAR; ++n) {
        const uint32_t b =
            bucket_of(buckets, n & 1 ? high[0] : low[0], n & 2 ? high[1] : low[1], n & 4 ? high[2] : low[2]);
        bool is_new = true;
        for (int v = 0; v < count; ++v) {
            is_new = is_new && visited[v] != b;
        }
        if (is_new) {
            spans[count] = (WadiPointSpan){ buckets->start[b], buckets->start[b + 1] };
            visited[count++] = b;
        }
    }
    return count;
}
