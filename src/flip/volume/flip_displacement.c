/* Divergence of the displacement of a step. [theory 2.3]
 * Particles move along chords, x1 = x + dt u(x). With G = grad u the volume changes by
 *   det(I + dt G) = 1 + dt div u + dt^2 Q + O(dt^3),   Q = sum over a < b of G_aa G_bb - G_ab G_ba,
 * so that a displacement keeps volume if div u = -dt Q. Where a wall bends the flow along it, a chord along
 * the wall would leave it: the displacement crosses the wall, of velocity w, by
 *   dt/2 n . ((u - w) . grad u + u . grad w).
 * Source: none; the constraint on positions of [RCB77], for the volume of a fluid. */
#include <math.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"

enum { LANES = WADI_ROW_CELLS };

typedef struct Displacement {
    WadiFlipStep *step;
    const WadiSolids *solids;
    float *centre[3];  /* per cell of the rows of `saved`: mean of its two faces, m/s; set where valid */
    uint8_t *valid[3]; /* per row: cells with two faces that particles reached */
} Displacement;

/* Values of the neighbours on one side of a row's cells, of an array with the rows of `table`. */
static inline __attribute__((always_inline)) void load_side(const WadiRows *rows, const int32_t *table,
                                                            const float *values, int32_t row, int side,
                                                            WadiF8 *neighbours)
{
    const WadiF8 own = WADI_ROW(values, table[row]),
                 other = WADI_ROW(values, table[rows->neighbour[row][side]]);
    *neighbours = other;
    if (side == WADI_ROW_X_MIN) {
        *neighbours = WADI_ROW_SHIFT_UP(other, own);
    } else if (side == WADI_ROW_X_MAX) {
        *neighbours = WADI_ROW_SHIFT_DOWN(own, other);
    }
}

static void find_centres(void *user, int64_t first, int64_t end)
{
    const Displacement *work = user;
    const WadiFlipStep *step = work->step;
    const WadiRows *rows = &step->grid.rows;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        for (int axis = 0; axis < 3; ++axis) {
            const uint8_t *reached = step->reached[axis];
            work->valid[axis][row] =
                (uint8_t)(reached[row] & wadi_row_neighbour_bits(rows, reached, row, 2 * axis + 1));
            if (work->valid[axis][row] != 0) {
                const int32_t at = step->saved_row[row];
                WadiF8 high;
                load_side(rows, step->saved_row, step->saved[axis], row, 2 * axis + 1, &high);
                WADI_ROW_OUT(work->centre[axis], at) = 0.5f * (WADI_ROW(step->saved[axis], at) + high);
            }
        }
    }
}

/* G_aa times the cell size; 0 where not valid. */
static inline void slope_across(const Displacement *work, int32_t row, int a, WadiF8 *slope)
{
    const WadiFlipStep *step = work->step;
    WadiF8 high;
    WadiI8 is_valid;
    load_side(&step->grid.rows, step->saved_row, step->saved[a], row, 2 * a + 1, &high);
    wadi_row_mask(work->valid[a][row], &is_valid);
    const WadiF8 difference = high - WADI_ROW(step->saved[a], step->saved_row[row]);
    *slope = (WadiF8)((WadiI8)difference & is_valid);
}

/* G_ab = d u_a / d b times the cell size, by central differences, or one-sided beside air and solids. */
static inline void slope_along(const Displacement *work, int32_t row, int a, int b, WadiF8 *slope)
{
    const int32_t *table = work->step->saved_row;
    const WadiRows *rows = &work->step->grid.rows;
    const uint8_t *valid = work->valid[a];
    WadiF8 low, high;
    WadiI8 has_low, has_high;
    wadi_row_mask(valid[row] & wadi_row_neighbour_bits(rows, valid, row, 2 * b), &has_low);
    wadi_row_mask(valid[row] & wadi_row_neighbour_bits(rows, valid, row, 2 * b + 1), &has_high);
    load_side(rows, table, work->centre[a], row, 2 * b, &low);
    load_side(rows, table, work->centre[a], row, 2 * b + 1, &high);
    const WadiF8 here = WADI_ROW(work->centre[a], table[row]), one = (WadiF8){ 0 } + 1.0f;
    const WadiF8 below = here - low, above = high - here;
    *slope = ((WadiF8)((WadiI8)below & has_low) + (WadiF8)((WadiI8)above & has_high)) *
             WADI_ROW_SELECT(has_low & has_high, 0.5f * one, one);
}

