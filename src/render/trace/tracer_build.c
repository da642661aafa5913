/* Builds the tracer: float copies relative to the origin and Embree's trees over them. Embree sorts the
 * primitives of a leaf, so that its trees, and the choice between equally near surfaces, do not depend on the
 * number of threads. */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"
#include "render/trace/tracer_internal.h"

static bool is_clear(const WadiLook *look)
{
    return look->kind == WADI_LOOK_WATER || look->kind == WADI_LOOK_GLASS;
}

static bool is_moving(const WadiTracer *tracer)
{
    return tracer->span > 0.0f;
}

static WadiStatus copy_floats(float **copy, const float *from, size_t count, WadiError *error)
{
    if (from == NULL) {
        return WADI_OK;
    }
    WADI_TRY(WADI_NEW(copy, count, "mesh of a picture", error));
    memcpy(*copy, from, count * sizeof **copy);
    return WADI_OK;
}

static WadiStatus check_mesh(const WadiTraceMesh *mesh, int number, WadiError *error)
{
    if (mesh->vertex_count > UINT32_MAX / 4 || mesh->triangle_count > UINT32_MAX / 4) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "mesh %d of the picture is too large", number);
    }
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        for (int k = 0; k < 3; ++k) {
            if (mesh->triangles[t][k] >= mesh->vertex_count) {
                return wadi_fail(error, WADI_ERR_ARGUMENT,
                                 "mesh %d of the picture: triangle %zu names vertex %u of %zu", number, t,
                                 mesh->triangles[t][k], mesh->vertex_count);
            }
        }
    }
    return WADI_OK;
}

static float *add_vertices(RTCGeometry geometry, unsigned slot, const WadiTracer *tracer,
                           const WadiTraceMesh *mesh, double time)
{
    float *vertex = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, slot, RTC_FORMAT_FLOAT3,
                                            3 * sizeof(float), mesh->vertex_count);
    for (size_t i = 0; vertex != NULL && i < mesh->vertex_count; ++i) {
        WadiVec3 p = wadi_sub(mesh->vertices[i], tracer->origin);
        if (mesh->velocity != NULL) {
            const float *v = mesh->velocity[i];
            WadiVec3 displacement = wadi_scale(wadi_vec3((double)v[0], (double)v[1], (double)v[2]), time);
            p = wadi_is_finite(displacement) ? wadi_add(p, displacement) : p;
        }
        vertex[3 * i] = (float)p.x;
        vertex[3 * i + 1] = (float)p.y;
        vertex[3 * i + 2] = (float)p.z;
    }
    return vertex;
}

static WadiStatus copy_anchors(WadiPart *part, const WadiTraceMesh *mesh, WadiError *error)
{
    if (mesh->owner == NULL || mesh->anchor_count == 0) {
        return WADI_OK;
    }
    part->anchor_count = mesh->anchor_count;
    WADI_TRY(
        copy_floats((float **)&part->anchor, (const float *)mesh->anchor, 3 * mesh->anchor_count, error));
    WADI_TRY(WADI_NEW(&part->anchor_hash, mesh->anchor_count, "grains of a picture", error));
    memcpy(part->anchor_hash, mesh->anchor_hash, mesh->anchor_count * sizeof *part->anchor_hash);
    WADI_TRY(WADI_NEW(&part->owner, mesh->vertex_count, "grains of a picture", error));
    memcpy(part->owner, mesh->owner, mesh->vertex_count * sizeof *part->owner);
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        for (int k = 0; k < WADI_TRACE_OWNERS; ++k) {
            WADI_ASSERT_TRY(part->owner[v][k] < part->anchor_count || part->owner[v][k] == UINT32_MAX, error);
        }
    }
    return WADI_OK;
}

/* Shadow rays pass. */
static void pass_shadow(const struct RTCFilterFunctionNArguments *args)
{
    for (unsigned i = 0; i < args->N; ++i) {
        args->valid[i] = 0;
    }
}

