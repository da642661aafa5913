/* Spheres are radix-sorted by the Morton code of their centre, 21 bits per axis; then ranges are split at the
 * highest differing bit until at most eight spheres are left. So a cluster never spans a large step of the
 * curve: with a cut at every eighth sphere, a ray hits four times as many clusters. */
#include "render/trace/sphere_clusters.h"

#include <string.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "core/parallel.h"

enum { DIGIT_BITS = 11, DIGITS = 6, SPHERE_BLOCK = 1 << 16, CLUSTER_BLOCK = 1 << 13, STACK = 2 * 64 };

typedef struct Item {
    uint64_t key;
    uint32_t index;
    uint32_t pad;
} Item;

typedef struct Sort {
    const WadiTraceSpheres *spheres;
    Item *items, *other;
    size_t count, capacity;
    double low[3], scale;
} Sort;

static bool is_valid(const float s[4])
{
    return isfinite(s[0]) && isfinite(s[1]) && isfinite(s[2]) && s[3] > 0.0f && isfinite(s[3]);
}

/* Inserts two zeros between any two bits. */
static uint64_t spread(uint64_t x)
{
    x = (x | x << 32) & UINT64_C(0x001f00000000ffff);
    x = (x | x << 16) & UINT64_C(0x001f0000ff0000ff);
    x = (x | x << 8) & UINT64_C(0x100f00f00f00f00f);
    x = (x | x << 4) & UINT64_C(0x10c30c30c30c30c3);
    return (x | x << 2) & UINT64_C(0x1249249249249249);
}

static void make_keys(void *context, int64_t first, int64_t end)
{
    Sort *sort = context;
    for (int64_t i = first; i < end; ++i) {
        const float *s = sort->spheres->sphere[sort->items[i].index];
        uint64_t key = 0;
        for (int axis = 0; axis < 3; ++axis) {
            double at = ((double)s[axis] - sort->low[axis]) * sort->scale;
            key |= spread((uint64_t)fmin(fmax(at, 0.0), 2097151.0)) << axis;
        }
        sort->items[i].key = key;
    }
}

static void radix_sort(Sort *sort)
{
    for (int digit = 0; digit < DIGITS; ++digit) {
        size_t start[(1 << DIGIT_BITS) + 1] = { 0 };
        int shift = digit * DIGIT_BITS;
        const uint64_t mask = (1 << DIGIT_BITS) - 1;
        for (size_t i = 0; i < sort->count; ++i) {
            ++start[(sort->items[i].key >> shift & mask) + 1];
        }
        for (int d = 0; d < 1 << DIGIT_BITS; ++d) {
            start[d + 1] += start[d];
        }
        for (size_t i = 0; i < sort->count; ++i) {
            sort->other[start[sort->items[i].key >> shift & mask]++] = sort->items[i];
        }
        Item *swap = sort->items;
        sort->items = sort->other;
        sort->other = swap;
    }
}

static WadiStatus begin(Sort *sort, WadiClusters *clusters, WadiError *error)
{
    const WadiTraceSpheres *in = sort->spheres;
    sort->capacity = in->count;
    if (in->count > (size_t)UINT32_MAX / WADI_CLUSTER) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "a picture of %zu spheres: at most %u in one set",
                         in->count, UINT32_MAX / WADI_CLUSTER);
    }
    WADI_TRY(WADI_NEW(&sort->items, in->count, "order of spheres", error));
    WADI_TRY(WADI_NEW(&sort->other, in->count, "order of spheres", error));
    float low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY },
          radius = 0.0f;
    for (size_t i = 0; i < in->count; ++i) {
        const float *s = in->sphere[i];
        if (is_valid(s)) {
            for (int axis = 0; axis < 3; ++axis) {
                low[axis] = wadi_minf(s[axis], low[axis]);
                high[axis] = wadi_maxf(s[axis], high[axis]);
            }
            radius = wadi_maxf(s[3], radius);
            sort->items[sort->count++].index = (uint32_t)i;
        }
    }
    if (sort->count == 0) {
        return WADI_OK;
    }
    double longest = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        sort->low[axis] = (double)low[axis];
        longest = fmax(longest, (double)high[axis] - (double)low[axis]);
    }
    sort->scale = longest > 0.0 ? 2097151.0 / longest : 0.0;
    WadiBox centers = { { (double)low[0], (double)low[1], (double)low[2] },
                        { (double)high[0], (double)high[1], (double)high[2] } };
    clusters->bounds = wadi_box_grown(centers, (double)radius);
    wadi_parallel_for((int64_t)sort->count, SPHERE_BLOCK, make_keys, sort);
    radix_sort(sort);
    return WADI_OK;
}

typedef struct Range {
    size_t first, end;
} Range;

