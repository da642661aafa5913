/* Intersection of rays with the scene, and the data for shading. */
#include "render/image/noise.h"
#include "render/image/slabs.h"
#include "render/trace/tracer_internal.h"

enum { GROUND_FAR = 100000000 }; /* m: beyond this the ground is ignored */

static struct RTCRay to_embree(const WadiTraceRay *ray, float far)
{
    return (struct RTCRay){ .org_x = ray->origin.x,
                            .org_y = ray->origin.y,
                            .org_z = ray->origin.z,
                            .dir_x = ray->direction.x,
                            .dir_y = ray->direction.y,
                            .dir_z = ray->direction.z,
                            .time = ray->time,
                            .tfar = far,
                            .mask = UINT32_MAX };
}

static WadiVec3f at_vertex(const float *three)
{
    return wadi_vec3f(three[0], three[1], three[2]);
}

static WadiVec3f mix3(const float (*values)[3], const uint32_t *v, const float weight[3])
{
    WadiVec3f sum = wadi_scalef(at_vertex(values[v[0]]), weight[0]);
    sum = wadi_add_scaledf(sum, at_vertex(values[v[1]]), weight[1]);
    return wadi_add_scaledf(sum, at_vertex(values[v[2]]), weight[2]);
}

/* Whether a triangle lies along an axis, as where a side of the domain cuts sand: the normals of vertices on
 * the edge of such a cut are means over both sides. */
static bool is_cut(const WadiPart *part, WadiVec3f normal)
{
    static const float along = 0.9999f;
    return part->look->kind == WADI_LOOK_SAND &&
           wadi_maxf(fabsf(normal.x), wadi_maxf(fabsf(normal.y), fabsf(normal.z))) > along;
}

static void describe_triangle(const WadiPart *part, const struct RTCRayHit *found, WadiTraceHit *hit)
{
    const uint32_t *v = part->triangles + 3 * (size_t)found->hit.primID;
    float weight[3] = { 1.0f - found->hit.u - found->hit.v, found->hit.u, found->hit.v };
    WadiVec3f p[3];
    for (int k = 0; k < 3; ++k) {
        p[k] = at_vertex(part->start + 3 * (size_t)v[k]);
        if (part->end != part->start) {
            p[k] = wadi_lerpf(p[k], at_vertex(part->end + 3 * (size_t)v[k]), found->ray.time);
        }
    }
    /* From the corners and not along the ray: the error then does not grow with the ray's length. */
    hit->position = wadi_scalef(p[0], weight[0]);
    hit->position = wadi_add_scaledf(hit->position, p[1], weight[1]);
    hit->position = wadi_add_scaledf(hit->position, p[2], weight[2]);
    hit->rest = hit->position;
    if (part->end != part->start) {
        /* The shutter opens and closes symmetrically about the frame's time. */
        hit->rest = wadi_vec3f(0, 0, 0);
        for (int k = 0; k < 3; ++k) {
            WadiVec3f start = at_vertex(part->start + 3 * (size_t)v[k]);
            WadiVec3f middle = wadi_lerpf(start, at_vertex(part->end + 3 * (size_t)v[k]), 0.5f);
            hit->rest = wadi_add_scaledf(hit->rest, middle, weight[k]);
        }
    }
    for (int k = 0; k < 3; ++k) {
        hit->vertex[k] = v[k];
    }
    WadiVec3f cross = wadi_crossf(wadi_subf(p[1], p[0]), wadi_subf(p[2], p[0]));
    hit->normal = wadi_normalizedf_or(cross, wadi_vec3f(0, 0, 1));
    hit->shading = hit->normal;
    if (part->normal != NULL && !is_cut(part, hit->normal)) {
        hit->shading = wadi_normalizedf_or(mix3((const float(*)[3])part->normal, v, weight), hit->normal);
        hit->shading = wadi_dotf(hit->shading, hit->normal) > 0.05f ? hit->shading : hit->normal;
    }
    if (part->colour != NULL) {
        hit->colour = mix3((const float(*)[3])part->colour, v, weight);
    }
    if (part->texture != NULL) {
        WadiVec3f t = mix3((const float(*)[3])part->texture, v, weight);
        hit->colour = wadi_look_colour(part->look, wadi_vec3((double)t.x, (double)t.y, (double)t.z));
    }
    if (part->wetness != NULL) {
        hit->wetness = weight[0] * part->wetness[v[0]] + weight[1] * part->wetness[v[1]] +
                       weight[2] * part->wetness[v[2]];
    }
}

