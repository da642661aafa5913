/* The two sums over neighbours of the friction: forces of stresses, and strain rates. Two neighbours at a
 * time, one in each half of a vector: sums of even and odd neighbours, added at the end. */
#ifndef WADI_SPH_FRICTION_PAIRS_H
#define WADI_SPH_FRICTION_PAIRS_H

#include "sph/friction/sph_friction.h"

typedef float WadiF8 __attribute__((vector_size(32), aligned(16), may_alias));
typedef int32_t WadiI8 __attribute__((vector_size(32), aligned(16), may_alias));
typedef uint32_t WadiU8 __attribute__((vector_size(32), aligned(16), may_alias));

#define TURN(v) __builtin_shufflevector(v, v, 1, 2, 0, 3)      /* y, z, x */
#define TURN_BACK(v) __builtin_shufflevector(v, v, 2, 0, 1, 3) /* z, x, y */
#define BOTH(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define TURN_BOTH(v) __builtin_shufflevector(v, v, 1, 2, 0, 3, 5, 6, 4, 7)
#define TURN_BACK_BOTH(v) __builtin_shufflevector(v, v, 2, 0, 1, 3, 6, 4, 5, 7)
#define ADD_HALVES(v) (__builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7))

/* G_ij of the pairs n and n + 1 of a particle at `place` with that unit of slopes. */
static inline __attribute__((always_inline)) void wadi_sph_two_gradients(const WadiSphPairs *pairs,
                                                                         const WadiU8 *place, int64_t n,
                                                                         float unit, WadiF8 *g)
{
    const WadiU4 j = (WadiU4)pairs->place[pairs->index[n]], k = (WadiU4)pairs->place[pairs->index[n + 1]];
    /* Not as a list of eight numbers, which goes through memory. */
    const WadiF4 a = (float)pairs->slope[n] * unit - (WadiF4){ 0 },
                 b = (float)pairs->slope[n + 1] * unit - (WadiF4){ 0 };
    *g = __builtin_convertvector((WadiI8)(BOTH(j, k) - *place), WadiF8) * BOTH(a, b);
}

/* Whether the particle has tractions; they are those of `near`. */
static inline bool wadi_sph_has_traction(const WadiSphFrictionIn *in, int32_t i, int32_t *near)
{
    *near = in->walls->of[i];
    return *near >= 0 && in->is_sand[i];
}

/* sum_j (T_i + T_j) G_ij + sum_c t_c. With B = (xy, yz, zx) the product of T and r is
 * (xx, yy, zz) r + B turn(r) + turn_back(B r), by component. */
static inline __attribute__((always_inline)) void wadi_sph_friction_push(const WadiSphFrictionIn *in,
                                                                         const WadiSphFriction *friction,
                                                                         int32_t i, WadiF4 *push)
{
    const WadiSphStress *stress = friction->stress, own = stress[i];
    const WadiF8 own_normal = BOTH(own.normal, own.normal), own_shear = BOTH(own.shear, own.shear);
    const WadiSphPairs *pairs = in->pairs;
    const int32_t *index = pairs->index;
    const WadiU8 place = BOTH((WadiU4)pairs->place[i], (WadiU4)pairs->place[i]);
    const int64_t end = pairs->start[i] + pairs->same[i];
    const float unit = wadi_sph_unit(pairs, i);
    WadiF8 diagonals = { 0 }, aboves = { 0 }, belows = { 0 };
    int64_t n = pairs->start[i];
    for (; n + 1 < end; n += 2) {
        const WadiSphStress *j = &stress[index[n]], *k = &stress[index[n + 1]];
        WadiF8 g;
        wadi_sph_two_gradients(pairs, &place, n, unit, &g);
        const WadiF8 shear = own_shear + BOTH(j->shear, k->shear);
        diagonals += (own_normal + BOTH(j->normal, k->normal)) * g;
        aboves += shear * TURN_BOTH(g);
        belows += shear * g;
    }
    WadiF4 diagonal = ADD_HALVES(diagonals), above = ADD_HALVES(aboves), below = ADD_HALVES(belows);
    if (n < end) {
        const WadiSphStress *j = &stress[index[n]];
        const WadiF4 g =
            WADI_SPH_OFFSET(pairs->place[index[n]], pairs->place[i]) * wadi_sph_slope(pairs, i, n);
        const WadiF4 shear = own.shear + j->shear;
        diagonal += (own.normal + j->normal) * g;
        above += shear * TURN(g);
        below += shear * g;
    }
    WadiF4 sum = diagonal + above + TURN_BACK(below);
    int32_t near;
    if (wadi_sph_has_traction(in, i, &near)) {
        for (int c = 0; c < in->walls->contact_count[near]; ++c) {
            sum += friction->traction[near][c];
        }
    }
    *push = sum;
}

/* dev sym sum_j (v_j - v_i) (x) G_ij. */
static inline __attribute__((always_inline)) void wadi_sph_friction_strain_of(const WadiSphFrictionIn *in,
                                                                              const WadiF4 *velocity,
                                                                              int32_t i,
                                                                              WadiSphStress *strain)
{
    const WadiF4 v = velocity[i];
    const WadiF8 vs = BOTH(v, v);
    const WadiSphPairs *pairs = in->pairs;
    const int32_t *index = pairs->index;
    const WadiU8 place = BOTH((WadiU4)pairs->place[i], (WadiU4)pairs->place[i]);
    const int64_t end = pairs->start[i] + pairs->same[i];
    const float unit = wadi_sph_unit(pairs, i);
    WadiF8 diagonals = { 0 }, aboves = { 0 }, belows = { 0 };
    int64_t n = pairs->start[i];
    for (; n + 1 < end; n += 2) {
        WadiF8 g;
        wadi_sph_two_gradients(pairs, &place, n, unit, &g);
        const WadiF8 difference = BOTH(velocity[index[n]], velocity[index[n + 1]]) - vs;
        diagonals += difference * g;
        aboves += difference * TURN_BOTH(g);
        belows += difference * TURN_BACK_BOTH(g);
    }
    WadiF4 diagonal = ADD_HALVES(diagonals), above = ADD_HALVES(aboves), below = ADD_HALVES(belows);
    if (n < end) {
        const WadiF4 g =
            WADI_SPH_OFFSET(pairs->place[index[n]], pairs->place[i]) * wadi_sph_slope(pairs, i, n);
        const WadiF4 difference = velocity[index[n]] - v;
        diagonal += difference * g;
        above += difference * TURN(g);
        below += difference * TURN_BACK(g);
    }
    const float third = (diagonal[0] + diagonal[1] + diagonal[2]) * (1.0f / 3.0f);
    strain->normal = diagonal - (WadiF4){ third, third, third, diagonal[3] };
    strain->shear = 0.5f * (above + TURN(below));
    strain->shear[3] = 0.0f;
}

#endif
