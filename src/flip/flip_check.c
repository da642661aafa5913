/* Search for values that are not finite, after every stage of the checking build. */
#include "flip/flip.h"

#ifdef WADI_CHECKS
#include <math.h>

#include "flip/transfer/flip_transfer.h"

static WadiStatus fail_at(const WadiFlip *flip, const WadiFlipStep *step, const char *stage, const char *what,
                          size_t index, double value, WadiError *error)
{
    const WadiRows *rows = &step->grid.rows;
    const double h = flip->context.world->cell_size;
    int32_t cell[3];
    wadi_rows_cell(rows, (int32_t)(index / WADI_ROW_CELLS), cell);
    return wadi_fail(error, WADI_ERR_NUMERIC, "stage '%s' made %s %g at (%g, %g, %g) m, t = %.6g s", stage,
                     what, value, h * (cell[0] + (int)(index % WADI_ROW_CELLS)), h * cell[1], h * cell[2],
                     step->time);
}

static WadiStatus check_faces(const WadiFlip *flip, const WadiFlipStep *step, const char *stage,
                              WadiError *error)
{
    for (int a = 0; a < 3; ++a) {
        for (int32_t r = 1; step->reached[a] != NULL && r < step->grid.rows.count; ++r) {
            for (unsigned left = step->reached[a][r]; left != 0; left &= left - 1) {
                const size_t face = WADI_ROW_CELLS * (size_t)r + (size_t)__builtin_ctz(left);
                const double u = (double)step->grid.velocity[a][face];
                if (!isfinite(u)) {
                    return fail_at(flip, step, stage, "a face velocity", face, u, error);
                }
            }
        }
    }
    return WADI_OK;
}

static WadiStatus check_cells(const WadiFlip *flip, const WadiFlipStep *step, const char *stage,
                              WadiError *error)
{
    const WadiFlipCells *cells = &step->cells;
    for (int32_t r = 1; cells->pressure_row != NULL && r < step->grid.rows.count; ++r) {
        for (unsigned left = cells->pressure_cells[r]; left != 0; left &= left - 1) {
            const size_t cell = WADI_ROW_CELLS * (size_t)r + (size_t)__builtin_ctz(left);
            const size_t own = WADI_ROW_CELLS * (size_t)cells->pressure_row[r] + (size_t)__builtin_ctz(left);
            if (cells->expansion != NULL && !isfinite(cells->expansion[own])) {
                return fail_at(flip, step, stage, "a prescribed divergence", cell,
                               (double)cells->expansion[own], error);
            }
            if (cells->pressure != NULL && !isfinite(cells->pressure[own])) {
                return fail_at(flip, step, stage, "a pressure", cell, cells->pressure[own], error);
            }
        }
    }
    return WADI_OK;
}
#endif

static bool sample_grid(const void *grid, const double position[3], double velocity[3])
{
    const WadiFlipGrid *g = grid;
    const double cells[3] = { position[0] / g->cell_size, position[1] / g->cell_size,
                              position[2] / g->cell_size };
    return wadi_flip_grid_sample(g, cells, velocity);
}

WadiStatus wadi_flip_check_stage(const WadiFlip *flip, const WadiFlipStep *step, const char *stage,
                                 WadiError *error)
{
    const WadiStageGrid grid = { &step->grid, sample_grid };
    wadi_solver_tell_stage(&flip->context, stage, step->has_velocity ? &grid : NULL);
    WADI_TRY(wadi_solver_check_particles(&flip->context, stage, error));
#ifdef WADI_CHECKS
    WADI_TRY(check_faces(flip, step, stage, error));
    WADI_TRY(check_cells(flip, step, stage, error));
#endif
    return WADI_OK;
}
