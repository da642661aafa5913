/* Blobbies: the sum of one kernel per particle; the surface is where it falls to a threshold. [B82; ZB05
 * figure 4 with the kernel of eq. 8; theory 10.4] For comparison.
 *
 * The threshold is the kernel's value at the radius of a ball of the particle's volume: exact for a lone
 * particle. Values are threshold less sum, scaled to metres where evenly filled space ends in a plane: the
 * kernel's integral over a slice at height z R is pi R^2 / 4 (1 - z^2)^4, taken at z = 0. */
#include <math.h>

#include "surface/field/field_method.h"

static double threshold_of(const WadiFieldDef *def)
{
    const double ball = 0.62035049089940002; /* spacings: (3 / (4 pi))^(1/3) */
    double s = fmin(ball / def->support, 0.9);
    return pow(1.0 - s * s, 3.0);
}

/* Spacings over which the sum falls by 1 at a flat surface. */
static double fall_of(const WadiFieldDef *def)
{
    return 4.0 / (3.14159265358979324 * def->support * def->support);
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
    WadiF8 sum = { 0 }, sum_support = { 0 };
    for (int32_t n = 0; n < count; ++n) {
        int32_t i = index[n];
        float dy = y - near->y[i], dz = z - near->z[i], support = near->support[i];
        float squared = 1.0f / (support * support), side = 1.0f - (dy * dy + dz * dz) * squared;
        WadiF8 dx = LANE - near->x[i];
        WadiF8 t = side - dx * dx * squared;
        t = WADI_ROW_SELECT(t > 0.0f, t, (WadiF8){ 0 });
        WadiF8 k = t * t * t;
        sum += k;
        sum_support += k * support;
    }
    float threshold = (float)threshold_of(sampler->def);
    float fall = (float)(fall_of(sampler->def) / sampler->def->support);
    float outside = (float)((double)sampler->outside / sampler->def->cell);
    for (int l = 0; l < WADI_ROW_CELLS; ++l) {
        value[l] = sum[l] > 0.0f ? (threshold - sum[l]) * fall * (sum_support[l] / sum[l]) : outside;
    }
}

static double reference(const WadiCloud *cloud, const WadiFieldDef *def, WadiVec3 x)
{
    double sum = 0.0, sum_spacing = 0.0;
    for (int32_t i = 0; i < cloud->count; ++i) {
        double spacing = (double)cloud->spacing[i];
        WadiVec3 u = wadi_scale(wadi_sub(x, cloud->position[i]), 1.0 / (def->support * spacing));
        double t = fmax(0.0, 1.0 - wadi_dot(u, u)), k = t * t * t;
        sum += k;
        sum_spacing += k * spacing;
    }
    return sum > 0.0 ? (threshold_of(def) - sum) * fall_of(def) * sum_spacing / sum : outside_of(cloud, def);
}

/* A third of the sum in evenly filled space still exceeds the threshold. */
static bool is_inside_where_filled(const WadiFieldDef *def)
{
    double filled = 64.0 * 3.14159265358979324 / 315.0 * pow(def->support, 3.0);
    return filled / 3.0 > 1.5 * threshold_of(def);
}

const WadiFieldMethod wadi_field_blobby = { .prepare = prepare,
                                            .sample_row = sample_row,
                                            .is_inside_where_filled = is_inside_where_filled,
                                            .reference = reference };
