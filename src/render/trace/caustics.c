/* Photons start on the water's faces towards the sun, evenly over the area that the sun sees, are refracted
 * there and traced to the first rough surface; density there is light [J96].
 * Differs: photons are placed systematically and not at random, which leaves less noise. */
#include "render/trace/caustics.h"

#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "core/random.h"
#include "render/trace/bsdf.h"
#include "render/trace/tracer_internal.h"

enum { PHOTON_BLOCK = 1024, SURFACES_MAX = 12 };
/* Photons that are averaged where the floor is level, for a picture without visible noise. */
static const float AVERAGED = 28.0f;

typedef struct Emission {
    const WadiTracer *tracer;
    WadiVec3f sun;
    WadiRgb irradiance; /* of the sun on a sheet that faces it */
    double *summed;     /* m^2: area seen by the sun up to and including each triangle of all parts */
    uint32_t *part_of;  /* first index of each part in `summed`; part_count + 1 */
    size_t triangle_count;
    double area; /* m^2, of a photon */
    WadiPhoton *photons;
    uint8_t *is_landed;
} Emission;

static WadiVec3f vertex_of(const WadiPart *part, uint32_t v)
{
    const float *a = part->start + 3 * (size_t)v, *b = part->end + 3 * (size_t)v;
    return wadi_vec3f(0.5f * (a[0] + b[0]), 0.5f * (a[1] + b[1]), 0.5f * (a[2] + b[2]));
}

static bool is_water(const WadiPart *part)
{
    return part->triangle_count > 0 && part->look->kind == WADI_LOOK_WATER;
}

/* The area of triangle t that the sun sees. */
static double seen_area(const WadiPart *part, size_t t, WadiVec3f sun)
{
    const uint32_t *v = part->triangles + 3 * t;
    WadiVec3f a = vertex_of(part, v[0]);
    WadiVec3f cross = wadi_crossf(wadi_subf(vertex_of(part, v[1]), a), wadi_subf(vertex_of(part, v[2]), a));
    double area = 0.5 * (double)wadi_dotf(cross, sun);
    return area > 0.0 && isfinite(area) ? area : 0.0;
}

static WadiStatus measure(Emission *e, WadiError *error)
{
    const WadiTracer *tracer = e->tracer;
    WADI_TRY(WADI_NEW(&e->part_of, (size_t)tracer->part_count + 1, "light through water", error));
    for (int p = 0; p < tracer->part_count; ++p) {
        e->part_of[p] = (uint32_t)e->triangle_count;
        e->triangle_count += is_water(&tracer->parts[p]) ? tracer->parts[p].triangle_count : 0;
    }
    e->part_of[tracer->part_count] = (uint32_t)e->triangle_count;
    WADI_TRY(WADI_NEW(&e->summed, e->triangle_count, "light through water", error));
    double sum = 0.0;
    for (int p = 0; p < tracer->part_count; ++p) {
        for (uint32_t t = e->part_of[p]; t < e->part_of[p + 1]; ++t) {
            sum += seen_area(&tracer->parts[p], t - e->part_of[p], e->sun);
            e->summed[t] = sum;
        }
    }
    return WADI_OK;
}

