/* The two halves of a friction iteration: stresses to velocities on the faces, velocities to stresses in the
 * cells.
 *
 * Yield set: the cell ball [theory 6.4]. A FLUID cell has its normal stresses and a copy of the shear on each
 * of its 12 edges; one radial scaling is the projection into
 *   r^2 = 1/2 sum_a s_a^2 + sum_ab (1/n_ab) sum over active edges t^2 <= Y^2
 * with n_ab the number of active edges of that direction. The shear of an edge is a quarter of the sum of its
 * cells' copies. Wall facets have the same form: copies on the (up to) four faces, a disc of radius mu P.
 * Slots with faces of other masses than 1 have their own weights (flip_friction_cut.c).
 *
 * Edge stresses and edge rates are not stored but computed again for each neighbour, and reused only for the
 * next row along y. div tau is linear, so u of the extrapolated stress follows from div tau of this and the
 * last iteration. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/friction/flip_friction_slots.h"

/* Shear on the low edges of a row from the copies of the four cells around: `here`, `left` a step back along
 * the first axis, `low` along the second. With x as the first axis the step back is a shift of lanes. */
static inline WadiF8 edge_sum_x(const WadiFrictionStress *here, const WadiFrictionStress *left,
                                const WadiFrictionStress *low, const WadiFrictionStress *low_left, int kind)
{
    return here->t[kind] + WADI_ROW_SHIFT_UP(left->t[kind + 1], here->t[kind + 1]) + low->t[kind + 2] +
           WADI_ROW_SHIFT_UP(low_left->t[kind + 3], low->t[kind + 3]);
}

/* The same for the first lane of the row to the right. */
static inline float edge_sum_next(const WadiFrictionStress *right, const WadiFrictionStress *here,
                                  const WadiFrictionStress *low_right, const WadiFrictionStress *low,
                                  int kind)
{
    return right->t[kind][0] + here->t[kind + 1][7] + low_right->t[kind + 2][0] + low->t[kind + 3][7];
}

static inline WadiF8 edge_sum_yz(const WadiFrictionStress *here, const WadiFrictionStress *back,
                                 const WadiFrictionStress *low, const WadiFrictionStress *low_back)
{
    return here->t[STRESS_YZ] + back->t[STRESS_YZ + 1] + low->t[STRESS_YZ + 2] + low_back->t[STRESS_YZ + 3];
}

static inline WadiF8 shift_in(WadiF8 x, float next)
{
    return WADI_ROW_SHIFT_DOWN(x, (WadiF8){ next });
}

static inline WadiF8 stress_zz(const WadiFrictionStress *stress)
{
    return -(stress->t[STRESS_XX] + stress->t[STRESS_YY]);
}

/* Edge sums on the high-y side of the slot before: the low-y side of the slot that follows it along y. */
typedef struct EdgesAbove {
    int32_t slot; /* 0: none */
    WadiF8 xy, yz;
} EdgesAbove;