static void describe_sphere(const WadiPart *part, const struct RTCRayHit *found, const WadiTraceRay *ray,
                            WadiTraceHit *hit)
{
    size_t c = found->hit.primID;
    int k = (int)found->hit.u;
    float time = part->tracer->open + ray->time * part->tracer->span;
    WadiVec3f center = wadi_cluster_center(&part->clusters, c, k, time);
    WadiVec3f along = wadi_add_scaledf(wadi_subf(ray->origin, center), ray->direction, found->ray.tfar);
    hit->normal = wadi_normalizedf_or(along, wadi_vec3f(0, 0, 1));
    hit->position = wadi_add_scaledf(center, hit->normal, part->clusters.cluster[c].radius[k]);
    if (part->clusters.shapes != NULL) {
        hit->position = wadi_addf(center, along);
        hit->normal = wadi_cluster_normal(&part->clusters, c, k, along);
    }
    hit->shading = hit->normal;
    if (part->clusters.colour != NULL) {
        WadiTraceColour colour = part->clusters.colour[c][k];
        const float *linear = part->tracer->linear_of_byte;
        hit->colour = wadi_vec3f(linear[colour.red], linear[colour.green], linear[colour.blue]);
        hit->wetness = (float)colour.wetness / 255.0f;
    }
}

static void describe(const WadiTracer *tracer, const struct RTCRayHit *found, const WadiTraceRay *ray,
                     WadiTraceHit *hit)
{
    const WadiPart *part = &tracer->parts[found->hit.geomID];
    *hit = (WadiTraceHit){
        .distance = found->ray.tfar, .look = part->look, .colour = part->look->colour, .part = part
    };
    if (part->is_spheres) {
        describe_sphere(part, found, ray, hit);
    } else {
        describe_triangle(part, found, hit);
    }
}

static bool is_in_pit(const WadiTracer *tracer, float x, float y)
{
    return tracer->ground.has_pit && x > tracer->pit_low[0] && x < tracer->pit_high[0] &&
           y > tracer->pit_low[1] && y < tracer->pit_high[1];
}

/* The height of the ground at p, relative to the origin. */
static float height_at(const WadiTracer *tracer, WadiVec3f p)
{
    return is_in_pit(tracer, p.x, p.y) ? tracer->pit_low[2] : tracer->ground_height;
}

/* INFINITY when the ray misses the ground. */
static float ground_distance(const WadiTracer *tracer, const WadiTraceRay *ray)
{
    if (!tracer->ground.is_present || ray->direction.z == 0.0f) {
        return INFINITY;
    }
    float t = (tracer->ground_height - ray->origin.z) / ray->direction.z;
    if (tracer->ground.has_pit) {
        const WadiVec3f p = wadi_add_scaledf(ray->origin, ray->direction, t > 0.0f ? t : 0.0f);
        if (is_in_pit(tracer, p.x, p.y)) { /* down to its floor, or up and out of it */
            t = ray->direction.z < 0.0f ? (tracer->pit_low[2] - ray->origin.z) / ray->direction.z : INFINITY;
        }
    }
    return t > 0.0f && t < (float)GROUND_FAR ? t : INFINITY;
}

/* The normal of a sea: slopes of noise in octaves, less where they are too far away to be told apart. */
static WadiVec3f wave_normal(const WadiTracer *tracer, const WadiLook *look, WadiVec3f p, float distance)
{
    const double step = 0.05;
    double x = (double)p.x + tracer->origin.x, y = (double)p.y + tracer->origin.y, slope[2] = { 0.0, 0.0 };
    for (int octave = 0; octave < 4; ++octave) {
        double length = (double)look->waves / (double)(1 << octave),
               seen = fmin(1.0, 150.0 * length / (double)distance);
        WadiVec3 at = wadi_vec3(x / length, 0.5 * y / length, 0.37 * octave);
        double here = wadi_value_noise(at, 41 + (uint64_t)octave);
        slope[0] += seen * 0.07 / step *
                    (wadi_value_noise(wadi_vec3(at.x + step, at.y, at.z), 41 + (uint64_t)octave) - here);
        slope[1] += seen * 0.035 / step *
                    (wadi_value_noise(wadi_vec3(at.x, at.y + step, at.z), 41 + (uint64_t)octave) - here);
    }
    return wadi_normalizedf_or(wadi_vec3f((float)-slope[0], (float)-slope[1], 1.0f), wadi_vec3f(0, 0, 1));
}

/* The slab under p, averaged over about a pixel, which a flat view stretches away from the eye. */
static WadiRgb slab_colour(const WadiTracer *tracer, const WadiTraceRay *ray, WadiVec3f p, float distance)
{
    static const double pixel = 1e-3;
    const WadiVec3f d = ray->direction;
    const double wide = pixel * (double)distance, stretch = 1.0 / fmax(fabs((double)d.z), 1e-4) - 1.0,
                 level = fmax(hypot((double)d.x, (double)d.y), 1e-6);
    const double width[2] = { wide * (1.0 + stretch * fabs((double)d.x) / level),
                              wide * (1.0 + stretch * fabs((double)d.y) / level) };
    return wadi_slabs_colour(&tracer->ground.look, (double)p.x + tracer->origin.x,
                             (double)p.y + tracer->origin.y, width);
}

