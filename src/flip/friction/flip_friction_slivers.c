/* Faces that a wall leaves open by a sliver.
 * A force on a face of mass m changes its velocity by 1/m. Stresses of the last step are out of balance by a few per cent
 * of the pressure wherever a wall has moved since: on a face that is open by 2 % that is a speed of metres per second,
 * which the particles beside it take along. So a light face gets mass from those beside it, as if both moved together; the
 * sum of all masses stays, and with it what friction does to the sand on the whole. What then is left is cut off. */
#include "core/parallel.h"
#include "flip/friction/flip_friction_slots.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_lanes.h"

/* Faces that are open less than this are given mass, as far as wider ones have more. */
#define LEAST_OPEN 0.5f
/* Faces that are open less than this move no faster than those beside them. */
#define SLIVER 0.25f

typedef struct Even {
    const WadiFriction *friction;
    WadiFrictionFaces *offer; /* what a heavy face can give to each light one beside it */
    WadiFrictionFaces *taken; /* part of each offer that a light face takes */
} Even;

/* Values on the faces of the same axis beside those of a slot. */
static WadiVec8 beside(const Even *even, const WadiFrictionFaces *faces, int32_t s, int side, int axis)
{
    WadiVec8 there = faces[even->friction->slot[s].near[side]].c[axis], here = faces[s].c[axis];
    if (side > NEAR_XP) {
        return there;
    }
    return side == NEAR_XM ? wadi_from_left(there, here) : wadi_from_right(here, there);
}

static WadiInt8 is_light(WadiVec8 open)
{
    return (open > wadi_splat(0.0f)) & (open < wadi_splat(LEAST_OPEN));
}

static void find_offers(void *context, int64_t first, int64_t end)
{
    const Even *even = context;
    const WadiFrictionFaces *open = even->friction->open;
    const WadiVec8 zero = wadi_splat(0.0f), one = wadi_splat(1.0f), least = wadi_splat(LEAST_OPEN);
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        for (int axis = 0; axis < 3; ++axis) {
            WadiVec8 count = zero;
            for (int side = 0; side < 6; ++side) {
                count += wadi_keep(one, is_light(beside(even, open, s, side, axis)));
            }
            even->offer[s].c[axis] = wadi_larger(open[s].c[axis] - least, zero) / wadi_larger(count, one);
        }
    }
}

static void take_offers(void *context, int64_t first, int64_t end)
{
    const Even *even = context;
    const WadiVec8 one = wadi_splat(1.0f), tiny = wadi_splat(1e-6f);
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        for (int axis = 0; axis < 3; ++axis) {
            WadiVec8 sum = wadi_splat(0.0f), open = even->friction->open[s].c[axis];
            for (int side = 0; side < 6; ++side) {
                sum += beside(even, even->offer, s, side, axis);
            }
            WadiVec8 need = wadi_keep(wadi_splat(LEAST_OPEN) - open, is_light(open));
            even->taken[s].c[axis] = wadi_smaller(one, need / wadi_larger(sum, tiny));
        }
    }
}

static void move_mass(void *context, int64_t first, int64_t end)
{
    const Even *even = context;
    const WadiFriction *friction = even->friction;
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        for (int axis = 0; axis < 3; ++axis) {
            WadiVec8 offered = wadi_splat(0.0f), taken = wadi_splat(0.0f);
            for (int side = 0; side < 6; ++side) {
                offered += beside(even, even->offer, s, side, axis);
                taken += beside(even, even->taken, s, side, axis);
            }
            WadiVec8 open = friction->open[s].c[axis], zero = wadi_splat(0.0f);
            WadiVec8 evened = open + offered * even->taken[s].c[axis] - taken * even->offer[s].c[axis];
            friction->mass[s].c[axis] *= evened / wadi_select(open > zero, open, wadi_splat(1.0f));
        }
    }
}

WadiStatus wadi_friction_even_masses(WadiFriction *friction, WadiArena *arena, WadiError *error)
{
    size_t slots = (size_t)friction->slot_count;
    Even even = { .friction = friction };
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&even.offer, slots, sizeof *even.offer, error));
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&even.taken, slots, sizeof *even.taken, error));
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, find_offers, &even);
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, take_offers, &even);
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, move_mass, &even);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

typedef struct Calm {
    const WadiFriction *friction;
    float *const *velocity;
    const float *const *solid; /* per face; those of a solid at rest may be NULL */
} Calm;

/* Into the range of the solid's velocity and those of the wider faces beside. Slivers are written while others are read: only
 * faces that are none count. */
static void calm_face(const Calm *calm, WadiRowCell here, int axis)
{
    const WadiFriction *friction = calm->friction;
    const float *solid = calm->solid[axis];
    size_t at = wadi_row_cell_index(here);
    float low = solid != NULL ? solid[wadi_table_cell(friction->grid.solid_row, at)] : 0.0f, high = low;
    bool has_wider = false;
    for (int side = 0; side < 6; ++side) {
        WadiRowCell there = wadi_row_cell_neighbour(friction->grid.rows, here, side);
        if (friction->open[friction->slot_of[there.row]].c[axis][there.lane] >= SLIVER) {
            float u = calm->velocity[axis][wadi_row_cell_index(there)];
            low = fminf(low, u);
            high = fmaxf(high, u);
            has_wider = true;
        }
    }
    if (has_wider) {
        calm->velocity[axis][at] = fminf(fmaxf(calm->velocity[axis][at], low), high);
    }
}

static void calm_slots(void *context, int64_t first, int64_t end)
{
    const Calm *calm = context;
    const WadiFriction *friction = calm->friction;
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        for (int n = 0; n < 24 && friction->slot[s].cut != 0; ++n) {
            float open = friction->open[s].c[n >> 3][n & 7];
            if (open > 0.0f && open < SLIVER) {
                calm_face(calm, (WadiRowCell){ friction->slot[s].row, n & 7 }, n >> 3);
            }
        }
    }
}

void wadi_friction_calm_slivers(const WadiFriction *friction, float *const velocity[3],
                                float *const solid_velocity[3])
{
    if (friction->grid.open[0] != NULL) {
        const float *const solid[3] = { solid_velocity[0], solid_velocity[1], solid_velocity[2] };
        wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, calm_slots,
                          &(Calm){ friction, velocity, solid });
    }
}
