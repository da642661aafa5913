/* Density at the faces: rho_f = sum_p w_pf rho_p / sum_p w_pf, with the weights of the transfer [theory 2.1,
 * 7.5]. The pressure then accelerates the mass whose momentum the face holds, and a density follows its
 * particles inside cells, not only from cell to cell.
 * Faces without a particle in their support, and those in material of one density, have the mean of the
 * pressure cells beside them. */
#include <math.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "grid/row_lanes.h"

enum { LANES = WADI_ROW_CELLS, TILE_BLOCK = 16 };

typedef struct FaceDensity {
    const WadiFlip *flip;
    const WadiFlipStep *step;
    const float *of_material, *of_cells; /* kg/m^3 */
    int32_t *occupied_row;   /* per row: its index among the occupied rows of the sort; -1: none */
    float *lowest, *highest; /* per row: of the densities in its occupied cells */
    float *const *density;
} FaceDensity;

/* Sums over the particles around the low faces of a row's cells. */
typedef struct FaceSums {
    double mass[3][LANES], volume[3][LANES];
} FaceSums;

static void find_ranges(void *user, int64_t first, int64_t end)
{
    const FaceDensity *work = user;
    for (int64_t r = first; r < end; ++r) {
        work->occupied_row[r] = -1;
        work->lowest[r] = INFINITY;
        work->highest[r] = -INFINITY;
        for (unsigned left = work->step->grid.occupied[r]; left != 0; left &= left - 1) {
            const float density = work->of_cells[LANES * r + __builtin_ctz(left)];
            work->lowest[r] = wadi_minf(work->lowest[r], density);
            work->highest[r] = wadi_maxf(work->highest[r], density);
        }
    }
}

static void find_occupied_rows(void *user, int64_t first, int64_t end)
{
    const FaceDensity *work = user;
    const WadiTileSort *sort = &work->step->sort;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        int32_t occupied = sort->row_first[t];
        for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++occupied) {
            const int32_t row =
                wadi_rows_at(&work->step->grid.rows, work->step->grid.tile_of[t], __builtin_ctzll(left));
            work->occupied_row[row] = occupied;
        }
    }
}

/* Row n of the 27 around a row and itself, x fastest; 0: not there. */
static int32_t row_around(const WadiRows *rows, int32_t row, int n)
{
    const int step[3] = { n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1 };
    for (int axis = 0; axis < 3; ++axis) {
        row = step[axis] == 0 ? row : rows->neighbour[row][2 * axis + (step[axis] > 0)];
    }
    return row;
}

static bool is_uniform(const FaceDensity *work, int32_t row)
{
    float lowest = INFINITY, highest = -INFINITY;
    for (int n = 0; n < 27; ++n) {
        const int32_t other = row_around(&work->step->grid.rows, row, n);
        lowest = wadi_minf(lowest, work->lowest[other]);
        highest = wadi_maxf(highest, work->highest[other]);
    }
    return !(lowest < highest);
}

/* Weight of a hat one cell wide to each side. */
static double hat(double distance)
{
    return fmax(0.0, 1.0 - fabs(distance));
}

static void add_particle(const FaceDensity *work, const int32_t cell[3], int32_t i, FaceSums *sums)
{
    const WadiParticles *particles = work->flip->context.particles;
    const double h = work->step->grid.cell_size, density = (double)work->of_material[particles->material[i]];
    const double x[3] = { particles->x[i] / h - cell[0], particles->y[i] / h - cell[1],
                          particles->z[i] / h - cell[2] };
    for (int axis = 0; axis < 3; ++axis) {
        const double across = hat(x[1] - (axis == 1 ? 0.0 : 0.5)) * hat(x[2] - (axis == 2 ? 0.0 : 0.5));
        const double along = x[0] - (axis == 0 ? 0.0 : 0.5);
        const int low = (int)floor(along);
        for (int l = low; l <= low + 1 && across > 0.0; ++l) {
            if (l >= 0 && l < LANES) {
                const double weight = across * hat(along - l);
                sums->mass[axis][l] += weight * density;
                sums->volume[axis][l] += weight;
            }
        }
    }
}

