/* The function of Zhu and Bridson: the distance to the weighted mean of the nearby particles less the
 * weighted mean of their radii. [ZB05 eqs 6-10; theory 10.1]
 *
 * Differs: the support radius R is each particle's own, so that sizes can mix. Outside all supports the value
 * is R - r of the smallest particle, the limit of a lone particle's function. Optionally the radius is
 * reduced in concave regions [SSP07]. */
#include <math.h>

#include "math/sym3.h"
#include "surface/field/field_method.h"

/* The mean of the radii that are exact for a plane and for a lone particle [theory 10.2]. Plane:
 * R ((1 - h^2)^5 / 10) / integral of (1 - z^2)^4 from h to 1, with h = 1 / (2 R). */
double wadi_field_volume_offset(double support, double radius)
{
    double h = fmin(0.5 / support, 0.9), s = h * h;
    double below = h * (1.0 - s * (4.0 / 3.0 - s * (6.0 / 5.0 - s * (4.0 / 7.0 - s / 9.0))));
    double plane = support * pow(1.0 - s, 5.0) / 10.0 / (128.0 / 315.0 - below);
    return fmax(0.0, fmin(1.0 - 0.5 * (plane + WADI_FIELD_BALL), radius - WADI_FIELD_BALL));
}

void wadi_field_volume_slack(double support, double slack[2])
{
    slack[1] = wadi_field_volume_offset(support, 1.0);
    slack[0] = 1.0 - slack[1] - WADI_FIELD_BALL;
}

static const double EIGENVALUE_LOW = 0.4, EIGENVALUE_HIGH = 3.5;

static inline double radius_factor(double eigenvalue)
{
    if (eigenvalue < EIGENVALUE_LOW) {
        return 1.0;
    }
    double gamma = (EIGENVALUE_HIGH - eigenvalue) / (EIGENVALUE_HIGH - EIGENVALUE_LOW);
    return gamma > 0.0 ? gamma * (gamma * (gamma - 3.0) + 3.0) : 0.0;
}

/* Sums over the particles, u = x - x_i: k, k u, k r, and for the gradient of the mean m u and m u u^T with m
 * = t^2 / R^2, t = 1 - |u|^2 / R^2 and k = t^3, since grad k = -6 m u. */
typedef struct Moments {
    double k, kr;
    WadiVec3 ku, mu;
    WadiSym3 muu;
} Moments;

/* Largest eigenvalue of the symmetric part of grad xbar = 6 / k (sum m u u^T - (sum k u) (sum m u)^T / k). */
static double mean_eigenvalue(const Moments *s)
{
    double scale = 6.0 / s->k;
    WadiVec3 a = wadi_scale(s->ku, 1.0 / s->k), b = s->mu;
    WadiSym3 gradient = {
        s->muu.xx - a.x * b.x,
        s->muu.yy - a.y * b.y,
        s->muu.zz - a.z * b.z,
        s->muu.xy - 0.5 * (a.x * b.y + a.y * b.x),
        s->muu.xz - 0.5 * (a.x * b.z + a.z * b.x),
        s->muu.yz - 0.5 * (a.y * b.z + a.z * b.y),
    };
    double value[3];
    wadi_sym3_eigenvalues(wadi_sym3_scale(gradient, scale), value);
    return value[2];
}

static double value_of(const Moments *s, bool is_concave_fixed, double outside)
{
    if (!(s->k > 0.0)) {
        return outside;
    }
    double factor = is_concave_fixed ? radius_factor(mean_eigenvalue(s)) : 1.0;
    return wadi_norm(s->ku) / s->k - factor * s->kr / s->k;
}

static double reference(const WadiCloud *cloud, const WadiFieldDef *def, WadiVec3 x)
{
    Moments s = { 0 };
    for (int32_t i = 0; i < cloud->count; ++i) {
        double spacing = (double)cloud->spacing[i], squared_support = pow(def->support * spacing, 2.0);
        WadiVec3 u = wadi_sub(x, cloud->position[i]);
        double t = 1.0 - wadi_dot(u, u) / squared_support;
        if (t > 0.0) {
            double k = t * t * t, m = t * t / squared_support;
            s.k += k;
            s.kr += k * (def->radius - def->offset) * spacing;
            s.ku = wadi_add_scaled(s.ku, u, k);
            s.mu = wadi_add_scaled(s.mu, u, m);
            s.muu.xx += m * u.x * u.x;
            s.muu.yy += m * u.y * u.y;
            s.muu.zz += m * u.z * u.z;
            s.muu.xy += m * u.x * u.y;
            s.muu.xz += m * u.x * u.z;
            s.muu.yz += m * u.y * u.z;
        }
    }
    return value_of(&s, def->is_concave_fixed, wadi_field_outside(cloud, def));
}

static const WadiF8 LANE = { 0, 1, 2, 3, 4, 5, 6, 7 };

/* Values from the sums of k, k (x - x_i) and k r. */
static inline __attribute__((always_inline)) void finish_row(const WadiFieldSampler *sampler, const WadiF8 *k,
                                                             const WadiF8 *kx, const WadiF8 *ky,
                                                             const WadiF8 *kz, const WadiF8 *kr,
                                                             float value[WADI_ROW_CELLS])
{
    float outside = (float)((double)sampler->outside / sampler->def->cell);
    WadiF8 squared = *kx * *kx + *ky * *ky + *kz * *kz;
    for (int l = 0; l < WADI_ROW_CELLS; ++l) {
        value[l] = (*k)[l] > 0.0f ? (sqrtf(squared[l]) - (*kr)[l]) / (*k)[l] : outside;
    }
}

