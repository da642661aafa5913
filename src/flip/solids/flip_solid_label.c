/* Label cut cells without particles under fluid as fluid.
 * Source: [theory 3.2].
 * Differs: "away from the solid" is the direction in which the cell opens most, because distances have no
 * clear gradient in corners; and the fluid may be two cells away, because in 3-D slivers lie behind
 * slivers. */
#include "flip/solids/flip_solid.h"

#include <math.h>

#include "core/parallel.h"
#include "grid/row_vectors.h"

typedef struct LabelContext {
    const WadiRows *rows;
    const WadiFlipSolid *solid;
    float near; /* m */
    const uint8_t *fluid;
    uint8_t *filled;
} LabelContext;

/* The neighbour on the side to which the cell opens most: the largest component of the wall's area vector. */
static WadiRowCell away_from_solid(const LabelContext *context, WadiRowCell cell)
{
    WadiRowCell away = { 0, 0 };
    float largest = 0.0f;
    for (int axis = 0; axis < 3; ++axis) {
        const float *open = context->solid->open[axis];
        const int32_t *table = context->solid->row;
        WadiRowCell high = wadi_row_cell_neighbour(context->rows, cell, 2 * axis + 1);
        float area = open[wadi_table_cell(table, wadi_row_cell_index(high))] -
                     open[wadi_table_cell(table, wadi_row_cell_index(cell))];
        if (fabsf(area) > largest) {
            largest = fabsf(area);
            away = area > 0.0f ? high : wadi_row_cell_neighbour(context->rows, cell, 2 * axis);
        }
    }
    return away;
}

/* A sliver may open only into another sliver: continue, at most a diagonal of a cell. */
static bool is_under_fluid(const LabelContext *context, WadiRowCell cell)
{
    for (int n = 0; n < 3 && cell.row != 0; ++n) {
        cell = away_from_solid(context, cell);
        if (context->fluid[cell.row] >> cell.lane & 1) {
            return true;
        }
        size_t at = wadi_table_cell(context->solid->row, wadi_row_cell_index(cell));
        bool is_cut = context->solid->distance[at] < context->near;
        cell.row = is_cut ? cell.row : 0;
    }
    return false;
}

/* True for rows far from solids and rows deep inside a solid. */
static bool has_no_cut_cell(const LabelContext *context, int32_t row)
{
    const int32_t *table = context->solid->row, *neighbour = context->rows->neighbour[row];
    bool is_shut = table[row] == WADI_FLIP_SOLID_CLOSED_ROW;
    for (int axis = 0; axis < 3 && is_shut; ++axis) {
        const int32_t next = table[neighbour[2 * axis + 1]];
        is_shut = next == WADI_FLIP_SOLID_CLOSED_ROW || next == WADI_FLIP_SOLID_NONE;
    }
    return is_shut || table[row] == WADI_FLIP_SOLID_OPEN_ROW;
}

/* Cut cells of a row that open to one side more than to the other. */
static unsigned find_candidates(const LabelContext *context, int32_t row)
{
    const WadiFlipSolid *solid = context->solid;
    const int32_t *table = solid->row, *neighbour = context->rows->neighbour[row];
    WadiI8 opens = { 0 };
    for (int axis = 0; axis < 3; ++axis) {
        const WadiF8 low = WADI_ROW(solid->open[axis], table[row]);
        const WadiF8 next = WADI_ROW(solid->open[axis], table[neighbour[2 * axis + 1]]);
        const WadiF8 high = axis == 0 ? (WadiF8)WADI_ROW_SHIFT_DOWN(low, next) : next;
        opens |= high != low;
    }
    opens &= WADI_ROW(solid->distance, table[row]) < context->near;
    return wadi_row_bits(&opens);
}

static void fill_rows(void *user, int64_t first, int64_t end)
{
    const LabelContext *context = user;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const unsigned fluid = context->fluid[row];
        const bool has_cut = row > 0 && !has_no_cut_cell(context, row);
        unsigned filled = fluid;
        for (unsigned left = has_cut ? find_candidates(context, row) & ~fluid : 0; left != 0;
             left &= left - 1) {
            const int l = __builtin_ctz(left);
            filled |= (unsigned)is_under_fluid(context, (WadiRowCell){ row, l }) << l;
        }
        context->filled[row] = (uint8_t)filled;
    }
}

void wadi_flip_solid_fill_cut_cells(const WadiRows *rows, const WadiFlipSolid *solid, double cell_size,
                                    const uint8_t *fluid, uint8_t *filled)
{
    LabelContext context = { rows, solid, (float)(0.3 * cell_size), fluid, filled };
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, fill_rows, &context);
}
