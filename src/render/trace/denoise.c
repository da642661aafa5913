/* An edge-avoiding wavelet filter: passes of a 5 x 5 kernel with strides of 1, 2, 4, 8 pixels. The weight of
 * a neighbour falls with the differences in normal, depth and brightness, the latter relative to the
 * estimated noise.
 * Source: [DSHL10], with the weights of [S17]. The filtered quantity is light divided by the surface's
 * colour, so that the colours of grains and checkers stay sharp.
 * Differs: one frame only; the variance is estimated from the samples of a pixel and its neighbours. */
#include "render/trace/denoise.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"

enum { PASSES = 4, ROW_BLOCK = 8, ROW_VALUES = 8 };

static const float albedo_min = 0.02f;

/* Values of all pixels, one array a component, so that a row is filtered in vectors. */
typedef struct Planes {
    float *light[3]; /* over the surface's colour */
    float *luminance, *variance;
} Planes;
enum { PLANES = 5, GUIDES = 3 };

typedef struct Filter {
    const WadiFilm *film;
    float *normal[3]; /* components of film->normal */
    float *rows;      /* ROW_VALUES rows of scratch for each block of rows */
    Planes from, to;
    int step;
} Filter;

/* Sums of a row over the neighbours of its pixels. */
typedef struct RowSums {
    float *light[3], *variance, *weight;
} RowSums;

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
            WadiRgb light = { l.x / by.x, l.y / by.y, l.z / by.z };
            in->to.light[0][i] = light.x;
            in->to.light[1][i] = light.y;
            in->to.light[2][i] = light.z;
            in->to.luminance[i] = wadi_luminance(light);
            in->normal[0][i] = film->normal[i].x;
            in->normal[1][i] = film->normal[i].y;
            in->normal[2][i] = film->normal[i].z;
            float sum = 0.0f;
            for (int dy = -2; dy <= 2; ++dy) {
                for (int dx = -2; dx <= 2; ++dx) {
                    int j = clamped(y + dy, film->height) * width + clamped(x + dx, width);
                    float brightness = wadi_luminance(divisor(film->albedo[j]));
                    sum += film->variance[j] / (brightness * brightness);
                }
            }
            in->to.variance[i] = sum / 25.0f;
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

/* What the weights of a pixel's neighbours depend on besides their values. */
typedef struct RowScales {
    float *noise;             /* 1 over the difference of light that noise explains */
    float *slope_x, *slope_y; /* m per pixel */
} RowScales;

static void scale_row(const Filter *in, int y, const RowScales *scales)
{
    int width = in->film->width;
    for (int x = 0; x < width; ++x) {
        int i = y * width + x;
        scales->noise[x] = 1.0f / (2.5f * sqrtf(wadi_maxf(in->from.variance[i], 0.0f)) +
                                   1e-3f * in->from.luminance[i] + 1e-6f);
        scales->slope_x[x] = slope(in->film, x, y, 1, 0);
        scales->slope_y[x] = slope(in->film, x, y, 0, 1);
    }
}

/* Adds the neighbours at (dx, dy) strides to the sums of row y. */
static void add_neighbours(const Filter *in, int y, int dx, int dy, const RowScales *scales,
                           const RowSums *sums)
{
    static const float kernel[3] = { 0.375f, 0.25f, 0.0625f };
    const int width = in->film->width, away_x = dx * in->step, away_y = dy * in->step;
    if (y + away_y < 0 || y + away_y >= in->film->height) {
        return;
    }
    const int first = away_x < 0 ? -away_x : 0, end = away_x > 0 ? width - away_x : width;
    /* Before the first element where the row is the first and `first` is not 0. */
    const ptrdiff_t here = (ptrdiff_t)y * width, there = here + (ptrdiff_t)away_y * width + away_x;
    const float *nx = in->normal[0] + here, *ny = in->normal[1] + here, *nz = in->normal[2] + here;
    const float *mx = in->normal[0] + there, *my = in->normal[1] + there, *mz = in->normal[2] + there;
    const float *near = in->film->distance + here, *far = in->film->distance + there;
    const float *light = in->from.luminance + here, *other = in->from.luminance + there;
    const float *red = in->from.light[0] + there, *green = in->from.light[1] + there,
                *blue = in->from.light[2] + there, *variance = in->from.variance + there;
    const float *noise = scales->noise, *slope_x = scales->slope_x, *slope_y = scales->slope_y;
    float *sum_red = sums->light[0], *sum_green = sums->light[1], *sum_blue = sums->light[2],
          *sum_variance = sums->variance, *sum_weight = sums->weight;
    const float spread = kernel[abs(dx)] * kernel[abs(dy)], steps_x = (float)abs(away_x),
                steps_y = (float)abs(away_y);
#pragma omp simd
    for (int x = first; x < end; ++x) {
        float bx = nx[x] - mx[x], by = ny[x] - my[x], bz = nz[x] - mz[x];
        float depth = slope_x[x] * steps_x + slope_y[x] * steps_y;
        float away = fabsf(near[x] - far[x]) / (1.5f * depth + 2e-3f * near[x] + 1e-6f);
        float brighter = fabsf(light[x] - other[x]) * noise[x];
        float weight = spread * fast_exp(-wadi_minf(12.0f * (bx * bx + by * by + bz * bz), 20.0f) -
                                         wadi_minf(away, 20.0f) - wadi_minf(brighter, 20.0f));
        sum_red[x] += red[x] * weight;
        sum_green[x] += green[x] * weight;
        sum_blue[x] += blue[x] * weight;
        sum_variance[x] += weight * weight * variance[x];
        sum_weight[x] += weight;
    }
}

