/* Make the flow in air cells at the surface conserve volume. [theory 2.6] Cells whose centre is above the
 * surface may hold particles but have no pressure. With extended velocities alone, pits between them are
 * squeezed and the particles under the surface crowd.
 * Source: none. Others project the velocities of a band of air.
 * Differs: nothing is solved. Each such cell sends its net inflow and its divergence out through its exits,
 * the faces that lead away from the fluid; no face is the exit of two cells. The change is at most
 * `largest_change`, and 0 where the flow is fast. */
#include "flip/transfer/flip_extend_air.h"

#include "core/parallel.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_vectors.h"

enum { LANES = WADI_ROW_CELLS, SIDES = 6 };

typedef struct Air {
    const WadiFlipAirIn *in;
    float *const *velocity;
    uint8_t *next_to_known; /* per row: cells with a known face */
    uint8_t *active; /* per row: air cells with particles and a known face; later only those with an exit */
    uint8_t (*exits)[SIDES]; /* per row with an active cell: cells whose face on this side is an exit */
    float *change;           /* per active cell: of the outward velocity at its exits, m/s */
} Air;

static void find_cells(void *user, int64_t first, int64_t end)
{
    const Air *air = user;
    const WadiFlipAirIn *in = air->in;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        unsigned bits = 0;
        for (int axis = 0; axis < 3; ++axis) {
            bits |= in->known[axis][row] |
                    (unsigned)wadi_row_neighbour_bits(in->rows, in->known[axis], row, 2 * axis + 1);
        }
        air->next_to_known[row] = (uint8_t)bits;
        air->active[row] = (uint8_t)(bits & in->cells[row]);
    }
}

/* Open fractions of the faces on one side of a row's cells. */
static inline __attribute__((always_inline)) void open_fractions(const WadiFlipAirIn *in, int32_t row,
                                                                 int side, WadiF8 *open)
{
    const float *of = in->open[side / 2];
    const int32_t next = side % 2 == 1 ? in->rows->neighbour[row][side] : row;
    *open = WADI_ROW(of, wadi_table_row(in->solid_row, next));
    if (side == WADI_ROW_X_MAX) {
        const WadiF8 this_row = WADI_ROW(of, wadi_table_row(in->solid_row, row));
        *open = WADI_ROW_SHIFT_DOWN(this_row, *open);
    }
}

/* Find the exits of a row's cells and the sum of their open fractions. Returns the cells that have one. */
static inline __attribute__((always_inline)) unsigned find_exits(const Air *air, int32_t row, WadiF8 *width)
{
    const WadiFlipAirIn *in = air->in;
    unsigned any = 0;
    *width = (WadiF8){ 0 };
    for (int side = 0; side < SIDES; ++side) {
        const uint8_t *known = in->known[side / 2];
        unsigned exits =
            air->active[row] & ~(unsigned)wadi_row_neighbour_bits(in->rows, air->next_to_known, row, side) &
            ~(unsigned)(side % 2 == 1 ? wadi_row_neighbour_bits(in->rows, known, row, side) : known[row]);
        if (exits != 0) {
            WadiF8 open;
            open_fractions(in, row, side, &open);
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

/* Flux through the faces on the low side of a row's cells: open part and closed part. */
static inline __attribute__((always_inline)) void face_flux(const Air *air, int32_t row, int axis,
                                                            WadiF8 *flux)
{
    const WadiFlipAirIn *in = air->in;
    const int32_t solid = wadi_table_row(in->solid_row, row);
    const WadiF8 open = WADI_ROW(in->open[axis], solid);
    *flux = open * WADI_ROW(air->velocity[axis], row);
    if (in->solid_velocity[axis] != NULL) {
        *flux += (1.0f - open) * WADI_ROW(in->solid_velocity[axis], solid);
    }
}

static void find_changes(void *user, int64_t first, int64_t end)
{
    const Air *air = user;
    const WadiRows *rows = air->in->rows;
    const WadiF8 zero = { 0 }, one = zero + 1.0f;
    const float per_square = 1.0f / (air->in->fast * air->in->fast);
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (air->active[row] == 0) {
            continue;
        }
        WadiF8 width, inflow = zero, square = zero;
        air->active[row] = (uint8_t)find_exits(air, row, &width);
        if (air->active[row] == 0) {
            continue;
        }
        for (int axis = 0; axis < 3; ++axis) {
            WadiF8 low, high;
            face_flux(air, row, axis, &low);
            face_flux(air, rows->neighbour[row][2 * axis + 1], axis, &high);
            if (axis == 0) {
                high = WADI_ROW_SHIFT_DOWN(low, high);
            }
            inflow += low - high;
            square += 0.25f * (low + high) * (low + high);
        }
        if (air->in->divergence != NULL) {
            inflow += air->in->cell_size *
                      WADI_ROW(air->in->divergence, wadi_table_row(air->in->divergence_row, row));
        }
        WadiF8 calm = (4.0f / 3.0f) * (one - square * per_square);
        calm = WADI_ROW_SELECT(calm > 0.0f, calm, zero);
        const WadiF8 limit = air->in->largest_change * WADI_ROW_SELECT(calm < 1.0f, calm, one);
        const WadiF8 change = inflow / WADI_ROW_SELECT(width > 0.0f, width, one);
        const WadiF8 bounded = WADI_ROW_SELECT(change < limit, change, limit);
        WADI_ROW_OUT(air->change, row) = WADI_ROW_SELECT(bounded > -limit, bounded, -limit);
    }
}

/* One face at a time: some belong to rows of other blocks. */
static void change_faces(void *user, int64_t first, int64_t end)
{
    const Air *air = user;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (air->active[row] == 0) {
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
                    u[wadi_row_cell_index(wadi_row_cell_neighbour(air->in->rows, cell, side))] +=
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
    WADI_TRY(WADI_ARENA_NEW(scratch, &air.next_to_known, rows, "velocity in air", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &air.active, rows, "velocity in air", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &air.exits, rows, "velocity in air", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &air.change, LANES * rows, "velocity in air", error));
    air.next_to_known[0] = air.active[0] = 0;
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, find_cells, &air);
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, find_changes, &air);
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, change_faces, &air);
    wadi_arena_release(scratch, mark);
    return WADI_OK;
}
