/* Curvature of the free surface from a smoothed indicator of the liquid:
 *   kappa = -div (grad c / |grad c|),   c = smoothed liquid fraction.
 * Source: [BKZ92; theory 4.4].
 * Differs: c comes from the distance that the ghost fluid uses, so that deep cells are full whatever their
 * particles. The curvature of a shell inside or outside the surface is carried to the surface by the rule
 * for parallel surfaces, averaged over the cells near it, and sharpened by what smoothing removes from
 * long waves. Solids count as their neighbours: the surface meets them at right angles. */
#include "flip/pressure/flip_tension.h"

#include <math.h>

#include "core/parallel.h"
#include "flip/transfer/flip_row_table.h"

enum { LANES = WADI_ROW_CELLS, MEAN_PASSES = 2 };

static const float largest_curvature = 2.0f; /* 1/cell */
/* Factor of the distance by which curvature is carried to the surface. Below 1 bumps are pushed back too
 * little and grow into fingers; a little above 1 damps ripples that smoothing hides. */
static const float carry_factor = 1.5f;

typedef struct Smooth {
    const WadiRows *rows;
    const float *from;
    float *to;
    int axis;
} Smooth;

static void smooth_rows(void *user, int64_t first, int64_t end)
{
    const Smooth *smooth = user;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        const float *restrict own = smooth->from + (size_t)LANES * (size_t)row;
        float *restrict to = smooth->to + (size_t)LANES * (size_t)row;
        float low[LANES], high[LANES];
        wadi_row_neighbours(smooth->rows, smooth->from, row, 2 * smooth->axis, low);
        wadi_row_neighbours(smooth->rows, smooth->from, row, 2 * smooth->axis + 1, high);
        for (int l = 0; l < LANES; ++l) {
            to[l] = 0.5f * own[l] + 0.25f * (low[l] + high[l]);
        }
    }
}

/* Binomial weights 1/4, 1/2, 1/4 along each axis, in place. Null rows are zero. */
static void smooth(const WadiRows *rows, float *values, float *spare, int passes)
{
    for (int pass = 0; pass < passes; ++pass) {
        const float *from[3] = { values, spare, values };
        float *to[3] = { spare, values, spare };
        for (int axis = 0; axis < 3; ++axis) {
            Smooth context = { rows, from[axis], to[axis], axis };
            wadi_parallel_for(rows->count, WADI_ROW_BLOCK, smooth_rows, &context);
        }
        memcpy(values, spare, wadi_rows_floats(rows) * sizeof(float));
    }
}

typedef struct Curvature {
    const WadiFlipCurvatureIn *in;
    float *colour, *space;    /* smoothed: liquid fraction, and open fraction */
    float *weighted, *weight; /* kappa w and w, then smoothed, once and twice */
    float *mean;              /* of kappa, smoothed once */
    float *result;
} Curvature;

static void find_indicator(void *user, int64_t first, int64_t end)
{
    const Curvature *c = user;
    const float per_cell = (float)(1.0 / c->in->cell_size);
    for (int64_t at = LANES * (first + (first == 0)); at < LANES * end; ++at) {
        float fraction = 0.5f - c->in->distance[at] * per_cell;
        float space = 1.0f;
        if (c->in->solid_fraction != NULL) {
            space -= c->in->solid_fraction[wadi_table_cell(c->in->solid_row, (size_t)at)];
        }
        c->space[at] = space;
        c->colour[at] = space * wadi_minf(wadi_maxf(fraction, 0.0f), 1.0f);
    }
}

static void divide_rows(void *user, int64_t first, int64_t end)
{
    const Curvature *c = user;
    for (int64_t at = LANES * (first + (first == 0)); at < LANES * end; ++at) {
        c->colour[at] = c->space[at] > 1e-3f ? c->colour[at] / c->space[at] : 0.0f;
    }
}

/* Values of a row shifted by -1, 0 or 1 cells along two axes; the second one is y or z. */
static void shifted(const WadiRows *rows, const float *values, int32_t row, int a, int da, int b, int db,
                    float to[LANES])
{
    int32_t at = db == 0 ? row : rows->neighbour[row][2 * b + (db > 0)];
    if (da == 0) {
        memcpy(to, values + (size_t)LANES * (size_t)at, LANES * sizeof(float));
    } else {
        wadi_row_neighbours(rows, values, at, 2 * a + (da > 0), to);
    }
}

