/* Masses of faces that are cut by solids or hold other densities, and the steps and weights of the stresses
 * that act on them.
 * Source: [theory 6.9].
 * Differs: in 3-D; each stress component has its own gradient step, by the least mass of the faces that it
 * acts on.
 *
 * A cell has no normal stress along an axis that an oblique wall closes, and none at all where two axes are
 * closed. */
#include <string.h>

#include "core/parallel.h"
#include "flip/friction/flip_friction_slots.h"
#include "flip/transfer/flip_row_table.h"

/* Factor on the gradient step where masses differ: the bound of the operator's norm is less sharp there. */
#define CUT_STEP 0.8f

static void fill_masses(void *context, int64_t first, int64_t end)
{
    WadiFriction *friction = context;
    const WadiFrictionGrid *grid = &friction->grid;
    for (int64_t s = first > 0 ? first : 1; s < end; ++s) {
        const WadiFrictionSlot *slot = &friction->slot[s];
        for (int axis = 0; axis < 3; ++axis) {
            for (int lane = 0; lane < 8; ++lane) {
                if ((slot->free[axis] >> lane & 1) == 0) {
                    continue;
                }
                size_t at = 8 * (size_t)slot->row + (size_t)lane;
                float open = 1.0f, density = 1.0f;
                if (grid->open[axis] != NULL) {
                    open = grid->open[axis][wadi_table_cell(grid->solid_row, at)];
                }
                if (grid->density[axis] != NULL) {
                    density = grid->density[axis][at] / (float)grid->reference_density;
                }
                friction->open[s].c[axis][lane] = open;
                const float fraction = grid->fraction[axis] != NULL ? grid->fraction[axis][at] : 1.0f;
                friction->mass[s].c[axis][lane] = open * density * fraction;
            }
        }
    }
}

/* Least mass of the four faces around the low edges of a slot. */
static WadiF8 low_edge(const WadiFriction *friction, int32_t s, int kind)
{
    const int32_t *near = friction->slot[s].near;
    const WadiFrictionFaces *mass = friction->mass;
    int a = kind < 2 ? 0 : 1, b = kind == 0 ? 1 : 2;
    WadiF8 neighbour = mass[near[2 * a]].c[b];
    if (a == 0) {
        neighbour = WADI_ROW_SHIFT_UP(neighbour, mass[s].c[b]);
    }
    return WADI_MIN8(WADI_MIN8(mass[s].c[a], mass[near[2 * b]].c[a]), WADI_MIN8(mass[s].c[b], neighbour));
}

static void cell_edges(const WadiFriction *friction, int32_t s, WadiF8 edge[12])
{
    const int32_t *near = friction->slot[s].near;
    for (int kind = 0; kind < 2; ++kind) {
        int32_t high = near[kind == 0 ? NEAR_YP : NEAR_ZP];
        int32_t high_right = near[kind == 0 ? NEAR_XP_YP : NEAR_XP_ZP];
        WadiF8 *e = &edge[4 * kind];
        e[0] = low_edge(friction, s, kind);
        e[1] = WADI_ROW_SHIFT_DOWN(e[0], low_edge(friction, near[NEAR_XP], kind));
        e[2] = low_edge(friction, high, kind);
        e[3] = WADI_ROW_SHIFT_DOWN(e[2], low_edge(friction, high_right, kind));
    }
    edge[8] = low_edge(friction, s, 2);
    edge[9] = low_edge(friction, near[NEAR_YP], 2);
    edge[10] = low_edge(friction, near[NEAR_ZP], 2);
    edge[11] = low_edge(friction, near[NEAR_YP_ZP], 2);
}

static void sides_of(const WadiFriction *friction, const WadiFrictionFaces *faces, int32_t s, WadiF8 side[6])
{
    const int32_t *near = friction->slot[s].near;
    for (int axis = 0; axis < 3; ++axis) {
        WadiF8 next = faces[near[2 * axis + 1]].c[axis];
        side[2 * axis] = faces[s].c[axis];
        side[2 * axis + 1] = axis == 0 ? (WadiF8)WADI_ROW_SHIFT_DOWN(side[0], next) : next;
    }
}

