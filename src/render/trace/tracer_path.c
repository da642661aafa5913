/* Light along one ray: a path from the eye that samples the sun and the surround at every rough surface and
 * continues in a direction sampled from the surface, the two estimates combined by multiple importance
 * sampling [V97 sec. 9.2, power heuristic].
 *
 * Sunlight passes water in a straight line, attenuated but not refracted; light of the surround is refracted
 * [theory 12.1]. In exchange, a path from a rough surface sees the sun only if it was not refracted.
 *
 * A path carries radiance divided by the squared index, which refraction preserves [V97 sec. 5.2]: no factor
 * at a boundary, but sunlight sampled from under water is divided by it. */
#include "render/trace/bsdf.h"
#include "render/trace/sampler.h"
#include "render/trace/tracer_internal.h"

enum { ROUGH_COST = 4, SMOOTH_COST = 1, CLEAR_MAX = 32, ROULETTE_AFTER = 3, BRANCHES_MAX = 3 };
/* A path that is nearly all reflected is not split. */
static const float SPLIT_BELOW = 0.999f;

typedef struct Path {
    const WadiTracer *tracer;
    const WadiTraceQuality *quality;
    WadiSampler *sampler;
    WadiTraceRay ray;
    const WadiLook *medium; /* water that the ray is in; NULL: air */
    float spread, distance; /* of a pixel at distance 1; m, travelled so far */
    WadiRgb throughput;
    /* probability density of the direction at the last rough surface; 0: none before, or not straight from
     * it */
    float pdf;
    bool has_rough; /* a rough surface was hit */
    bool is_direct; /* neither reflected nor scattered yet: the backdrop is visible */
    int bounces;    /* at rough surfaces */
    WadiRgb light;
} Path;

static WadiRgb transmitted(const WadiLook *look, float distance)
{
    WadiRgb a = look->absorption;
    return wadi_vec3f(expf(-a.x * distance), expf(-a.y * distance), expf(-a.z * distance));
}

/* A sheet reflects at both faces, repeatedly. */
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

/* The part of water's surface that foam covers at a hit. */
static float foam_cover(const Path *path, const WadiTraceHit *hit)
{
    return wadi_foam_film_cover(&path->tracer->foam, hit->rest, hit->normal, path->spread * path->distance);
}

/* Transmittance of a straight shadow ray. *is_bent: it passed water. */
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
            /* The ray has its direction in air, so that the loss is that from outside at either face. */
            left = wadi_scalef(left, 1.0f - wadi_fresnel(cosine, hit.look->index));
            left = wadi_scalef(left, 1.0f - foam_cover(path, &hit));
            left = cosine > 0.0f ? wadi_mulf(left, transmitted(hit.look, hit.distance)) : left;
            medium = cosine > 0.0f ? NULL : hit.look;
            *is_bent = true;
        }
        if (n >= CLEAR_MAX || wadi_largestf(left) < 1e-4f) {
            return wadi_grey(0.0f);
        }
        ray.origin = wadi_tracer_offset(&hit, ray.direction);
    }
    return left;
}

/* A way through a liquid: part of the light is absorbed, part is scattered away, and light scattered towards
 * the eye is added as if the liquid were open to the sky everywhere [theory 12.4]. */
