/* The two operators of the pressure, of one particle: forces of numbers P, and the rate of compression of
 * velocities. They are transposes of each other. [theory 11.4] */
#ifndef WADI_SPH_OPERATOR_H
#define WADI_SPH_OPERATOR_H

#include "sph/pairs/sph_lanes.h"
#include "sph/pressure/sph_pressure.h"

/* Sums of slope P_j (x_i - x_j) and slope P_j, by lane, and of slope (x_i - x_j) . fall where P_j > 0. */
typedef struct WadiSphPush {
    WadiF8 x, y, z, number, carried;
} WadiSphPush;

static inline __attribute__((always_inline)) void wadi_sph_push_list(const WadiSphPairs *pairs, int32_t i,
                                                                     int64_t first, int64_t end, WadiF4 fall,
                                                                     bool carries, WadiSphPush *sum)
{
    const WadiI4 place = pairs->place[i];
    for (int64_t n = first; n < end; n += WADI_SPH_LANES) {
        WadiF8 slope;
        WadiSphEight eight;
        wadi_sph_load_slopes(pairs, n, end, &slope);
        wadi_sph_load_eight(pairs, &place, pairs->offset + n, &eight);
        const WadiF8 push = slope * eight.number;
        sum->x += eight.x * push;
        sum->y += eight.y * push;
        sum->z += eight.z * push;
        sum->number += push;
        if (carries) {
            const WadiF8 along = eight.x * fall[0] + eight.y * fall[1] + eight.z * fall[2];
            sum->carried += (WadiF8)((WadiI8)(slope * along) & (eight.number > 0.0f));
        }
    }
}

/* Forces of the numbers in `place`, and their Laplacian at i; see wadi_sph_push. If it `carries`, a constant,
 * also the Laplacian of a pressure that only carries the weight. */
static inline __attribute__((always_inline)) float wadi_sph_push_and_carry(const WadiSphPressureIn *in,
                                                                           int32_t i, WadiF4 fall,
                                                                           bool carries, WadiF4 *push,
                                                                           float *carried)
{
    const WadiSphPairs *pairs = in->pairs;
    const int64_t first = pairs->start[i], other = first + pairs->same[i];
    const float own = wadi_sph_number(pairs, i);
    WadiSphPush lanes = { 0 };
    wadi_sph_push_list(pairs, i, first, other, fall, carries, &lanes);
    const WadiF8 same = lanes.number;
    wadi_sph_push_list(pairs, i, other, pairs->start[i + 1], fall, false, &lanes);
    if (carries) {
        *carried = own > 0.0f ? wadi_sph_sum_lanes(&lanes.carried) * wadi_sph_unit(pairs, i) : 0.0f;
    }
    WadiF4 sum;
    wadi_sph_sum_four(&lanes.x, &lanes.y, &lanes.z, &same, &sum);
    const float laplacian = pairs->sum[i][3] * own - sum[3];
    const float unit = wadi_sph_unit(pairs, i);
    sum = (sum + pairs->sum[i] * own) * -unit;
    const int32_t near = wadi_sph_near(in->walls, i);
    if (near >= 0) {
        sum += in->walls->gradient[near] * own;
        for (int64_t n = pairs->mirror_start[near]; n < pairs->mirror_start[near + 1]; ++n) {
            const WadiSphMirror *mirror = &pairs->mirror[n];
            const WadiF4 g = *(const WadiF4 *)mirror->gradient;
            sum += g * (own + wadi_sph_number(pairs, wadi_sph_mirror_other(mirror)));
        }
    }
    *push = sum;
    return laplacian * in->inverse_density[i] * (unit * (float)WADI_SPH_PLACES);
}

/* sum_j (P_i + P_j) G_ij + P_i w_i of the numbers in `place`; returns their Laplacian, the smoothing term
 * sum_j slope_ij (P_i - P_j). */
static inline __attribute__((always_inline)) float wadi_sph_push(const WadiSphPressureIn *in, int32_t i,
                                                                 WadiF4 *push)
{
    float carried;
    return wadi_sph_push_and_carry(in, i, (WadiF4){ 0 }, false, push, &carried);
}

/* Two neighbours, x y z of each side by side: += slope (x_i - x_j) (v_i - v_j). */
static inline __attribute__((always_inline)) void wadi_sph_compress_two(const WadiSphPairs *pairs,
                                                                        const WadiU8 *place, const WadiF8 *v,
                                                                        const WadiF4 *velocity,
                                                                        const uint32_t *j,
                                                                        const WadiF8 *slope, WadiF8 *sum)
{
    const WadiU8 to = (WadiU8)WADI_SPH_TWO_ROWS(pairs->place, j[0], j[1]);
    const WadiF8 faster = *v - (WadiF8)WADI_SPH_TWO_ROWS(velocity, j[0], j[1]);
    *sum += __builtin_convertvector((WadiI8)(*place - to), WadiF8) * *slope * faster;
}

