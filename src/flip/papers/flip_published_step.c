/* Labels, density and paths of a step with `published`. [ZB05 secs. 4.2.2, 4.2.5; A24 sec. I-B] */
#include <string.h>

#include "flip/flip_stage.h"
#include "flip/papers/flip_papers.h"
#include "flip/published/flip_printed.h"
#include "grid/row_vectors.h"

/* Parts of a step's path. */
enum { ZB05_SUBSTEPS = 5 };

void wadi_flip_label_published(const WadiFlipStep *step, const uint8_t *occupied, uint8_t *filled)
{
    for (int32_t r = 0; r < step->grid.rows.count; ++r) {
        const WadiI8 is_inside = WADI_ROW(step->solid.distance, step->solid.row[r]) < 0.0f;
        filled[r] = (uint8_t)(occupied[r] & ~wadi_row_bits(&is_inside));
    }
}

/* None with [ZB05]. With [A24] alpha (rho - rho_0) of each cell, of both signs; alpha is a fraction of the
 * excess a step, since the report gives it no unit. */
WadiStatus wadi_flip_density_published(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const size_t cells = WADI_ROW_CELLS * (size_t)step->cells.pressure_rows;
    WADI_TRY(
        WADI_ARENA_NEW(flip->context.scratch, &step->cells.expansion, cells, "density correction", error));
    memset(step->cells.expansion, 0, cells * sizeof *step->cells.expansion);
    if (wadi_flip_published(flip) != WADI_FLIP_PUBLISHED_A24) {
        return WADI_OK;
    }
    const float rate = (float)(wadi_flip_def(flip->context.world->scene)->density_alpha / step->dt);
    for (int32_t row = 1; row < step->grid.rows.count; ++row) {
        for (unsigned left = step->cells.pressure_cells[row]; left != 0; left &= left - 1) {
            const size_t c = 8 * (size_t)row + (size_t)__builtin_ctz(left);
            step->cells.expansion[wadi_table_cell(step->cells.pressure_row, c)] =
                rate * (step->cells.fill[c] - 1.0f);
        }
    }
    return WADI_OK;
}

WadiStatus wadi_flip_move_published(const WadiFlip *flip, const WadiFlipStep *step, WadiCollideReport *moved,
                                    WadiError *error)
{
    const bool is_zb05 = wadi_flip_published(flip) == WADI_FLIP_PUBLISHED_ZB05;
    const WadiFlipToParticlesIn velocity = { .sort = &step->sort,
                                             .grid = &step->grid,
                                             .saved = (const float *const *)step->saved,
                                             .saved_row = step->saved_row,
                                             .flip_fraction = flip->flip_fraction,
                                             .material_count = flip->materials.count,
                                             .dt = step->dt,
                                             .order = 1 };
    const WadiPrintedMoveIn move = { .solids = &flip->context.world->solids,
                                     .grid = &step->grid,
                                     .solid = &step->solid,
                                     .cell_size = step->grid.cell_size,
                                     .time = step->time,
                                     .dt = step->dt,
                                     .substeps = is_zb05 ? ZB05_SUBSTEPS : 0,
                                     .is_stopped = !is_zb05 };
    WadiFlipPath path; /* of one part; not used */
    RUN("grid to particles",
        wadi_flip_grid_to_particles(flip->context.particles, &path, &velocity, flip->context.scratch, error));
    DO("move", *moved = wadi_printed_move(flip->context.particles, &move));
    return WADI_OK;
}