/* Particles of one size: a common factor of k cancels, so that t = R^2 - |x - x_i|^2. */
static void sample_row_alike(const WadiFieldSampler *sampler, const WadiFieldNear *near, const int32_t *index,
                             int32_t count, float y, float z, float value[WADI_ROW_CELLS])
{
    WadiF8 sum = { 0 }, sum_x = { 0 }, sum_y = { 0 }, sum_z = { 0 };
    for (int32_t n = 0; n < count; ++n) {
        int32_t i = index[n];
        float dy = y - near->y[i], dz = z - near->z[i];
        WadiF8 dx = LANE - near->x[i];
        WadiF8 t = near->remaining[n] - dx * dx;
        t = WADI_ROW_SELECT(t > 0.0f, t, (WadiF8){ 0 });
        WadiF8 k = t * t * t;
        sum += k;
        sum_x += k * dx;
        sum_y += k * dy;
        sum_z += k * dz;
    }
    float radius = near->support[index[0]] *
                   (float)((sampler->def->radius - sampler->def->offset) / sampler->def->support);
    WadiF8 sum_radius = sum * radius;
    finish_row(sampler, &sum, &sum_x, &sum_y, &sum_z, &sum_radius, value);
}

static void sample_row_mixed(const WadiFieldSampler *sampler, const WadiFieldNear *near, const int32_t *index,
                             int32_t count, float y, float z, float value[WADI_ROW_CELLS])
{
    WadiF8 sum = { 0 }, sum_x = { 0 }, sum_y = { 0 }, sum_z = { 0 }, sum_radius = { 0 };
    float ratio = (float)((sampler->def->radius - sampler->def->offset) / sampler->def->support);
    for (int32_t n = 0; n < count; ++n) {
        int32_t i = index[n];
        float dy = y - near->y[i], dz = z - near->z[i], support = near->support[i];
        WadiF8 dx = LANE - near->x[i];
        WadiF8 t = (near->remaining[n] - dx * dx) * (1.0f / (support * support));
        t = WADI_ROW_SELECT(t > 0.0f, t, (WadiF8){ 0 });
        WadiF8 k = t * t * t;
        sum += k;
        sum_x += k * dx;
        sum_y += k * dy;
        sum_z += k * dz;
        sum_radius += k * (ratio * support);
    }
    finish_row(sampler, &sum, &sum_x, &sum_y, &sum_z, &sum_radius, value);
}

/* With the factor of [SSP07], from the gradient of the mean. */
static void sample_row_concave(const WadiFieldSampler *sampler, const WadiFieldNear *near,
                               const int32_t *index, int32_t count, float y, float z,
                               float value[WADI_ROW_CELLS])
{
    enum { K, KR, KX, KY, KZ, MX, MY, MZ, XX, YY, ZZ, XY, XZ, YZ, SUMS };
    WadiF8 sum[SUMS] = { 0 };
    for (int32_t n = 0; n < count; ++n) {
        int32_t i = index[n];
        float dy = y - near->y[i], dz = z - near->z[i], support = near->support[i];
        float squared = 1.0f / (support * support);
        WadiF8 dx = LANE - near->x[i];
        WadiF8 t = (near->remaining[n] - dx * dx) * squared;
        t = WADI_ROW_SELECT(t > 0.0f, t, (WadiF8){ 0 });
        WadiF8 k = t * t * t, m = t * t * squared;
        WadiF8 mx = m * dx, my = m * dy, mz = m * dz;
        sum[K] += k;
        sum[KR] += k * support;
        sum[KX] += k * dx;
        sum[KY] += k * dy;
        sum[KZ] += k * dz;
        sum[MX] += mx;
        sum[MY] += my;
        sum[MZ] += mz;
        sum[XX] += mx * dx;
        sum[YY] += my * dy;
        sum[ZZ] += mz * dz;
        sum[XY] += mx * dy;
        sum[XZ] += mx * dz;
        sum[YZ] += my * dz;
    }
    double ratio = (sampler->def->radius - sampler->def->offset) / sampler->def->support;
    double outside = (double)sampler->outside / sampler->def->cell;
    for (int l = 0; l < WADI_ROW_CELLS; ++l) {
        double s[SUMS];
        for (int c = 0; c < SUMS; ++c) {
            s[c] = (double)sum[c][l];
        }
        Moments moments = { .k = s[K],
                            .kr = s[KR] * ratio,
                            .ku = { s[KX], s[KY], s[KZ] },
                            .mu = { s[MX], s[MY], s[MZ] },
                            .muu = { s[XX], s[YY], s[ZZ], s[XY], s[XZ], s[YZ] } };
        value[l] = (float)value_of(&moments, true, outside);
    }
}

static void sample_row(const WadiFieldSampler *sampler, const WadiFieldNear *near, const int32_t *index,
                       int32_t count, float y, float z, float value[WADI_ROW_CELLS])
{
    /* R^6 must stay far below the largest float. */
    bool is_alike =
        sampler->cloud->spacing_min == sampler->cloud->spacing_max && near->support[index[0]] < 1000.0f;
    if (sampler->def->is_concave_fixed) {
        sample_row_concave(sampler, near, index, count, y, z, value);
    } else if (is_alike) {
        sample_row_alike(sampler, near, index, count, y, z, value);
    } else {
        sample_row_mixed(sampler, near, index, count, y, z, value);
    }
}

/* With smaller radii an even filling has holes. */
static bool is_inside_where_filled(const WadiFieldDef *def)
{
    return def->radius - def->offset >= 0.3 * def->support;
}

const WadiFieldMethod wadi_field_zhu_bridson = { .sample_row = sample_row,
                                                 .is_inside_where_filled = is_inside_where_filled,
                                                 .reference = reference };
