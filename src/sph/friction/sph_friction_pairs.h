/* The two sums over neighbours of the friction: forces of stresses, and strain rates. Two neighbours at a
 * time, one in each half of a vector: sums of even and odd neighbours, added at the end. [theory 11.5] */
#ifndef WADI_SPH_FRICTION_PAIRS_H
#define WADI_SPH_FRICTION_PAIRS_H

#include "sph/friction/sph_friction.h"
#include "sph/pairs/sph_lanes.h"

#define TURN(v) __builtin_shufflevector(v, v, 1, 2, 0, 3) /* y, z, x */
#define TURN_BACK(v) __builtin_shufflevector(v, v, 2, 0, 1, 3)
#define TURN_BOTH(v) __builtin_shufflevector(v, v, 1, 2, 0, 3, 5, 6, 4, 7)
#define TURN_BACK_BOTH(v) __builtin_shufflevector(v, v, 2, 0, 1, 3, 6, 4, 5, 7)
#define ADD_HALVES(v) (WADI_ROW_LOW(v) + WADI_ROW_HIGH(v))

/* Of a 3 x 3 tensor, by component: what is added up over the neighbours. */
typedef struct WadiSphTensorSum {
    WadiF8 diagonal, above, below;
} WadiSphTensorSum;

/* Adds B_j G_ij of two neighbours j, slopes in units. */
static inline __attribute__((always_inline)) void wadi_sph_push_two(const WadiSphPairs *pairs,
                                                                    const WadiU8 *place,
                                                                    WadiF4 *const force[3], const uint32_t *j,
                                                                    const WadiF8 *slope, WadiF8 *sum)
{
    const WadiU8 to = (WadiU8)WADI_SPH_TWO_ROWS(pairs->place, j[0], j[1]);
    const WadiF8 g = __builtin_convertvector((WadiI8)(to - *place), WadiF8) * *slope;
    *sum += (WadiF8)WADI_SPH_TWO_ROWS(force[0], j[0], j[1]) * g +
            (WadiF8)WADI_SPH_TWO_ROWS(force[1], j[0], j[1]) * TURN_BOTH(g) +
            (WadiF8)WADI_SPH_TWO_ROWS(force[2], j[0], j[1]) * TURN_BACK_BOTH(g);
}

/* Adds (v_j - v_i) (x) G_ij of two neighbours j, slopes in units. */
static inline __attribute__((always_inline)) void wadi_sph_strain_two(
    const WadiSphPairs *pairs, const WadiU8 *place, const WadiF4 *velocity, const WadiF8 *own,
    const uint32_t *j, const WadiF8 *slope, WadiSphTensorSum *sum)
{
    const WadiU8 to = (WadiU8)WADI_SPH_TWO_ROWS(pairs->place, j[0], j[1]);
    const WadiF8 g = __builtin_convertvector((WadiI8)(to - *place), WadiF8) * *slope;
    const WadiF8 faster = (WadiF8)WADI_SPH_TWO_ROWS(velocity, j[0], j[1]) - *own;
    sum->diagonal += faster * g;
    sum->above += faster * TURN_BOTH(g);
    sum->below += faster * TURN_BACK_BOTH(g);
}

/* Whether the particle has tractions; they are those of `near`. */
static inline bool wadi_sph_has_traction(const WadiSphFrictionIn *in, int32_t i, int32_t *near)
{
    *near = wadi_sph_near(in->walls, i);
    return *near >= 0 && in->is_sand[i];
}

/* Product of a symmetric matrix xx, yy, zz, xy, yz, zx with a vector. */
static inline WadiF4 wadi_sph_symmetric_times(const float m[6], WadiF4 v)
{
    return (WadiF4){ m[0] * v[0] + m[3] * v[1] + m[5] * v[2], m[3] * v[0] + m[1] * v[1] + m[4] * v[2],
                     m[5] * v[0] + m[4] * v[1] + m[2] * v[2], 0.0f };
}

static inline WadiF4 wadi_sph_cross(WadiF4 a, WadiF4 b)
{
    const WadiF4 turned = a * TURN(b) - TURN(a) * b;
    return TURN(turned);
}

/* B = T + s - [beta x] of a stress, beta = (tr M - M)^-1 times the axial vector of T M: B M is symmetric, so
 * that its forces exert no torque. */
static inline void wadi_sph_torque_free(const WadiSphMoment *m, WadiF4 row, float zx, float mean,
                                        WadiF4 force[3])
{
    const float zz = -row[0] - row[1];
    const WadiF4 x =
        wadi_sph_symmetric_times(m->moment, (WadiF4){ row[0], row[2], zx, 0.0f }); /* rows of T M */
    const WadiF4 y = wadi_sph_symmetric_times(m->moment, (WadiF4){ row[2], row[1], row[3], 0.0f });
    const WadiF4 z = wadi_sph_symmetric_times(m->moment, (WadiF4){ zx, row[3], zz, 0.0f });
    const WadiF4 axial = { z[1] - y[2], x[2] - z[0], y[0] - x[1], 0.0f };
    const WadiF4 beta = wadi_sph_symmetric_times(m->inverse, axial);
    force[0] = (WadiF4){ row[0] + mean, row[1] + mean, zz + mean, 0.0f };
    force[1] = (WadiF4){ row[2] + beta[2], row[3] + beta[0], zx + beta[1], 0.0f };
    force[2] = (WadiF4){ zx - beta[1], row[2] - beta[2], row[3] - beta[0], 0.0f };
}