/* Variance along an axis, cells^2, of all smoothing of c, including that of the distance: c = 1/2 lies
 * inside the surface by half of it times kappa. */
static float colour_variance(const WadiFlipCurvatureIn *in)
{
    return 0.5f * (float)in->passes + 0.4f;
}

/* Distance in cells from the surface c = 1/2 at a position with this c and slope, if c falls like 1 / (1 +
 * exp d). */
static float distance_outside(float c, float slope)
{
    float f = wadi_minf(wadi_maxf(c, 0.01f), 0.99f);
    return logf((1.0f - f) / f) * f * (1.0f - f) / slope;
}

/* Weights of the cells of a row, which are 0 away from c = 1/2. false: all are. */
static bool find_weights(const float *restrict colour, float *restrict weight)
{
    float largest = 0.0f;
    for (int l = 0; l < LANES; ++l) {
        float near = wadi_maxf(colour[l] * (1.0f - colour[l]) - 0.09f, 0.0f);
        weight[l] = near * near;
        largest = wadi_maxf(largest, weight[l]);
    }
    return largest > 0.0f;
}

static void find_curvature(void *user, int64_t first, int64_t end)
{
    const Curvature *c = user;
    const WadiRows *rows = c->in->rows;
    const float spread = colour_variance(c->in);
    static const int pair[3][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 } };
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        const size_t at = (size_t)LANES * (size_t)row;
        float *restrict weighted = c->weighted + at, *restrict weight = c->weight + at;
        const float *restrict own = c->colour + at;
        float slope[3][LANES], second[3][LANES], mixed[3][LANES];
        memset(weighted, 0, LANES * sizeof *weighted);
        if (!find_weights(own, weight)) {
            memset(weight, 0, LANES * sizeof *weight);
            continue;
        }
        for (int a = 0; a < 3; ++a) {
            float low[LANES], high[LANES];
            wadi_row_neighbours(rows, c->colour, row, 2 * a, low);
            wadi_row_neighbours(rows, c->colour, row, 2 * a + 1, high);
            for (int l = 0; l < LANES; ++l) {
                slope[a][l] = 0.5f * (high[l] - low[l]);
                second[a][l] = high[l] - 2.0f * own[l] + low[l];
            }
        }
        for (int n = 0; n < 3; ++n) {
            float pp[LANES], pm[LANES], mp[LANES], mm[LANES];
            int a = pair[n][0], b = pair[n][1];
            shifted(rows, c->colour, row, a, 1, b, 1, pp);
            shifted(rows, c->colour, row, a, 1, b, -1, pm);
            shifted(rows, c->colour, row, a, -1, b, 1, mp);
            shifted(rows, c->colour, row, a, -1, b, -1, mm);
            for (int l = 0; l < LANES; ++l) {
                mixed[n][l] = 0.25f * ((pp[l] - pm[l]) - (mp[l] - mm[l]));
            }
        }
        for (int l = 0; l < LANES; ++l) {
            float x = slope[0][l], y = slope[1][l], z = slope[2][l];
            float xx = x * x, yy = y * y, zz = z * z, square = xx + yy + zz;
            float top = xx * (second[1][l] + second[2][l]) + yy * (second[0][l] + second[2][l]) +
                        zz * (second[0][l] + second[1][l]) -
                        2.0f * (x * y * mixed[0][l] + x * z * mixed[1][l] + y * z * mixed[2][l]);
            float xy = mixed[0][l], xz = mixed[1][l], yz = mixed[2][l];
            float sx = second[0][l], sy = second[1][l], sz = second[2][l];
            float gauss = xx * (sy * sz - yz * yz) + yy * (sx * sz - xz * xz) + zz * (sx * sy - xy * xy) +
                          2.0f * (x * y * (xz * yz - xy * sz) + x * z * (xy * yz - xz * sy) +
                                  y * z * (xy * xz - yz * sx));
            bool is_near = square > 1e-6f && weight[l] > 0.0f;
            float inverse = 1.0f / (is_near ? square : 1.0f), length = sqrtf(is_near ? square : 1.0f);
            float sum = -top * inverse / length, product = gauss * inverse * inverse;
            /* Shells at distance d outside have curvatures k / (1 + k d): invert it. */
            float d = is_near ? carry_factor * distance_outside(own[l], length) - 0.5f * spread * sum : 0.0f;
            float below = wadi_maxf(1.0f - sum * d + product * d * d, 0.25f);
            float kappa = is_near ? (sum - 2.0f * d * product) / below : 0.0f;
            kappa = wadi_minf(wadi_maxf(kappa, -largest_curvature), largest_curvature);
            weight[l] = is_near ? weight[l] : 0.0f;
            weighted[l] = weight[l] * kappa;
        }
    }
}

