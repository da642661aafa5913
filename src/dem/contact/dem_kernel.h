/* Force and torque of eight contacts at a time.
 * Source: [BYM05 sec. 3.1] for the normal force; [CS79] for the tangential spring; [ACRO11] for rolling,
 * its model C, elastic-plastic. Differs: springs are turned into the tangent plane by projection.
 *
 * N points from i to j. V = v_i - v_j + (R_i w_i + R_j w_j) x N is the velocity at the contact.
 *   tangential  s += V_t dt,  f_t = -k_t s - c_t V_t, at most mu f_n; then s is what f_t says
 *               viscous friction has no springs: f_t = -c_t V_t, at most mu f_n [BYM05 sec. 3.1]
 *   bridge      the normal force less F (1 - gap / rupture), F of the drier grain: a film of water [Rum62]
 *   rolling     q += p dt,    p = a (w_i - w_j) x N, a = 2 R_i R_j / (R_i + R_j), the same with mu_r f_n */
#ifndef WADI_DEM_KERNEL_H
#define WADI_DEM_KERNEL_H

#include "dem/contact/dem_law.h"
#include "dem/contact/dem_vectors.h"

/* Contacts by component; the springs are updated. */
typedef struct WadiDemLanes {
    WadiF8 normal[3];    /* N */
    WadiF8 overlap;      /* m */
    WadiF8 arm[3];       /* m: R_i, R_j (0 for a wall), a */
    WadiF8 radius;       /* effective, m */
    WadiF8 mass;         /* effective, kg */
    WadiF8 damping;      /* as that of the law */
    WadiF8 friction[2];  /* mu, mu_r */
    WadiF8 bridge, grip; /* N: pull of a bridge, what friction counts besides; where the law has bridges */
    WadiF8 motion[2][8]; /* of i and j, as WadiDemGrains.motion */
    WadiF8 spring[8];    /* as WadiDemPairs.spring */
    WadiF8 load[2][8];   /* out: on i and j, as WadiDemGrains.load */
} WadiDemLanes;

#define WADI_DOT3(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])