static void describe_ground(const WadiTracer *tracer, const WadiTraceRay *ray, float distance,
                            WadiTraceHit *hit)
{
    const WadiLook *look = &tracer->ground.look;
    WadiVec3f p = wadi_add_scaledf(ray->origin, ray->direction, distance);
    p.z = height_at(tracer, p);
    *hit = (WadiTraceHit){ .distance = distance,
                           .position = p,
                           .rest = p,
                           .normal = { 0.0f, 0.0f, 1.0f },
                           .shading = { 0.0f, 0.0f, 1.0f },
                           .look = look,
                           .wetness = tracer->ground.wetness,
                           .colour = look->colour };
    if (look->waves > 0.0f) {
        hit->shading = wave_normal(tracer, look, p, distance);
    }
    if (look->texture == WADI_LOOK_TEXTURE_SLABS) {
        hit->colour = slab_colour(tracer, ray, p, distance);
    } else if (look->texture != WADI_LOOK_TEXTURE_NONE) {
        /* In the middle of a layer of cubes, so that rounding does not choose between two. */
        hit->colour = wadi_look_colour(look, wadi_vec3((double)p.x + tracer->texture_offset[0],
                                                       (double)p.y + tracer->texture_offset[1],
                                                       0.5 * (double)look->texture_size));
    }
}

static bool nearest_in(RTCScene scene, const WadiTraceRay *ray, float far, struct RTCRayHit *found)
{
    if (scene == NULL) {
        return false;
    }
    found->ray = to_embree(ray, far);
    found->hit = (struct RTCHit){ .geomID = RTC_INVALID_GEOMETRY_ID };
    found->hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    wadi_embree_intersect(scene, found);
    return found->hit.geomID != RTC_INVALID_GEOMETRY_ID;
}

bool wadi_tracer_nearest_clear(const WadiTracer *tracer, const WadiTraceRay *ray, float far,
                               WadiTraceHit *hit)
{
    struct RTCRayHit found;
    if (!nearest_in(tracer->clear, ray, far, &found)) {
        return false;
    }
    describe(tracer, &found, ray, hit);
    return true;
}

/* Where water ends just in front of an opaque surface there is no air between them [theory 12.2]: the opaque
 * surface is hit at the water's face, from inside the water. */
static bool is_touching(const WadiTracer *tracer, const WadiTraceHit *water, const WadiTraceRay *ray,
                        float far)
{
    float cosine = wadi_dotf(water->normal, ray->direction);
    return water->look->kind == WADI_LOOK_WATER && cosine > 0.0f &&
           (far - water->distance) * cosine < tracer->contact;
}

bool wadi_tracer_nearest(const WadiTracer *tracer, const WadiTraceRay *ray, WadiTraceHit *hit)
{
    float ground = ground_distance(tracer, ray);
    struct RTCRayHit opaque, clear;
    bool has_opaque = nearest_in(tracer->opaque, ray, ground, &opaque);
    float far = has_opaque ? opaque.ray.tfar : ground;
    WadiTraceHit water = { 0 };
    if (nearest_in(tracer->clear, ray, far, &clear)) {
        describe(tracer, &clear, ray, hit);
        if (!is_touching(tracer, hit, ray, far)) {
            return true;
        }
        water = *hit;
    }
    if (has_opaque) {
        describe(tracer, &opaque, ray, hit);
    } else if (ground < INFINITY) {
        describe_ground(tracer, ray, ground, hit);
    } else {
        return false;
    }
    if (water.look != NULL) {
        hit->distance = water.distance;
        hit->position = water.position;
        hit->touching = water.look;
    }
    return true;
}

bool wadi_tracer_is_blocked(const WadiTracer *tracer, const WadiTraceRay *ray)
{
    if (ground_distance(tracer, ray) < INFINITY) {
        return true;
    }
    if (tracer->opaque == NULL) {
        return false;
    }
    struct RTCRay query = to_embree(ray, INFINITY);
    wadi_embree_occluded(tracer->opaque, &query);
    return query.tfar < 0.0f;
}

WadiVec3f wadi_tracer_offset(const WadiTraceHit *hit, WadiVec3f direction)
{
    WadiVec3f p = hit->position;
    float largest = wadi_maxf(fabsf(p.x), wadi_maxf(fabsf(p.y), fabsf(p.z)));
    /* 16 units in the last place of the largest coordinate. */
    float step = 0x1p-19f * largest + 1e-12f;
    return wadi_add_scaledf(p, hit->normal, wadi_dotf(direction, hit->normal) < 0.0f ? -step : step);
}
