/* Light along one ray: a path from the eye that at every rough surface asks the sun and the surround for their light and goes on
 * in a direction drawn from the surface, the two ways weighted [V97 sec. 9.2, power heuristic].
 *
 * Sunlight through water goes straight: a shadow ray passes water, loses what its surfaces reflect and what the way absorbs, and
 * is not bent. So the sand under water is lit without the noise of caustics, and without caustics. On a level bed under level
 * water this is exact: the bed gets the flux that enters. Light of the surround is bent as it is. In exchange a path that came
 * from a rough surface does not see the sun at its end unless it came straight.
 *
 * Radiance divided by the square of the index is what a path carries, which refraction keeps [V97 sec. 5.2]: so nothing is
 * multiplied at a boundary, but sunlight that is asked for from under water is divided. */
#include "render/trace/bsdf.h"
#include "render/trace/sampler.h"
#include "render/trace/tracer_internal.h"

enum { ROUGH_COST = 4, SMOOTH_COST = 1, CLEAR_MAX = 32, ROULETTE_AFTER = 3 };

typedef struct Path {
    const WadiTracer *tracer;
    const WadiTraceQuality *quality;
    WadiSampler *sampler;
    WadiTraceRay ray;
    const WadiLook *medium; /* water that the ray is in; NULL: air */
    WadiRgb throughput;
    float
        pdf; /* with which the direction was drawn at the last rough surface; 0: none before, or not straight from it */
    bool has_rough; /* a rough surface was met */
    bool is_direct; /* neither reflected nor scattered yet: what is seen is the backdrop */
    int bounces;    /* rough ones */
    WadiRgb light;
} Path;

static WadiRgb transmitted(const WadiLook *look, float way)
{
    WadiRgb a = look->absorption;
    return wadi_vec3f(expf(-a.x * way), expf(-a.y * way), expf(-a.z * way));
}

/* A sheet reflects at both faces, again and again. */
static float sheet_reflectance(float cosine, float index)
{
    float f = wadi_fresnel(cosine, index);
    return 2.0f * f / (1.0f + f);
}

static float weight_of(float pdf, float other)
{
    float a = pdf * pdf, b = other * other;
    return a > 0.0f ? a / (a + b) : 0.0f;
}

static void add_light(Path *path, WadiRgb light)
{
    if (!wadi_is_finitef(light)) {
        return;
    }
    float limit = (float)path->quality->clamp, largest = wadi_largestf(light);
    if (limit > 0.0f && !path->is_direct && largest > limit) {
        light = wadi_scalef(light, limit / largest);
    }
    path->light = wadi_addf(path->light, light);
}

/* What is left of light that comes straight along the ray from outside. *is_bent: it passed water. */
static WadiRgb straight_light(const Path *path, WadiTraceRay ray, bool *is_bent)
{
    *is_bent = false;
    if (wadi_tracer_is_blocked(path->tracer, &ray)) {
        return wadi_grey(0.0f);
    }
    WadiRgb left = wadi_grey(1.0f);
    const WadiLook *medium = path->medium;
    for (int n = 0; path->tracer->clear != NULL; ++n) {
        WadiTraceHit hit;
        if (!wadi_tracer_nearest_clear(path->tracer, &ray, INFINITY, &hit)) {
            break;
        }
        float cosine = wadi_dotf(ray.direction, hit.normal);
        if (hit.look->kind == WADI_LOOK_GLASS) {
            left =
                wadi_scalef(wadi_mulf(left, hit.colour), 1.0f - sheet_reflectance(cosine, hit.look->index));
            left = medium != NULL ? wadi_mulf(left, transmitted(medium, hit.distance)) : left;
        } else {
            /* The direction is that in the air, so the loss is that from outside, on either face. */
            left = wadi_scalef(left, 1.0f - wadi_fresnel(cosine, hit.look->index));
            left = cosine > 0.0f ? wadi_mulf(left, transmitted(hit.look, hit.distance)) : left;
            medium = cosine > 0.0f ? NULL : hit.look;
            *is_bent = true;
        }
        if (n >= CLEAR_MAX || wadi_largestf(left) < 1e-4f) {
            return wadi_grey(0.0f);
        }
        ray.origin = wadi_tracer_leave(&hit, ray.direction);
    }
    return left;
}

typedef struct Frame {
    WadiVec3f s, t, n;
} Frame;

static WadiVec3f to_local(const Frame *f, WadiVec3f v)
{
    return wadi_vec3f(wadi_dotf(v, f->s), wadi_dotf(v, f->t), wadi_dotf(v, f->n));
}

static WadiVec3f to_world(const Frame *f, WadiVec3f v)
{
    return wadi_add_scaledf(wadi_add_scaledf(wadi_scalef(f->s, v.x), f->t, v.y), f->n, v.z);
}