static inline void divergence(const WadiFriction *friction, int32_t s, EdgesAbove *above,
                              WadiFrictionFaces *force)
{
    const WadiFrictionSlot *slot = &friction->slot[s];
    const WadiFrictionStress *all = friction->stress, *here = &all[s];
    const int32_t *near = slot->near;
    const WadiFrictionStress *xm = &all[near[NEAR_XM]], *xp = &all[near[NEAR_XP]];
    const WadiFrictionStress *ym = &all[near[NEAR_YM]], *yp = &all[near[NEAR_YP]];
    const WadiFrictionStress *zm = &all[near[NEAR_ZM]], *zp = &all[near[NEAR_ZP]];
    const WadiF8 quarter = wadi_splat(0.25f);
    WadiF8 xy = above->xy, yz = above->yz;
    if (above->slot != s) {
        xy = edge_sum_x(here, xm, ym, &all[near[NEAR_XM_YM]], STRESS_XY);
        yz = edge_sum_yz(here, ym, zm, &all[near[NEAR_YM_ZM]]);
    }
    above->slot = near[NEAR_YP];
    above->xy = edge_sum_x(yp, &all[near[NEAR_XM_YP]], here, xm, STRESS_XY);
    above->yz = edge_sum_yz(yp, here, &all[near[NEAR_YP_ZM]], zm);

    float xy_next = edge_sum_next(xp, here, &all[near[NEAR_XP_YM]], ym, STRESS_XY);
    WadiF8 xz = edge_sum_x(here, xm, zm, &all[near[NEAR_XM_ZM]], STRESS_XZ);
    WadiF8 xz_above = edge_sum_x(zp, &all[near[NEAR_XM_ZP]], here, xm, STRESS_XZ);
    float xz_next = edge_sum_next(xp, here, &all[near[NEAR_XP_ZM]], zm, STRESS_XZ);
    WadiF8 yz_z = edge_sum_yz(zp, &all[near[NEAR_YM_ZP]], here, ym);

    force->c[0] = here->t[STRESS_XX] - WADI_ROW_SHIFT_UP(xm->t[STRESS_XX], here->t[STRESS_XX]) +
                  quarter * ((above->xy - xy) + (xz_above - xz));
    force->c[1] =
        here->t[STRESS_YY] - ym->t[STRESS_YY] + quarter * ((shift_in(xy, xy_next) - xy) + (yz_z - yz));
    force->c[2] =
        stress_zz(here) - stress_zz(zm) + quarter * ((shift_in(xz, xz_next) - xz) + (above->yz - yz));
    if (friction->mean != NULL) {
        const WadiF8 *mean = friction->mean;
        force->c[0] += mean[s] - WADI_ROW_SHIFT_UP(mean[near[NEAR_XM]], mean[s]);
        force->c[1] += mean[s] - mean[near[NEAR_YM]];
        force->c[2] += mean[s] - mean[near[NEAR_ZM]];
    }
    if (slot->face_walls != 0) {
        wadi_friction_add_walls(friction, s, force);
    }
}

/* Change of velocity by a force on a slot's faces: 0 where they are not free. */
static inline WadiF8 velocity_change(const WadiFriction *friction, const WadiFrictionSlot *slot, int axis,
                                     WadiF8 force)
{
    if (slot->cut != 0) {
        force *= friction->cut[slot->cut].inverse_mass.c[axis];
    }
    return wadi_masked(force, wadi_lanes(slot->free[axis]));
}

static void force_block(void *context, int64_t first, int64_t end)
{
    const WadiFriction *friction = context;
    EdgesAbove above = { 0 };
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        divergence(friction, s, &above, &friction->force[s]);
    }
}

void wadi_friction_find_force(WadiFriction *friction)
{
    if (!friction->has_force) {
        wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, force_block, friction);
        friction->has_force = true;
    }
}

typedef struct Add {
    const WadiFriction *friction;
    float *const *velocity;
    float sign;
} Add;

static void add_block(void *context, int64_t first, int64_t end)
{
    const Add *add = context;
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        const WadiFrictionSlot *slot = &add->friction->slot[s];
        for (int axis = 0; axis < 3; ++axis) {
            WADI_ROW_OUT(add->velocity[axis], slot->row) +=
                add->sign * velocity_change(add->friction, slot, axis, add->friction->force[s].c[axis]);
        }
    }
}

static void add_force(WadiFriction *friction, float *const velocity[3], float sign)
{
    wadi_friction_find_force(friction);
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, add_block, &(Add){ friction, velocity, sign });
}

void wadi_friction_add(WadiFriction *friction, float *const velocity[3])
{
    add_force(friction, velocity, 1.0f);
}

void wadi_friction_subtract(WadiFriction *friction, float *const velocity[3])
{
    add_force(friction, velocity, -1.0f);
}

static inline double lane_sum(WadiF8 x)
{
    double sum = 0.0;
    for (int lane = 0; lane < 8; ++lane) {
        sum += (double)x[lane];
    }
    return sum;
}

/* Faces that are not free have the velocity of `before`; the force on them does work all the same. */
static void faces_block(void *context, int64_t first, int64_t end)
{
    const WadiFrictionIteration *it = context;
    const WadiFriction *friction = it->friction;
    WadiF8 beta = wadi_splat(it->beta), rise = wadi_splat(0.0f);
    EdgesAbove above = { 0 };
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        const WadiFrictionSlot *slot = &friction->slot[s];
        WadiFrictionFaces force;
        divergence(friction, s, &above, &force);
        for (int axis = 0; axis < 3; ++axis) {
            WadiF8 change = force.c[axis] - it->force[s].c[axis];
            WadiF8 gain = velocity_change(friction, slot, axis, change);
            WadiF8 u = it->before[s].c[axis] + velocity_change(friction, slot, axis, force.c[axis]);
            rise += change * (u + u - gain);
            it->velocity[s].c[axis] = u + beta * gain;
            it->force[s].c[axis] = force.c[axis];
        }
    }
    it->rise[first / FRICTION_BLOCK] = lane_sum(rise);
}