/* Writes the means of a row. Weights are positive: the pixel's own is 0.14. */
static void finish_row(const Filter *in, int y, const RowSums *sums)
{
    const int width = in->film->width;
    for (int x = 0; x < width; ++x) {
        const int i = y * width + x;
        const float scale = 1.0f / sums->weight[x];
        WadiRgb mean =
            wadi_scalef(wadi_vec3f(sums->light[0][x], sums->light[1][x], sums->light[2][x]), scale);
        in->to.light[0][i] = mean.x;
        in->to.light[1][i] = mean.y;
        in->to.light[2][i] = mean.z;
        in->to.luminance[i] = wadi_luminance(mean);
        in->to.variance[i] = sums->variance[x] * scale * scale;
    }
}

static void filter_rows(void *context, int64_t first, int64_t end)
{
    const Filter *in = context;
    const size_t width = (size_t)in->film->width;
    float *row = in->rows + (size_t)(first / ROW_BLOCK) * ROW_VALUES * width;
    const RowSums sums = { { row, row + width, row + 2 * width }, row + 3 * width, row + 4 * width };
    const RowScales scales = { row + 5 * width, row + 6 * width, row + 7 * width };
    for (int y = (int)first; y < (int)end; ++y) {
        memset(row, 0, 5 * width * sizeof *row);
        scale_row(in, y, &scales);
        for (int n = 0; n < 25; ++n) {
            add_neighbours(in, y, n % 5 - 2, n / 5 - 2, &scales, &sums);
        }
        finish_row(in, y, &sums);
    }
}

static void run_passes(WadiFilm *film, Filter *filter, Planes *planes)
{
    filter->to = planes[0];
    wadi_parallel_for(film->height, ROW_BLOCK, divide_rows, filter);
    for (int pass = 0; pass < PASSES; ++pass) {
        filter->from = planes[pass % 2];
        filter->to = planes[1 - pass % 2];
        filter->step = 1 << pass;
        wadi_parallel_for(film->height, ROW_BLOCK, filter_rows, filter);
    }
    const Planes *last = &planes[PASSES % 2];
    for (size_t i = 0; i < (size_t)film->width * (size_t)film->height; ++i) {
        WadiRgb light = { last->light[0][i], last->light[1][i], last->light[2][i] };
        film->light[i] = wadi_mulf(light, divisor(film->albedo[i]));
    }
}

WadiStatus wadi_film_denoise(WadiFilm *film, WadiError *error)
{
    const size_t count = (size_t)film->width * (size_t)film->height,
                 blocks = ((size_t)film->height + ROW_BLOCK - 1) / ROW_BLOCK,
                 row_values = blocks * ROW_VALUES * (size_t)film->width,
                 all = (2 * PLANES + GUIDES) * count + row_values;
    float *values;
    WADI_TRY(WADI_NEW(&values, all, "filter of a picture", error));
    Planes planes[2];
    for (int k = 0; k < 2; ++k) {
        float *first = values + (size_t)k * PLANES * count;
        planes[k] =
            (Planes){ { first, first + count, first + 2 * count }, first + 3 * count, first + 4 * count };
    }
    float *guides = values + 2 * PLANES * count;
    Filter filter = { .film = film,
                      .normal = { guides, guides + count, guides + 2 * count },
                      .rows = guides + GUIDES * count };
    run_passes(film, &filter, planes);
    WADI_DELETE(values, all);
    return WADI_OK;
}