void wadi_friction_sides(const WadiFriction *friction, int32_t s, WadiF8 side[6])
{
    sides_of(friction, friction->open, s, side);
}

uint8_t wadi_friction_fractional(const WadiFriction *friction, int32_t s)
{
    if (friction->grid.open[0] == NULL) {
        return 0;
    }
    WadiF8 side[6], zero = wadi_splat(0.0f), one = wadi_splat(1.0f);
    wadi_friction_sides(friction, s, side);
    WadiI8 found = side[0] > one;
    for (int n = 0; n < 6; ++n) {
        found |= (side[n] > zero) & (side[n] < one);
    }
    unsigned bits = 0;
    for (int lane = 0; lane < 8; ++lane) {
        bits |= (unsigned)(found[lane] != 0) << lane;
    }
    return (uint8_t)(bits & friction->slot[s].fluid);
}

/* Least mass of the sides of each cell, 1 for an enclosed cell. */
static void find_least_side(const WadiFriction *friction, int32_t s, WadiF8 *least)
{
    WadiF8 side[6], large = wadi_splat(1e30f), zero = wadi_splat(0.0f);
    sides_of(friction, friction->mass, s, side);
    *least = large;
    for (int n = 0; n < 6; ++n) {
        *least = WADI_MIN8(*least, WADI_ROW_SELECT(side[n] > zero, side[n], large));
    }
    *least = WADI_ROW_SELECT(*least < large, *least, wadi_splat(1.0f));
}

/* Least mass of the faces on which each cell's stresses act. False if all of them are 1. */
static bool find_least_mass(const WadiFriction *friction, int32_t s, const WadiF8 edge[12], WadiF8 *least)
{
    const WadiFrictionSlot *slot = &friction->slot[s];
    WadiF8 side[6], large = wadi_splat(1e30f), zero = wadi_splat(0.0f);
    sides_of(friction, friction->mass, s, side);
    *least = large;
    for (int n = 0; n < 6; ++n) {
        *least = WADI_MIN8(*least, WADI_ROW_SELECT(side[n] > zero, side[n], large));
    }
    for (int n = 0; n < 12; ++n) {
        *least = WADI_MIN8(*least, WADI_ROW_SELECT(wadi_lanes(slot->edge[n]), edge[n], large));
    }
    /* An enclosed cell has no free face: any step will do. */
    *least = WADI_ROW_SELECT(*least < large, *least, wadi_splat(1.0f));
    /* Faces heavier than 1 do not change the least mass, but the slot needs their masses. */
    WadiI8 differs = wadi_lanes(slot->fluid) & (*least != wadi_splat(1.0f));
    for (int axis = 0; axis < 3; ++axis) {
        WadiF8 mass = friction->mass[s].c[axis];
        differs |= (mass > zero) & (mass != wadi_splat(1.0f));
    }
    bool is_cut = false;
    for (int lane = 0; lane < 8; ++lane) {
        is_cut |= differs[lane] != 0;
    }
    return is_cut;
}

/* Axes of which an oblique wall closes a side. Cells of which it closes two have no normal stress: 0 in the
 * result, 1 in the others. */
static WadiF8 find_closed_axes(const WadiFriction *friction, int32_t s, uint8_t closed[3])
{
    const WadiFrictionSlot *slot = &friction->slot[s];
    uint8_t fractional = wadi_friction_fractional(friction, s);
    WadiF8 has_normal_stress = wadi_splat(1.0f), side[6];
    wadi_friction_sides(friction, s, side);
    for (int lane = 0; lane < 8; ++lane) {
        int count = 0;
        for (int axis = 0; axis < 3 && (fractional >> lane & 1) != 0; ++axis) {
            bool is_aligned = (slot->aligned[2 * axis] | slot->aligned[2 * axis + 1]) >> lane & 1;
            bool is_closed =
                !is_aligned && (side[2 * axis][lane] <= 0.0f || side[2 * axis + 1][lane] <= 0.0f);
            closed[axis] |= (uint8_t)(is_closed << lane);
            count += is_closed;
        }
        has_normal_stress[lane] = count < 2 ? 1.0f : 0.0f;
    }
    return has_normal_stress;
}