/* sum_j G_ij . (v_i - v_j) + w_i . (v_i - v_wall). */
static inline __attribute__((always_inline)) float wadi_sph_compression(const WadiSphPressureIn *in,
                                                                        const WadiF4 *velocity, int32_t i)
{
    const WadiSphPairs *pairs = in->pairs;
    const WadiU4 own = (WadiU4)pairs->place[i];
    const WadiF4 v = velocity[i];
    const WadiU8 place = WADI_SPH_JOIN_INTS(own, own);
    const WadiF8 twice = WADI_SPH_JOIN_FLOATS(v, v);
    const int64_t end = pairs->start[i + 1];
    WadiF8 a = { 0 }, b = { 0 };
    for (int64_t n = pairs->start[i]; n < end; n += WADI_SPH_LANES) {
        const uint32_t *j = pairs->offset + n;
        WadiF8 slope[4];
        wadi_sph_spread_slopes(pairs, n, end, slope);
        wadi_sph_compress_two(pairs, &place, &twice, velocity, j, &slope[0], &a);
        wadi_sph_compress_two(pairs, &place, &twice, velocity, j + 2, &slope[1], &b);
        wadi_sph_compress_two(pairs, &place, &twice, velocity, j + 4, &slope[2], &a);
        wadi_sph_compress_two(pairs, &place, &twice, velocity, j + 6, &slope[3], &b);
    }
    const WadiF8 both = a + b;
    WadiF4 sum = (WADI_ROW_LOW(both) + WADI_ROW_HIGH(both)) * -wadi_sph_unit(pairs, i);
    const int32_t near = wadi_sph_near(in->walls, i);
    float wall = 0.0f;
    if (near >= 0) {
        const WadiF4 w = in->walls->gradient[near];
        wall = w[0] * v[0] + w[1] * v[1] + w[2] * v[2] - (in->is_shift ? 0.0f : w[3]);
        for (int64_t n = pairs->mirror_start[near]; n < pairs->mirror_start[near + 1]; ++n) {
            const WadiSphMirror *mirror = &pairs->mirror[n];
            const WadiF4 g = *(const WadiF4 *)mirror->gradient, back = *(const WadiF4 *)mirror->back;
            sum += g * v - back * velocity[wadi_sph_mirror_other(mirror)];
        }
    }
    return sum[0] + sum[1] + sum[2] + wall;
}

/* Over all neighbours, by lane: the square of slope (x_i - x_j), times the number of j. */
static inline __attribute__((always_inline)) void wadi_sph_sum_squares(const WadiSphPairs *pairs, int32_t i,
                                                                       WadiF8 *squares)
{
    const WadiI4 place = pairs->place[i];
    const int64_t end = pairs->start[i + 1];
    *squares = (WadiF8){ 0 };
    for (int64_t n = pairs->start[i]; n < end; n += WADI_SPH_LANES) {
        WadiF8 slope;
        WadiSphEight eight;
        wadi_sph_load_slopes(pairs, n, end, &slope);
        wadi_sph_load_eight(pairs, &place, pairs->offset + n, &eight);
        const WadiF8 x = eight.x * slope, y = eight.y * slope, z = eight.z * slope;
        *squares += (x * x + y * y + z * z) * eight.number;
    }
}

/* The diagonal of the operator from P to -R, where the numbers are inverse densities over volumes. */
static inline __attribute__((always_inline)) float wadi_sph_diagonal(const WadiSphPressureIn *in, int32_t i)
{
    const WadiSphPairs *pairs = in->pairs;
    const float unit = wadi_sph_unit(pairs, i), volume = in->volume[i];
    WadiF8 squares;
    wadi_sph_sum_squares(pairs, i, &squares);
    const float laplacian = pairs->sum[i][3] * unit * (float)WADI_SPH_PLACES;
    float others = wadi_sph_sum_lanes(&squares) * unit * unit * volume;
    WadiF4 sum = pairs->sum[i] * -unit;
    const int32_t near = wadi_sph_near(in->walls, i);
    if (near >= 0) {
        sum += in->walls->gradient[near];
        for (int64_t n = pairs->mirror_start[near]; n < pairs->mirror_start[near + 1]; ++n) {
            const WadiSphMirror *mirror = &pairs->mirror[n];
            const WadiF4 g = *(const WadiF4 *)mirror->gradient, square = g * g;
            sum += g;
            others += (square[0] + square[1] + square[2]) * volume *
                      wadi_sph_number(pairs, wadi_sph_mirror_other(mirror));
        }
    }
    const WadiF4 square = sum * sum;
    return in->inverse_density[i] *
               (square[0] + square[1] + square[2] + in->smooth[in->is_sand[i]] * laplacian) +
           others;
}

#endif
