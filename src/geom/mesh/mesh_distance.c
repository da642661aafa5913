/* Closest points by Embree's point query. Embree's tree holds single-precision copies and gives the
 * candidate triangles; the distance to each is computed here in double.
 * Source: C. Ericson, "Real-Time Collision Detection" (2005), section 5.1.5, for one triangle. */
#include "geom/mesh/mesh_distance.h"

#include <float.h>

#include "core/alloc.h"
#include "core/check.h"
#include "geom/mesh/embree.h"

struct WadiMeshTree {
    const WadiMesh *mesh;
    const WadiMesh *end; /* NULL: not moving */
    RTCDevice device;
    RTCScene scene;
    WadiVec3 center; /* Embree's origin, for small coordinates in single precision */
    double size;     /* longest side of the bounds */
};

typedef struct Search {
    const WadiMesh *mesh, *end;
    double s;
    WadiVec3 x;
    double slack; /* bound on the displacement of a triangle or the point by single precision */
    double squared;
    WadiMeshNearest *nearest;
    bool has_found;
} Search;

double wadi_triangle_nearest(WadiVec3 a, WadiVec3 b, WadiVec3 c, WadiVec3 x, WadiVec3 *point,
                             double weight[3])
{
    WadiVec3 ab = wadi_sub(b, a), ac = wadi_sub(c, a), ax = wadi_sub(x, a);
    WadiVec3 bx = wadi_sub(x, b), cx = wadi_sub(x, c);
    double d1 = wadi_dot(ab, ax), d2 = wadi_dot(ac, ax);
    double d3 = wadi_dot(ab, bx), d4 = wadi_dot(ac, bx);
    double d5 = wadi_dot(ab, cx), d6 = wadi_dot(ac, cx);
    double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    double v = 0.0, w = 0.0;
    if (d1 <= 0.0 && d2 <= 0.0) {
        v = w = 0.0;
    } else if (d3 >= 0.0 && d4 <= d3) {
        v = 1.0;
    } else if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        v = d1 / (d1 - d3);
    } else if (d6 >= 0.0 && d5 <= d6) {
        w = 1.0;
    } else if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        w = d2 / (d2 - d6);
    } else if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        v = 1.0 - w;
    } else {
        double scale = 1.0 / (va + vb + vc);
        v = vb * scale;
        w = vc * scale;
    }
    if (!isfinite(v) || !isfinite(w)) { /* a triangle without area or edge lengths */
        v = w = 0.0;
    }
    weight[0] = 1.0 - v - w;
    weight[1] = v;
    weight[2] = w;
    *point = wadi_add_scaled(wadi_add_scaled(a, ab, v), ac, w);
    WadiVec3 offset = wadi_sub(x, *point);
    return wadi_dot(offset, offset);
}

/* Rounded up, so that the query never loses a triangle. */
static float query_radius(double distance, double slack)
{
    double radius = distance * (1.0 + 1e-6) + slack;
    return radius < (double)FLT_MAX ? (float)radius * 1.000001f : FLT_MAX;
}

/* Whether the plane of a triangle is farther than the nearest point so far, as for most triangles of a
 * leaf; 1e-9 covers rounding. */
static bool is_plane_farther(const WadiVec3 p[3], WadiVec3 x, double squared)
{
    WadiVec3 normal = wadi_cross(wadi_sub(p[1], p[0]), wadi_sub(p[2], p[0]));
    double height = wadi_dot(normal, wadi_sub(x, p[0]));
    return height * height > (1.0 + 1e-9) * squared * wadi_dot(normal, normal);
}

static bool visit(struct RTCPointQueryFunctionArguments *args)
{
    Search *search = args->userPtr;
    const uint32_t *v = search->mesh->triangles[args->primID];
    WadiVec3 point, p[3];
    double weight[3];
    for (int k = 0; k < 3; ++k) {
        p[k] = search->mesh->vertices[v[k]];
        p[k] = search->end != NULL ? wadi_lerp(p[k], search->end->vertices[v[k]], search->s) : p[k];
    }
    if (is_plane_farther(p, search->x, search->squared)) {
        return false;
    }
    double squared = wadi_triangle_nearest(p[0], p[1], p[2], search->x, &point, weight);
    bool is_nearer = squared < search->squared;
    if (is_nearer ||
        (squared == search->squared && search->has_found && args->primID < search->nearest->triangle)) {
        search->squared = squared;
        search->has_found = true;
        *search->nearest = (WadiMeshNearest){ 0.0, point, args->primID, { weight[0], weight[1], weight[2] } };
    }
    if (is_nearer) {
        float radius = query_radius(sqrt(squared), search->slack);
        if (radius < args->query->radius) {
            args->query->radius = radius;
            return true;
        }
    }
    return false;
}