/* Faces are reached from cells beside the row's own along x too. */
static void add_row(const FaceDensity *work, const int32_t cell[3], int32_t other, int side, FaceSums *sums)
{
    const int32_t occupied = work->occupied_row[other];
    if (other == 0 || occupied < 0) {
        return;
    }
    const int32_t *start = &work->step->sort.cell_start[LANES * (size_t)occupied];
    const int first = side < 0 ? LANES - 1 : 0, end = side > 0 ? 1 : LANES;
    for (int32_t i = start[first]; i < start[end]; ++i) {
        add_particle(work, cell, i, sums);
    }
}

/* Mean of the pressure cells beside the low face of a cell. */
static float mean_of_cells(const FaceDensity *work, WadiRowCell own, int axis)
{
    const uint8_t *is_unknown = work->step->cells.pressure_cells;
    const WadiRowCell low = wadi_row_cell_neighbour(&work->step->grid.rows, own, 2 * axis);
    const float here = work->of_cells[wadi_row_cell_index(own)];
    const float there = work->of_cells[wadi_row_cell_index(low)];
    const bool has_here = (is_unknown[own.row] >> own.lane & 1) != 0;
    const bool has_there = (is_unknown[low.row] >> low.lane & 1) != 0;
    return has_here == has_there ? 0.5f * (here + there) : has_here ? here : there;
}

static void find_faces(void *user, int64_t first, int64_t end)
{
    const FaceDensity *work = user;
    const WadiRows *rows = &work->step->grid.rows;
    for (int32_t row = first > 0 ? (int32_t)first : 1; row < end; ++row) {
        FaceSums sums = { 0 };
        if (!is_uniform(work, row)) {
            int32_t cell[3];
            wadi_rows_cell(rows, row, cell);
            for (int n = 0; n < 27; ++n) {
                add_row(work, cell, row_around(rows, row, n), n % 3 - 1, &sums);
            }
        }
        for (int axis = 0; axis < 3; ++axis) {
            for (int l = 0; l < LANES; ++l) {
                work->density[axis][LANES * (size_t)row + (size_t)l] =
                    sums.volume[axis][l] > 0.0 ? (float)(sums.mass[axis][l] / sums.volume[axis][l])
                                               : mean_of_cells(work, (WadiRowCell){ row, l }, axis);
            }
        }
    }
}

WadiStatus wadi_flip_face_density(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    if (step->cells.mix.density == NULL) {
        return WADI_OK;
    }
    float of_material[WADI_MATERIALS_MAX];
    for (int m = 0; m < flip->materials.count; ++m) {
        of_material[m] = (float)flip->materials.density * flip->materials.mass[m];
    }
    WadiArena *arena = flip->context.scratch;
    const WadiRows *rows = &step->grid.rows;
    const size_t count = (size_t)rows->count;
    FaceDensity work = { .flip = flip,
                         .step = step,
                         .of_material = of_material,
                         .of_cells = step->cells.mix.density,
                         .density = step->cells.mix.face_density };
    for (int axis = 0; axis < 3; ++axis) {
        WADI_TRY(
            WADI_ARENA_NEW(arena, &step->cells.mix.face_density[axis], LANES * count, "face density", error));
        for (int l = 0; l < LANES; ++l) {
            step->cells.mix.face_density[axis][l] = 0.0f;
        }
    }
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &work.occupied_row, count, "face density", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &work.lowest, count, "face density", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &work.highest, count, "face density", error));
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, find_ranges, &work);
    wadi_parallel_for(step->sort.tiles.count, TILE_BLOCK, find_occupied_rows, &work);
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, find_faces, &work);
    return WADI_OK;
}