/* The first triangle whose sum exceeds `area`. */
static size_t triangle_at(const Emission *e, double area)
{
    size_t low = 0, high = e->triangle_count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (e->summed[middle] > area) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* A point of the water's surface as a hit of light from the sun. */
static void emit(const Emission *e, int64_t k, WadiTraceHit *hit)
{
    /* Successive photons of a large triangle are spread evenly by an additive sequence [R18]. */
    double along = (double)k * 0.75487766624669276, across = (double)k * 0.56984029099805327;
    double u[2] = { along - floor(along), across - floor(across) };
    size_t t = triangle_at(e, ((double)k + wadi_random_unit(9, (uint64_t)k, WADI_RANDOM_GRAIN)) * e->area);
    int p = 0;
    while (e->part_of[p + 1] <= t) {
        ++p;
    }
    const WadiPart *part = &e->tracer->parts[p];
    const uint32_t *v = part->triangles + 3 * (t - e->part_of[p]);
    float root = sqrtf((float)u[0]),
          weight[3] = { 1.0f - root, root * (1.0f - (float)u[1]), root * (float)u[1] };
    WadiVec3f a = vertex_of(part, v[0]), b = vertex_of(part, v[1]), c = vertex_of(part, v[2]), smooth = { 0 };
    WadiVec3f cross = wadi_crossf(wadi_subf(b, a), wadi_subf(c, a));
    *hit = (WadiTraceHit){ .look = part->look, .part = part };
    hit->position = wadi_add_scaledf(wadi_add_scaledf(wadi_scalef(a, weight[0]), b, weight[1]), c, weight[2]);
    hit->normal = hit->shading = wadi_normalizedf_or(cross, e->sun);
    for (int n = 0; part->normal != NULL && n < 3; ++n) {
        const float *at = part->normal[v[n]];
        smooth = wadi_add_scaledf(smooth, wadi_vec3f(at[0], at[1], at[2]), weight[n]);
    }
    smooth = wadi_normalizedf_or(smooth, hit->normal);
    hit->shading = wadi_dotf(smooth, e->sun) > 0.01f ? smooth : hit->normal;
}

/* Through a face of water: the direction behind it, the loss in *flux. False: nothing passes. */
static bool refract_photon(const WadiTraceHit *hit, WadiVec3f *d, WadiRgb *flux)
{
    bool is_leaving = wadi_dotf(*d, hit->normal) > 0.0f;
    WadiVec3f n = is_leaving ? wadi_scalef(hit->shading, -1.0f) : hit->shading;
    float index = is_leaving ? 1.0f / hit->look->index : hit->look->index;
    float cosine = wadi_minf(-wadi_dotf(*d, n), 1.0f),
          lost = cosine > 0.0f ? wadi_fresnel(cosine, index) : 1.0f;
    float across = (1.0f - cosine * cosine) / (index * index);
    if (lost >= 1.0f || across >= 1.0f) {
        return false;
    }
    *d = wadi_add_scaledf(wadi_scalef(*d, 1.0f / index), n, cosine / index - sqrtf(1.0f - across));
    *d = wadi_normalizedf_or(*d, wadi_scalef(n, -1.0f));
    *flux = wadi_scalef(*flux, 1.0f - lost);
    return true;
}

static WadiRgb absorbed(const WadiLook *medium, WadiRgb flux, float distance)
{
    WadiRgb a = medium->absorption;
    return wadi_mulf(flux, wadi_vec3f(expf(-a.x * distance), expf(-a.y * distance), expf(-a.z * distance)));
}

/* True: the photon has landed. */
static bool trace_photon(const Emission *e, int64_t k, WadiPhoton *photon)
{
    const WadiTracer *tracer = e->tracer;
    WadiTraceHit hit, above;
    emit(e, k, &hit);
    WadiTraceRay ray = { wadi_tracer_offset(&hit, e->sun), e->sun, 0.5f };
    /* Light that meets other water first starts there. */
    for (int n = 0; wadi_tracer_nearest_clear(tracer, &ray, INFINITY, &above); ++n) {
        if (above.look->kind == WADI_LOOK_WATER || n >= SURFACES_MAX) {
            return false;
        }
        ray.origin = wadi_tracer_offset(&above, ray.direction);
    }
    ray.origin = wadi_tracer_offset(&hit, e->sun);
    if (wadi_tracer_is_blocked(tracer, &ray)) {
        return false;
    }
    WadiRgb flux = wadi_scalef(e->irradiance, (float)e->area);
    WadiVec3f d = wadi_scalef(e->sun, -1.0f);
    const WadiLook *medium = NULL;
    for (int n = 0; n < SURFACES_MAX; ++n) {
        if (hit.look->kind == WADI_LOOK_WATER) {
            medium = wadi_dotf(d, hit.normal) < 0.0f ? hit.look : NULL;
            if (!refract_photon(&hit, &d, &flux)) {
                return false;
            }
            float cover =
                wadi_foam_film_cover(&tracer->foam, hit.position, hit.normal, tracer->caustics.radius);
            flux = wadi_scalef(flux, 1.0f - cover);
        } else {
            flux = wadi_mulf(flux, hit.colour); /* glass */
        }
        ray = (WadiTraceRay){ wadi_tracer_offset(&hit, d), d, 0.5f };
        if (!wadi_tracer_nearest(tracer, &ray, &hit)) {
            return false;
        }
        flux = medium != NULL ? absorbed(medium, flux, hit.distance) : flux;
        if (hit.look->kind != WADI_LOOK_WATER && hit.look->kind != WADI_LOOK_GLASS) {
            *photon = (WadiPhoton){ hit.position, wadi_scalef(d, -1.0f), flux };
            return true;
        }
    }
    return false;
}

static void trace_block(void *context, int64_t first, int64_t end)
{
    const Emission *e = context;
    for (int64_t k = first; k < end; ++k) {
        e->is_landed[k] = trace_photon(e, k, &e->photons[k]);
    }
}

/* Keeps the photons that landed, in their order within a bucket. */
static WadiStatus sort_photons(WadiCaustics *c, const Emission *e, size_t emitted, WadiError *error)
{
    size_t landed = 0;
    for (size_t k = 0; k < emitted; ++k) {
        landed += e->is_landed[k];
    }
    if (landed == 0) {
        return WADI_OK;
    }
    WADI_TRY(wadi_point_buckets_create(&c->buckets, landed, c->radius, error));
    WADI_TRY(WADI_NEW(&c->photons, landed, "light through water", error));
    c->count = landed;
    for (size_t k = 0; k < emitted; ++k) {
        if (e->is_landed[k]) {
            wadi_point_buckets_add(&c->buckets, e->photons[k].position);
        }
    }
    wadi_point_buckets_sum(&c->buckets);
    for (size_t k = 0; k < emitted; ++k) {
        if (e->is_landed[k]) {
            c->photons[wadi_point_buckets_place(&c->buckets, e->photons[k].position)] = e->photons[k];
        }
    }
    return WADI_OK;
}

static WadiStatus fill(WadiTracer *tracer, Emission *e, int budget, WadiError *error)
{
    WADI_TRY(measure(e, error));
    double whole = e->triangle_count > 0 ? e->summed[e->triangle_count - 1] : 0.0;
    if (!(whole > 0.0)) {
        return WADI_OK;
    }
    size_t count = (size_t)budget;
    e->area = whole / budget;
    tracer->caustics.radius = sqrtf(AVERAGED * (float)e->area / 3.14159265f);
    WADI_TRY(WADI_NEW(&e->photons, count, "light through water", error));
    WADI_TRY(WADI_NEW(&e->is_landed, count, "light through water", error));
    wadi_parallel_for(budget, PHOTON_BLOCK, trace_block, e);
    return sort_photons(&tracer->caustics, e, count, error);
}

WadiStatus wadi_caustics_build(WadiTracer *tracer, int budget, WadiError *error)
{
    bool has_water = false;
    for (int p = 0; p < tracer->part_count; ++p) {
        has_water = has_water || is_water(&tracer->parts[p]);
    }
    if (!has_water || budget < 1 || !wadi_light_has_sun(tracer->light)) {
        return WADI_OK;
    }
    Emission e = { .tracer = tracer };
    e.sun = wadi_light_sun_direction(tracer->light, &e.irradiance);
    WadiStatus status = fill(tracer, &e, budget, error);
    WADI_DELETE(e.part_of, (size_t)tracer->part_count + 1);
    WADI_DELETE(e.summed, e.triangle_count);
    WADI_DELETE(e.photons, (size_t)budget);
    WADI_DELETE(e.is_landed, (size_t)budget);
    return status;
}

void wadi_caustics_free(WadiCaustics *c)
{
    WADI_DELETE(c->photons, c->photons != NULL ? c->count : 0);
    wadi_point_buckets_free(&c->buckets);
    *c = (WadiCaustics){ 0 };
}

WadiRgb wadi_caustics_light(const WadiCaustics *c, WadiVec3f p, WadiVec3f normal, WadiVec3f *in)
{
    const float r = c->radius, scale = 2.0f / (3.14159265f * r * r);
    WadiPointSpan spans[WADI_POINT_BUCKETS_NEAR];
    const int span_count = wadi_point_buckets_near(&c->buckets, p, spans);
    WadiRgb sum = { 0 };
    WadiVec3f towards = { 0 };
    for (int s = 0; s < span_count; ++s) {
        for (uint32_t m = spans[s].first; m < spans[s].end; ++m) {
            const WadiPhoton *photon = &c->photons[m];
            WadiVec3f away = wadi_subf(photon->position, p);
            float q = wadi_dotf(away, away) / (r * r);
            if (q < 1.0f && fabsf(wadi_dotf(away, normal)) < 0.4f * r &&
                wadi_dotf(photon->in, normal) > 0.0f) {
                float weight = scale * (1.0f - q);
                sum = wadi_add_scaledf(sum, photon->flux, weight);
                towards = wadi_add_scaledf(towards, photon->in, weight * wadi_luminance(photon->flux));
            }
        }
    }
    *in = wadi_normalizedf_or(towards, normal);
    return sum;
}