/* Light that one of the two sends to a rough surface, for one direction drawn from it. */
static void ask_light(Path *path, const WadiTraceHit *hit, const WadiBsdf *bsdf, const Frame *frame,
                      WadiVec3f out, bool is_sun, bool is_last)
{
    const WadiLight *light = path->tracer->light;
    float u[2], pdf, bsdf_pdf;
    WadiRgb shine;
    wadi_sampler_next2(path->sampler, u);
    WadiVec3f direction = is_sun ? wadi_light_sample_sun(light, u, &shine, &pdf)
                                 : wadi_light_sample_surround(light, u, &shine, &pdf);
    WadiRgb value = wadi_bsdf_eval(bsdf, out, to_local(frame, direction), &bsdf_pdf);
    if (!(pdf > 0.0f) || wadi_largestf(value) <= 0.0f || wadi_dotf(direction, hit->normal) <= 0.0f) {
        return;
    }
    WadiTraceRay ray = { wadi_tracer_leave(hit, direction), direction, path->ray.time };
    bool is_bent;
    WadiRgb left = straight_light(path, ray, &is_bent);
    if (is_bent && !is_sun) {
        return; /* the surround is seen through water by paths that are bent */
    }
    float weight = is_last || is_bent ? 1.0f : weight_of(pdf, bsdf_pdf);
    if (is_bent && path->medium != NULL) {
        weight /= path->medium->index * path->medium->index;
    }
    WadiRgb light_in = wadi_scalef(wadi_mulf(wadi_mulf(value, shine), left), weight / pdf);
    add_light(path, wadi_mulf(path->throughput, light_in));
}

/* The end of a path that met nothing. */
static void see_surround(Path *path)
{
    const WadiLight *light = path->tracer->light;
    WadiVec3f d = path->ray.direction;
    WadiRgb surround = path->is_direct ? wadi_light_backdrop(light, d) : wadi_light_surround(light, d);
    if (path->pdf > 0.0f) {
        surround = wadi_scalef(surround, weight_of(path->pdf, wadi_light_pdf_surround(light, d)));
    }
    add_light(path, wadi_mulf(path->throughput, surround));
    if (!path->has_rough || path->pdf > 0.0f) {
        WadiRgb sun = wadi_light_sun(light, d);
        float weight = path->has_rough ? weight_of(path->pdf, wadi_light_pdf_sun(light, d)) : 1.0f;
        add_light(path, wadi_mulf(path->throughput, wadi_scalef(sun, weight)));
    }
}

static WadiVec3f mirrored(WadiVec3f d, WadiVec3f n)
{
    return wadi_add_scaledf(d, n, -2.0f * wadi_dotf(d, n));
}

/* Smooth water: reflected or refracted, one of the two. */
static void meet_water(Path *path, const WadiTraceHit *hit)
{
    WadiVec3f d = path->ray.direction;
    bool is_leaving = wadi_dotf(d, hit->normal) > 0.0f;
    float side = is_leaving ? -1.0f : 1.0f;
    WadiVec3f geometric = wadi_scalef(hit->normal, side), n = wadi_scalef(hit->shading, side);
    if (wadi_dotf(d, n) >= -1e-3f) { /* the smooth normal is turned away: the triangle's */
        n = geometric;
    }
    float index = is_leaving ? 1.0f / hit->look->index : hit->look->index;
    float cosine = wadi_minf(-wadi_dotf(d, n), 1.0f), reflected = wadi_fresnel(cosine, index);
    if (wadi_sampler_next(path->sampler) < reflected) {
        WadiVec3f way = mirrored(d, n);
        path->ray.direction = wadi_dotf(way, geometric) > 0.0f ? way : mirrored(d, geometric);
        path->is_direct = false;
        path->medium = is_leaving ? hit->look : NULL;
    } else {
        float across = (1.0f - cosine * cosine) / (index * index),
              down = sqrtf(wadi_maxf(1.0f - across, 0.0f));
        WadiVec3f way = wadi_add_scaledf(wadi_scalef(d, 1.0f / index), n, cosine / index - down);
        path->ray.direction = wadi_dotf(way, geometric) < 0.0f ? way : d;
        path->medium = is_leaving ? NULL : hit->look;
    }
    path->ray.direction = wadi_normalizedf_or(path->ray.direction, d);
    path->pdf = 0.0f;
}

static void meet_glass(Path *path, const WadiTraceHit *hit)
{
    WadiVec3f d = path->ray.direction;
    if (wadi_sampler_next(path->sampler) < sheet_reflectance(wadi_dotf(d, hit->normal), hit->look->index)) {
        path->ray.direction = wadi_normalizedf_or(mirrored(d, hit->normal), d);
        path->is_direct = false;
        path->pdf = 0.0f;
    } else { /* straight on, and a light drawn from the surface before comes the same way: pdf stays */
        path->throughput = wadi_mulf(path->throughput, hit->colour);
    }
}