static void pass_medium(Path *path, float distance)
{
    const WadiLook *look = path->medium;
    WadiRgb left = transmitted(look, distance);
    if (look->haze > 0.0f) {
        WadiRgb a = look->absorption;
        float k = look->haze, passed = expf(-k * distance);
        left = wadi_scalef(left, passed);
        WadiRgb share = { k / (k + a.x) * (1.0f - left.x), k / (k + a.y) * (1.0f - left.y),
                          k / (k + a.z) * (1.0f - left.z) };
        WadiRgb glow = wadi_mulf(wadi_mulf(look->haze_colour, path->tracer->level), share);
        add_light(path, wadi_mulf(path->throughput, glow));
    }
    path->throughput = wadi_mulf(path->throughput, left);
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

/* Adds the light of the sun or the surround at a rough surface, for one sampled direction. */
static void sample_light(Path *path, const WadiTraceHit *hit, WadiBsdf *bsdf, const Frame *frame,
                         WadiVec3f out, bool is_sun, bool is_last)
{
    const WadiLight *light = path->tracer->light;
    float u[2], pdf, bsdf_pdf;
    WadiRgb radiance;
    wadi_sampler_next2(path->sampler, u);
    WadiVec3f direction = is_sun ? wadi_light_sample_sun(light, u, &radiance, &pdf)
                                 : wadi_light_sample_surround(light, u, &radiance, &pdf);
    bsdf->sparkle = is_sun && bsdf->grain != NULL ? hit->look->sparkle : 0.0f;
    WadiRgb value = wadi_bsdf_eval(bsdf, out, to_local(frame, direction), &bsdf_pdf);
    bsdf->sparkle = 0.0f;
    if (!(pdf > 0.0f) || wadi_largestf(value) <= 0.0f || wadi_dotf(direction, hit->normal) <= 0.0f) {
        return;
    }
    WadiTraceRay ray = { wadi_tracer_offset(hit, direction), direction, path->ray.time };
    bool is_bent;
    WadiRgb left = straight_light(path, ray, &is_bent);
    if (is_bent && (!is_sun || path->tracer->caustics.count > 0)) {
        return; /* through water the surround is reached by refracted paths, the sun by photons */
    }
    float weight = is_last || is_bent ? 1.0f : weight_of(pdf, bsdf_pdf);
    if (is_bent && path->medium != NULL) {
        weight /= path->medium->index * path->medium->index;
    }
    WadiRgb light_in = wadi_scalef(wadi_mulf(wadi_mulf(value, radiance), left), weight / pdf);
    add_light(path, wadi_mulf(path->throughput, light_in));
}

/* Adds the sunlight that arrives through water. */
static void add_caustics(Path *path, const WadiTraceHit *hit, const WadiBsdf *bsdf, const Frame *frame,
                         WadiVec3f out)
{
    WadiVec3f direction;
    WadiRgb light = wadi_caustics_light(&path->tracer->caustics, hit->position, hit->normal, &direction);
    if (wadi_largestf(light) <= 0.0f) {
        return;
    }
    WadiVec3f in = to_local(frame, direction);
    float pdf, index = path->medium != NULL ? path->medium->index : 1.0f;
    WadiRgb value = wadi_scalef(wadi_bsdf_eval(bsdf, out, in, &pdf), 1.0f / wadi_maxf(in.z, 0.05f));
    add_light(path,
              wadi_scalef(wadi_mulf(path->throughput, wadi_mulf(value, light)), 1.0f / (index * index)));
}

/* The end of a path that left the scene. */
static void add_surround(Path *path)
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

/* Air between the eye and a far ground: it takes the colour of the sky at the horizon. */
static void add_air(Path *path, float distance)
{
    static const float thin = 4e-4f; /* nothing is seen of thinner air */
    const float depth = distance / path->tracer->air;
    if (depth < thin) {
        return;
    }
    float left = expf(-depth);
    WadiVec3f level = path->ray.direction;
    level.z = 0.01f;
    WadiRgb horizon = wadi_light_backdrop(path->tracer->light, wadi_normalizedf_or(level, level));
    add_light(path, wadi_scalef(wadi_mulf(path->throughput, horizon), 1.0f - left));
    path->throughput = wadi_scalef(path->throughput, left);
}

static WadiVec3f mirrored(WadiVec3f d, WadiVec3f n)
{
    return wadi_add_scaledf(d, n, -2.0f * wadi_dotf(d, n));
}

/* Branches of a path, followed after it. */
typedef struct Branches {
    struct {
        Path path;
        int left; /* as in follow(); -1: all its light is there */
    } branch[BRANCHES_MAX];
    int count, left;
} Branches;

/* Whether the light that the eye sees here is split in two instead of drawn at random: few paths a pixel
 * would speckle. */
static bool is_split(const Path *path, const Branches *branches, float fraction)
{
    return path->is_direct && branches != NULL && branches->count < BRANCHES_MAX && fraction > 0.0f &&
           fraction < SPLIT_BELOW;
}

/* Adds a branch with this fraction of the light; the path keeps the rest. */
static Path *add_branch(Path *path, Branches *branches, float fraction)
{
    Path *branch = &branches->branch[branches->count].path;
    *branch = *path;
    branch->light = wadi_grey(0.0f);
    branch->throughput = wadi_scalef(path->throughput, fraction);
    path->throughput = wadi_scalef(path->throughput, 1.0f - fraction);
    branches->branch[branches->count++].left = branches->left;
    return branch;
}

static void start_at(Path *path, const WadiTraceHit *hit)
{
    path->ray.origin = wadi_tracer_offset(hit, path->ray.direction);
}

/* Smooth water: the path is reflected, refracted, or both. */
static void scatter_water(Path *path, const WadiTraceHit *hit, Branches *branches)
{
    WadiVec3f d = path->ray.direction;
    bool is_leaving = wadi_dotf(d, hit->normal) > 0.0f;
    float side = is_leaving ? -1.0f : 1.0f;
    WadiVec3f geometric = wadi_scalef(hit->normal, side), n = wadi_scalef(hit->shading, side);
    if (wadi_dotf(d, n) >= -1e-3f) { /* the smooth normal faces away: use the triangle's */
        n = geometric;
    }
    float index = is_leaving ? 1.0f / hit->look->index : hit->look->index;
    float cosine = wadi_minf(-wadi_dotf(d, n), 1.0f), reflected = wadi_fresnel(cosine, index);
    const bool has_both = is_split(path, branches, reflected);
    Path *mirror = has_both ? add_branch(path, branches, reflected) : path;
    path->pdf = mirror->pdf = 0.0f;
    const bool is_reflected = !has_both && wadi_sampler_next(path->sampler) < reflected;
    if (has_both || is_reflected) {
        WadiVec3f reflection = mirrored(d, n);
        reflection = wadi_dotf(reflection, geometric) > 0.0f ? reflection : mirrored(d, geometric);
        mirror->ray.direction = wadi_normalizedf_or(reflection, d);
        mirror->is_direct = false;
        mirror->medium = is_leaving ? hit->look : NULL;
        start_at(mirror, hit);
    }
    if (is_reflected) {
        return;
    }
    float across = (1.0f - cosine * cosine) / (index * index), down = sqrtf(wadi_maxf(1.0f - across, 0.0f));
    WadiVec3f refraction = wadi_add_scaledf(wadi_scalef(d, 1.0f / index), n, cosine / index - down);
    path->ray.direction = wadi_normalizedf_or(wadi_dotf(refraction, geometric) < 0.0f ? refraction : d, d);
    path->medium = is_leaving ? NULL : hit->look;
}

static void scatter_glass(Path *path, const WadiTraceHit *hit, Branches *branches)
{
    WadiVec3f d = path->ray.direction;
    WadiVec3f reflection = mirrored(d, hit->shading);
    /* The reflection must stay on the side it came from. */
    bool is_smooth = wadi_dotf(reflection, hit->normal) * wadi_dotf(d, hit->normal) < 0.0f;
    WadiVec3f n = is_smooth ? hit->shading : hit->normal;
    const float reflected = sheet_reflectance(wadi_dotf(d, n), hit->look->index);
    const bool has_both = is_split(path, branches, reflected);
    Path *mirror = has_both ? add_branch(path, branches, reflected) : path;
    const bool is_reflected = !has_both && wadi_sampler_next(path->sampler) < reflected;
    if (has_both || is_reflected) {
        mirror->ray.direction = wadi_normalizedf_or(mirrored(d, n), d);
        mirror->is_direct = false;
        mirror->pdf = 0.0f;
        start_at(mirror, hit);
    }
    if (!is_reflected) {
        /* Straight on: the pdf stays, since a light sample of the last surface takes the same line. */
        path->throughput = wadi_mulf(path->throughput, hit->colour);
    }
}

/* A rough surface: samples the lights and a new direction. False: the path ends. */
static bool scatter_rough(Path *path, WadiTraceHit *hit, bool is_last)
{
    WadiVec3f d = path->ray.direction;
    if (wadi_dotf(d, hit->normal) > 0.0f) { /* hit from inside or behind */
        hit->normal = wadi_scalef(hit->normal, -1.0f);
        hit->shading = wadi_scalef(hit->shading, -1.0f);
    }
    if (wadi_dotf(d, hit->shading) >= -1e-4f) {
        hit->shading = hit->normal;
    }
    float outside = path->medium != NULL ? path->medium->index : 1.0f;
    WadiBsdfGrain grain;
    bool has_grain = false;
    if (hit->look->grain_size > 0.0f && !path->has_rough && (hit->part == NULL || !hit->part->is_spheres)) {
        float u = wadi_sampler_next(path->sampler);
        has_grain = wadi_tracer_find_grain(path->tracer, hit, d, path->spread * path->distance, u, &grain);
    }
    WadiBsdf bsdf = wadi_bsdf_of_look(hit->look, hit->colour, hit->wetness, outside);
    bsdf.grain = has_grain ? &grain : NULL;
    Frame frame = { .n = hit->shading };
    wadi_framef(frame.n, &frame.s, &frame.t);
    WadiVec3f out = to_local(&frame, wadi_scalef(d, -1.0f));
    bool is_sun_sampled = wadi_light_has_sun(path->tracer->light), is_surround_sampled = true;
    /* one of the two at random, where the noise hardly shows */
    if (is_last && is_sun_sampled && path->bounces > 0) {
        is_sun_sampled = wadi_sampler_next(path->sampler) < 0.5f;
        is_surround_sampled = !is_sun_sampled;
        path->throughput = wadi_scalef(path->throughput, 2.0f);
    }
    if (is_sun_sampled) {
        sample_light(path, hit, &bsdf, &frame, out, true, is_last);
        if (path->tracer->caustics.count > 0 && hit->look != &path->tracer->foam_look) {
            add_caustics(path, hit, &bsdf, &frame, out);
        }
    }
    if (is_surround_sampled) {
        sample_light(path, hit, &bsdf, &frame, out, false, is_last);
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
        float survival = wadi_minf(wadi_largestf(path->throughput), 0.95f);
        if (!(wadi_sampler_next(path->sampler) < survival)) {
            return false;
        }
        path->throughput = wadi_scalef(path->throughput, 1.0f / survival);
    }
    return true;
}

/* Water under a part of foam: the path meets the foam or the water under it, or both. True: it met the
 * foam, and the hit is one of foam. */
static bool is_foam(Path *path, WadiTraceHit *hit, Branches *branches)
{
    float cover = foam_cover(path, hit);
    if (!(cover > 0.0f)) {
        return false;
    }
    WadiTraceHit foam = *hit;
    foam.look = &path->tracer->foam_look;
    foam.colour = foam.look->colour;
    if (is_split(path, branches, cover)) {
        const int left = branches->left - ROUGH_COST;
        Path *branch = add_branch(path, branches, cover);
        branches->branch[branches->count - 1].left = left;
        if (branch->medium != NULL) {
            pass_medium(branch, hit->distance);
        }
        if (!scatter_rough(branch, &foam, left <= 0)) {
            branches->branch[branches->count - 1].left = -1;
        } else {
            start_at(branch, &foam);
        }
        return false;
    }
    if (wadi_sampler_next(path->sampler) >= cover) {
        return false;
    }
    *hit = foam;
    return true;
}

/* Follows a path while `left` lasts. `sample` NULL: without guides of the filter. */
static void follow(Path *path, int left, WadiPathSample *sample, Branches *branches)
{
    for (int n = 0; left > 0; ++n) {
        WadiTraceHit hit;
        if (!wadi_tracer_nearest(path->tracer, &path->ray, &hit)) {
            add_surround(path);
            return;
        }
        path->distance += hit.distance;
        bool is_water = hit.look->kind == WADI_LOOK_WATER;
        /* The side of the surface decides the medium; the path's own record may be wrong where water touches
         * a wall. */
        if (is_water) {
            path->medium = wadi_dotf(path->ray.direction, hit.normal) > 0.0f ? hit.look : NULL;
            if (branches != NULL) {
                branches->left = left;
            }
            is_water = !is_foam(path, &hit, branches);
        }
        bool is_rough = !is_water && hit.look->kind != WADI_LOOK_GLASS;
        if (sample != NULL && (n == 0 || (is_rough && path->is_direct))) {
            /* the surface under water or behind glass */
            bool is_behind = wadi_dotf(hit.shading, path->ray.direction) > 0.0f;
            sample->distance += hit.distance;
            sample->normal = is_behind ? wadi_scalef(hit.shading, -1.0f) : hit.shading;
            sample->albedo = is_rough ? hit.colour : wadi_grey(1.0f);
        }
        if (hit.touching != NULL) {
            path->medium = hit.touching;
        }
        if (path->medium != NULL) {
            pass_medium(path, hit.distance);
        }
        if (hit.part == NULL && path->is_direct && path->medium == NULL) {
            add_air(path, hit.distance);
        }
        left -= is_rough ? ROUGH_COST : SMOOTH_COST;
        if (branches != NULL) {
            branches->left = left;
        }
        if (is_water) {
            scatter_water(path, &hit, branches);
        } else if (!is_rough) {
            scatter_glass(path, &hit, branches);
        } else if (!scatter_rough(path, &hit, left <= 0)) {
            return;
        }
        start_at(path, &hit);
    }
    /* The depth was used up among smooth surfaces. Black would be too dark: the surround in this direction
     * approximates the missing light. */
    WadiRgb guess = wadi_light_surround(path->tracer->light, path->ray.direction);
    add_light(path, wadi_mulf(path->throughput, guess));
}

WadiPathSample wadi_trace_path(const WadiTracer *tracer, WadiTraceRay ray, const WadiLook *medium,
                               float spread, const WadiTraceQuality *quality, WadiSampler *sampler)
{
    WadiPathSample sample = { .albedo = { 1.0f, 1.0f, 1.0f } };
    Path path = { .tracer = tracer,
                  .quality = quality,
                  .sampler = sampler,
                  .ray = ray,
                  .medium = medium,
                  .spread = spread,
                  .throughput = { 1.0f, 1.0f, 1.0f },
                  .is_direct = true };
    Branches branches;
    branches.count = 0;
    follow(&path, ROUGH_COST * quality->depth, &sample, &branches);
    sample.light = path.light;
    for (int b = 0; b < branches.count; ++b) {
        Path *branch = &branches.branch[b].path;
        if (branches.branch[b].left >= 0) {
            follow(branch, branches.branch[b].left, NULL, NULL);
        }
        sample.light = wadi_addf(sample.light, branch->light);
    }
    return sample;
}