/* Sides on walls along the grid: every closed side of a cell that is not cut in fractions, of others those
 * where the solid's normal is the side's. */
static void find_aligned(void *context, int64_t first, int64_t end)
{
    const WadiFriction *friction = context;
    const WadiFrictionGrid *grid = &friction->grid;
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        WadiFrictionSlot *slot = &friction->slot[s];
        if (slot->fluid == 0) {
            continue;
        }
        WadiF8 open[6];
        wadi_friction_sides(friction, s, open);
        uint8_t fractional = wadi_friction_fractional(friction, s);
        int32_t cell[3];
        wadi_rows_cell(grid->rows, slot->row, cell);
        for (int n = 0; n < 48; ++n) {
            int side = n >> 3, lane = n & 7, axis = side >> 1;
            if ((slot->fluid >> lane & 1) == 0 || open[side][lane] > 0.0f) {
                continue;
            }
            bool is_aligned = (fractional >> lane & 1) == 0;
            if (!is_aligned) {
                double at[3] = { cell[0] + lane + 0.5, cell[1] + 0.5, cell[2] + 0.5 };
                at[axis] += side & 1 ? 0.5 : -0.5;
                is_aligned = fabsf(grid->sample_wall(grid->wall_context, at).normal[axis]) > 0.999f;
            }
            slot->aligned[side] |= (uint8_t)(is_aligned << lane);
        }
    }
}

static void fill_cut(const WadiFriction *friction, int32_t s)
{
    const WadiFrictionSlot *slot = &friction->slot[s];
    WadiFrictionCut *cut = &friction->cut[slot->cut];
    WadiF8 one = wadi_splat(1.0f), zero = wadi_splat(0.0f), least;
    for (int axis = 0; axis < 3; ++axis) {
        WadiF8 mass = friction->mass[s].c[axis];
        cut->inverse_mass.c[axis] = wadi_masked(one / WADI_ROW_SELECT(mass > zero, mass, one), mass > zero);
    }
    WadiF8 edge[12];
    cell_edges(friction, s, edge);
    find_least_side(friction, s, &least);
    WadiF8 step = WADI_ROW_SELECT(least == one, one, wadi_splat(CUT_STEP) * least);
    WadiF8 fluid = wadi_masked(one, wadi_lanes(slot->fluid));

    memset(cut->closed, 0, sizeof cut->closed);
    cut->step[STRESS_XX] = cut->step[STRESS_YY] = fluid * step * find_closed_axes(friction, s, cut->closed);
    cut->weight[STRESS_XX] = cut->weight[STRESS_YY] = one;
    for (int kind = 0; kind < 3; ++kind) {
        WadiI8 count = { 0 };
        for (int e = 0; e < 4; ++e) {
            count -= wadi_lanes(slot->edge[4 * kind + e]);
        }
        WadiF8 n = __builtin_convertvector(count, WadiF8);
        for (int e = 0; e < 4; ++e) {
            WadiI8 is_active = wadi_lanes(slot->edge[4 * kind + e]);
            WadiF8 mass = WADI_ROW_SELECT(is_active, edge[4 * kind + e], one);
            step = WADI_ROW_SELECT(mass == one, one, wadi_splat(CUT_STEP) * mass);
            cut->step[2 + 4 * kind + e] = wadi_masked(wadi_splat(0.125f) * n * step, is_active);
            cut->weight[2 + 4 * kind + e] = wadi_masked(one / WADI_MAX8(n, one), is_active);
        }
    }
}

static void find_cuts(void *context, int64_t first, int64_t end)
{
    WadiFriction *friction = context;
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        WadiF8 edge[12], least;
        cell_edges(friction, s, edge);
        friction->slot[s].cut = find_least_mass(friction, s, edge, &least);
    }
}