void wadi_mesh_nearest_of(const WadiMesh *mesh, const WadiMeshCandidate *candidates, int count, WadiVec3 x,
                          double offset, WadiMeshNearest *nearest)
{
    double least = INFINITY, limit = INFINITY;
    for (int n = 0; n < count && (double)candidates[n].distance <= limit; ++n) {
        const uint32_t triangle = candidates[n].triangle, *v = mesh->triangles[triangle];
        const WadiVec3 p[3] = { mesh->vertices[v[0]], mesh->vertices[v[1]], mesh->vertices[v[2]] };
        if (is_plane_farther(p, x, least)) {
            continue;
        }
        WadiVec3 point;
        double weight[3], squared = wadi_triangle_nearest(p[0], p[1], p[2], x, &point, weight);
        if (squared < least || (squared == least && triangle < nearest->triangle)) {
            least = squared;
            /* A triangle is at most `offset` nearer to x than to the centre; 1e-6 covers rounding. */
            limit = (sqrt(least) + offset) * (1.0 + 1e-6);
            *nearest = (WadiMeshNearest){ 0.0, point, triangle, { weight[0], weight[1], weight[2] } };
        }
    }
    nearest->distance = sqrt(least);
}

/* Triangles around a point that are at most `margin` farther than the nearest. */
typedef struct Gathering {
    const WadiMesh *mesh;
    WadiVec3 x;
    double slack, margin, least;
    uint32_t *triangles;
    double distance[WADI_GATHER_MAX];
    int count, capacity;
    bool is_full;
} Gathering;

static void drop_farther(Gathering *list)
{
    int count = 0;
    for (int n = 0; n < list->count; ++n) {
        if (list->distance[n] <= list->least + list->margin) {
            list->triangles[count] = list->triangles[n];
            list->distance[count++] = list->distance[n];
        }
    }
    list->count = count;
}

static bool gather(struct RTCPointQueryFunctionArguments *args)
{
    Gathering *list = args->userPtr;
    const uint32_t *v = list->mesh->triangles[args->primID];
    const WadiVec3 p[3] = { list->mesh->vertices[v[0]], list->mesh->vertices[v[1]],
                            list->mesh->vertices[v[2]] };
    const double limit = list->least + list->margin;
    if (list->is_full || is_plane_farther(p, list->x, limit * limit)) {
        return false;
    }
    WadiVec3 point;
    double weight[3], distance = sqrt(wadi_triangle_nearest(p[0], p[1], p[2], list->x, &point, weight));
    if (distance > limit) {
        return false;
    }
    const bool is_nearer = distance < list->least;
    list->least = is_nearer ? distance : list->least;
    if (list->count == list->capacity) {
        drop_farther(list);
    }
    list->is_full = list->count == list->capacity;
    if (!list->is_full) {
        list->distance[list->count] = distance;
        list->triangles[list->count++] = args->primID;
    }
    const float radius = list->is_full ? 0.0f : query_radius(list->least + list->margin, list->slack);
    if ((is_nearer || list->is_full) && radius < args->query->radius) {
        args->query->radius = radius;
        return true;
    }
    return false;
}

/* The triangle nearest to a point within `radius` of x is at most 2 radius farther from x than the one
 * nearest to x. */
int wadi_mesh_tree_gather(const WadiMeshTree *tree, WadiVec3 x, double radius, double search_radius,
                          uint32_t *triangles, int capacity)
{
    WADI_ASSERT(capacity <= WADI_GATHER_MAX && tree->end == NULL);
    const WadiVec3 local = wadi_sub(x, tree->center);
    Gathering list = { .mesh = tree->mesh,
                       .x = x,
                       .slack = wadi_mesh_tree_error(tree, x),
                       .margin = 2.0 * radius,
                       .least = 1.0001 * search_radius,
                       .triangles = triangles,
                       .capacity = capacity };
    struct RTCPointQuery query = { .x = (float)local.x,
                                   .y = (float)local.y,
                                   .z = (float)local.z,
                                   .radius = query_radius(list.least + list.margin, list.slack) };
    struct RTCPointQueryContext context;
    rtcInitPointQueryContext(&context);
    rtcPointQuery(tree->scene, &query, &context, gather, &list);
    drop_farther(&list);
    return list.is_full ? -1 : list.count;
}

