/* Film to picture: exposure, a film curve, sRGB, eight bits. */
#include "render/trace/film.h"

#include "core/alloc.h"
#include "core/check.h"
#include "core/hash.h"
#include "core/parallel.h"
#include "render/image/look.h"

enum { PIXEL_BLOCK = 4096 };

/* Target of the auto-exposure: above the photographic 0.18, since sunlit sand is brighter than most
 * subjects. */
static const double middle_grey = 0.3;
/* Reflectance of beach sand and of the default ground. */
static const double middling_albedo = 0.45;

WadiStatus wadi_film_init(WadiFilm *film, int width, int height, WadiError *error)
{
    *film = (WadiFilm){ 0 };
    if (width < 1 || height < 1 || width > WADI_IMAGE_SIDE_MAX || height > WADI_IMAGE_SIDE_MAX) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "a picture of %d x %d pixels: expected 1 to %d a side",
                         width, height, WADI_IMAGE_SIDE_MAX);
    }
    film->width = width;
    film->height = height;
    size_t count = (size_t)width * (size_t)height;
    WadiStatus status = WADI_NEW(&film->light, count, "film", error);
    status = status == WADI_OK ? WADI_NEW(&film->albedo, count, "film", error) : status;
    status = status == WADI_OK ? WADI_NEW(&film->normal, count, "film", error) : status;
    status = status == WADI_OK ? WADI_NEW(&film->distance, count, "film", error) : status;
    status = status == WADI_OK ? WADI_NEW(&film->variance, count, "film", error) : status;
    if (status != WADI_OK) {
        wadi_film_free(film);
    }
    return status;
}

void wadi_film_free(WadiFilm *film)
{
    size_t count = (size_t)film->width * (size_t)film->height;
    WADI_DELETE(film->light, count);
    WADI_DELETE(film->albedo, count);
    WADI_DELETE(film->normal, count);
    WADI_DELETE(film->distance, count);
    WADI_DELETE(film->variance, count);
    *film = (WadiFilm){ 0 };
}

static void add_share(float *to, const float *from, size_t count, float share, bool is_first)
{
    for (size_t i = 0; i < count; ++i) {
        to[i] = (is_first ? 0.0f : to[i]) + share * from[i];
    }
}

void wadi_film_add(WadiFilm *film, const WadiFilm *part, int k, int parts)
{
    const float share = 1.0f / (float)parts;
    const size_t pixels = (size_t)film->width * (size_t)film->height;
    add_share(&film->light->x, &part->light->x, 3 * pixels, share, k == 0);
    add_share(&film->albedo->x, &part->albedo->x, 3 * pixels, share, k == 0);
    add_share(&film->normal->x, &part->normal->x, 3 * pixels, share, k == 0);
    add_share(film->distance, part->distance, pixels, share, k == 0);
    add_share(film->variance, part->variance, pixels, share * share, k == 0);
}

/* What a surface of middling colour would send back: most of its own colour is divided out, so that black
 * sand stays black and sugar white. */
static double metered(const WadiFilm *film, size_t i)
{
    double light = (double)wadi_luminance(film->light[i]);
    double albedo = fmin(fmax((double)wadi_luminance(film->albedo[i]), 0.02), 1.0);
    return film->distance[i] > 0.0f ? light * pow(middling_albedo / albedo, 0.75) : light;
}

double wadi_film_auto_exposure(const WadiFilm *film)
{
    /* Weights fall towards the picture's edge, and the sky counts a quarter, so that it does not darken the
     * subject. */
    double sum = 0.0, weights = 0.0;
    for (int y = 0; y < film->height; ++y) {
        double dy = 2.0 * (y + 0.5) / film->height - 1.0;
        for (int x = 0; x < film->width; ++x) {
            size_t i = (size_t)y * (size_t)film->width + (size_t)x;
            double dx = 2.0 * (x + 0.5) / film->width - 1.0, light = metered(film, i);
            double weight = (1.0 - 0.5 * (dx * dx + dy * dy) * 0.9) * (film->distance[i] > 0.0f ? 1.0 : 0.25);
            if (light > 1e-6 && isfinite(light)) {
                sum += weight * log(light);
                weights += weight;
            }
        }
    }
    return weights > 0.0 ? middle_grey / exp(sum / weights) : 1.0;
}

/* A toe in the shadows and a shoulder in the highlights: x (x + a) / (x (x + b) + c), with 0.18 -> 0.18 and
 * 2.88 -> 0.90 (four stops over middle grey). a = 0.1 gives a log slope of 1.18 at middle grey, that of a
 * soft print. */
float wadi_film_curve(float value)
{
    const float a = 0.1f, b = 0.3681f, c = 0.1813f;
    float x = fmaxf(value, 0.0f);
    if (!(x < 1e6f)) {
        return x > 0.0f ? 1.0f : 0.0f; /* infinity is white, NaN is black */
    }
    return x * (x + a) / (x * (x + b) + c);
}

typedef struct Develop {
    const WadiFilm *film;
    WadiImage *image;
    float exposure;
    bool is_linear;
} Develop;

static uint8_t to_byte(float linear, float dither)
{
    float coded = wadi_srgb_encode(fminf(fmaxf(linear, 0.0f), 1.0f)) * 255.0f;
    return (uint8_t)fminf(coded + dither, 255.0f);
}

static void develop_block(void *context, int64_t first, int64_t end)
{
    const Develop *in = context;
    for (int64_t i = first; i < end; ++i) {
        WadiRgb light = wadi_scalef(in->film->light[i], in->exposure);
        if (!in->is_linear) {
            /* Per channel, as film does: bright colours tend to white. */
            light = wadi_vec3f(wadi_film_curve(light.x), wadi_film_curve(light.y), wadi_film_curve(light.z));
        }
        float dither = in->is_linear ? 0.5f : (float)(wadi_hash_mix((uint64_t)i + 1) >> 40) * 0x1p-24f;
        in->image->rgb[3 * i] = to_byte(light.x, dither);
        in->image->rgb[3 * i + 1] = to_byte(light.y, dither);
        in->image->rgb[3 * i + 2] = to_byte(light.z, dither);
    }
}

void wadi_film_develop(const WadiFilm *film, const WadiDevelop *develop, WadiImage *image)
{
    WADI_ASSERT_ELSE(film->width == image->width && film->height == image->height, return;);
    double exposure = exp2(develop->exposure);
    if (develop->is_auto_exposed) {
        exposure *= wadi_film_auto_exposure(film);
    }
    Develop in = { film, image, (float)exposure, develop->is_linear };
    wadi_parallel_for((int64_t)film->width * film->height, PIXEL_BLOCK, develop_block, &in);
}
