/* Second moments of the neighbours of bonded sand, by which a rotation is told from a strain, and strain
 * rates. [theory 11.5] */
#include "core/parallel.h"
#include "sph/friction/sph_friction_pairs.h"

enum { BLOCK = 1024 };

/* det K / (tr K)^3 is 1/27 of a lattice and 0 where all neighbours lie on a line. Below this the inverse
 * would magnify the rounding of floats by a thousand. */
static const double LEAST_DETERMINANT = 1e-3 / 27.0;

typedef struct Moments {
    WadiSphMoment *of;
    const WadiSphPairs *pairs;
    float *tension, *cohesion;
    const uint8_t *role;
} Moments;

/* The inverse of a symmetric matrix xx, yy, zz, xy, yz, zx; 0 where it is close to singular. */
static void invert(const double k[6], float inverse[6])
{
    const double xx = k[1] * k[2] - k[4] * k[4], yy = k[2] * k[0] - k[5] * k[5];
    const double zz = k[0] * k[1] - k[3] * k[3], xy = k[4] * k[5] - k[3] * k[2];
    const double yz = k[5] * k[3] - k[4] * k[0], zx = k[3] * k[4] - k[5] * k[1];
    const double determinant = k[0] * xx + k[3] * xy + k[5] * zx, trace = k[0] + k[1] + k[2];
    const double cofactor[6] = { xx, yy, zz, xy, yz, zx };
    const bool is_full = determinant > LEAST_DETERMINANT * trace * trace * trace;
    for (int n = 0; n < 6; ++n) {
        inverse[n] = is_full ? (float)(cofactor[n] / determinant) : 0.0f;
    }
}

static WadiSphMoment moment_of(const WadiSphPairs *pairs, int32_t i)
{
    const WadiI4 place = pairs->place[i];
    const int64_t end = pairs->start[i] + (int64_t)pairs->same[i];
    WadiF8 sum[6] = { { 0 } };
    for (int64_t n = pairs->start[i]; n < end; n += WADI_SPH_LANES) {
        WadiF8 slope;
        WadiSphEight eight;
        wadi_sph_load_slopes(pairs, n, end, &slope);
        wadi_sph_load_eight(pairs, &place, pairs->offset + n, &eight);
        const WadiF8 x = slope * eight.x, y = slope * eight.y, z = slope * eight.z;
        sum[0] += x * eight.x, sum[1] += y * eight.y, sum[2] += z * eight.z;
        sum[3] += x * eight.y, sum[4] += y * eight.z, sum[5] += z * eight.x;
    }
    WadiSphMoment out;
    const float scale = wadi_sph_unit(pairs, i) * (float)(1.0 / WADI_SPH_PLACES);
    double k[6];
    for (int n = 0; n < 6; ++n) {
        out.moment[n] = wadi_sph_sum_lanes(&sum[n]) * scale;
        k[n] = -(double)out.moment[n];
    }
    const double trace = -(k[0] + k[1] + k[2]);
    k[0] += trace, k[1] += trace, k[2] += trace;
    invert(k, out.inverse);
    return out;
}

static void moment_block(void *context, int64_t first, int64_t end)
{
    const Moments *m = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        m->of[i] = (WadiSphMoment){ { 0 }, { 0 } };
        if (m->tension[i] > 0.0f && m->role[i] == WADI_SPH_ACTIVE) {
            m->of[i] = moment_of(m->pairs, i);
            const bool is_full = m->of[i].inverse[0] > 0.0f;
            m->tension[i] = is_full ? m->tension[i] : 0.0f;
            m->cohesion[i] = is_full ? m->cohesion[i] : 0.0f;
        }
    }
}

void wadi_sph_friction_moments(WadiSphMoment *moment, float *tension, float *cohesion,
                               const WadiSphPairs *pairs, const uint8_t *role)
{
    wadi_parallel_for(pairs->count, BLOCK, moment_block,
                      &(Moments){ moment, pairs, tension, cohesion, role });
}

typedef struct Strain {
    const WadiSphFrictionIn *in;
    const WadiF4 *velocity;
    WadiSphStrain *strain;
} Strain;

static void strain_block(void *context, int64_t first, int64_t end)
{
    const Strain *s = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        s->strain[i] = (WadiSphStrain){ 0 };
        if (s->in->is_sand[i]) {
            wadi_sph_friction_strain_of(s->in, s->velocity, i, &s->strain[i]);
        }
    }
}

void wadi_sph_friction_strain(WadiSphStrain *strain, const WadiF4 *velocity, const WadiSphFrictionIn *in)
{
    Strain s = { in, velocity, strain };
    wadi_parallel_for(in->pairs->count, BLOCK, strain_block, &s);
}