static void fill_cuts(void *context, int64_t first, int64_t end)
{
    const WadiFriction *friction = context;
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        if (friction->slot[s].cut != 0) {
            fill_cut(friction, s);
        }
    }
}

WadiStatus wadi_friction_make_cuts(WadiFriction *friction, WadiArena *arena, WadiError *error)
{
    friction->cut_count = 1;
    if (friction->grid.open[0] == NULL && friction->grid.density[0] == NULL &&
        friction->grid.fraction[0] == NULL) {
        return WADI_OK;
    }
    size_t slots = (size_t)friction->slot_count;
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&friction->open, slots, sizeof *friction->open, error));
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&friction->mass, slots, sizeof *friction->mass, error));
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, fill_masses, friction);
    if (friction->grid.open[0] != NULL) {
        wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, find_aligned, friction);
    }
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, find_cuts, friction);
    for (int32_t s = 1; s < friction->slot_count; ++s) {
        friction->slot[s].cut = friction->slot[s].cut != 0 ? friction->cut_count++ : 0;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &friction->cut, (size_t)friction->cut_count, "friction", error));
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, fill_cuts, friction);
    return WADI_OK;
}

/* Projection into the ball sum w t^2 <= Y^2 in the metric w / ratio: t = y / (1 + lambda ratio). Newton's
 * method on 1 / |t| = 1 / Y, which is nearly linear in lambda; a radial scaling removes the remaining
 * error. */
void wadi_friction_project_cut(const WadiFrictionCut *cut, WadiF8 yield, WadiF8 trial[STRESS_COUNT])
{
    enum { NEWTON_STEPS = 4 };
    const WadiF8 one = wadi_splat(1.0f), zero = wadi_splat(0.0f);
    WadiF8 lambda = zero, part[STRESS_COUNT], factor;
    for (int step = 0;; ++step) {
        WadiF8 square = zero, slope = zero;
        for (int n = 0; n < STRESS_COUNT; ++n) {
            WadiF8 ratio = wadi_friction_step_ratio(cut, n);
            part[n] = one / (one + lambda * ratio);
            WadiF8 t = part[n] * trial[n];
            /* 1/2 (xx^2 + yy^2 + zz^2) = xx^2 + (yy + xx) yy */
            WadiF8 other = t;
            if (n == STRESS_YY) {
                other += part[STRESS_XX] * trial[STRESS_XX];
            }
            WadiF8 term = cut->weight[n] * t * other;
            square += term;
            slope += part[n] * ratio * term;
        }
        factor = wadi_ball_factor(square, yield);
        WadiI8 moves = (factor < one) & (factor > zero) & (slope > zero);
        bool is_done = true;
        for (int lane = 0; lane < 8; ++lane) {
            is_done &= moves[lane] == 0;
        }
        if (is_done || step == NEWTON_STEPS) {
            break;
        }
        WadiF8 change = (one / WADI_ROW_SELECT(moves, factor, one) - one) * square;
        lambda += wadi_masked(change / WADI_ROW_SELECT(moves, slope, one), moves);
    }
    for (int n = 0; n < STRESS_COUNT; ++n) {
        trial[n] *= factor * part[n];
    }
}

void wadi_friction_clear_closed_axes(const WadiFrictionCut *cut, WadiF8 trial[STRESS_COUNT])
{
    const WadiF8 half = wadi_splat(0.5f);
    WadiF8 xx = trial[STRESS_XX], yy = trial[STRESS_YY];
    WadiI8 x = wadi_lanes(cut->closed[0]), y = wadi_lanes(cut->closed[1]), z = wadi_lanes(cut->closed[2]);
    WadiF8 across = half * (xx - yy), zero = wadi_splat(0.0f);
    trial[STRESS_XX] =
        WADI_ROW_SELECT(x, zero, WADI_ROW_SELECT(y, xx + half * yy, WADI_ROW_SELECT(z, across, xx)));
    trial[STRESS_YY] =
        WADI_ROW_SELECT(y, zero, WADI_ROW_SELECT(x, yy + half * xx, WADI_ROW_SELECT(z, -across, yy)));
}
