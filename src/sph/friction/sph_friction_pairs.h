/* The two sums over neighbours of the friction: forces of stresses, and strain rates. Two neighbours at a
 * time, one in each half of a vector: sums of even and odd neighbours, added at the end. */
#ifndef WADI_SPH_FRICTION_PAIRS_H
#define WADI_SPH_FRICTION_PAIRS_H

#include "sph/friction/sph_friction.h"
#include "sph/pairs/sph_lanes.h"

#define TURN(v) __builtin_shufflevector(v, v, 1, 2, 0, 3) /* y, z, x */
#define TURN_BOTH(v) __builtin_shufflevector(v, v, 1, 2, 0, 3, 5, 6, 4, 7)
#define TURN_BACK_BOTH(v) __builtin_shufflevector(v, v, 2, 0, 1, 3, 6, 4, 5, 7)
#define ADD_HALVES(v) (WADI_ROW_LOW(v) + WADI_ROW_HIGH(v))

/* Of a 3 x 3 tensor, by component: what is added up over the neighbours. */
typedef struct WadiSphTensorSum {
    WadiF8 diagonal, above, below;
} WadiSphTensorSum;

/* What is added up of T_j G_ij over the neighbours, g = G_ij. */
typedef struct WadiSphPushSum {
    WadiF8 first;  /* xx gx, yy gy, xy gy, yz gz */
    WadiF8 second; /* xx gz, yy gz, xy gx, yz gy */
    WadiF8 third;  /* zx g */
} WadiSphPushSum;

#define FIRST(g) __builtin_shufflevector(g, g, 0, 1, 1, 2)
#define SECOND(g) __builtin_shufflevector(g, g, 2, 2, 0, 1)
#define FIRST_BOTH(g) __builtin_shufflevector(g, g, 0, 1, 1, 2, 4, 5, 5, 6)
#define SECOND_BOTH(g) __builtin_shufflevector(g, g, 2, 2, 0, 1, 6, 6, 4, 5)

/* Adds two neighbours j, slopes in units; zx is the number beside the place. */
static inline __attribute__((always_inline)) void wadi_sph_push_two(const WadiSphPairs *pairs,
                                                                    const WadiU8 *place, const WadiF4 *row,
                                                                    const uint32_t *j, const WadiF8 *slope,
                                                                    WadiSphPushSum *sum)
{
    const WadiU8 to = (WadiU8)WADI_SPH_TWO_ROWS(pairs->place, j[0], j[1]);
    const WadiF8 t = (WadiF8)WADI_SPH_TWO_ROWS(row, j[0], j[1]);
    const WadiF8 zx = (WadiF8)__builtin_shufflevector(to, to, 3, 3, 3, 3, 7, 7, 7, 7);
    const WadiF8 g = __builtin_convertvector((WadiI8)(to - *place), WadiF8) * *slope;
    sum->first += t * FIRST_BOTH(g);
    sum->second += t * SECOND_BOTH(g);
    sum->third += zx * g;
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

/* sum_j (T_i + T_j) G_ij + sum_c t_c, of rows and numbers. */
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
    WadiSphPushSum lanes = { 0 };
    for (int64_t n = pairs->start[i]; n < end; n += WADI_SPH_LANES) {
        const uint32_t *j = pairs->offset + n;
        WadiF8 slope[4];
        wadi_sph_spread_slopes(pairs, n, end, slope);
        wadi_sph_push_two(pairs, &place, friction->row, j, &slope[0], &lanes);
        wadi_sph_push_two(pairs, &place, friction->row, j + 2, &slope[1], &lanes);
        wadi_sph_push_two(pairs, &place, friction->row, j + 4, &slope[2], &lanes);
        wadi_sph_push_two(pairs, &place, friction->row, j + 6, &slope[3], &lanes);
    }
    const WadiF4 first = ADD_HALVES(lanes.first) + friction->row[i] * FIRST(all);
    const WadiF4 second = ADD_HALVES(lanes.second) + friction->row[i] * SECOND(all);
    const WadiF4 third = ADD_HALVES(lanes.third) + friction->last[i] * all;
    WadiF4 sum = { first[0] + first[2] + third[2], first[1] + first[3] + second[2],
                   third[0] + second[3] - (second[0] + second[1]), 0.0f };
    sum *= wadi_sph_unit(pairs, i);
    int32_t near;
    if (wadi_sph_has_traction(in, i, &near)) {
        for (int c = 0; c < in->walls->contact_count[near]; ++c) {
            sum += friction->traction_at[wadi_sph_first_contact(in->walls, near) + (size_t)c];
        }
    }
    *push = sum;
}

/* dev sym sum_j (v_j - v_i) (x) G_ij. */
static inline __attribute__((always_inline)) void wadi_sph_friction_strain_of(const WadiSphFrictionIn *in,
                                                                              const WadiF4 *velocity,
                                                                              int32_t i, float strain[5])
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
    const WadiF4 diagonal = ADD_HALVES(lanes.diagonal) * unit, below = ADD_HALVES(lanes.below) * unit;
    const float third = (diagonal[0] + diagonal[1] + diagonal[2]) * (1.0f / 3.0f);
    const WadiF4 shear = 0.5f * (ADD_HALVES(lanes.above) * unit + TURN(below));
    strain[0] = diagonal[0] - third, strain[1] = diagonal[1] - third;
    strain[2] = shear[0], strain[3] = shear[1], strain[4] = shear[2];
}

#undef FIRST
#undef SECOND
#undef FIRST_BOTH
#undef SECOND_BOTH

#endif
