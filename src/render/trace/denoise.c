/* An edge-avoiding wavelet filter: passes of a 5 x 5 kernel with strides of 1, 2, 4, 8 pixels. The weight of
 * a neighbour falls with the differences in normal, depth and brightness, the latter relative to the
 * estimated noise.
 * Source: [DSHL10], with the weights of [S17]. The filtered quantity is light divided by the surface's
 * colour, so that the colours of grains and checkers stay sharp.
 * Differs: one frame only; the variance is estimated from the samples of a pixel and its neighbours. */
#include "render/trace/denoise.h"

#include <stdlib.h>

#include "core/alloc.h"
#include "core/parallel.h"

enum { PASSES = 4, ROW_BLOCK = 8 };

static const float albedo_min = 0.02f;

typedef struct Filter {
    const WadiFilm *film;
    const WadiRgb *from;
    WadiRgb *to;
    const float *variance_from;
    float *variance_to;
    int step;
} Filter;

static WadiRgb divisor(WadiRgb albedo)
{
    return wadi_vec3f(wadi_maxf(albedo.x, albedo_min), wadi_maxf(albedo.y, albedo_min),
                      wadi_maxf(albedo.z, albedo_min));
}

/* exp(x) for -60 <= x <= 0 with a relative error of 2e-4: the integer power of two from the bits of a float,
 * the fraction by a cubic. The library function would be a call per neighbour and pixel. */
static float fast_exp(float x)
{
    float y = 1.44269504f * x, whole = floorf(y), t = y - whole;
    float fraction = 1.0f + t * (0.6951786f + t * (0.2260667f + t * 0.0787547f));
    union {
        uint32_t bits;
        float value;
    } power = { .bits = (uint32_t)((int32_t)whole + 127) << 23 };
    return fraction * power.value;
}

static int clamped(int i, int count)
{
    return i < 0 ? 0 : i >= count ? count - 1 : i;
}

/* Light over colour, and its variance as a mean over the pixel's surroundings: the few samples of one pixel
 * are not enough. */
static void divide_rows(void *context, int64_t first, int64_t end)
{
    Filter *in = context;
    const WadiFilm *film = in->film;
    int width = film->width;
    for (int y = (int)first; y < (int)end; ++y) {
        for (int x = 0; x < width; ++x) {
            int i = y * width + x;
            WadiRgb by = divisor(film->albedo[i]), l = film->light[i];
            in->to[i] = wadi_vec3f(l.x / by.x, l.y / by.y, l.z / by.z);
            float sum = 0.0f;
            for (int dy = -2; dy <= 2; ++dy) {
                for (int dx = -2; dx <= 2; ++dx) {
                    int j = clamped(y + dy, film->height) * width + clamped(x + dx, width);
                    float brightness = wadi_luminance(divisor(film->albedo[j]));
                    sum += film->variance[j] / (brightness * brightness);
                }
            }
            in->variance_to[i] = sum / 25.0f;
        }
    }
}

/* Change of distance per pixel along x or y: the smaller of the two sides, so that an edge does not count as
 * a slope. */
static float slope(const WadiFilm *film, int x, int y, int dx, int dy)
{
    int width = film->width, i = y * width + x;
    int after = clamped(y + dy, film->height) * width + clamped(x + dx, width);
    int before = clamped(y - dy, film->height) * width + clamped(x - dx, width);
    float a = fabsf(film->distance[after] - film->distance[i]),
          b = fabsf(film->distance[i] - film->distance[before]);
    return after == i ? b : before == i ? a : wadi_minf(a, b);
}

static void filter_rows(void *context, int64_t first, int64_t end)
{
    static const float kernel[3] = { 0.375f, 0.25f, 0.0625f };
    const Filter *in = context;
    const WadiFilm *film = in->film;
    int width = film->width, height = film->height;
    for (int y = (int)first; y < (int)end; ++y) {
        for (int x = 0; x < width; ++x) {
            int i = y * width + x;
            WadiRgb here = in->from[i], sum = { 0 };
            float light = wadi_luminance(here), distance = film->distance[i];
            float noise =
                1.0f / (2.5f * sqrtf(wadi_maxf(in->variance_from[i], 0.0f)) + 1e-3f * light + 1e-6f);
            float slope_x = slope(film, x, y, 1, 0), slope_y = slope(film, x, y, 0, 1);
            float weights = 0.0f, variance = 0.0f;
            for (int dy = -2; dy <= 2; ++dy) {
                for (int dx = -2; dx <= 2; ++dx) {
                    int px = x + dx * in->step, py = y + dy * in->step;
                    if (px < 0 || py < 0 || px >= width || py >= height) {
                        continue;
                    }
                    int j = py * width + px;
                    WadiVec3f bend = wadi_subf(film->normal[i], film->normal[j]);
                    float depth = (slope_x * (float)abs(dx) + slope_y * (float)abs(dy)) * (float)in->step;
                    float away =
                        fabsf(distance - film->distance[j]) / (1.5f * depth + 2e-3f * distance + 1e-6f);
                    float other = fabsf(light - wadi_luminance(in->from[j])) * noise;
                    float weight = kernel[abs(dx)] * kernel[abs(dy)] *
                                   fast_exp(-wadi_minf(12.0f * wadi_dotf(bend, bend), 20.0f) -
                                            wadi_minf(away, 20.0f) - wadi_minf(other, 20.0f));
                    sum = wadi_add_scaledf(sum, in->from[j], weight);
                    variance += weight * weight * in->variance_from[j];
                    weights += weight;
                }
            }
            in->to[i] = wadi_scalef(sum, 1.0f / weights); /* positive: the pixel's own weight is 0.14 */
            in->variance_to[i] = variance / (weights * weights);
        }
    }
}

WadiStatus wadi_film_denoise(WadiFilm *film, WadiError *error)
{
    size_t count = (size_t)film->width * (size_t)film->height;
    WadiRgb *light[2] = { NULL, NULL };
    float *variance[2] = { NULL, NULL };
    WadiStatus status = WADI_OK;
    for (int k = 0; k < 2; ++k) {
        status = status == WADI_OK ? WADI_NEW(&light[k], count, "filter of a picture", error) : status;
        status = status == WADI_OK ? WADI_NEW(&variance[k], count, "filter of a picture", error) : status;
    }
    if (status == WADI_OK) {
        Filter filter = { .film = film, .to = light[0], .variance_to = variance[0] };
        wadi_parallel_for(film->height, ROW_BLOCK, divide_rows, &filter);
        for (int pass = 0; pass < PASSES; ++pass) {
            int from = pass % 2, to = 1 - from;
            filter = (Filter){ film, light[from], light[to], variance[from], variance[to], 1 << pass };
            wadi_parallel_for(film->height, ROW_BLOCK, filter_rows, &filter);
        }
        for (size_t i = 0; i < count; ++i) {
            film->light[i] = wadi_mulf(light[PASSES % 2][i], divisor(film->albedo[i]));
        }
    }
    for (int k = 0; k < 2; ++k) {
        WADI_DELETE(light[k], count);
        WADI_DELETE(variance[k], count);
    }
    return status;
}
