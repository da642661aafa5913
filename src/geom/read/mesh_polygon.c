/* Faces with more than three corners as triangles: a fan where the polygon is convex, else ears cut off one
 * by one. Both use the polygon's projection along its normal; every edge of the polygon stays the edge of
 * exactly one triangle. */
#include <math.h>

#include "core/hash.h"
#include "geom/read/mesh_gather.h"

/* Comparisons for one file: seconds. A concave polygon of n corners takes about n^2 of them. */
static const uint64_t effort_max = 1000000000;

/* Newell's sum: twice the area in the direction of the normal, also of polygons that are not quite flat. */
static WadiVec3 polygon_normal(const WadiMeshGather *gather)
{
    const uint32_t *v = gather->polygon.data;
    size_t count = gather->polygon.count;
    WadiVec3 origin = gather->vertices.data[v[0]], sum = { 0.0, 0.0, 0.0 };
    WadiVec3 a = { 0.0, 0.0, 0.0 };
    for (size_t i = 1; i < count; ++i) {
        WadiVec3 b = wadi_sub(gather->vertices.data[v[i]], origin);
        sum = wadi_add(sum, wadi_cross(a, b));
        a = b;
    }
    return sum;
}

/* Counter-clockwise in the plane of the two smaller components of the normal. */
static void project(WadiMeshGather *gather, WadiVec3 normal)
{
    double x = fabs(normal.x), y = fabs(normal.y), z = fabs(normal.z);
    int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
    double along = axis == 0 ? normal.x : axis == 1 ? normal.y : normal.z;
    WadiVec3 origin = gather->vertices.data[gather->polygon.data[0]];
    for (size_t i = 0; i < gather->polygon.count; ++i) {
        WadiVec3 p = wadi_sub(gather->vertices.data[gather->polygon.data[i]], origin);
        double first = axis == 0 ? p.y : axis == 1 ? p.z : p.x;
        double second = axis == 0 ? p.z : axis == 1 ? p.x : p.y;
        gather->flat.data[2 * i] = along > 0.0 ? first : second;
        gather->flat.data[2 * i + 1] = along > 0.0 ? second : first;
    }
}

/* Twice the signed area of three corners. */
static double turn(const double *flat, uint32_t a, uint32_t b, uint32_t c)
{
    return (flat[2 * b] - flat[2 * a]) * (flat[2 * c + 1] - flat[2 * a + 1]) -
           (flat[2 * b + 1] - flat[2 * a + 1]) * (flat[2 * c] - flat[2 * a]);
}

static bool is_convex(const double *flat, uint32_t count)
{
    int rises = 0; /* a polygon that winds around twice rises twice */
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t next = i + 1 < count ? i + 1 : 0, after = next + 1 < count ? next + 1 : 0;
        if (!(turn(flat, i, next, after) > 0.0)) {
            return false;
        }
        rises += flat[2 * next] >= flat[2 * i] && flat[2 * after] < flat[2 * next];
    }
    return rises <= 1;
}

static WadiStatus fan(WadiMeshGather *gather, size_t start)
{
    const uint32_t *v = gather->polygon.data;
    size_t count = gather->polygon.count;
    for (size_t i = 1; i + 1 < count; ++i) {
        WADI_TRY(wadi_gather_triangle(gather, v[start], v[(start + i) % count], v[(start + i + 1) % count]));
    }
    return WADI_OK;
}

static bool is_same_point(const double *flat, uint32_t a, uint32_t b)
{
    return flat[2 * a] == flat[2 * b] && flat[2 * a + 1] == flat[2 * b + 1];
}

/* Whether the triangle at corner b lies inside the polygon: it turns left and no other corner is in it. */
static bool is_ear(WadiMeshGather *gather, uint32_t b)
{
    const double *flat = gather->flat.data;
    const uint32_t *link = gather->neighbour.data;
    uint32_t a = link[2 * b], c = link[2 * b + 1];
    ++gather->effort;
    if (!(turn(flat, a, b, c) > 0.0)) {
        return false;
    }
    for (uint32_t p = link[2 * c + 1]; p != a; p = link[2 * p + 1]) {
        ++gather->effort;
        if (turn(flat, a, b, p) >= 0.0 && turn(flat, b, c, p) >= 0.0 && turn(flat, c, a, p) >= 0.0 &&
            !is_same_point(flat, p, a) && !is_same_point(flat, p, b) && !is_same_point(flat, p, c)) {
            return false;
        }
    }
    return true;
}

static WadiStatus cut_ears(WadiMeshGather *gather)
{
    const uint32_t count = (uint32_t)gather->polygon.count;
    WADI_TRY(WADI_ARRAY_RESERVE(&gather->neighbour, 2 * (size_t)count, "mesh face", gather->error));
    uint32_t *link = gather->neighbour.data;
    for (uint32_t i = 0; i < count; ++i) {
        link[2 * i] = i > 0 ? i - 1 : count - 1;
        link[2 * i + 1] = i + 1 < count ? i + 1 : 0;
    }
    uint32_t left = count, misses = 0, b = 1;
    while (left >= 3) {
        /* A polygon that crosses itself, or is flat, has no ear: any corner is as good as another. */
        if (misses < left && !is_ear(gather, b)) {
            if (gather->effort > effort_max) {
                return wadi_gather_fail(gather,
                                        "faces with many corners (one has %u) take too long to be cut into "
                                        "triangles: export the mesh with triangles only",
                                        count);
            }
            ++misses;
            b = link[2 * b + 1];
            continue;
        }
        uint32_t a = link[2 * b], c = link[2 * b + 1];
        const uint32_t *v = gather->polygon.data;
        WADI_TRY(wadi_gather_triangle(gather, v[a], v[b], v[c]));
        link[2 * a + 1] = c;
        link[2 * c] = a;
        --left;
        misses = 0;
        b = link[2 * c + 1]; /* not c: two ears that touch would be slivers */
    }
    return WADI_OK;
}

static WadiStatus cut(WadiMeshGather *gather)
{
    size_t count = gather->polygon.count;
    WadiVec3 normal = polygon_normal(gather);
    WADI_TRY(WADI_ARRAY_RESERVE(&gather->flat, 2 * count, "mesh face", gather->error));
    project(gather, normal);
    const double *flat = gather->flat.data;
    if (count == 4) {
        bool is_first = turn(flat, 0, 1, 2) > 0.0 && turn(flat, 0, 2, 3) > 0.0;
        bool is_second = turn(flat, 1, 2, 3) > 0.0 && turn(flat, 1, 3, 0) > 0.0;
        return fan(gather, !is_first && is_second ? 1 : 0);
    }
    return is_convex(flat, (uint32_t)count) ? fan(gather, 0) : cut_ears(gather);
}

WadiStatus wadi_gather_polygon(WadiMeshGather *gather)
{
    const uint32_t *v = gather->polygon.data;
    size_t count = gather->polygon.count;
    WadiStatus status = WADI_OK;
    if (count == 3) {
        status = wadi_gather_triangle(gather, v[0], v[1], v[2]);
    } else if (count >= UINT32_MAX / 2) {
        status = wadi_gather_fail(gather, "a face has %zu corners", count);
    } else if (count > 3) {
        status = cut(gather);
    }
    gather->face_hash = wadi_hash_mix(gather->face_hash);
    gather->polygon.count = 0;
    return status;
}