static WadiStatus make_mesh(WadiTracer *tracer, WadiPart *part, const WadiTraceMesh *mesh, RTCGeometry *made,
                            WadiError *error)
{
    WADI_TRY(check_mesh(mesh, (int)(part - tracer->parts), error));
    part->vertex_count = mesh->vertex_count;
    part->triangle_count = mesh->triangle_count;
    WADI_TRY(
        copy_floats((float **)&part->normal, (const float *)mesh->normal, 3 * mesh->vertex_count, error));
    WADI_TRY(copy_floats(&part->wetness, mesh->wetness, mesh->vertex_count, error));
    WADI_TRY(
        copy_floats((float **)&part->colour, (const float *)mesh->colour, 3 * mesh->vertex_count, error));
    WADI_TRY(
        copy_floats((float **)&part->texture, (const float *)mesh->texture, 3 * mesh->vertex_count, error));
    WADI_TRY(copy_anchors(part, mesh, error));
    RTCGeometry geometry = rtcNewGeometry(tracer->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    if (part->look->casts_no_shadow) {
        rtcSetGeometryOccludedFilterFunction(geometry, pass_shadow);
    }
    bool has_blur = mesh->velocity != NULL && is_moving(tracer);
    rtcSetGeometryTimeStepCount(geometry, has_blur ? 2 : 1);
    double open = (double)tracer->open, close = open + (double)tracer->span;
    part->start = add_vertices(geometry, 0, tracer, mesh, has_blur ? open : 0.0);
    part->end = has_blur ? add_vertices(geometry, 1, tracer, mesh, close) : part->start;
    uint32_t *index = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                              3 * sizeof(uint32_t), mesh->triangle_count);
    part->triangles = index;
    if (part->start == NULL || part->end == NULL || index == NULL) {
        rtcReleaseGeometry(geometry);
        return wadi_fail_memory(error, mesh->vertex_count * 12 + mesh->triangle_count * 12,
                                "mesh of a picture");
    }
    memcpy(index, mesh->triangles, mesh->triangle_count * sizeof mesh->triangles[0]);
    for (size_t i = 0; i < mesh->vertex_count; ++i) {
        for (int end = 0; end < 2; ++end) {
            const float *v = (end ? part->end : part->start) + 3 * i;
            WadiVec3 p = { (double)v[0], (double)v[1], (double)v[2] };
            tracer->bounds = wadi_is_finite(p) ? wadi_box_add_point(tracer->bounds, p) : tracer->bounds;
        }
    }
    *made = geometry;
    return WADI_OK;
}

static void cluster_bounds(const struct RTCBoundsFunctionArguments *args)
{
    const WadiPart *part = args->geometryUserPtr;
    float low[3], high[3], time = part->tracer->open + (args->timeStep > 0 ? part->tracer->span : 0.0f);
    wadi_cluster_bounds(&part->clusters, args->primID, time, low, high);
    *args->bounds_o = (struct RTCBounds){ .lower_x = low[0],
                                          .lower_y = low[1],
                                          .lower_z = low[2],
                                          .upper_x = high[0],
                                          .upper_y = high[1],
                                          .upper_z = high[2] };
}

static int intersect_cluster(const WadiPart *part, unsigned cluster, const struct RTCRay *ray,
                             float *distance)
{
    return wadi_cluster_hit(&part->clusters, cluster, wadi_vec3f(ray->org_x, ray->org_y, ray->org_z),
                            wadi_vec3f(ray->dir_x, ray->dir_y, ray->dir_z),
                            part->tracer->open + ray->time * part->tracer->span, ray->tnear, ray->tfar,
                            distance);
}

/* Only single rays are traced, so that N is 1 and the structs are plain. The sphere's index in the cluster
 * goes into u. */
static void cluster_intersect(const struct RTCIntersectFunctionNArguments *args)
{
    WADI_ASSERT_ELSE(args->N == 1, return;);
    const WadiPart *part = args->geometryUserPtr;
    struct RTCRayHit *ray = (struct RTCRayHit *)(void *)args->rayhit;
    float distance;
    int k = args->valid[0] != 0 ? intersect_cluster(part, args->primID, &ray->ray, &distance) : -1;
    if (k >= 0) {
        ray->ray.tfar = distance;
        ray->hit.geomID = args->geomID;
        ray->hit.primID = args->primID;
        ray->hit.u = (float)k;
    }
}