void wadi_friction_faces_pass(const WadiFrictionIteration *it)
{
    wadi_parallel_for(it->friction->slot_count, FRICTION_BLOCK, faces_block, (void *)it);
}

static void drop_momentum_block(void *context, int64_t first, int64_t end)
{
    const WadiFrictionIteration *it = context;
    for (int64_t s = first > 0 ? first : 1; s < end; ++s) {
        const WadiFrictionSlot *slot = &it->friction->slot[s];
        for (int axis = 0; axis < 3; ++axis) {
            it->velocity[s].c[axis] =
                it->before[s].c[axis] + velocity_change(it->friction, slot, axis, it->force[s].c[axis]);
        }
    }
}

void wadi_friction_drop_momentum(const WadiFrictionIteration *it)
{
    wadi_parallel_for(it->friction->slot_count, FRICTION_BLOCK, drop_momentum_block, (void *)it);
}

static inline WadiF8 extrapolated(WadiF8 now, WadiF8 old, WadiF8 beta)
{
    return now + beta * (now - old);
}

/* Twice the shear rate at the low edges of `here`: difference of u_a along b plus difference of u_b along
 * a. */
static inline WadiF8 edge_rate_x(const WadiFrictionFaces *here, const WadiFrictionFaces *low,
                                 const WadiFrictionFaces *left, int b)
{
    return (here->c[0] - low->c[0]) + (here->c[b] - WADI_ROW_SHIFT_UP(left->c[b], here->c[b]));
}

static inline float edge_rate_next(const WadiFrictionFaces *right, const WadiFrictionFaces *low_right,
                                   const WadiFrictionFaces *here, int b)
{
    return (right->c[0][0] - low_right->c[0][0]) + (right->c[b][0] - here->c[b][7]);
}

static inline WadiF8 edge_rate_yz(const WadiFrictionFaces *here, const WadiFrictionFaces *low,
                                  const WadiFrictionFaces *back)
{
    return (here->c[1] - low->c[1]) + (here->c[2] - back->c[2]);
}

/* Twice the shear rates on the high-y edges of the slot before: low-y edges of the slot that follows it along
 * y. */
typedef struct RatesAbove {
    int32_t slot; /* 0: none */
    WadiF8 xy[2], yz[2];
} RatesAbove;

/* Rates in the order of the stresses: deviatoric xx, yy, then twice the shear on the 12 edges. */
static inline void cell_rates(const WadiFrictionFaces *all, int32_t s, const int32_t *near, RatesAbove *above,
                              WadiF8 rate[STRESS_COUNT])
{
    const WadiFrictionFaces *here = &all[s], *xm = &all[near[NEAR_XM]], *xp = &all[near[NEAR_XP]];
    const WadiFrictionFaces *ym = &all[near[NEAR_YM]], *yp = &all[near[NEAR_YP]];
    const WadiFrictionFaces *zm = &all[near[NEAR_ZM]], *zp = &all[near[NEAR_ZP]];
    WadiF8 xx = WADI_ROW_SHIFT_DOWN(here->c[0], xp->c[0]) - here->c[0];
    WadiF8 yy = yp->c[1] - here->c[1], zz = zp->c[2] - here->c[2];
    WadiF8 mean = (xx + yy + zz) * wadi_splat(1.0f / 3.0f);
    rate[STRESS_XX] = xx - mean;
    rate[STRESS_YY] = yy - mean;

    if (above->slot == s) {
        rate[2] = above->xy[0];
        rate[3] = above->xy[1];
        rate[10] = above->yz[0];
        rate[12] = above->yz[1];
    } else {
        rate[2] = edge_rate_x(here, ym, xm, 1);
        rate[3] = shift_in(rate[2], edge_rate_next(xp, &all[near[NEAR_XP_YM]], here, 1));
        rate[10] = edge_rate_yz(here, zm, ym);
        rate[12] = edge_rate_yz(zp, here, &all[near[NEAR_YM_ZP]]);
    }
    const WadiFrictionFaces *xp_yp = &all[near[NEAR_XP_YP]], *xp_zp = &all[near[NEAR_XP_ZP]];
    rate[4] = edge_rate_x(yp, here, &all[near[NEAR_XM_YP]], 1);
    rate[5] = shift_in(rate[4], edge_rate_next(xp_yp, xp, yp, 1));
    rate[6] = edge_rate_x(here, zm, xm, 2);
    rate[7] = shift_in(rate[6], edge_rate_next(xp, &all[near[NEAR_XP_ZM]], here, 2));
    rate[8] = edge_rate_x(zp, here, &all[near[NEAR_XM_ZP]], 2);
    rate[9] = shift_in(rate[8], edge_rate_next(xp_zp, xp, zp, 2));
    rate[11] = edge_rate_yz(yp, &all[near[NEAR_YP_ZM]], here);
    rate[13] = edge_rate_yz(&all[near[NEAR_YP_ZP]], yp, zp);
    *above = (RatesAbove){ near[NEAR_YP], { rate[4], rate[5] }, { rate[11], rate[13] } };
}

