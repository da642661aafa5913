/* The colour field of SPH: c = sum V_j W(x - x_j); the surface is where it is one half. [MCG03 section 3.3;
 * LD09 section 4; theory 10.4] For comparison.
 *
 * V_j is the particle's volume over the SPH density, which is 1 in evenly filled space: V_j = v_j / sum v_k
 * W_jk. A lone particle has c = 1 at its centre and becomes a ball. Differs: each particle has its own
 * support radius; the density uses the larger of two (near_pairs.h). Values are one half less c, scaled to
 * metres at a lone particle's surface, and within a tenth at a flat one. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "surface/cloud/near_pairs.h"
#include "surface/field/field_method.h"

static const double LEVEL = 0.5;
static const double FALL = 0.6; /* over the support radius */

static double outside_of(const WadiCloud *cloud, const WadiFieldDef *def)
{
    return LEVEL * FALL * def->support * cloud->spacing_min;
}

/* Sum of (v_k / v_j) (h_j / h)^3 (1 - d^2 / h^2)^3, h the larger support radius: the density divided by v_j,
 * in units where the particle's own kernel is (1 - s^2)^3. */
static void add_density(void *context, const WadiBins *bins, int32_t first, int32_t end,
                        const WadiPairChunk *chunk)
{
    float *density = context;
    for (int32_t i = first; i < end; ++i) {
        const float *point = bins->point[i];
        float support = point[3], inverse = 1.0f / (support * support),
              inverse_cube = 1.0f / (support * support * support);
        WadiF8 sum = { 0 };
        for (int32_t c = 0; c < chunk->count; c += 8) {
            WadiF8 x = *(const WadiF8 *)(chunk->x + c) - point[0];
            WadiF8 y = *(const WadiF8 *)(chunk->y + c) - point[1];
            WadiF8 z = *(const WadiF8 *)(chunk->z + c) - point[2];
            WadiF8 other = *(const WadiF8 *)(chunk->inverse + c), cube = *(const WadiF8 *)(chunk->cube + c);
            WadiI8 is_larger = other < inverse;
            WadiF8 own = (WadiF8){ 0 } + inverse;
            WadiF8 t = 1.0f - (x * x + y * y + z * z) * WADI_ROW_SELECT(is_larger, other, own);
            t = WADI_ROW_SELECT(t > 0.0f, t, (WadiF8){ 0 });
            /* v_k / h^3 is 1 for the larger particle and the ratio of the cubes for the smaller one. */
            sum += t * t * t * WADI_ROW_SELECT(is_larger, (WadiF8){ 0 } + 1.0f, cube * inverse_cube);
        }
        density[i] += wadi_pair_sum(&sum);
    }
}

static void invert(void *context, int64_t first, int64_t end)
{
    float *density = context;
    for (int64_t i = first; i < end; ++i) {
        density[i] = 1.0f / density[i];
    }
}

static WadiStatus prepare(WadiFieldSampler *sampler, WadiArena *arena, WadiError *error)
{
    size_t count = (size_t)sampler->bins->count;
    float *inverse_density;
    WADI_TRY(WADI_ARENA_NEW(arena, &inverse_density, count, "particle densities", error));
    memset(inverse_density, 0, count * sizeof *inverse_density);
    wadi_near_pairs(sampler->bins, NULL, add_density, inverse_density);
    wadi_parallel_for(sampler->bins->count, 16384, invert, inverse_density);
    sampler->outside = (float)outside_of(sampler->cloud, sampler->def);
    sampler->data = inverse_density;
    return WADI_OK;
}

static const WadiF8 LANE = { 0, 1, 2, 3, 4, 5, 6, 7 };

static void sample_row(const WadiFieldSampler *sampler, const WadiFieldNear *near, const int32_t *index,
                       int32_t count, float y, float z, float value[WADI_ROW_CELLS])
{
    const float *inverse_density = sampler->data;
    WadiF8 sum = { 0 }, sum_support = { 0 };
    for (int32_t n = 0; n < count; ++n) {
        int32_t i = index[n];
        float dy = y - near->y[i], dz = z - near->z[i], support = near->support[i];
        float squared = 1.0f / (support * support), side = 1.0f - (dy * dy + dz * dz) * squared;
        WadiF8 dx = LANE - near->x[i];
        WadiF8 t = side - dx * dx * squared;
        t = WADI_ROW_SELECT(t > 0.0f, t, (WadiF8){ 0 });
        WadiF8 k = inverse_density[near->slot[i]] * (t * t * t);
        sum += k;
        sum_support += k * support;
    }
    float outside = (float)((double)sampler->outside / sampler->def->cell);
    for (int l = 0; l < WADI_ROW_CELLS; ++l) {
        float support = sum[l] > 0.0f ? sum_support[l] / sum[l] : 0.0f;
        value[l] = sum[l] > 0.0f ? ((float)LEVEL - sum[l]) * (float)FALL * support : outside;
    }
}

static double kernel(WadiVec3 u, double h)
{
    double t = fmax(0.0, 1.0 - wadi_dot(u, u) / (h * h));
    return t * t * t / (WADI_KERNEL_INTEGRAL * h * h * h);
}

static double density_at(const WadiCloud *cloud, double support, int32_t i)
{
    double density = 0.0;
    for (int32_t j = 0; j < cloud->count; ++j) {
        double h = support * (double)fmaxf(cloud->spacing[i], cloud->spacing[j]);
        density +=
            pow((double)cloud->spacing[j], 3.0) * kernel(wadi_sub(cloud->position[j], cloud->position[i]), h);
    }
    return density;
}

static double reference(const WadiCloud *cloud, const WadiFieldDef *def, WadiVec3 x)
{
    double sum = 0.0, sum_support = 0.0;
    for (int32_t i = 0; i < cloud->count; ++i) {
        double spacing = (double)cloud->spacing[i], h = def->support * spacing;
        double w = kernel(wadi_sub(x, cloud->position[i]), h);
        if (w > 0.0) {
            double c = spacing * spacing * spacing / density_at(cloud, def->support, i) * w;
            sum += c;
            sum_support += c * h;
        }
    }
    return sum > 0.0 ? (LEVEL - sum) * FALL * sum_support / sum : outside_of(cloud, def);
}

/* The division by density makes c about 1 in any even filling. */
static bool is_inside_where_filled(const WadiFieldDef *def)
{
    return def->support >= 1.75;
}

const WadiFieldMethod wadi_field_color = { .prepare = prepare,
                                           .sample_row = sample_row,
                                           .is_inside_where_filled = is_inside_where_filled,
                                           .reference = reference };