static void average_rows(void *user, int64_t first, int64_t end)
{
    const Curvature *c = user;
    for (int64_t at = LANES * (first + (first == 0)); at < LANES * end; ++at) {
        c->mean[at] = c->weight[at] > 1e-9f ? c->weighted[at] / c->weight[at] : 0.0f;
    }
}

/* Result in the two layers of cells at the surface. */
static void finish_rows(void *user, int64_t first, int64_t end)
{
    const Curvature *c = user;
    const WadiFlipCurvatureIn *in = c->in;
    const float per_metre = (float)(1.0 / in->cell_size);
    /* One pass of averages removes half its variance times k^2 from a wave k; all smoothing together
     * removed this many times as much. */
    const float mean_variance = 0.5f * MEAN_PASSES;
    const float sharpen = (colour_variance(in) + mean_variance) / mean_variance;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        unsigned fluid = in->fluid[row], all = 0xff, any = 0;
        for (int side = 0; side < 6; ++side) {
            unsigned neighbours = wadi_row_neighbour_bits(in->rows, in->fluid, row, side);
            all &= neighbours;
            any |= neighbours;
        }
        unsigned band = row == 0 ? 0 : (fluid & ~all) | (any & ~fluid);
        for (int l = 0; l < LANES; ++l) {
            size_t at = (size_t)LANES * (size_t)row + (size_t)l;
            bool is_set = (band >> l & 1) != 0 && c->weight[at] > 1e-9f;
            float twice = is_set ? c->weighted[at] / c->weight[at] : 0.0f, once = c->mean[at];
            float kappa = once + sharpen * (once - twice);
            c->result[at] = is_set ? per_metre * kappa : 0.0f;
        }
    }
}

WadiStatus wadi_flip_curvature(const WadiFlipCurvatureIn *in, float *curvature, WadiArena *scratch,
                               WadiError *error)
{
    const WadiRows *rows = in->rows;
    const size_t floats = wadi_rows_floats(rows);
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    Curvature c = { .in = in, .result = curvature };
    float *spare = NULL, **arrays[6] = { &c.colour, &c.space, &c.weighted, &c.weight, &c.mean, &spare };
    for (int n = 0; n < 6; ++n) {
        WADI_TRY(WADI_ARENA_NEW(scratch, arrays[n], floats, "surface tension", error));
        memset(*arrays[n], 0, LANES * sizeof(float));
    }
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, find_indicator, &c);
    smooth(rows, c.colour, spare, in->passes);
    smooth(rows, c.space, spare, in->passes);
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, divide_rows, &c);
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, find_curvature, &c);
    smooth(rows, c.weighted, spare, MEAN_PASSES);
    smooth(rows, c.weight, spare, MEAN_PASSES);
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, average_rows, &c);
    smooth(rows, c.weighted, spare, MEAN_PASSES);
    smooth(rows, c.weight, spare, MEAN_PASSES);
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, finish_rows, &c);
    wadi_arena_release(scratch, mark);
    return WADI_OK;
}

double wadi_flip_tension_step(double surface_tension, double density, double cell_size)
{
    const double pi = 3.14159265358979323846;
    return surface_tension > 0.0
               ? sqrt(density * cell_size * cell_size * cell_size / (2.0 * pi * surface_tension))
               : (double)INFINITY;
}
