/* Strain rate of the displacement beyond D(u), as the friction solve reads it: deviatoric in the cells, a
 * mean over the FLUID cells around an edge. [theory 2.3, 6.3] */
#include <string.h>

#include "core/parallel.h"
#include "flip/friction/flip_friction_slots.h"
#include "flip/transfer/flip_row_table.h"

enum { XX, YY, ZZ, XY };

/* Strain of a slot's cells, 0 outside FLUID cells. */
static inline WadiF8 strain_of(const WadiFriction *friction, int32_t s, int n)
{
    const WadiFrictionSlot *slot = &friction->slot[s];
    const int32_t at = wadi_table_row(friction->grid.turn_row, slot->row);
    const WadiF8 zero = { 0 };
    return at == 0 ? zero : wadi_masked(WADI_ROW(friction->grid.turn_strain[n], at), wadi_lanes(slot->fluid));
}

/* Twice the mean shear of the FLUID cells around the low edges of a slot. Kinds as for the stresses. */
static WadiF8 edge_mean(const WadiFriction *friction, int32_t s, int kind)
{
    static const int near[3][3] = { { NEAR_XM, NEAR_YM, NEAR_XM_YM },
                                    { NEAR_XM, NEAR_ZM, NEAR_XM_ZM },
                                    { NEAR_YM, NEAR_ZM, NEAR_YM_ZM } };
    const WadiFrictionSlot *all = friction->slot, *slot = &all[s];
    int32_t around[4] = { s, slot->near[near[kind][0]], slot->near[near[kind][1]],
                          slot->near[near[kind][2]] };
    WadiF8 sum = { 0 };
    WadiI8 count = { 0 };
    for (int n = 0; n < 4; ++n) {
        WadiF8 value = strain_of(friction, around[n], XY + kind);
        uint8_t fluid = all[around[n]].fluid;
        if (kind < 2 && (n & 1) != 0) {
            /* A step back along x: lane 7 of the row before, from the row beside it. */
            const int32_t beside = n == 1 ? s : around[2];
            value = WADI_ROW_SHIFT_UP(value, strain_of(friction, beside, XY + kind));
            fluid = wadi_bits_from_left(fluid, all[beside].fluid);
        }
        sum += value;
        count -= wadi_lanes(fluid);
    }
    count -= count == 0;
    return wadi_splat(2.0f) * sum / __builtin_convertvector(count, WadiF8);
}

static void fill_turns(void *context, int64_t first, int64_t end)
{
    const WadiFriction *friction = context;
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        WadiFrictionTurn *turn = &friction->turn[s];
        const WadiF8 xx = strain_of(friction, s, XX), yy = strain_of(friction, s, YY),
                     zz = strain_of(friction, s, ZZ);
        turn->sum = xx + yy + zz;
        turn->xx = xx - turn->sum * wadi_splat(1.0f / 3.0f);
        turn->yy = yy - turn->sum * wadi_splat(1.0f / 3.0f);
        for (int kind = 0; kind < 3; ++kind) {
            turn->edge[kind] = edge_mean(friction, s, kind);
        }
    }
}

WadiStatus wadi_friction_make_turns(WadiFriction *friction, WadiArena *arena, WadiError *error)
{
    WADI_TRY(WADI_ARENA_NEW(arena, &friction->turn, (size_t)friction->slot_count, "friction", error));
    memset(&friction->turn[0], 0, sizeof friction->turn[0]);
    if (friction->grid.turn_strain[0] == NULL) {
        memset(friction->turn, 0, (size_t)friction->slot_count * sizeof *friction->turn);
        return WADI_OK;
    }
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, fill_turns, friction);
    return WADI_OK;
}