double wadi_mesh_tree_error(const WadiMeshTree *tree, WadiVec3 x)
{
    WadiVec3 local = wadi_abs(wadi_sub(x, tree->center));
    return 8.0 * (double)FLT_EPSILON * fmax(fmax(local.x, local.y), fmax(local.z, tree->size));
}

bool wadi_mesh_tree_hit(const WadiMeshTree *tree, WadiVec3 x, WadiVec3 displacement, double *fraction,
                        WadiVec3 *normal)
{
    WadiVec3 local = wadi_sub(x, tree->center);
    struct RTCRayHit ray = { .ray = { .org_x = (float)local.x,
                                      .org_y = (float)local.y,
                                      .org_z = (float)local.z,
                                      .dir_x = (float)displacement.x,
                                      .dir_y = (float)displacement.y,
                                      .dir_z = (float)displacement.z,
                                      .tfar = 1.0f,
                                      .mask = UINT32_MAX },
                             .hit = { .geomID = RTC_INVALID_GEOMETRY_ID } };
    wadi_embree_intersect(tree->scene, &ray);
    if (ray.hit.geomID == RTC_INVALID_GEOMETRY_ID) {
        return false;
    }
    const uint32_t *v = tree->mesh->triangles[ray.hit.primID];
    WadiVec3 a = tree->mesh->vertices[v[0]];
    WadiVec3 n = wadi_cross(wadi_sub(tree->mesh->vertices[v[1]], a), wadi_sub(tree->mesh->vertices[v[2]], a));
    n = wadi_normalized_or(n, wadi_vec3(0, 0, 1));
    double along = wadi_dot(n, displacement), exact = wadi_dot(n, wadi_sub(a, x)) / along;
    /* The intersection in double, unless the ray is parallel to the triangle. */
    bool is_good = fabs(exact - (double)ray.ray.tfar) < 1e-3;
    *fraction = fmin(fmax(is_good ? exact : (double)ray.ray.tfar, 0.0), 1.0);
    *normal = along > 0.0 ? wadi_scale(n, -1.0) : n;
    return true;
}

bool wadi_mesh_tree_nearest(const WadiMeshTree *tree, WadiVec3 x, double limit, WadiMeshNearest *nearest)
{
    return wadi_mesh_tree_nearest_at(tree, x, 0.0, limit, nearest);
}

bool wadi_mesh_tree_nearest_at(const WadiMeshTree *tree, WadiVec3 x, double s, double limit,
                               WadiMeshNearest *nearest)
{
    WadiVec3 local = wadi_sub(x, tree->center);
    Search search = { tree->mesh,    tree->end, s,    x, wadi_mesh_tree_error(tree, x),
                      limit * limit, nearest,   false };
    struct RTCPointQuery query = { .x = (float)local.x,
                                   .y = (float)local.y,
                                   .z = (float)local.z,
                                   .time = (float)s,
                                   .radius = query_radius(limit, search.slack) };
    struct RTCPointQueryContext context;
    rtcInitPointQueryContext(&context);
    rtcPointQuery(tree->scene, &query, &context, visit, &search);
    nearest->distance = search.has_found ? sqrt(search.squared) : limit;
    return search.has_found;
}