/* Strain rates of the displacement beyond those of the velocity, in the order of cell_rates. */
static inline void add_turn_rates(const WadiFriction *friction, int32_t s, WadiF8 rate[STRESS_COUNT],
                                  WadiF8 sum[STRESS_COUNT])
{
    const WadiFrictionTurn *all = friction->turn, *here = &all[s];
    const int32_t *near = friction->slot[s].near;
    const WadiFrictionTurn *xp = &all[near[NEAR_XP]];
    rate[STRESS_XX] = here->xx;
    rate[STRESS_YY] = here->yy;
    for (int kind = 0; kind < 2; ++kind) {
        const WadiFrictionTurn *up = &all[near[kind == 0 ? NEAR_YP : NEAR_ZP]];
        const WadiFrictionTurn *xp_up = &all[near[kind == 0 ? NEAR_XP_YP : NEAR_XP_ZP]];
        WadiF8 *to = &rate[STRESS_XY + 4 * kind];
        to[0] = here->edge[kind];
        to[1] = WADI_ROW_SHIFT_DOWN(to[0], xp->edge[kind]);
        to[2] = up->edge[kind];
        to[3] = WADI_ROW_SHIFT_DOWN(to[2], xp_up->edge[kind]);
    }
    rate[STRESS_YZ] = here->edge[2];
    rate[STRESS_YZ + 1] = all[near[NEAR_YP]].edge[2];
    rate[STRESS_YZ + 2] = all[near[NEAR_ZP]].edge[2];
    rate[STRESS_YZ + 3] = all[near[NEAR_YP_ZP]].edge[2];
    for (int n = 0; n < STRESS_COUNT; ++n) {
        sum[n] += rate[n];
    }
}

/* Work of a change of stress on strain rates in the order of cell_rates. */
static inline WadiF8 work_on(const WadiF8 rate[STRESS_COUNT], const WadiF8 change[STRESS_COUNT])
{
    const WadiF8 xx = change[STRESS_XX], yy = change[STRESS_YY];
    WadiF8 shear = wadi_splat(0.0f);
    for (int n = STRESS_XY; n < STRESS_COUNT; ++n) {
        shear += rate[n] * change[n];
    }
    return rate[STRESS_XX] * (xx + xx + yy) + rate[STRESS_YY] * (yy + yy + xx) + wadi_splat(0.25f) * shear;
}

/* New isotropic stress of bonded cells; returns the bound of their deviatoric stress. Without bonds the
 * pressure solve alone makes the velocity free of divergence. */
static inline WadiF8 update_mean(const WadiFrictionIteration *it, int32_t s, WadiF8 step,
                                 WadiFrictionSums *sums)
{
    if (it->bonded == NULL) {
        return it->yield[s];
    }
    const WadiFriction *friction = it->friction;
    const WadiFrictionBonded *bonded = &it->bonded[s];
    const WadiFrictionFaces *all = it->velocity, *here = &all[s];
    const int32_t *near = friction->slot[s].near;
    const WadiF8 rate = WADI_ROW_SHIFT_DOWN(here->c[0], all[near[NEAR_XP]].c[0]) - here->c[0] +
                        all[near[NEAR_YP]].c[1] - here->c[1] + all[near[NEAR_ZP]].c[2] - here->c[2];
    WadiF8 mean = friction->mean[s] +
                  wadi_splat(it->beta) * (friction->mean[s] - friction->mean_previous[s]) +
                  wadi_splat(it->alpha * (1.0f / 3.0f)) * step * (rate + friction->turn[s].sum);
    mean = wadi_masked(WADI_MIN8(mean, bonded->room), bonded->is_bonded);
    sums->work += friction->turn[s].sum * (mean - friction->mean[s]);
    sums->change = WADI_MAX8(wadi_abs8(mean - friction->mean[s]), sums->change);
    friction->mean_previous[s] = mean;
    return WADI_MAX8(it->yield[s] - bonded->slope * mean, wadi_splat(0.0f));
}