static void cluster_occluded(const struct RTCOccludedFunctionNArguments *args)
{
    WADI_ASSERT_ELSE(args->N == 1, return;);
    const WadiPart *part = args->geometryUserPtr;
    struct RTCRay *ray = (struct RTCRay *)(void *)args->ray;
    float distance;
    if (args->valid[0] != 0 && intersect_cluster(part, args->primID, ray, &distance) >= 0) {
        ray->tfar = -INFINITY;
    }
}

static WadiStatus make_spheres(WadiTracer *tracer, WadiPart *part, const WadiTraceSpheres *spheres,
                               RTCGeometry *made, WadiError *error)
{
    part->is_spheres = true;
    WADI_TRY(wadi_clusters_build(&part->clusters, spheres, is_moving(tracer), error));
    part->clusters.shapes = spheres->is_angular ? tracer->shapes : NULL;
    tracer->bounds = wadi_box_union(tracer->bounds, part->clusters.bounds);
    RTCGeometry geometry = rtcNewGeometry(tracer->device, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserPrimitiveCount(geometry, (unsigned)part->clusters.count);
    rtcSetGeometryTimeStepCount(geometry, part->clusters.velocity != NULL ? 2 : 1);
    rtcSetGeometryUserData(geometry, part);
    rtcSetGeometryBoundsFunction(geometry, cluster_bounds, NULL);
    rtcSetGeometryIntersectFunction(geometry, cluster_intersect);
    rtcSetGeometryOccludedFunction(geometry, cluster_occluded);
    *made = geometry;
    return WADI_OK;
}

static bool count_bytes(void *context, ssize_t bytes, bool is_after)
{
    (void)is_after;
    WadiTracer *tracer = context;
    atomic_fetch_add_explicit(&tracer->embree_bytes, bytes, memory_order_relaxed);
    return true;
}

static WadiStatus embree_status(RTCDevice device, WadiError *error)
{
    enum RTCError problem = rtcGetDeviceError(device);
    if (problem == RTC_ERROR_NONE) {
        return WADI_OK;
    }
    return problem == RTC_ERROR_OUT_OF_MEMORY
               ? wadi_fail_memory(error, 0, "the tree of a picture")
               : wadi_fail(error, WADI_ERR_UNSUPPORTED, "Embree error %d while preparing a picture",
                           (int)problem);
}

/* An upper bound of Embree's memory: it does not survive a failed allocation while it builds. */
static size_t bytes_bound(const WadiTraceScene *scene)
{
    size_t bytes = (size_t)(32 + 16 * wadi_parallel_threads()) << 20;
    for (int m = 0; m < scene->mesh_count; ++m) {
        bytes += 400 * scene->meshes[m].triangle_count;
    }
    for (int s = 0; s < scene->spheres_count; ++s) {
        bytes += 100 * scene->spheres[s].count;
    }
    return bytes;
}

static WadiStatus begin(WadiTracer *tracer, const WadiTraceScene *scene, WadiError *error)
{
    WADI_TRY(wadi_memory_probe(bytes_bound(scene), "the tree of a picture", error));
    char config[64];
    snprintf(config, sizeof config, "threads=%d,set_affinity=0", wadi_parallel_threads());
    tracer->device = rtcNewDevice(config);
    if (tracer->device == NULL) {
        enum RTCError problem = rtcGetDeviceError(NULL);
        return problem == RTC_ERROR_OUT_OF_MEMORY
                   ? wadi_fail_memory(error, bytes_bound(scene), "the tree of a picture")
                   : wadi_fail(error, WADI_ERR_UNSUPPORTED, "Embree cannot start (error %d)", (int)problem);
    }
    /* Again, after the device has allocated its own memory. */
    WADI_TRY(wadi_memory_probe(bytes_bound(scene), "the tree of a picture", error));
    rtcSetDeviceMemoryMonitorFunction(tracer->device, count_bytes, tracer);
    WADI_TRY(WADI_NEW(&tracer->looks, (size_t)scene->look_count, "looks", error));
    tracer->look_count = scene->look_count;
    if (scene->look_count > 0) {
        memcpy(tracer->looks, scene->looks, (size_t)scene->look_count * sizeof *tracer->looks);
    }
    WADI_TRY(WADI_NEW(&tracer->parts, (size_t)(scene->mesh_count + scene->spheres_count),
                      "parts of a picture", error));
    tracer->part_count = scene->mesh_count + scene->spheres_count;
    WADI_TRY(wadi_light_create(&tracer->light, &scene->light, error));
    tracer->level = wadi_light_level(tracer->light);
    return WADI_OK;
}

static WadiStatus add_part(WadiTracer *tracer, const WadiTraceScene *scene, int p, WadiError *error)
{
    bool is_mesh = p < scene->mesh_count;
    const WadiTraceMesh *mesh = is_mesh ? &scene->meshes[p] : NULL;
    const WadiTraceSpheres *spheres = is_mesh ? NULL : &scene->spheres[p - scene->mesh_count];
    int look = is_mesh ? mesh->look : spheres->look;
    WADI_ASSERT_TRY(look >= 0 && look < tracer->look_count, error);
    WadiPart *part = &tracer->parts[p];
    part->tracer = tracer;
    part->look = &tracer->looks[look];
    part->clusters.bounds = wadi_box_empty();
    if (is_mesh ? mesh->triangle_count == 0 : spheres->count == 0) {
        return WADI_OK;
    }
    RTCScene *into = is_clear(part->look) ? &tracer->clear : &tracer->opaque;
    if (*into == NULL) {
        *into = rtcNewScene(tracer->device);
        if (*into == NULL) {
            return wadi_fail_memory(error, 0, "the tree of a picture");
        }
        rtcSetSceneFlags(*into, RTC_SCENE_FLAG_ROBUST | RTC_SCENE_FLAG_COMPACT);
    }
    RTCGeometry geometry = NULL;
    WADI_TRY(is_mesh ? make_mesh(tracer, part, mesh, &geometry, error)
                     : make_spheres(tracer, part, spheres, &geometry, error));
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(*into, geometry, (unsigned)p);
    rtcReleaseGeometry(geometry);
    return embree_status(tracer->device, error);
}

static WadiStatus build(WadiTracer *tracer, const WadiTraceScene *scene, WadiError *error)
{
    if (!wadi_is_finite(scene->origin) || !isfinite(scene->open) || !isfinite(scene->close) ||
        scene->close < scene->open || !isfinite(scene->ground.height) || !isfinite(scene->contact)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "a picture's origin, ground, contact and shutter must be finite, the shutter must "
                         "close after it opens");
    }
    tracer->origin = scene->origin;
    tracer->open = (float)scene->open;
    tracer->span = (float)(scene->close - scene->open);
    tracer->bounds = wadi_box_empty();
    tracer->ground = scene->ground;
    tracer->air = scene->air > 0.0 ? (float)scene->air : 2500.0f;
    for (int n = 0; n < WADI_GRAIN_SHAPES; ++n) {
        tracer->shapes[n] = wadi_grain_shape(n);
    }
    for (int byte = 0; byte < 256; ++byte) {
        tracer->linear_of_byte[byte] = wadi_srgb_decode((float)byte / 255.0f);
    }
    tracer->ground_height = (float)(scene->ground.height - scene->origin.z);
    for (int axis = 0; axis < 3; ++axis) {
        const double from = wadi_component(scene->origin, axis);
        tracer->pit_low[axis] = (float)(wadi_component(scene->ground.pit.min, axis) - from);
        if (axis < 2) {
            tracer->pit_high[axis] = (float)(wadi_component(scene->ground.pit.max, axis) - from);
        }
    }
    double period = 2.0 * (double)scene->ground.look.texture_size;
    if (period > 0.0) {
        tracer->texture_offset[0] = fmod(scene->origin.x, period);
        tracer->texture_offset[1] = fmod(scene->origin.y, period);
    }
    WADI_TRY(begin(tracer, scene, error));
    for (int p = 0; p < tracer->part_count; ++p) {
        WADI_TRY(add_part(tracer, scene, p, error));
    }
    WadiVec3 size = wadi_box_size(tracer->bounds);
    double automatic = wadi_box_is_empty(tracer->bounds) ? 0.0 : 3e-3 * fmax(size.x, fmax(size.y, size.z));
    tracer->contact = (float)(scene->contact > 0.0    ? scene->contact
                              : scene->contact == 0.0 ? automatic
                                                      : 0.0);
    if (tracer->opaque != NULL) {
        rtcCommitScene(tracer->opaque);
    }
    if (tracer->clear != NULL) {
        rtcCommitScene(tracer->clear);
    }
    WADI_TRY(embree_status(tracer->device, error));
    tracer->foam_look = wadi_look_foam();
    WADI_TRY(wadi_foam_film_build(&tracer->foam, scene->foam, scene->foam_count, error));
    return wadi_caustics_build(tracer, scene->photons, error);
}

