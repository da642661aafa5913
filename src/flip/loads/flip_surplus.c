/* The pressure of a first-order surface is 0 at the centres of air cells, half a cell above the uppermost
 * cells of material, and those weigh as if they were full. The weight of both, spread over the area that the
 * surface shows to gravity, is what the pressure below has too much. Faces of bonded sand have the mass of
 * their particles, and no surplus. */
#include "flip/loads/flip_surplus.h"

#include <math.h>

#include "flip/transfer/flip_row_table.h"
#include "grid/row_lanes.h"

typedef struct Surplus {
    const WadiFlipStep *step;
    double up[3];
    double excess; /* volume of the cells less that of their particles, cells */
    double area;   /* of the surface as gravity sees it, faces */
} Surplus;

static bool has_bit(const uint8_t *bits, WadiRowCell cell)
{
    return bits != NULL && (bits[cell.row] >> cell.lane & 1) != 0;
}

/* Whether material in a cell bears what is above it; single grains that fly do not. */
static bool bears(const WadiFlipStep *step, WadiRowCell cell)
{
    const WadiFlipCells *cells = &step->cells;
    return cell.row != 0 && has_bit(cells->pressure_cells, cell) &&
           cells->pressure[wadi_table_cell(cells->pressure_row, wadi_row_cell_index(cell))] != 0.0;
}

static double open_part(const WadiFlipStep *step, WadiRowCell face, int axis)
{
    const size_t row = (size_t)wadi_table_row(step->solid.row, face.row);
    return (double)step->solid.open[axis][WADI_ROW_CELLS * row + (size_t)face.lane];
}

static void add_cell(Surplus *surplus, WadiRowCell cell)
{
    const WadiFlipStep *step = surplus->step;
    const size_t row = (size_t)wadi_table_row(step->solid.row, cell.row);
    const double distance = (double)step->solid.distance[WADI_ROW_CELLS * row + (size_t)cell.lane];
    surplus->excess += fmin(fmax(0.5 + distance / step->grid.cell_size, 0.0), 1.0);
    for (int side = 0; side < 6; ++side) {
        const WadiRowCell other = wadi_row_cell_neighbour(&step->grid.rows, cell, side);
        const WadiRowCell face = side & 1 ? other : cell;
        if (face.row != 0 && !bears(step, other) && !has_bit(step->cells.sleeping.cells, other)) {
            const double part = open_part(step, face, side >> 1);
            surplus->area += (side & 1 ? part : -part) * surplus->up[side >> 1];
        }
    }
}

/* Particles of a tile in cells that bear. */
static int64_t count_particles(const WadiFlipStep *step, int32_t tile)
{
    WadiTileCell at;
    int64_t count = 0;
    for (wadi_tile_cells_begin(&at, &step->sort, tile); wadi_tile_cells_next(&at, &step->sort);) {
        const int32_t row = wadi_rows_at(&step->grid.rows, step->grid.tile_of[tile], at.row);
        count += bears(step, (WadiRowCell){ row, at.lane }) ? at.end - at.first : 0;
    }
    return count;
}

double wadi_flip_surplus(const WadiFlip *flip, const WadiFlipStep *step, const double weight[3])
{
    const double size = sqrt(weight[0] * weight[0] + weight[1] * weight[1] + weight[2] * weight[2]);
    const double sum = fabs(weight[0]) + fabs(weight[1]) + fabs(weight[2]);
    const bool is_first_order = step->cells.theta[0] == NULL && step->cells.surface_distance == NULL;
    const bool has_true_mass = step->face_fraction[0] != NULL;
    if (!is_first_order || has_true_mass || sum <= 0.0) {
        return 0.0;
    }
    Surplus surplus = { .step = step, .up = { -weight[0] / size, -weight[1] / size, -weight[2] / size } };
    int64_t particles = 0;
    for (int32_t row = 1; row < step->grid.rows.count; ++row) {
        for (unsigned left = step->cells.pressure_cells[row]; left != 0; left &= left - 1) {
            const WadiRowCell cell = { row, __builtin_ctz(left) };
            if (bears(step, cell)) {
                add_cell(&surplus, cell);
            }
        }
    }
    for (int32_t tile = 0; tile < step->sort.tiles.count; ++tile) {
        particles += count_particles(step, tile);
    }
    const double per_axis = flip->context.world->scene->particles_per_axis;
    surplus.excess -= (double)particles / (per_axis * per_axis * per_axis);
    /* No surface lacks more than its uppermost cells. */
    const double lack = fmin(fmax(surplus.excess, -surplus.area), surplus.area);
    return 0.5 * size * size / sum + (surplus.area > 0.0 ? size * lack / surplus.area : 0.0);
}
