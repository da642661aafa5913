/* Renders tiles of pixels in parallel, the samples of a pixel in order. */
#include "render/trace/tracer.h"

#include "core/check.h"
#include "core/parallel.h"
#include "render/trace/denoise.h"
#include "render/trace/sampler.h"
#include "render/trace/tracer_internal.h"

enum { TILE = 16, SAMPLES_MAX = 65536, DEPTH_MAX = 64, FIRST_CHECK = 16 };

WadiTraceQuality wadi_trace_draft(void)
{
    return (WadiTraceQuality){ .samples = 4, .depth = 2, .clamp = 4.0, .is_denoised = true };
}

WadiTraceQuality wadi_trace_preview(void)
{
    return (
        WadiTraceQuality){ .samples = 16, .depth = 4, .clamp = 8.0, .is_denoised = true, .photons = 1500000 };
}

WadiTraceQuality wadi_trace_final(void)
{
    return (WadiTraceQuality){
        .samples = 256, .depth = 12, .clamp = 20.0, .noise = 0.015, .is_denoised = true, .photons = 6000000
    };
}

typedef struct Render {
    const WadiTracer *tracer;
    const WadiTraceQuality *quality;
    WadiFilm *film;
    WadiCameraFrame camera;
    const WadiLook *medium; /* medium of the camera */
    float spread;           /* width of a pixel at distance 1 */
} Render;

/* A sample of a tent filter two pixels wide. */
static float tent(float u)
{
    return u < 0.5f ? sqrtf(2.0f * u) - 1.0f : 1.0f - sqrtf(2.0f - 2.0f * u);
}

static void render_pixel(const Render *in, int x, int y)
{
    const WadiFilm *film = in->film;
    size_t i = (size_t)y * (size_t)film->width + (size_t)x;
    WadiSampler sampler = { .pixel = wadi_hash_combine(wadi_hash_combine(in->quality->seed, (uint64_t)y),
                                                       (uint64_t)x) };
    /* The same places in every pixel: an edge is then a clean line, where places of their own fray it. */
    WadiSampler place = { .pixel = wadi_hash_mix(in->quality->seed) };
    WadiPathSample sum = { 0 };
    double luminance = 0.0, square = 0.0, variance = 0.0;
    int count = 0;
    while (count < in->quality->samples) {
        sampler.sample = place.sample = (uint32_t)count++;
        sampler.pair = place.pair = 0;
        float pixel[2], lens[2], shutter[2];
        wadi_sampler_next2(&place, pixel);
        wadi_sampler_next2(&sampler, lens);
        wadi_sampler_next2(&sampler, shutter);
        WadiTraceRay ray = { .time = shutter[0] };
        wadi_camera_ray(&in->camera, ((float)x + 0.5f + tent(pixel[0])) / (float)film->width,
                        ((float)y + 0.5f + tent(pixel[1])) / (float)film->height, lens, &ray.origin,
                        &ray.direction);
        WadiPathSample sample =
            wadi_trace_path(in->tracer, ray, in->medium, in->spread, in->quality, &sampler);
        sum.light = wadi_addf(sum.light, sample.light);
        sum.albedo = wadi_addf(sum.albedo, sample.albedo);
        sum.normal = wadi_addf(sum.normal, sample.normal);
        sum.distance += sample.distance;
        double value = (double)wadi_luminance(sample.light);
        luminance += value;
        square += value * value;
        double mean = luminance / count;
        variance = count > 1 ? fmax(square / count - mean * mean, 0.0) / (count - 1) : mean * mean;
        /* Only at powers of two, where the sample points are stratified. */
        bool is_checked = count >= FIRST_CHECK && (count & (count - 1)) == 0;
        if (is_checked && in->quality->noise > 0.0 && sqrt(variance) < in->quality->noise * (mean + 0.02)) {
            break;
        }
    }
    float scale = 1.0f / (float)count;
    film->light[i] = wadi_scalef(sum.light, scale);
    film->albedo[i] = wadi_scalef(sum.albedo, scale);
    film->normal[i] = wadi_scalef(sum.normal, scale);
    film->distance[i] = sum.distance * scale;
    film->variance[i] = (float)variance;
}

static void render_tiles(void *context, int64_t first, int64_t end)
{
    const Render *in = context;
    int across = (in->film->width + TILE - 1) / TILE;
    for (int64_t tile = first; tile < end; ++tile) {
        int left = (int)(tile % across) * TILE, top = (int)(tile / across) * TILE;
        int right = left + TILE < in->film->width ? left + TILE : in->film->width;
        int bottom = top + TILE < in->film->height ? top + TILE : in->film->height;
        for (int y = top; y < bottom; ++y) {
            for (int x = left; x < right; ++x) {
                render_pixel(in, x, y);
            }
        }
    }
}

/* The water that contains the camera: the first water above it is then seen from inside. */
static const WadiLook *medium_at(const WadiTracer *tracer, WadiVec3f eye)
{
    WadiTraceRay ray = { eye, { 0.0f, 0.0f, 1.0f }, 0.5f };
    WadiTraceHit hit;
    for (int n = 0; n < 64 && wadi_tracer_nearest_clear(tracer, &ray, INFINITY, &hit); ++n) {
        if (hit.look->kind == WADI_LOOK_WATER) {
            return wadi_dotf(hit.normal, ray.direction) > 0.0f ? hit.look : NULL;
        }
        ray.origin = wadi_tracer_offset(&hit, ray.direction);
    }
    return NULL;
}

WadiStatus wadi_tracer_render(const WadiTracer *tracer, const WadiCamera *camera,
                              const WadiTraceQuality *quality, WadiFilm *film, WadiError *error)
{
    WADI_ASSERT_TRY(film->width > 0 && film->height > 0, error);
    if (quality->samples < 1 || quality->samples > SAMPLES_MAX || quality->depth < 1 ||
        quality->depth > DEPTH_MAX || !(quality->clamp >= 0.0) || !(quality->noise >= 0.0)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "a picture with %d samples and depth %d: expected 1 to %d samples and depth 1 to %d",
                         quality->samples, quality->depth, SAMPLES_MAX, DEPTH_MAX);
    }
    Render in = { .tracer = tracer, .quality = quality, .film = film };
    if (!wadi_camera_frame(camera, tracer->origin, (double)film->width / film->height, &in.camera)) {
        return wadi_fail(
            error, WADI_ERR_ARGUMENT,
            "a camera needs an eye and a target that differ, and a view angle between 0 and 180 degrees");
    }
    in.spread = 2.0f * in.camera.half_height / (float)film->height;
    in.medium = medium_at(tracer, in.camera.eye);
    int64_t across = (film->width + TILE - 1) / TILE, down = (film->height + TILE - 1) / TILE;
    wadi_parallel_for(across * down, 1, render_tiles, &in);
    return quality->is_denoised ? wadi_film_denoise(film, error) : WADI_OK;
}