/* A rough surface: ask the lights, draw a direction. false: the path ends. */
static bool meet_rough(Path *path, WadiTraceHit *hit, bool is_last)
{
    WadiVec3f d = path->ray.direction;
    if (wadi_dotf(d, hit->normal) > 0.0f) { /* seen from inside or behind */
        hit->normal = wadi_scalef(hit->normal, -1.0f);
        hit->shading = wadi_scalef(hit->shading, -1.0f);
    }
    if (wadi_dotf(d, hit->shading) >= -1e-4f) {
        hit->shading = hit->normal;
    }
    float outside = path->medium != NULL ? path->medium->index : 1.0f;
    WadiBsdf bsdf = wadi_bsdf_of_look(hit->look, hit->colour, hit->wetness, outside);
    Frame frame = { .n = hit->shading };
    wadi_framef(frame.n, &frame.s, &frame.t);
    WadiVec3f out = to_local(&frame, wadi_scalef(d, -1.0f));
    bool asks_sun = wadi_light_has_sun(path->tracer->light), asks_surround = true;
    if (is_last && asks_sun && path->bounces > 0) { /* one of the two, by lot, where it hardly shows */
        asks_sun = wadi_sampler_next(path->sampler) < 0.5f;
        asks_surround = !asks_sun;
        path->throughput = wadi_scalef(path->throughput, 2.0f);
    }
    if (asks_sun) {
        ask_light(path, hit, &bsdf, &frame, out, true, is_last);
    }
    if (asks_surround) {
        ask_light(path, hit, &bsdf, &frame, out, false, is_last);
    }
    path->has_rough = true;
    ++path->bounces;
    if (is_last) {
        return false;
    }
    float u[3];
    wadi_sampler_next2(path->sampler, u);
    u[2] = wadi_sampler_next(path->sampler);
    WadiVec3f in = wadi_bsdf_sample(&bsdf, out, u);
    WadiRgb value = wadi_bsdf_eval(&bsdf, out, in, &path->pdf);
    path->ray.direction = wadi_normalizedf_or(to_world(&frame, in), hit->normal);
    path->is_direct = false;
    if (!(path->pdf > 0.0f) || wadi_dotf(path->ray.direction, hit->normal) <= 0.0f) {
        return false;
    }
    path->throughput = wadi_scalef(wadi_mulf(path->throughput, value), 1.0f / path->pdf);
    if (path->bounces >= ROULETTE_AFTER) {
        float stay = wadi_minf(wadi_largestf(path->throughput), 0.95f);
        if (!(wadi_sampler_next(path->sampler) < stay)) {
            return false;
        }
        path->throughput = wadi_scalef(path->throughput, 1.0f / stay);
    }
    return true;
}

WadiPathSample wadi_trace_path(const WadiTracer *tracer, WadiTraceRay ray, const WadiLook *medium,
                               const WadiTraceQuality *quality, WadiSampler *sampler)
{
    WadiPathSample sample = { .albedo = { 1.0f, 1.0f, 1.0f } };
    Path path = { .tracer = tracer,
                  .quality = quality,
                  .sampler = sampler,
                  .ray = ray,
                  .medium = medium,
                  .throughput = { 1.0f, 1.0f, 1.0f },
                  .is_direct = true };
    bool is_lost = true; /* among smooth surfaces, when its depth is used up */
    for (int left = ROUGH_COST * quality->depth, n = 0; left > 0; ++n) {
        WadiTraceHit hit;
        if (!wadi_tracer_nearest(tracer, &path.ray, &hit)) {
            see_surround(&path);
            is_lost = false;
            break;
        }
        bool is_water = hit.look->kind == WADI_LOOK_WATER;
        bool is_rough = !is_water && hit.look->kind != WADI_LOOK_GLASS;
        if (n == 0 ||
            (is_rough && path.is_direct)) { /* of what is under water or behind glass, not of these */
            bool is_behind = wadi_dotf(hit.shading, path.ray.direction) > 0.0f;
            sample.distance += hit.distance;
            sample.normal = is_behind ? wadi_scalef(hit.shading, -1.0f) : hit.shading;
            sample.albedo = is_rough ? hit.colour : wadi_grey(1.0f);
        }
        /* The side of the surface that was met is the truth; what the path remembers may be wrong where water touches a wall. */
        if (is_water) {
            path.medium = wadi_dotf(path.ray.direction, hit.normal) > 0.0f ? hit.look : NULL;
        }
        if (hit.touching != NULL) {
            path.medium = hit.touching;
        }
        if (path.medium != NULL) {
            path.throughput = wadi_mulf(path.throughput, transmitted(path.medium, hit.distance));
        }
        left -= is_rough ? ROUGH_COST : SMOOTH_COST;
        if (is_water) {
            meet_water(&path, &hit);
        } else if (!is_rough) {
            meet_glass(&path, &hit);
        } else if (!meet_rough(&path, &hit, left <= 0)) {
            is_lost = false;
            break;
        }
        path.ray.origin = wadi_tracer_leave(&hit, path.ray.direction);
    }
    if (is_lost) {
        /* Light in water is not black: the surround in this direction is a better guess of what would have come. */
        WadiRgb guess = wadi_light_surround(tracer->light, path.ray.direction);
        add_light(&path, wadi_mulf(path.throughput, guess));
    }
    sample.light = path.light;
    return sample;
}