/* A . (u . grad w) times the cell size, of the cells of a row beside moving walls that turn or stretch. */
static void flux_of_turning_walls(const Displacement *work, int32_t row, WadiF8 area[3], WadiF8 u[3],
                                  WadiF8 *flux)
{
    const WadiFlipStep *step = work->step;
    const double h = step->grid.cell_size, middle = step->time + 0.5 * step->dt;
    int32_t cell[3];
    wadi_rows_cell(&step->grid.rows, row, cell);
    *flux = (WadiF8){ 0 };
    for (int l = 0; l < LANES; ++l) {
        if (area[0][l] == 0.0f && area[1][l] == 0.0f && area[2][l] == 0.0f) {
            continue;
        }
        const WadiVec3 x = { h * (cell[0] + l + 0.5), h * (cell[1] + 0.5), h * (cell[2] + 0.5) };
        const WadiVec3 way = { step->dt * (double)u[0][l], step->dt * (double)u[1][l],
                               step->dt * (double)u[2][l] };
        const int index = wadi_solids_sample_for_grid(work->solids, x, step->solid.time).index;
        const WadiVec3 change = wadi_solids_carry_change(work->solids, index, x, way, middle);
        const WadiVec3 a = { (double)area[0][l], (double)area[1][l], (double)area[2][l] };
        (*flux)[l] = (float)(wadi_dot(a, change) * h / step->dt);
    }
}

/* A . ((u - w) . grad u + u . grad w) times the cell size, with u - w along the wall, and A the area vector
 * of the wall in a cell of size 1, into the fluid. */
static inline void flux_of_walls(const Displacement *work, int32_t row, WadiF8 slope[3][3], WadiF8 *flux)
{
    const WadiFlipStep *step = work->step;
    const WadiFlipSolid *solid = &step->solid;
    const int32_t at = wadi_table_row(solid->row, row);
    WadiF8 area[3], u[3], whole[3], square = { 0 }, across = { 0 };
    const WadiF8 zero = { 0 };
    for (int a = 0; a < 3; ++a) {
        WadiF8 high;
        WadiI8 is_valid;
        load_side(&step->grid.rows, solid->row, solid->open[a], row, 2 * a + 1, &high);
        wadi_row_mask(work->valid[a][row], &is_valid);
        area[a] = high - WADI_ROW(solid->open[a], at);
        u[a] = WADI_ROW(work->centre[a], step->saved_row[row]);
        if (solid->wall[a] != NULL) {
            u[a] -= WADI_ROW(solid->wall[a], at);
        }
        u[a] = (WadiF8)((WadiI8)u[a] & is_valid);
        square += area[a] * area[a];
        across += area[a] * u[a];
    }
    /* A wall along the grid is flat. */
    const WadiI8 is_flat =
        (area[0] * area[1] == 0.0f) & (area[1] * area[2] == 0.0f) & (area[2] * area[0] == 0.0f);
    const WadiI8 has_wall = square > 0.0f;
    across /= WADI_ROW_SELECT(has_wall, square, (WadiF8){ 0 } + 1.0f);
    *flux = zero;
    if (solid->wall[0] != NULL) {
        for (int a = 0; a < 3; ++a) {
            whole[a] = u[a] - across * area[a] + WADI_ROW(solid->wall[a], at);
        }
        flux_of_turning_walls(work, row, area, whole, flux);
    }
    for (int b = 0; b < 3; ++b) {
        u[b] -= across * area[b];
        for (int a = 0; a < 3; ++a) {
            *flux += area[a] * slope[a][b] * u[b];
        }
    }
    *flux = (WadiF8)((WadiI8)*flux & ~is_flat);
}

/* dt div u of a displacement from q = dt^2 Q: in a plane, where G is the sum of a rotation, a strain and a
 * divergence, (1 + dt div u / 2)^2 + q = 1 exactly. Turns by more than a radian have no chord that keeps
 * volume. */