/* sum_j (B_i + B_j) G_ij + sum_c t_c. */
static inline __attribute__((always_inline)) void wadi_sph_friction_push(const WadiSphFrictionIn *in,
                                                                         const WadiSphFriction *friction,
                                                                         int32_t i, WadiF4 *push)
{
    const WadiSphPairs *pairs = in->pairs;
    const WadiU4 at = (WadiU4)pairs->place[i];
    const WadiU8 place = WADI_SPH_JOIN_INTS(at, at);
    const int64_t end = pairs->start[i] + (int64_t)pairs->same[i];
    WadiF4 all = pairs->sum[i]; /* T_i counts for all of them */
    if (end < pairs->start[i + 1]) {
        wadi_sph_pairs_sum_same(pairs, i, &all);
    }
    all = -all;
    WadiF4 *const *force = friction->force;
    WadiF8 lanes = { 0 };
    for (int64_t n = pairs->start[i]; n < end; n += WADI_SPH_LANES) {
        const uint32_t *j = pairs->offset + n;
        WadiF8 slope[4];
        wadi_sph_spread_slopes(pairs, n, end, slope);
        wadi_sph_push_two(pairs, &place, force, j, &slope[0], &lanes);
        wadi_sph_push_two(pairs, &place, force, j + 2, &slope[1], &lanes);
        wadi_sph_push_two(pairs, &place, force, j + 4, &slope[2], &lanes);
        wadi_sph_push_two(pairs, &place, force, j + 6, &slope[3], &lanes);
    }
    WadiF4 sum = wadi_sph_xyz(ADD_HALVES(lanes) + force[0][i] * all + force[1][i] * TURN(all) +
                              force[2][i] * TURN_BACK(all));
    sum *= wadi_sph_unit(pairs, i);
    int32_t near;
    if (wadi_sph_has_traction(in, i, &near)) {
        for (int c = 0; c < in->walls->contact_count[near]; ++c) {
            sum += friction->traction_at[wadi_sph_first_contact(in->walls, near) + (size_t)c];
        }
        sum += wadi_sph_xyz(in->walls->gradient[near]) * friction->mean_at[i];
    }
    *push = sum;
}

/* sym sum_j (v_j - v_i - omega_i x x_ij) (x) G_ij. */
static inline __attribute__((always_inline)) void wadi_sph_friction_strain_of(const WadiSphFrictionIn *in,
                                                                              const WadiF4 *velocity,
                                                                              int32_t i, WadiSphStrain *out)
{
    const WadiSphPairs *pairs = in->pairs;
    const WadiU4 at = (WadiU4)pairs->place[i];
    const WadiU8 place = WADI_SPH_JOIN_INTS(at, at);
    const WadiF8 own = WADI_SPH_JOIN_FLOATS(velocity[i], velocity[i]);
    const int64_t end = pairs->start[i] + pairs->same[i];
    WadiSphTensorSum lanes = { 0 };
    for (int64_t n = pairs->start[i]; n < end; n += WADI_SPH_LANES) {
        const uint32_t *j = pairs->offset + n;
        WadiF8 slope[4];
        wadi_sph_spread_slopes(pairs, n, end, slope);
        wadi_sph_strain_two(pairs, &place, velocity, &own, j, &slope[0], &lanes);
        wadi_sph_strain_two(pairs, &place, velocity, &own, j + 2, &slope[1], &lanes);
        wadi_sph_strain_two(pairs, &place, velocity, &own, j + 4, &slope[2], &lanes);
        wadi_sph_strain_two(pairs, &place, velocity, &own, j + 6, &slope[3], &lanes);
    }
    const float unit = wadi_sph_unit(pairs, i);
    WadiF4 diagonal = ADD_HALVES(lanes.diagonal) * unit;
    const WadiF4 above = ADD_HALVES(lanes.above) * unit, below = ADD_HALVES(lanes.below) * unit;
    WadiF4 shear = 0.5f * (above + TURN(below));
    const float *m = in->moment[i].moment;
    const WadiF4 axial = { below[2] - above[1], below[0] - above[2], below[1] - above[0], 0.0f };
    const WadiF4 spin = wadi_sph_symmetric_times(in->moment[i].inverse, axial);
    /* Columns of omega x M. */
    const WadiF4 x = wadi_sph_cross(spin, (WadiF4){ m[0], m[3], m[5], 0.0f });
    const WadiF4 y = wadi_sph_cross(spin, (WadiF4){ m[3], m[1], m[4], 0.0f });
    const WadiF4 z = wadi_sph_cross(spin, (WadiF4){ m[5], m[4], m[2], 0.0f });
    diagonal -= (WadiF4){ x[0], y[1], z[2], 0.0f };
    shear -= 0.5f * (WadiF4){ y[0] + x[1], z[1] + y[2], x[2] + z[0], 0.0f };
    const float third = (diagonal[0] + diagonal[1] + diagonal[2]) * (1.0f / 3.0f);
    int32_t near;
    float wall = 0.0f;
    if (wadi_sph_has_traction(in, i, &near)) {
        const WadiF4 towards = in->walls->gradient[near] * velocity[i];
        wall = towards[0] + towards[1] + towards[2];
    }
    *out = (WadiSphStrain){ { diagonal[0] - third, diagonal[1] - third, shear[0], shear[1], shear[2] },
                            3.0f * third - wall,
                            spin };
}

#endif
