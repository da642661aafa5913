/* The sweeps of [A24 sec. I-B] as printed.
 *   d = sum_f +-u_f - h e,   u_f -= +-d / n at the n open faces of the cell,   P -= d / n
 * e is the prescribed divergence: alpha (rho - rho_0) with both signs (flip_published_step.c). */
#include <math.h>
#include <string.h>

#include "flip/published/flip_printed.h"
#include "flip/published/flip_rigid_cells.h"

static bool is_open(const WadiFlipProjectIn *in, int32_t face, int axis)
{
    return in->open[axis][wadi_table_cell(in->solid_row, (size_t)face)] > 0.0f;
}

/* Walls have velocity 0, those that move too. */
static void close_walls(const WadiFlipProjectIn *in, WadiFlipProjectOut *out)
{
    for (int axis = 0; axis < 3; ++axis) {
        out->known[axis][0] = 0;
        for (int32_t row = 1; row < in->rows->count; ++row) {
            unsigned open = 0;
            for (int32_t l = 0; l < 8; ++l) {
                const bool is_face_open = is_open(in, 8 * row + l, axis);
                open |= (unsigned)is_face_open << l;
                out->velocity[axis][8 * row + l] = is_face_open ? out->velocity[axis][8 * row + l] : 0.0f;
            }
            const unsigned touched =
                in->fluid[row] | wadi_row_neighbour_bits(in->rows, in->fluid, row, 2 * axis);
            out->known[axis][row] = (uint8_t)(touched & open);
        }
    }
}

/* Net outflow of a cell less the prescribed one, m/s; with `count`, the number of its open faces, it is
 * removed. */
static double outflow_of(const WadiFlipProjectIn *in, const WadiFlipProjectOut *out, int32_t c, int *count)
{
    const size_t at = wadi_table_cell(in->fluid_row, (size_t)c);
    double sum = in->expansion != NULL ? -in->cell_size * (double)in->expansion[at] : 0.0;
    *count = 0;
    for (int side = 0; side < 6; ++side) {
        const int axis = side >> 1;
        const int32_t face = side & 1 ? wadi_cell_neighbour(in->rows, c, side) : c;
        if (face >= 8 && is_open(in, face, axis)) {
            sum += (side & 1 ? 1.0 : -1.0) * (double)out->velocity[axis][face];
            *count += 1;
        }
    }
    return sum;
}

static void remove_outflow(const WadiFlipProjectIn *in, WadiFlipProjectOut *out, int32_t c, double part)
{
    for (int side = 0; side < 6; ++side) {
        const int axis = side >> 1;
        const int32_t face = side & 1 ? wadi_cell_neighbour(in->rows, c, side) : c;
        if (face >= 8 && is_open(in, face, axis)) {
            out->velocity[axis][face] += (float)(side & 1 ? -part : part);
        }
    }
    out->pressure[wadi_table_cell(in->fluid_row, (size_t)c)] -= part;
}

/* Largest net outflow met, m/s. */
static double sweep(const WadiFlipProjectIn *in, WadiFlipProjectOut *out, bool is_last, int64_t *unknowns)
{
    double largest = 0.0;
    *unknowns = 0;
    for (int32_t row = 1; row < in->rows->count; ++row) {
        for (unsigned left = in->fluid[row]; left != 0; left &= left - 1) {
            const int32_t c = 8 * row + __builtin_ctz(left);
            int count = 0;
            const double outflow = outflow_of(in, out, c, &count);
            if (count > 0) {
                largest = isnan(outflow) ? (double)INFINITY : fmax(largest, fabs(outflow));
                *unknowns += 1;
                if (!is_last) {
                    remove_outflow(in, out, c, outflow / count);
                }
            }
        }
    }
    return largest;
}

WadiStatus wadi_printed_sweeps(const WadiFlipProjectIn *in, int sweeps, WadiFlipProjectOut *out,
                               WadiFlipProjectReport *report, WadiError *error)
{
    *report = (WadiFlipProjectReport){ 0 };
    close_walls(in, out);
    const int32_t rows = in->fluid_row != NULL ? in->fluid_rows : in->rows->count;
    memset(out->pressure, 0, 8 * (size_t)rows * sizeof *out->pressure);
    double residual = 0.0;
    for (int n = 0; n <= sweeps; ++n) {
        residual = sweep(in, out, n == sweeps, &report->unknowns);
        report->solve.first_residual = n == 0 ? residual : report->solve.first_residual;
        if (!isfinite(residual)) {
            return wadi_fail(error, WADI_ERR_NUMERIC, "pressure sweeps: a velocity is not finite");
        }
    }
    report->solve.iterations = sweeps;
    report->solve.residual = residual;
    report->solve.has_converged = true;
    report->max_divergence = residual / in->cell_size;
    return WADI_OK;
}
