/* Volume displaced by a growing solid. [theory 3.3]
 * The projection moves the closed part of a face with the solid's velocity there. In a cut cell these
 * fluxes sum to what the surface sweeps only if the solid keeps its volume. So all closed parts in a cell
 * count with the velocity of the surface in it,
 *   sum_f +-(1 - w_f) u_wall   instead of   sum_f +-(1 - w_f) u_solid(f),
 * and the difference becomes a divergence of the projection. A face of another solid, such as a floor
 * under a ball, keeps its own velocity. Around a solid as slender as a cell the velocity turns from face to
 * face: a face belongs to the same solid also where a wall about as fast cuts the cell beside it.
 * Source: none. */
#include <math.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "grid/row_lanes.h"

enum { LANES = WADI_ROW_CELLS };

/* Relative difference of velocities above which a face belongs to another solid. */
#define SAME_SOLID 0.5

typedef struct SwellContext {
    const WadiFlipSolid *solid;
    WadiFlipStep *step;
} SwellContext;

/* Speed of the solid that cuts a cell, m/s; 0 where none does or it rests. */
static double wall_speed(const WadiFlipSolid *solid, WadiRowCell cell)
{
    const size_t at = wadi_table_cell(solid->row, wadi_row_cell_index(cell));
    const double v[3] = { (double)solid->wall[0][at], (double)solid->wall[1][at],
                          (double)solid->wall[2][at] };
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* h times the missing divergence of a cell. */
static double missing_divergence(const SwellContext *context, WadiRowCell cell)
{
    const WadiFlipSolid *solid = context->solid;
    const size_t at = wadi_table_cell(solid->row, wadi_row_cell_index(cell));
    const double wall[3] = { (double)solid->wall[0][at], (double)solid->wall[1][at],
                             (double)solid->wall[2][at] };
    const double tolerance = SAME_SOLID * wall_speed(solid, cell);
    double sum = 0.0;
    for (int side = 0; side < 6 && tolerance > 0.0; ++side) {
        const int axis = side / 2;
        const WadiRowCell beside = wadi_row_cell_neighbour(&context->step->grid.rows, cell, side),
                          owner = side % 2 == 1 ? beside : cell;
        const size_t face = wadi_table_cell(solid->row, wadi_row_cell_index(owner));
        const double closed = 1.0 - (double)solid->open[axis][face];
        const double change = (double)solid->velocity[axis][face] - wall[axis];
        if (owner.row != 0 && closed > 0.0 &&
            (fabs(change) <= tolerance || wall_speed(solid, beside) >= tolerance)) {
            sum += (side % 2 == 1 ? closed : -closed) * change;
        }
    }
    return sum;
}

static void swell_rows(void *user, int64_t first, int64_t end)
{
    const SwellContext *context = user;
    WadiFlipStep *step = context->step;
    const double per_metre = 1.0 / step->grid.cell_size;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        unsigned left =
            context->solid->row[row] >= WADI_FLIP_SOLID_PLAIN_ROWS ? step->cells.pressure_cells[row] : 0;
        for (; left != 0; left &= left - 1) {
            const int l = __builtin_ctz(left);
            const double sum = missing_divergence(context, (WadiRowCell){ row, l });
            step->cells.expansion[LANES * (size_t)step->cells.pressure_row[row] + (size_t)l] +=
                (float)(per_metre * sum);
        }
    }
}

void wadi_flip_swell(WadiFlipStep *step)
{
    SwellContext context = { &step->solid, step };
    if (step->solid.wall[0] != NULL) {
        wadi_parallel_for(step->grid.rows.count, WADI_ROW_BLOCK, swell_rows, &context);
    }
}