static inline __attribute__((always_inline)) void wadi_dem_cross(const WadiF8 a[3], const WadiF8 b[3],
                                                                 WadiF8 out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* A spring and dashpot across N whose force is at most `limit`. */
static inline __attribute__((always_inline)) void wadi_dem_slide(const WadiF8 n[3], const WadiF8 rate[3],
                                                                 const WadiF8 *stiffness,
                                                                 const WadiF8 *damping, const WadiF8 *limit,
                                                                 float dt, WadiF8 spring[3], WadiF8 force[3])
{
    const WadiF8 along = WADI_DOT3(spring, n);
    for (int c = 0; c < 3; ++c) {
        spring[c] = spring[c] - along * n[c] + rate[c] * dt;
        force[c] = -*stiffness * spring[c] - *damping * rate[c];
    }
    const WadiF8 square = WADI_DOT3(force, force), most = *limit * *limit;
    const WadiI8 slides = square > most;
    if (wadi_row_bits(&slides) == 0) {
        return;
    }
    const WadiF8 one = (WadiF8){ 0 } + 1.0f, tiny = (WadiF8){ 0 } + 1e-30f;
    const WadiF8 scale = WADI_ROW_SELECT(slides, *limit / WADI_SQRT8(WADI_MAX8(square, tiny)), one);
    const WadiF8 compliance = one / WADI_MAX8(*stiffness, tiny);
    for (int c = 0; c < 3; ++c) {
        force[c] *= scale;
        const WadiF8 slid = -(force[c] + *damping * rate[c]) * compliance;
        spring[c] = WADI_ROW_SELECT(slides, slid, spring[c]);
    }
}

/* Stiffness and damping of the springs, and the normal force. */
static inline __attribute__((always_inline)) void wadi_dem_normal(const WadiDemLawConstants *law,
                                                                  const WadiDemLanes *lanes,
                                                                  const WadiF8 *rate, WadiF8 *stiffness,
                                                                  WadiF8 *damping, WadiF8 *force)
{
    const WadiF8 zero = { 0 };
    if (law->law == WADI_DEM_LINEAR) {
        *stiffness = zero + law->stiffness;
        *damping = lanes->damping * lanes->mass;
    } else {
        *stiffness = law->stiffness * WADI_SQRT8(lanes->radius * lanes->overlap);
        *damping = lanes->damping * *stiffness;
        if (law->law == WADI_DEM_HERTZ) {
            *damping = lanes->damping * WADI_SQRT8(lanes->mass * *stiffness);
        }
    }
    /* Velocities are those in the middle of the last step: with them at its end, v - dt f / 2 m, the law is
     * f = k xi + c v. Of second order in dt. */
    *damping /= 1.0f + *damping * (0.5f * law->last_dt) / lanes->mass;
    *force = WADI_MAX8(*stiffness * lanes->overlap * (1.0f - *damping * (0.5f * law->last_dt) / lanes->mass) +
                           *damping * *rate,
                       zero);
}

/* N, overlap and arms of two spheres; offset: from i to j, and the gap that their bond spans, m. */
static inline __attribute__((always_inline)) void wadi_dem_spheres(const WadiF8 offset[4], const WadiF8 *ri,
                                                                   const WadiF8 *rj, WadiDemLanes *lanes)
{
    const WadiF8 zero = { 0 };
    const WadiF8 length = WADI_SQRT8(WADI_DOT3(offset, offset)), sum = *ri + *rj;
    const WadiF8 inverse = 1.0f / WADI_MAX8(length, zero + 1e-30f);
    for (int c = 0; c < 3; ++c) {
        lanes->normal[c] = offset[c] * inverse;
    }
    lanes->overlap = WADI_MAX8(sum + offset[3] - length, zero);
    lanes->radius = *ri * *rj / sum;
    /* The arms add up to the distance of the centres: forces along the tangent keep the angular
     * momentum, and a rigid rotation of both grains is no sliding. */
    const WadiF8 arm = length / sum;
    lanes->arm[0] = *ri * arm;
    lanes->arm[1] = *rj * arm;
    lanes->arm[2] = 2.0f * lanes->radius;
}

static inline __attribute__((always_inline)) void wadi_dem_contact(const WadiDemLawConstants *law,
                                                                   WadiDemLanes *lanes)
{
    const WadiF8 *vi = lanes->motion[0], *vj = lanes->motion[1], *wi = vi + 4, *wj = vj + 4;
    const WadiF8 *n = lanes->normal, *arm = lanes->arm;
    WadiF8 turn[3], v[3], roll[3], spin[3], stiffness, damping, normal;
    for (int c = 0; c < 3; ++c) {
        turn[c] = arm[0] * wi[c] + arm[1] * wj[c];
        spin[c] = arm[2] * (wi[c] - wj[c]);
    }
    wadi_dem_cross(turn, n, v);
    wadi_dem_cross(spin, n, roll);
    for (int c = 0; c < 3; ++c) {
        v[c] += vi[c] - vj[c];
    }
    const WadiF8 rate = WADI_DOT3(v, n);
    for (int c = 0; c < 3; ++c) {
        v[c] -= rate * n[c];
    }
    wadi_dem_normal(law, lanes, &rate, &stiffness, &damping, &normal);
    const WadiF8 side = (law->has_viscous_friction ? 0.0f : WADI_DEM_SIDE_STIFFNESS) * stiffness;
    const WadiF8 loss =
        WADI_MIN8(WADI_DEM_SIDE_DAMPING * damping, (WADI_DEM_LOSS_MAX / law->kick) * lanes->mass);
    WadiF8 clamping = normal;
    if (law->rupture > 0.0f) {
        clamping += lanes->grip;
    }
    const WadiF8 most = lanes->friction[0] * clamping, most_roll = lanes->friction[1] * clamping;
    WadiF8 friction[3], resist[3], torque[3], rolling_torque[3];
    wadi_dem_slide(n, v, &side, &loss, &most, law->last_dt, lanes->spring, friction);
    wadi_dem_slide(n, roll, &side, &loss, &most_roll, law->last_dt, lanes->spring + 4, resist);
    for (int c = 0; c < 8 && law->has_viscous_friction; ++c) {
        lanes->spring[c] = (WadiF8){ 0 };
    }
    wadi_dem_cross(n, friction, torque);
    wadi_dem_cross(n, resist, rolling_torque);
    if (law->rupture > 0.0f) {
        normal -= lanes->bridge;
    }
    for (int c = 0; c < 3; ++c) {
        const WadiF8 force = friction[c] - normal * n[c];
        lanes->load[0][c] = force;
        lanes->load[1][c] = -force;
        lanes->load[0][4 + c] = arm[0] * torque[c] + arm[2] * rolling_torque[c];
        lanes->load[1][4 + c] = arm[1] * torque[c] - arm[2] * rolling_torque[c];
    }
    lanes->load[0][3] = lanes->load[1][3] = (WadiF8){ 0 } + 1.0f;
    lanes->load[0][7] = lanes->load[1][7] = (WadiF8){ 0 };
}

#endif
