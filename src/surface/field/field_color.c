/* The colour field of SPH: c = sum V_j W(x - x_j), and the surface where it is a half. [MCG03 section 3.3; LD09 section 4 wraps
 * water and sand so; models 7.3] For comparison: bumps like those of blobbies, with a scale that does not depend on how
 * densely particles lie.
 *
 * V_j is the particle's volume over the SPH density there, which is 1 in evenly filled space: V_j = v_j / sum v_k W_jk. A lone
 * particle has c = 1 in its middle and becomes a ball. Differs: the support is each particle's own, reach times its
 * spacing, in the density the longer of two (near_pairs.h). Values are a half less c, times the distance over which c falls by 1
 * at a lone particle's surface, which is also that at a flat end of evenly filled space within a tenth. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "surface/cloud/near_pairs.h"
#include "surface/field/field_method.h"

static const double LEVEL = 0.5;
static const double FALL = 0.6; /* of the reach */
static const double KERNEL_INTEGRAL =
    64.0 * 3.14159265358979324 / 315.0; /* of (1 - s^2)^3 in the unit ball */

static double outside_of(const WadiCloud *cloud, const WadiFieldDef *def)
{
    return LEVEL * FALL * def->reach * cloud->spacing_min;
}

/* Sum of (v_k / v_j) (h_j / h)^3 (1 - d^2 / h^2)^3, h the longer reach: V_j W_jk times the integral and reach^3, which is what
 * a particle's kernel is to be divided by. */
static void add_density(void *context, const WadiBins *bins, int32_t first, int32_t end,
                        const WadiPairChunk *chunk)
{
    float *density = context;
    for (int32_t i = first; i < end; ++i) {
        const float *place = bins->place[i];
        float reach = place[3], inverse = 1.0f / (reach * reach), own = 1.0f / (reach * reach * reach);
        WadiF8 sum = { 0 };
        for (int32_t c = 0; c < chunk->count; c += 8) {
            WadiF8 x = *(const WadiF8 *)(chunk->x + c) - place[0];
            WadiF8 y = *(const WadiF8 *)(chunk->y + c) - place[1];
            WadiF8 z = *(const WadiF8 *)(chunk->z + c) - place[2];
            WadiF8 theirs = *(const WadiF8 *)(chunk->inverse + c), cube = *(const WadiF8 *)(chunk->cube + c);
            WadiI8 is_larger = theirs < inverse;
            WadiF8 ours = (WadiF8){ 0 } + inverse;
            WadiF8 t = 1.0f - (x * x + y * y + z * z) * WADI_ROW_SELECT(is_larger, theirs, ours);
            t = WADI_ROW_SELECT(t > 0.0f, t, (WadiF8){ 0 });
            /* v_k / h^3 is 1 for the larger one and the ratio of the cubes for the smaller. */
            sum += t * t * t * WADI_ROW_SELECT(is_larger, (WadiF8){ 0 } + 1.0f, cube * own);
        }
        density[i] += ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
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
    float *share;
    WADI_TRY(WADI_ARENA_NEW(arena, &share, count, "particle densities", error));
    memset(share, 0, count * sizeof *share);
    wadi_near_pairs(sampler->bins, NULL, add_density, share);
    wadi_parallel_for(sampler->bins->count, 16384, invert, share);
    sampler->outside = (float)outside_of(sampler->cloud, sampler->def);
    sampler->data = share;
    return WADI_OK;
}

static const WadiF8 LANE = { 0, 1, 2, 3, 4, 5, 6, 7 };

static void sample_row(const WadiFieldSampler *sampler, const WadiFieldNear *near, const int32_t *index,
                       int32_t count, float y, float z, float value[WADI_ROW_CELLS])
{
    const float *share = sampler->data;
    WadiF8 sum = { 0 }, sum_reach = { 0 };
    for (int32_t n = 0; n < count; ++n) {
        int32_t i = index[n];
        float dy = y - near->y[i], dz = z - near->z[i], reach = near->reach[i];
        float squared = 1.0f / (reach * reach), side = 1.0f - (dy * dy + dz * dz) * squared;
        WadiF8 dx = LANE - near->x[i];
        WadiF8 t = side - dx * dx * squared;
        t = WADI_ROW_SELECT(t > 0.0f, t, (WadiF8){ 0 });
        WadiF8 k = share[near->slot[i]] * (t * t * t);
        sum += k;
        sum_reach += k * reach;
    }
    float outside = (float)((double)sampler->outside / sampler->def->cell);
    for (int l = 0; l < WADI_ROW_CELLS; ++l) {
        float reach = sum[l] > 0.0f ? sum_reach[l] / sum[l] : 0.0f;
        value[l] = sum[l] > 0.0f ? ((float)LEVEL - sum[l]) * (float)FALL * reach : outside;
    }
}

static double kernel(WadiVec3 u, double h)
{
    double t = fmax(0.0, 1.0 - wadi_dot(u, u) / (h * h));
    return t * t * t / (KERNEL_INTEGRAL * h * h * h);
}

static double density_at(const WadiCloud *cloud, double reach, int32_t i)
{
    double density = 0.0;
    for (int32_t j = 0; j < cloud->count; ++j) {
        double h = reach * (double)fmaxf(cloud->spacing[i], cloud->spacing[j]);
        density +=
            pow((double)cloud->spacing[j], 3.0) * kernel(wadi_sub(cloud->position[j], cloud->position[i]), h);
    }
    return density;
}

static double reference(const WadiCloud *cloud, const WadiFieldDef *def, WadiVec3 x)
{
    double sum = 0.0, sum_reach = 0.0;
    for (int32_t i = 0; i < cloud->count; ++i) {
        double spacing = (double)cloud->spacing[i], h = def->reach * spacing;
        double w = kernel(wadi_sub(x, cloud->position[i]), h);
        if (w > 0.0) {
            double c = spacing * spacing * spacing / density_at(cloud, def->reach, i) * w;
            sum += c;
            sum_reach += c * h;
        }
    }
    return sum > 0.0 ? (LEVEL - sum) * FALL * sum_reach / sum : outside_of(cloud, def);
}

/* The density that particles' shares are divided by follows how densely they lie: c is about 1 in any even filling. */
static bool is_inside_where_filled(const WadiFieldDef *def)
{
    return def->reach >= 1.75;
}

const WadiFieldMethod wadi_field_color = { .prepare = prepare,
                                           .sample_row = sample_row,
                                           .is_inside_where_filled = is_inside_where_filled,
                                           .reference = reference };