static WadiStatus build_scene(WadiMeshTree *tree, WadiError *error)
{
    const WadiMesh *mesh = tree->mesh;
    RTCGeometry geometry = rtcNewGeometry(tree->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    unsigned moments = tree->end != NULL ? 2 : 1;
    rtcSetGeometryTimeStepCount(geometry, moments);
    bool has_memory = true;
    for (unsigned m = 0; m < moments; ++m) {
        float *vertex = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, m, RTC_FORMAT_FLOAT3,
                                                3 * sizeof(float), mesh->vertex_count);
        has_memory &= vertex != NULL;
        for (size_t i = 0; vertex != NULL && i < mesh->vertex_count; ++i) {
            WadiVec3 p = wadi_sub((m == 0 ? mesh : tree->end)->vertices[i], tree->center);
            vertex[3 * i] = (float)p.x;
            vertex[3 * i + 1] = (float)p.y;
            vertex[3 * i + 2] = (float)p.z;
        }
    }
    uint32_t *index = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                              3 * sizeof(uint32_t), mesh->triangle_count);
    tree->scene = rtcNewScene(tree->device);
    has_memory &= index != NULL;
    if (has_memory && tree->scene != NULL) {
        for (size_t t = 0; t < mesh->triangle_count; ++t) {
            for (size_t k = 0; k < 3; ++k) {
                index[3 * t + k] = mesh->triangles[t][k];
            }
        }
        rtcSetSceneFlags(tree->scene, RTC_SCENE_FLAG_ROBUST);
        rtcCommitGeometry(geometry);
        rtcAttachGeometry(tree->scene, geometry);
        rtcCommitScene(tree->scene);
    }
    rtcReleaseGeometry(geometry);
    enum RTCError problem = rtcGetDeviceError(tree->device);
    if (problem == RTC_ERROR_OUT_OF_MEMORY || !has_memory) {
        return wadi_fail_memory(error, wadi_mesh_tree_bytes(tree), "mesh tree");
    }
    return problem == RTC_ERROR_NONE ? WADI_OK
                                     : wadi_fail(error, WADI_ERR_UNSUPPORTED,
                                                 "Embree error %d while building a mesh tree", (int)problem);
}

static const size_t embree_bytes = (size_t)32 << 20; /* of a device with one thread */

static WadiStatus fail_start(WadiError *error)
{
    enum RTCError problem = rtcGetDeviceError(NULL);
    return problem == RTC_ERROR_OUT_OF_MEMORY
               ? wadi_fail_memory(error, embree_bytes, "mesh tree")
               : wadi_fail(error, WADI_ERR_UNSUPPORTED, "Embree cannot start (error %d)", (int)problem);
}

WadiStatus wadi_mesh_tree_create(WadiMeshTree **tree, const WadiMesh *mesh, WadiError *error)
{
    return wadi_mesh_tree_create_moving(tree, mesh, NULL, error);
}

WadiStatus wadi_mesh_tree_create_moving(WadiMeshTree **tree, const WadiMesh *mesh, const WadiMesh *end,
                                        WadiError *error)
{
    *tree = NULL;
    WadiMeshTree *made;
    WADI_TRY(WADI_NEW(&made, 1, "mesh tree", error));
    made->mesh = mesh;
    made->end = end;
    WadiBox box = wadi_mesh_bounds(mesh);
    if (end != NULL) {
        box = wadi_box_union(box, wadi_mesh_bounds(end));
    }
    WadiVec3 size = wadi_box_size(box);
    made->center = wadi_scale(wadi_add(box.min, box.max), 0.5);
    made->size = fmax(size.x, fmax(size.y, size.z));
    /* Embree allocates blocks of some megabytes, and about as much again as the tree for its lists of
     * triangles. */
    const size_t needed = embree_bytes + 4 * wadi_mesh_tree_bytes(made);
    WadiStatus status = wadi_memory_probe(needed, "mesh tree", error);
    if (status == WADI_OK) {
        made->device = rtcNewDevice("threads=1,set_affinity=0");
        status = made->device == NULL ? fail_start(error) : wadi_memory_probe(needed, "mesh tree", error);
    }
    if (status == WADI_OK) { /* probed again: the device has allocated its part */
        status = build_scene(made, error);
    }
    if (status != WADI_OK) {
        wadi_mesh_tree_destroy(made);
        return status;
    }
    *tree = made;
    return WADI_OK;
}

void wadi_mesh_tree_destroy(WadiMeshTree *tree)
{
    if (tree == NULL) {
        return;
    }
    if (tree->scene != NULL) {
        rtcReleaseScene(tree->scene);
    }
    if (tree->device != NULL) {
        rtcReleaseDevice(tree->device);
    }
    WADI_DELETE(tree, 1);
}

size_t wadi_mesh_tree_bytes(const WadiMeshTree *tree)
{
    /* Vertices and indices, and about 80 bytes a triangle for Embree's nodes and leaves. */
    return sizeof *tree + tree->mesh->vertex_count * 12 + tree->mesh->triangle_count * (12 + 80);
}