/* 1/n and n/4 for the active edges of one direction, lane by lane. */
static inline void edge_weights(const uint8_t edge[4], WadiF8 *inverse, WadiF8 *quarter)
{
    WadiI8 n = -(wadi_lanes(edge[0]) + wadi_lanes(edge[1]) + wadi_lanes(edge[2]) + wadi_lanes(edge[3]));
    *inverse = wadi_look_up((WadiF8){ 1.0f, 1.0f, 1.0f / 2.0f, 1.0f / 3.0f, 1.0f / 4.0f }, n);
    *quarter = wadi_look_up((WadiF8){ 0.0f, 0.25f, 0.5f, 0.75f, 1.0f }, n);
}

/* The new stress of a slot from its trial values, scaled into the yield set. */
static inline void store_projected(const WadiFrictionIteration *it, int32_t s,
                                   const WadiF8 trial[STRESS_COUNT], const WadiF8 turn[STRESS_COUNT],
                                   WadiF8 square, WadiFrictionSums *sums)
{
    const WadiFrictionStress *now = &it->friction->stress[s];
    WadiFrictionStress *result = &it->friction->previous[s];
    WadiF8 factor = wadi_ball_factor(square, update_mean(it, s, wadi_splat(1.0f), sums)),
           change[STRESS_COUNT];
    for (int n = 0; n < STRESS_COUNT; ++n) {
        result->t[n] = factor * trial[n];
        change[n] = result->t[n] - now->t[n];
    }
    for (int n = 0; n < STRESS_COUNT && it->needs_change; ++n) {
        sums->change = WADI_MAX8(wadi_abs8(change[n]), sums->change);
    }
    sums->work += work_on(turn, change);
}

static inline WadiF8 normal_square(const WadiF8 trial[STRESS_COUNT])
{
    WadiF8 zz = trial[STRESS_XX] + trial[STRESS_YY];
    return wadi_splat(0.5f) *
           (trial[STRESS_XX] * trial[STRESS_XX] + trial[STRESS_YY] * trial[STRESS_YY] + zz * zz);
}

/* Squares of the shear rates of a slot's cells, in the norm of the yield test with twelve edges. */
static inline WadiF8 square_of_rates(const WadiFrictionSlot *slot, const WadiF8 rate[STRESS_COUNT])
{
    WadiF8 square = normal_square(rate);
    for (int n = STRESS_XY; n < STRESS_COUNT; ++n) {
        square +=
            wadi_masked(wadi_splat(1.0f / 16.0f) * rate[n] * rate[n], wadi_lanes(slot->edge[n - STRESS_XY]));
    }
    return wadi_masked(square, wadi_lanes(slot->fluid));
}

/* `is_whole`: eight FLUID cells with all of their edges. */
static inline __attribute__((always_inline)) void update_cells(const WadiFrictionIteration *it, int32_t s,
                                                               bool is_whole, RatesAbove *above,
                                                               WadiFrictionSums *sums)
{
    const WadiFriction *friction = it->friction;
    const WadiFrictionSlot *slot = &friction->slot[s];
    const WadiFrictionStress *now = &friction->stress[s], *old = &friction->previous[s];
    WadiF8 alpha = wadi_splat(it->alpha), half_alpha = wadi_splat(0.5f * it->alpha),
           beta = wadi_splat(it->beta);
    WadiF8 trial[STRESS_COUNT], turn[STRESS_COUNT];
    cell_rates(it->velocity, s, slot->near, above, trial);
    add_turn_rates(friction, s, turn, trial);
    if (it->needs_change) {
        sums->rate += square_of_rates(slot, trial);
    }
    for (int n = 0; n < 2; ++n) {
        trial[n] = extrapolated(now->t[n], old->t[n], beta) + alpha * trial[n];
        trial[n] = is_whole ? trial[n] : wadi_masked(trial[n], wadi_lanes(slot->fluid));
    }
    WadiF8 square = normal_square(trial);
    for (int kind = 0; kind < 3; ++kind) {
        const uint8_t *edge = &slot->edge[4 * kind];
        WadiF8 part = wadi_splat(1.0f), inverse = wadi_splat(0.25f), shear = wadi_splat(0.0f);
        if (!is_whole) {
            edge_weights(edge, &inverse, &part);
        }
        for (int e = 0; e < 4; ++e) {
            int n = 2 + 4 * kind + e;
            trial[n] = extrapolated(now->t[n], old->t[n], beta) + part * half_alpha * trial[n];
            trial[n] = is_whole ? trial[n] : wadi_masked(trial[n], wadi_lanes(edge[e]));
            shear += trial[n] * trial[n];
        }
        square += inverse * shear;
    }
    store_projected(it, s, trial, turn, square, sums);
}