static inline void divergence_of(const WadiF8 *q, WadiF8 *divergence)
{
    float root[LANES];
    *(WadiF8 *)root = WADI_MAX8(1.0f - *q, (WadiF8){ 0 });
#pragma omp simd
    for (int l = 0; l < LANES; ++l) {
        root[l] = sqrtf(root[l]);
    }
    *divergence = 2.0f * (*(const WadiF8 *)root - 1.0f);
}

/* The strain rate of a displacement in the middle of its step is D(u) - dt/2 sym(G^2) + O(dt^2), 0 in a
 * rotation and D(u) in plain shear. */
static inline void find_turn_strain(WadiFlipStep *step, int32_t at, WadiF8 slope[3][3])
{
    static const int first[6] = { 0, 1, 2, 0, 0, 1 }, second[6] = { 0, 1, 2, 1, 2, 2 };
    const float quarter = (float)(-0.25 * step->dt / step->grid.cell_size);
    for (int n = 0; n < 6; ++n) {
        const int a = first[n], b = second[n];
        WadiF8 square = { 0 };
        for (int c = 0; c < 3; ++c) {
            square += slope[a][c] * slope[c][b] + slope[b][c] * slope[c][a];
        }
        WADI_ROW_OUT(step->cells.turn_strain[n], at) = quarter * square;
    }
}

static void find_divergence(void *user, int64_t first, int64_t end)
{
    const Displacement *work = user;
    WadiFlipStep *step = work->step;
    const WadiFlipSolid *solid = &step->solid;
    const float steps = (float)(step->dt / step->grid.cell_size), per_second = (float)(1.0 / step->dt);
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const int32_t at = step->saved_row[row];
        if (at == 0) {
            continue;
        }
        WadiF8 slope[3][3], q = { 0 }, divergence;
        for (int a = 0; a < 3; ++a) {
            slope_across(work, row, a, &slope[a][a]);
            slope_along(work, row, a, (a + 1) % 3, &slope[a][(a + 1) % 3]);
            slope_along(work, row, a, (a + 2) % 3, &slope[a][(a + 2) % 3]);
        }
        for (int a = 0; a < 3; ++a) {
            const int b = (a + 1) % 3;
            q += slope[a][a] * slope[b][b] - slope[a][b] * slope[b][a];
        }
        if (step->cells.turn_strain[0] != NULL) {
            find_turn_strain(step, at, slope);
        }
        q *= steps * steps;
        divergence_of(&q, &divergence);
        divergence *= 1.0f - WADI_ROW(solid->fraction, wadi_table_row(solid->row, row));
        if (solid->row[row] >= WADI_FLIP_SOLID_PLAIN_ROWS) {
            WadiF8 flux;
            flux_of_walls(work, row, slope, &flux);
            divergence += 0.5f * steps * steps * flux;
        }
        divergence *= per_second;
        WADI_ROW_OUT(step->divergence, at) = divergence;
        if (step->cells.pressure_cells[row] != 0) {
            WadiI8 is_cell;
            wadi_row_mask(step->cells.pressure_cells[row], &is_cell);
            WADI_ROW_OUT(step->cells.expansion, step->cells.pressure_row[row]) +=
                (WadiF8)((WadiI8)divergence & is_cell);
        }
    }
}

WadiStatus wadi_flip_displace(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiRows *rows = &step->grid.rows;
    WadiArena *arena = flip->context.scratch;
    Displacement work = { .step = step, .solids = &flip->context.world->solids };
    for (int n = 0; n < 6 && (flip->materials.has_sand || wadi_flip_is_viscous(flip)); ++n) {
        WADI_TRY(WADI_ARENA_NEW(arena, &step->cells.turn_strain[n], LANES * (size_t)step->saved_rows,
                                "displacement", error));
    }
    const WadiArenaMark mark = wadi_arena_mark(arena);
    for (int axis = 0; axis < 3; ++axis) {
        WADI_TRY(WADI_ARENA_NEW(arena, &work.centre[axis], LANES * (size_t)step->saved_rows, "displacement",
                                error));
        WADI_TRY(WADI_ARENA_NEW(arena, &work.valid[axis], (size_t)rows->count, "displacement", error));
    }
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, find_centres, &work);
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, find_divergence, &work);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