WadiStatus wadi_tracer_create(WadiTracer **tracer, const WadiTraceScene *scene, WadiError *error)
{
    *tracer = NULL;
    WadiTracer *made;
    WADI_TRY(WADI_NEW(&made, 1, "tracer", error));
    WadiStatus status = build(made, scene, error);
    if (status != WADI_OK) {
        wadi_tracer_destroy(made);
        return status;
    }
    *tracer = made;
    return WADI_OK;
}

void wadi_tracer_destroy(WadiTracer *tracer)
{
    if (tracer == NULL) {
        return;
    }
    if (tracer->opaque != NULL) {
        rtcReleaseScene(tracer->opaque);
    }
    if (tracer->clear != NULL) {
        rtcReleaseScene(tracer->clear);
    }
    if (tracer->device != NULL) {
        rtcReleaseDevice(tracer->device);
    }
    for (int p = 0; p < tracer->part_count; ++p) {
        WadiPart *part = &tracer->parts[p];
        wadi_clusters_free(&part->clusters);
        WADI_DELETE((float *)part->normal, 3 * part->vertex_count);
        WADI_DELETE(part->wetness, part->vertex_count);
        WADI_DELETE((float *)part->colour, 3 * part->vertex_count);
        WADI_DELETE((float *)part->texture, 3 * part->vertex_count);
        WADI_DELETE((float *)part->anchor, 3 * part->anchor_count);
        WADI_DELETE(part->anchor_hash, part->anchor_count);
        WADI_DELETE(part->owner, part->vertex_count);
    }
    WADI_DELETE(tracer->parts, (size_t)tracer->part_count);
    WADI_DELETE(tracer->looks, (size_t)tracer->look_count);
    wadi_light_destroy(tracer->light);
    wadi_caustics_free(&tracer->caustics);
    wadi_foam_film_free(&tracer->foam);
    WADI_DELETE(tracer, 1);
}

size_t wadi_tracer_bytes(const WadiTracer *tracer)
{
    size_t bytes = sizeof *tracer + (size_t)atomic_load(&tracer->embree_bytes);
    bytes += tracer->foam.count * sizeof *tracer->foam.patches;
    for (int p = 0; p < tracer->part_count; ++p) {
        const WadiPart *part = &tracer->parts[p];
        size_t floats = (part->normal != NULL ? 3 : 0) + (part->wetness != NULL ? 1 : 0) +
                        (part->colour != NULL ? 3 : 0) + (part->texture != NULL ? 3 : 0) +
                        (part->owner != NULL ? WADI_TRACE_OWNERS : 0);
        bytes += 4 * part->anchor_count * sizeof(float);
        bytes += wadi_clusters_bytes(&part->clusters) + floats * sizeof(float) * part->vertex_count;
    }
    return bytes;
}