/* The first item whose key differs from the range's first in the highest differing bit. */
static size_t middle(const Item *items, Range range)
{
    uint64_t differ = items[range.first].key ^ items[range.end - 1].key;
    if (differ == 0) {
        return range.first + (range.end - range.first) / 2;
    }
    int bit = 63 - __builtin_clzll(differ);
    size_t low = range.first, high = range.end - 1;
    while (low < high) {
        size_t m = low + (high - low) / 2;
        if (items[m].key >> bit & 1) {
            high = m;
        } else {
            low = m + 1;
        }
    }
    return low;
}

static void fill_cluster(WadiClusters *out, size_t c, const Sort *sort, Range range)
{
    const WadiTraceSpheres *in = sort->spheres;
    for (size_t k = 0; k < WADI_CLUSTER; ++k) {
        bool is_used = range.first + k < range.end;
        size_t i = sort->items[is_used ? range.first + k : range.first].index;
        out->cluster[c].x[k] = in->sphere[i][0];
        out->cluster[c].y[k] = in->sphere[i][1];
        out->cluster[c].z[k] = in->sphere[i][2];
        out->cluster[c].radius[k] = is_used ? in->sphere[i][3] : -1.0f;
        if (out->colour != NULL) {
            out->colour[c][k] = in->colour[i];
        }
        if (out->velocity != NULL) {
            WadiVec3f v = { in->velocity[i][0], in->velocity[i][1], in->velocity[i][2] };
            v = wadi_is_finitef(v) ? v : wadi_vec3f(0, 0, 0);
            out->velocity[c].x[k] = v.x;
            out->velocity[c].y[k] = v.y;
            out->velocity[c].z[k] = v.z;
        }
    }
}

typedef struct Fill {
    WadiClusters *out;
    const Sort *sort;
    const uint32_t *start; /* first item of each cluster */
} Fill;

static void fill_block(void *context, int64_t first, int64_t end)
{
    const Fill *fill = context;
    for (int64_t c = first; c < end; ++c) {
        bool is_last = (size_t)c + 1 == fill->out->count;
        Range range = { fill->start[c], is_last ? fill->sort->count : fill->start[c + 1] };
        fill_cluster(fill->out, (size_t)c, fill->sort, range);
    }
}

/* Writes the first item of each cluster; returns the count. Every split uses up a bit of the key or, among
 * equal keys, half of the range, so that the stack is bounded by the bits of key and count. */
static size_t cut(const Sort *sort, uint32_t *start)
{
    Range stack[STACK];
    int depth = 0;
    size_t count = 0;
    if (sort->count > 0) {
        stack[depth++] = (Range){ 0, sort->count };
    }
    while (depth > 0) {
        Range range = stack[--depth];
        if (range.end - range.first > WADI_CLUSTER) {
            size_t m = middle(sort->items, range);
            stack[depth++] = (Range){ m, range.end };
            stack[depth++] = (Range){ range.first, m };
        } else {
            start[count++] = (uint32_t)range.first;
        }
    }
    return count;
}

WadiStatus wadi_clusters_build(WadiClusters *clusters, const WadiTraceSpheres *spheres, bool is_moving,
                               WadiError *error)
{
    *clusters = (WadiClusters){ .bounds = wadi_box_empty() };
    Sort sort = { .spheres = spheres };
    WadiStatus status = begin(&sort, clusters, error);
    uint32_t *start = (uint32_t *)(void *)sort.other; /* no longer used by the sort */
    clusters->count = status == WADI_OK ? cut(&sort, start) : 0;
    if (status == WADI_OK) {
        status = WADI_NEW(&clusters->cluster, clusters->count, "spheres", error);
    }
    if (status == WADI_OK && spheres->colour != NULL) {
        status = WADI_NEW(&clusters->colour, clusters->count, "colours of spheres", error);
    }
    if (status == WADI_OK && spheres->velocity != NULL && is_moving) {
        status = WADI_NEW(&clusters->velocity, clusters->count, "velocities of spheres", error);
    }
    if (status == WADI_OK) {
        Fill fill = { clusters, &sort, start };
        wadi_parallel_for((int64_t)clusters->count, CLUSTER_BLOCK, fill_block, &fill);
    } else {
        wadi_clusters_free(clusters);
    }
    WADI_DELETE(sort.items, sort.capacity);
    WADI_DELETE(sort.other, sort.capacity);
    return status;
}

void wadi_clusters_free(WadiClusters *clusters)
{
    WADI_DELETE(clusters->cluster, clusters->count);
    WADI_DELETE(clusters->velocity, clusters->count);
    WADI_DELETE(clusters->colour, clusters->count);
    *clusters = (WadiClusters){ .bounds = wadi_box_empty() };
}

size_t wadi_clusters_bytes(const WadiClusters *clusters)
{
    return clusters->count *
           (sizeof *clusters->cluster + (clusters->velocity != NULL ? sizeof *clusters->velocity : 0) +
            (clusters->colour != NULL ? sizeof *clusters->colour : 0));
}

