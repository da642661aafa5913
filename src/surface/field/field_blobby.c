/* Blobbies: the sum of a kernel per particle, and the surface where it falls to a threshold. [B82; ZB05 figure 4 with the
 * kernel of eq. 8; models 7.3] For comparison: it cannot make a flat surface flat.
 *
 * The threshold is the kernel's value at the radius of the ball that has a particle's volume, so that a lone particle is
 * right. Values are the threshold less the sum, times the distance over which the sum falls by 1 where evenly
 * filled space ends flat, so they are about metres there: a slice across has the integral pi R^2 / 4 (1 - z^2)^4 at z = 0. */
#include <math.h>

#include "surface/field/field_method.h"

static double threshold_of(const WadiFieldDef *def)
{
    const double ball = 0.62035049089940002; /* spacings: (3 / (4 pi))^(1/3) */
    double s = fmin(ball / def->reach, 0.9);
    return pow(1.0 - s * s, 3.0);
}

/* Spacings a unit of the sum. */
static double fall_of(const WadiFieldDef *def)
{
    return 4.0 / (3.14159265358979324 * def->reach * def->reach);
}

static double outside_of(const WadiCloud *cloud, const WadiFieldDef *def)
{
    return threshold_of(def) * fall_of(def) * cloud->spacing_min;
}

static WadiStatus prepare(WadiFieldSampler *sampler, WadiArena *arena, WadiError *error)
{
    (void)arena;
    (void)error;
    sampler->outside = (float)outside_of(sampler->cloud, sampler->def);
    return WADI_OK;
}

static const WadiF8 LANE = { 0, 1, 2, 3, 4, 5, 6, 7 };

static void sample_row(const WadiFieldSampler *sampler, const WadiFieldNear *near, const int32_t *index,
                       int32_t count, float y, float z, float value[WADI_ROW_CELLS])
{
    WadiF8 sum = { 0 }, sum_reach = { 0 };
    for (int32_t n = 0; n < count; ++n) {
        int32_t i = index[n];
        float dy = y - near->y[i], dz = z - near->z[i], reach = near->reach[i];
        float squared = 1.0f / (reach * reach), side = 1.0f - (dy * dy + dz * dz) * squared;
        WadiF8 dx = LANE - near->x[i];
        WadiF8 t = side - dx * dx * squared;
        t = WADI_ROW_SELECT(t > 0.0f, t, (WadiF8){ 0 });
        WadiF8 k = t * t * t;
        sum += k;
        sum_reach += k * reach;
    }
    float threshold = (float)threshold_of(sampler->def);
    float fall = (float)(fall_of(sampler->def) / sampler->def->reach);
    float outside = (float)((double)sampler->outside / sampler->def->cell);
    for (int l = 0; l < WADI_ROW_CELLS; ++l) {
        value[l] = sum[l] > 0.0f ? (threshold - sum[l]) * fall * (sum_reach[l] / sum[l]) : outside;
    }
}

static double reference(const WadiCloud *cloud, const WadiFieldDef *def, WadiVec3 x)
{
    double sum = 0.0, sum_spacing = 0.0;
    for (int32_t i = 0; i < cloud->count; ++i) {
        double spacing = (double)cloud->spacing[i];
        WadiVec3 u = wadi_scale(wadi_sub(x, cloud->position[i]), 1.0 / (def->reach * spacing));
        double t = fmax(0.0, 1.0 - wadi_dot(u, u)), k = t * t * t;
        sum += k;
        sum_spacing += k * spacing;
    }
    return sum > 0.0 ? (threshold_of(def) - sum) * fall_of(def) * sum_spacing / sum : outside_of(cloud, def);
}

/* A third of the sum in evenly filled space is still over the threshold. */
static bool is_inside_where_filled(const WadiFieldDef *def)
{
    double filled = 64.0 * 3.14159265358979324 / 315.0 * pow(def->reach, 3.0);
    return filled / 3.0 > 1.5 * threshold_of(def);
}

const WadiFieldMethod wadi_field_blobby = { .prepare = prepare,
                                            .sample_row = sample_row,
                                            .is_inside_where_filled = is_inside_where_filled,
                                            .reference = reference };