/* The same where faces have other masses than 1. */
static void update_cut_cells(const WadiFrictionIteration *it, int32_t s, RatesAbove *above,
                             WadiFrictionSums *sums)
{
    const WadiFriction *friction = it->friction;
    const WadiFrictionSlot *slot = &friction->slot[s];
    const WadiFrictionCut *cut = &friction->cut[slot->cut];
    const WadiFrictionStress *now = &friction->stress[s], *old = &friction->previous[s];
    WadiF8 alpha = wadi_splat(it->alpha), beta = wadi_splat(it->beta), zero = wadi_splat(0.0f);
    WadiF8 trial[STRESS_COUNT], turn[STRESS_COUNT], change[STRESS_COUNT];
    cell_rates(it->velocity, s, slot->near, above, trial);
    add_turn_rates(friction, s, turn, trial);
    if (it->needs_change) {
        sums->rate += square_of_rates(slot, trial);
    }
    for (int n = 0; n < STRESS_COUNT; ++n) {
        WadiF8 y = extrapolated(now->t[n], old->t[n], beta);
        trial[n] = wadi_masked(y + alpha * cut->step[n] * trial[n], cut->step[n] > zero);
    }
    wadi_friction_clear_closed_axes(cut, trial);
    wadi_friction_project_cut(cut, update_mean(it, s, cut->step[STRESS_XX], sums), trial);
    WadiFrictionStress *result = &friction->previous[s];
    for (int n = 0; n < STRESS_COUNT; ++n) {
        if (it->needs_change) {
            /* Steps are short in cut cells: compared is alpha times the rate of strain, not the change. */
            WadiF8 ratio = wadi_friction_step_ratio(cut, n), root;
            for (int lane = 0; lane < 8; ++lane) {
                root[lane] = sqrtf(cut->weight[n][lane]) / fmaxf(ratio[lane], 1e-6f);
            }
            sums->change = WADI_MAX8(root * wadi_abs8(trial[n] - now->t[n]), sums->change);
        }
        change[n] = trial[n] - now->t[n];
        result->t[n] = trial[n];
    }
    sums->work += work_on(turn, change);
}

static void cells_block(void *context, int64_t first, int64_t end)
{
    const WadiFrictionIteration *it = context;
    WadiFrictionSums sums = { wadi_splat(0.0f), wadi_splat(0.0f), wadi_splat(0.0f) };
    RatesAbove above = { 0 };
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        const WadiFrictionSlot *slot = &it->friction->slot[s];
        if (slot->fluid == 0) {
            continue;
        }
        if (slot->cut != 0) {
            update_cut_cells(it, s, &above, &sums);
        } else if (slot->is_whole) {
            update_cells(it, s, true, &above, &sums);
        } else {
            update_cells(it, s, false, &above, &sums);
        }
        if (slot->cell_walls != 0) {
            wadi_friction_update_walls(it, s, &sums);
        }
    }
    double change = 0.0;
    for (int lane = 0; lane < 8; ++lane) {
        change = fmax(change, (double)sums.change[lane]);
    }
    it->work[first / FRICTION_BLOCK] = lane_sum(sums.work);
    it->change[first / FRICTION_BLOCK] = change;
    it->rate[first / FRICTION_BLOCK] = lane_sum(sums.rate);
}

void wadi_friction_cells_pass(const WadiFrictionIteration *it)
{
    wadi_parallel_for(it->friction->slot_count, FRICTION_BLOCK, cells_block, (void *)it);
}