void wadi_cluster_bounds(const WadiClusters *clusters, size_t c, float time, float low[3], float high[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        low[axis] = INFINITY;
        high[axis] = -INFINITY;
    }
    for (int k = 0; k < WADI_CLUSTER && clusters->cluster[c].radius[k] > 0.0f; ++k) {
        WadiVec3f p = wadi_cluster_center(clusters, c, k, time);
        /* Slightly larger, for the rounding of float positions. */
        float at[3] = { p.x, p.y, p.z }, r = clusters->cluster[c].radius[k] * 1.00001f;
        for (int axis = 0; axis < 3; ++axis) {
            float slack = r + 2e-7f * fabsf(at[axis]);
            low[axis] = fminf(low[axis], at[axis] - slack);
            high[axis] = fmaxf(high[axis], at[axis] + slack);
        }
    }
}

/* The same shape in every frame: radius and colour follow from the particle and the grain's number. */
static const WadiGrainShape *shape_of(const WadiClusters *clusters, size_t c, int k)
{
    uint32_t bits, tint = 0;
    memcpy(&bits, &clusters->cluster[c].radius[k], sizeof bits);
    if (clusters->colour != NULL) {
        const WadiTraceColour *colour = &clusters->colour[c][k];
        tint = (uint32_t)colour->red | (uint32_t)colour->green << 8 | (uint32_t)colour->blue << 16;
    }
    uint64_t hash = wadi_hash_mix((uint64_t)bits << 32 | tint);
    return &clusters->shapes[hash & (WADI_GRAIN_SHAPES - 1)];
}

WadiVec3f wadi_cluster_normal(const WadiClusters *clusters, size_t c, int k, WadiVec3f from)
{
    float scale = 1.0f / clusters->cluster[c].radius[k];
    return wadi_grain_shape_normal(shape_of(clusters, c, k), wadi_scalef(from, scale));
}

/* Replaces the distance to a sphere by that to the stone in it. */
static float stone_distance(const WadiClusters *clusters, size_t c, int k, WadiVec3f center, WadiVec3f o,
                            WadiVec3f d, float near)
{
    /* From the point of the ray that is nearest to the centre, so that long distances do not cancel. */
    float along = wadi_dotf(wadi_subf(center, o), d), r = clusters->cluster[c].radius[k], enter, leave;
    WadiVec3f from = wadi_subf(wadi_add_scaledf(o, d, along), center);
    if (!wadi_grain_shape_cross(shape_of(clusters, c, k), wadi_scalef(from, 1.0f / r), d, &enter, &leave)) {
        return INFINITY;
    }
    float first = along + r * enter, last = along + r * leave;
    return first > near ? first : last > near ? last : INFINITY;
}

/* The centre is first projected onto the ray, so that no squares of long distances are subtracted. */
int wadi_cluster_hit(const WadiClusters *clusters, size_t c, WadiVec3f o, WadiVec3f d, float time, float near,
                     float far, float *distance)
{
    const WadiCluster *at = &clusters->cluster[c];
    WadiCluster moved;
    if (clusters->velocity != NULL) {
        const WadiClusterVelocity *v = &clusters->velocity[c];
#pragma omp simd
        for (int k = 0; k < WADI_CLUSTER; ++k) {
            moved.x[k] = at->x[k] + v->x[k] * time;
            moved.y[k] = at->y[k] + v->y[k] * time;
            moved.z[k] = at->z[k] + v->z[k] * time;
            moved.radius[k] = at->radius[k];
        }
        at = &moved;
    }
    float t[WADI_CLUSTER];
#pragma omp simd
    for (int k = 0; k < WADI_CLUSTER; ++k) {
        float x = at->x[k] - o.x, y = at->y[k] - o.y, z = at->z[k] - o.z, r = at->radius[k];
        float along = x * d.x + y * d.y + z * d.z;
        x -= along * d.x;
        y -= along * d.y;
        z -= along * d.z;
        float inside = r * r - (x * x + y * y + z * z);
        float half = sqrtf(inside > 0.0f ? inside : 0.0f);
        float enter = along - half, leave = along + half;
        float first = enter > near ? enter : leave;
        t[k] = inside > 0.0f && r > 0.0f && first > near ? first : INFINITY;
    }
    int nearest = -1;
    for (int k = 0; k < WADI_CLUSTER; ++k) {
        if (t[k] < INFINITY && clusters->shapes != NULL) {
            t[k] = stone_distance(clusters, c, k, wadi_vec3f(at->x[k], at->y[k], at->z[k]), o, d, near);
        }
        if (t[k] < far) {
            far = t[k];
            nearest = k;
        }
    }
    *distance = far;
    return nearest;
}
