/* The flow in the air cells at the surface keeps volume.
 *
 * Topmost cells whose centre is above the surface hold particles, but no pressure. With velocities extended from the fluid alone
 * they let themselves be squeezed, those above all that lie in a pit with fluid on several sides: gentle waves crowd the
 * particles under the surface by a half in ten seconds and leave the uppermost ones 0.3 cells too low, while cell by cell the
 * counts are right and the density correction has nothing to mend.
 * Source: none. Others project the velocities of a band of air.
 * Differs: nothing is solved for. Each such cell makes up for what enters it at its exits, the faces that lead away from the fluid;
 * no face is the exit of two cells. Up to the speed `most`, and not where the flow is fast: in splashes, whose
 * particles are mixed anyway, closing pits would throw jets. */
#include "flip/transfer/flip_extend_air.h"

#include "core/parallel.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_vectors.h"

enum { LANES = WADI_ROW_CELLS, SIDES = 6 };

typedef struct Air {
    const WadiFlipAirIn *in;
    float *const *velocity;
    uint8_t *beside;         /* per row: cells with a known face */
    uint8_t *asked;          /* per row: those of the air with particles; then those of them with an exit */
    uint8_t (*exits)[SIDES]; /* per row with an asked cell: those whose face on this side is an exit */
    float *change;           /* per asked cell: of the velocity outwards, m/s */
} Air;

static void find_cells(void *user, int64_t first, int64_t end)
{
    const Air *air = user;
    const WadiFlipAirIn *in = air->in;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        unsigned beside = 0;
        for (int axis = 0; axis < 3; ++axis) {
            beside |= in->known[axis][row] |
                      (unsigned)wadi_row_bits_beside(in->rows, in->known[axis], row, 2 * axis + 1);
        }
        air->beside[row] = (uint8_t)beside;
        air->asked[row] = (uint8_t)(beside & in->cells[row]);
    }
}

/* Open fractions of the faces on one side of a row's cells. */
static inline __attribute__((always_inline)) void open_on(const WadiFlipAirIn *in, int32_t row, int side,
                                                          WadiF8 *open)
{
    const float *of = in->open[side / 2];
    const int32_t next = side % 2 == 1 ? in->rows->neighbour[row][side] : row;
    *open = WADI_ROW(of, wadi_table_row(in->solid_row, next));
    if (side == WADI_ROW_X_MAX) {
        const WadiF8 own = WADI_ROW(of, wadi_table_row(in->solid_row, row));
        *open = WADI_ROW_SHIFT_DOWN(own, *open);
    }
}

/* The exits of a row's cells, and how wide those of each are. Returns who has one. */
static inline __attribute__((always_inline)) unsigned find_exits(const Air *air, int32_t row, WadiF8 *width)
{
    const WadiFlipAirIn *in = air->in;
    unsigned any = 0;
    *width = (WadiF8){ 0 };
    for (int side = 0; side < SIDES; ++side) {
        const uint8_t *known = in->known[side / 2];
        unsigned exits =
            air->asked[row] & ~(unsigned)wadi_row_bits_beside(in->rows, air->beside, row, side) &
            ~(unsigned)(side % 2 == 1 ? wadi_row_bits_beside(in->rows, known, row, side) : known[row]);
        if (exits != 0) {
            WadiF8 open;
            open_on(in, row, side, &open);
            WadiI8 is_exit;
            wadi_row_mask(exits, &is_exit);
            is_exit &= open >= 0.5f;
            *width += (WadiF8)((WadiI8)open & is_exit);
            exits = wadi_row_bits(&is_exit);
        }
        air->exits[row][side] = (uint8_t)exits;
        any |= exits;
    }
    return any;
}

/* Through the faces on the low side of a row's cells, where they are open and where not. */
static inline __attribute__((always_inline)) void flow_through(const Air *air, int32_t row, int axis,
                                                               WadiF8 *flow)
{
    const WadiFlipAirIn *in = air->in;
    const int32_t solid = wadi_table_row(in->solid_row, row);
    const WadiF8 open = WADI_ROW(in->open[axis], solid);
    *flow = open * WADI_ROW(air->velocity[axis], row);
    if (in->solid_velocity[axis] != NULL) {
        *flow += (1.0f - open) * WADI_ROW(in->solid_velocity[axis], solid);
    }
}

static void find_changes(void *user, int64_t first, int64_t end)
{
    const Air *air = user;
    const WadiRows *rows = air->in->rows;
    const WadiF8 zero = { 0 }, one = zero + 1.0f;
    const float per_square = 1.0f / (air->in->fast * air->in->fast);
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (air->asked[row] == 0) {
            continue;
        }
        WadiF8 width, inflow = zero, square = zero;
        air->asked[row] = (uint8_t)find_exits(air, row, &width);
        if (air->asked[row] == 0) {
            continue;
        }
        for (int axis = 0; axis < 3; ++axis) {
            WadiF8 low, high;
            flow_through(air, row, axis, &low);
            flow_through(air, rows->neighbour[row][2 * axis + 1], axis, &high);
            if (axis == 0) {
                high = WADI_ROW_SHIFT_DOWN(low, high);
            }
            inflow += low - high;
            square += 0.25f * (low + high) * (low + high);
        }
        WadiF8 calm = (4.0f / 3.0f) * (one - square * per_square);
        calm = WADI_ROW_SELECT(calm > 0.0f, calm, zero);
        const WadiF8 most = air->in->most * WADI_ROW_SELECT(calm < 1.0f, calm, one);
        const WadiF8 change = inflow / WADI_ROW_SELECT(width > 0.0f, width, one);
        const WadiF8 bounded = WADI_ROW_SELECT(change < most, change, most);
        WADI_ROW_OUT(air->change, row) = WADI_ROW_SELECT(bounded > -most, bounded, -most);
    }
}

/* Face by face: some belong to rows of other blocks. */
static void change_faces(void *user, int64_t first, int64_t end)
{
    const Air *air = user;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (air->asked[row] == 0) {
            continue;
        }
        const float *change = air->change + LANES * (size_t)row;
        for (int side = 0; side < SIDES; ++side) {
            for (unsigned left = air->exits[row][side]; left != 0; left &= left - 1) {
                const WadiRowCell cell = { row, __builtin_ctz(left) };
                float *u = air->velocity[side / 2];
                if (side % 2 == 0) {
                    u[wadi_row_cell_index(cell)] -= change[cell.lane];
                } else {
                    u[wadi_row_cell_index(wadi_row_cell_beside(air->in->rows, cell, side))] +=
                        change[cell.lane];
                }
            }
        }
    }
}

WadiStatus wadi_flip_extend_air(const WadiFlipAirIn *in, float *const velocity[3], WadiArena *scratch,
                                WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    const size_t rows = (size_t)in->rows->count;
    Air air = { .in = in, .velocity = velocity };
    WADI_TRY(WADI_ARENA_NEW(scratch, &air.beside, rows, "velocity in air", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &air.asked, rows, "velocity in air", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &air.exits, rows, "velocity in air", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &air.change, LANES * rows, "velocity in air", error));
    air.beside[0] = air.asked[0] = 0;
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, find_cells, &air);
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, find_changes, &air);
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, change_faces, &air);
    wadi_arena_release(scratch, mark);
    return WADI_OK;
}
