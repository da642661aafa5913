/* The sum of stretched kernels; the surface is where it falls to a level. [YT13 eq. 5; theory 10.4]
 *
 * Differs: the kernel is (1 - s^2)^3, as in the other methods. The level is 0.33 of the sum in evenly filled
 * space, so that the surface encloses the particles' volume. The value is sqrt(level) - sqrt(sum), scaled to
 * metres at a flat surface; the roots make it as steep inside as outside, so that smoothing does not move the
 * surface. */
#include <math.h>

#include "surface/cloud/anisotropy.h"
#include "surface/field/field_method.h"

static const double ROOT = 0.57445626465380284; /* sqrt of the level */
static const double FALL = 0.80; /* spacings over which sqrt(sum) falls by 1 at a flat surface */

static double outside_of(const WadiCloud *cloud)
{
    return ROOT * FALL * cloud->spacing_min;
}

static WadiStatus prepare(WadiFieldSampler *sampler, WadiArena *arena, WadiError *error)
{
    WadiAnisotropy *anisotropy;
    WADI_TRY(WADI_ARENA_NEW(arena, &anisotropy, 1, "ellipsoids", error));
    WADI_TRY(wadi_anisotropy_build(anisotropy, sampler->cloud,
                                   WADI_ANISOTROPIC_SUPPORT * sampler->def->support, sampler->def->cell,
                                   arena, error));
    sampler->bins = &anisotropy->bins;
    sampler->outside = (float)outside_of(sampler->cloud);
    sampler->data = anisotropy;
    return WADI_OK;
}

static const WadiF8 LANE = { 0, 1, 2, 3, 4, 5, 6, 7 };

static void sample_row(const WadiFieldSampler *sampler, const WadiFieldNear *near, const int32_t *index,
                       int32_t count, float y, float z, float value[WADI_ROW_CELLS])
{
    const WadiAnisotropy *anisotropy = sampler->data;
    WadiF8 sum = { 0 }, sum_spacing = { 0 };
    for (int32_t n = 0; n < count; ++n) {
        int32_t i = index[n];
        const float *form = anisotropy->ellipsoid[near->slot[i]];
        float dy = y - near->y[i], dz = z - near->z[i];
        float slope = form[3] * dy + form[4] * dz;
        float side = 1.0f - (form[1] * dy * dy + form[2] * dz * dz + form[5] * dy * dz);
        WadiF8 dx = LANE - near->x[i];
        WadiF8 t = side - (form[0] * dx + slope) * dx;
        t = WADI_ROW_SELECT(t > 0.0f, t, (WadiF8){ 0 });
        WadiF8 k = form[6] * (t * t * t);
        sum += k;
        sum_spacing += k * form[7];
    }
    float outside = (float)((double)sampler->outside / sampler->def->cell);
    for (int l = 0; l < WADI_ROW_CELLS; ++l) {
        float spacing = sum[l] > 0.0f ? sum_spacing[l] / sum[l] : 0.0f;
        value[l] = sum[l] > 0.0f ? ((float)ROOT - sqrtf(sum[l])) * (float)FALL * spacing : outside;
    }
}

/* Moments of the neighbours of particle i. */
static WadiNearMoments moments_of(const WadiCloud *cloud, double support, int32_t i)
{
    WadiNearMoments m = { 0 };
    for (int32_t j = 0; j < cloud->count; ++j) {
        WadiVec3 d = wadi_sub(cloud->position[j], cloud->position[i]);
        double s = wadi_norm(d) / (support * (double)fmaxf(cloud->spacing[i], cloud->spacing[j]));
        if (s < 1.0) {
            double volume = pow((double)cloud->spacing[j], 3.0), k = (1.0 - s * s * s) * volume;
            m.weight += k;
            m.volume += volume;
            m.mean = wadi_add_scaled(m.mean, d, k);
            m.second.xx += k * d.x * d.x;
            m.second.yy += k * d.y * d.y;
            m.second.zz += k * d.z * d.z;
            m.second.xy += k * d.x * d.y;
            m.second.xz += k * d.x * d.z;
            m.second.yz += k * d.y * d.z;
        }
    }
    return m;
}

static WadiVec3 neighbour_offset(const WadiCloud *cloud, double support, int32_t i, WadiVec3 own)
{
    WadiVec3 sum = { 0 };
    double weight = 0.0;
    for (int32_t j = 0; j < cloud->count; ++j) {
        double s = wadi_norm(wadi_sub(cloud->position[j], cloud->position[i])) /
                   (support * (double)fmaxf(cloud->spacing[i], cloud->spacing[j]));
        if (s < 1.0) {
            WadiNearMoments m = moments_of(cloud, support, j);
            WadiVec3 offset = wadi_scale(m.mean, 1.0 / m.weight);
            double k =
                (1.0 - s * s * s) * pow((double)cloud->spacing[j], 3.0) * fmax(0.0, wadi_dot(own, offset));
            sum = wadi_add_scaled(sum, offset, k);
            weight += k;
        }
    }
    return weight > 0.0 ? wadi_scale(sum, 1.0 / weight) : own;
}

static double reference(const WadiCloud *cloud, const WadiFieldDef *def, WadiVec3 x)
{
    double support = WADI_ANISOTROPIC_SUPPORT * def->support, sum = 0.0, sum_spacing = 0.0;
    for (int32_t i = 0; i < cloud->count; ++i) {
        double spacing = (double)cloud->spacing[i];
        WadiNearMoments m = moments_of(cloud, support, i);
        WadiEllipsoid e = wadi_ellipsoid(&m, spacing, support);
        WadiVec3 own = wadi_scale(m.mean, 1.0 / m.weight);
        WadiVec3 shift = wadi_anisotropy_shift(own, neighbour_offset(cloud, support, i, own));
        WadiVec3 d = wadi_sub(x, wadi_add(cloud->position[i], shift));
        double t = 1.0 - (e.form.xx * d.x * d.x + e.form.yy * d.y * d.y + e.form.zz * d.z * d.z +
                          2.0 * (e.form.xy * d.x * d.y + e.form.xz * d.x * d.z + e.form.yz * d.y * d.z));
        if (t > 0.0) {
            double k = e.amplitude * t * t * t;
            sum += k;
            sum_spacing += k * spacing;
        }
    }
    return sum > 0.0 ? (ROOT - sqrt(sum)) * FALL * sum_spacing / sum : outside_of(cloud);
}

/* The sum equals the filled fraction, which exceeds the level. Smaller gaps between particles shall not
 * become bubbles. */
static bool is_inside_where_filled(const WadiFieldDef *def)
{
    return def->support >= 1.75;
}

const WadiFieldMethod wadi_field_anisotropic = { .neighbourhood = WADI_ANISOTROPIC_SUPPORT,
                                                 .prepare = prepare,
                                                 .sample_row = sample_row,
                                                 .is_inside_where_filled = is_inside_where_filled,
                                                 .reference = reference };
