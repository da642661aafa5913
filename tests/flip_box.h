/* A box of rows with faces, and a slow reference pressure solver, for the tests of the grid stages. */
#ifndef WADI_TESTS_FLIP_BOX_H
#define WADI_TESTS_FLIP_BOX_H

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "expect.h"
#include "flip/pressure/flip_project.h"
#include "grid/row_lanes.h"

/* Cells lo <= (i, j, k) < hi have rows (x rounded outwards to whole rows). */
typedef struct FlipBox {
    int lo[3], hi[3];
    WadiTileMap map;
    uint64_t *mask;
    WadiRows rows;
    WadiArena arena;
} FlipBox;

static inline void flip_box_make(FlipBox *box, const int lo[3], const int hi[3])
{
    WadiError error;
    *box = (FlipBox){ 0 };
    memcpy(box->lo, lo, sizeof box->lo);
    memcpy(box->hi, hi, sizeof box->hi);
    int first[3], end[3];
    size_t count = 1;
    for (int a = 0; a < 3; ++a) {
        first[a] = lo[a] >> 3;
        end[a] = ((hi[a] - 1) >> 3) + 1;
        count *= (size_t)(end[a] - first[a]);
    }
    WadiTile *tiles = NULL;
    CHECK_OK(WADI_NEW(&tiles, count, "tiles", &error), error);
    CHECK_OK(WADI_NEW(&box->mask, count, "masks", &error), error);
    size_t n = 0;
    for (int z = first[2]; z < end[2]; ++z) {
        for (int y = first[1]; y < end[1]; ++y) {
            for (int x = first[0]; x < end[0]; ++x) {
                for (int place = 0; place < WADI_TILE_ROWS; ++place) {
                    int j = 8 * y + (place & 7), k = 8 * z + (place >> 3);
                    bool is_in = j >= lo[1] && j < hi[1] && k >= lo[2] && k < hi[2];
                    box->mask[n] |= (uint64_t)is_in << place;
                }
                tiles[n++] = (WadiTile){ x, y, z };
            }
        }
    }
    CHECK_OK(wadi_tile_map_create(&box->map, tiles, count, &error), error);
    CHECK_OK(wadi_tile_map_link(&box->map, &error), error);
    CHECK_OK(wadi_rows_build(&box->rows, &box->map, box->mask, &box->arena, &error), error);
    WADI_DELETE(tiles, count);
}

static inline void flip_box_free(FlipBox *box)
{
    WADI_DELETE(box->mask, (size_t)box->map.count);
    wadi_tile_map_free(&box->map);
    wadi_arena_free(&box->arena);
}

/* Zeroed. */
static inline void *flip_box_array(FlipBox *box, size_t size_each)
{
    WadiError error;
    void *memory = NULL;
    size_t count = wadi_rows_floats(&box->rows);
    CHECK_OK(wadi_arena_alloc(&box->arena, &memory, count, size_each, "test", &error), error);
    memset(memory, 0, count * size_each);
    return memory;
}

static inline float *flip_box_floats(FlipBox *box, float value)
{
    float *values = flip_box_array(box, sizeof(float));
    for (size_t n = WADI_ROW_CELLS; n < wadi_rows_floats(&box->rows); ++n) {
        values[n] = value;
    }
    return values;
}

/* Index of a cell; a cell of the null row if there is none. */
static inline size_t flip_box_at(const FlipBox *box, int i, int j, int k)
{
    return (size_t)WADI_ROW_CELLS * (size_t)wadi_rows_find(&box->rows, i, j, k) + (size_t)(i & 7);
}

static inline void flip_box_cell(const FlipBox *box, size_t at, int cell[3])
{
    int32_t first[3];
    wadi_rows_cell(&box->rows, (int32_t)(at / WADI_ROW_CELLS), first);
    cell[0] = first[0] + (int)(at % WADI_ROW_CELLS);
    cell[1] = first[1];
    cell[2] = first[2];
}

/* Bits of the cells a <= (i, j, k) < b. */
static inline uint8_t *flip_box_bits(FlipBox *box, const int a[3], const int b[3])
{
    uint8_t *bits = flip_box_array(box, sizeof(uint8_t));
    for (int k = a[2]; k < b[2]; ++k) {
        for (int j = a[1]; j < b[1]; ++j) {
            for (int i = a[0]; i < b[0]; ++i) {
                bits[flip_box_at(box, i, j, k) / WADI_ROW_CELLS] |= (uint8_t)(1u << (i & 7));
            }
        }
    }
    return bits;
}

static inline void row_beside_double(const WadiRows *rows, const double *values, int32_t row, int side,
                                     double neighbour[restrict WADI_ROW_CELLS])
{
    const double *centre = values + (size_t)WADI_ROW_CELLS * (size_t)row;
    const double *other = values + (size_t)WADI_ROW_CELLS * (size_t)rows->neighbour[row][side];
    if (side == WADI_ROW_X_MIN) {
        neighbour[0] = other[7];
        memcpy(neighbour + 1, centre, 7 * sizeof(double));
    } else if (side == WADI_ROW_X_MAX) {
        memcpy(neighbour, centre + 1, 7 * sizeof(double));
        neighbour[7] = other[0];
    } else {
        memcpy(neighbour, other, 8 * sizeof(double));
    }
}

static inline void slow_apply(const WadiPoisson *system, const double *x, double *y)
{
    const float *coupling[3] = { system->cx, system->cy, system->cz };
    for (int32_t row = 1; row < system->rows->count; ++row) {
        const size_t at = (size_t)WADI_ROW_CELLS * (size_t)row;
        for (size_t l = 0; l < WADI_ROW_CELLS; ++l) {
            y[at + l] = (double)system->diagonal[at + l] * x[at + l];
        }
        for (int side = 0; side < 6; ++side) {
            double beside[WADI_ROW_CELLS];
            float c[WADI_ROW_CELLS];
            row_beside_double(system->rows, x, row, side, beside);
            if (side % 2 == 0) {
                memcpy(c, coupling[side / 2] + at, sizeof c);
            } else {
                wadi_row_neighbours(system->rows, coupling[side / 2], row, side, c);
            }
            for (size_t l = 0; l < WADI_ROW_CELLS; ++l) {
                y[at + l] -= (double)c[l] * beside[l];
            }
        }
    }
}

/* Conjugate gradients in double, preconditioned by the diagonal: a plain reference. Every body must touch
 * air. */
static inline WadiStatus slow_solve(const WadiPoisson *system, const float *b,
                                    const WadiPoissonSettings *settings, double *x, WadiArena *scratch,
                                    WadiPoissonReport *report, WadiError *error)
{
    *report = (WadiPoissonReport){ 0 };
    const size_t n = wadi_rows_floats(system->rows);
    double *r = NULL, *p = NULL, *q = NULL;
    WADI_TRY(WADI_ARENA_NEW(scratch, &r, n, "slow solver", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &p, n, "slow solver", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &q, n, "slow solver", error));
    memset(q, 0, n * sizeof *q);
    slow_apply(system, x, q);
    double largest = 0.0, rz = 0.0;
    for (size_t c = 0; c < n; ++c) {
        double d = (double)system->diagonal[c];
        largest = fmax(largest, fabs((double)b[c]));
        r[c] = d > 0 ? (double)b[c] - q[c] : 0.0;
        p[c] = d > 0 ? r[c] / d : 0.0;
        rz += r[c] * p[c];
        report->first_residual = fmax(report->first_residual, fabs(r[c]));
    }
    double wanted = fmax(settings->tolerance * largest, settings->absolute);
    report->residual = report->first_residual;
    while (report->residual > wanted && report->iterations < settings->max_iterations) {
        slow_apply(system, p, q);
        double pq = 0.0, next = 0.0;
        for (size_t c = 0; c < n; ++c) {
            pq += p[c] * q[c];
        }
        report->residual = 0.0;
        for (size_t c = 0; c < n; ++c) {
            x[c] += rz / pq * p[c];
            r[c] -= rz / pq * q[c];
            double d = (double)system->diagonal[c];
            next += d > 0 ? r[c] * r[c] / d : 0.0;
            report->residual = fmax(report->residual, fabs(r[c]));
        }
        for (size_t c = 0; c < n; ++c) {
            double d = (double)system->diagonal[c];
            p[c] = (d > 0 ? r[c] / d : 0.0) + next / rz * p[c];
        }
        rz = next;
        ++report->iterations;
    }
    report->has_converged = report->residual <= wanted;
    return WADI_OK;
}

/* Input of a projection: faces between cells a <= (i, j, k) < b of the box are open, all others closed and
 * at rest. */
typedef struct FlipTank {
    FlipBox box;
    WadiFlipProjectIn in;
    WadiFlipProjectOut out;
    WadiFlipProjectReport report;
    float *open[3], *solid[3], *theta[3];
    WadiArena scratch;
} FlipTank;

static inline void flip_tank_make(FlipTank *tank, const int lo[3], const int hi[3], double cell_size)
{
    *tank = (FlipTank){ 0 };
    flip_box_make(&tank->box, lo, hi);
    tank->in = (WadiFlipProjectIn){ .rows = &tank->box.rows,
                                    .reference_density = 1000.0,
                                    .cell_size = cell_size,
                                    .solver = { .tolerance = 1e-12, .max_iterations = 4000 },
                                    .solve = slow_solve };
    for (int a = 0; a < 3; ++a) {
        tank->in.open[a] = tank->open[a] = flip_box_floats(&tank->box, 0.0f);
        tank->in.solid_velocity[a] = tank->solid[a] = flip_box_floats(&tank->box, 0.0f);
        tank->theta[a] = flip_box_floats(&tank->box, 1.0f);
        tank->out.velocity[a] = flip_box_floats(&tank->box, 0.0f);
        tank->out.known[a] = flip_box_array(&tank->box, sizeof(uint8_t));
    }
    tank->out.pressure = flip_box_array(&tank->box, sizeof(double));
}

/* Open the faces between two cells of a <= (i, j, k) < b. */
static inline void flip_tank_open(FlipTank *tank, const int a[3], const int b[3])
{
    for (int k = a[2]; k < b[2]; ++k) {
        for (int j = a[1]; j < b[1]; ++j) {
            for (int i = a[0]; i < b[0]; ++i) {
                size_t at = flip_box_at(&tank->box, i, j, k);
                tank->open[0][at] = i > a[0] ? 1.0f : 0.0f;
                tank->open[1][at] = j > a[1] ? 1.0f : 0.0f;
                tank->open[2][at] = k > a[2] ? 1.0f : 0.0f;
            }
        }
    }
}

static inline void flip_tank_project(FlipTank *tank)
{
    WadiError error;
    CHECK_OK(wadi_arena_reset(&tank->scratch, &error), error);
    CHECK_OK(wadi_flip_project(&tank->in, &tank->out, &tank->scratch, &tank->report, &error), error);
}

static inline void flip_tank_add(FlipTank *tank, int axis, float change)
{
    for (size_t n = WADI_ROW_CELLS; n < wadi_rows_floats(&tank->box.rows); ++n) {
        tank->out.velocity[axis][n] += change;
    }
}

static inline double flip_tank_max_speed(const FlipTank *tank)
{
    double largest = 0.0;
    for (int a = 0; a < 3; ++a) {
        for (size_t n = 0; n < wadi_rows_floats(&tank->box.rows); ++n) {
            if (tank->out.known[a][n / WADI_ROW_CELLS] >> (n % WADI_ROW_CELLS) & 1) {
                largest = fmax(largest, fabs((double)tank->out.velocity[a][n]));
            }
        }
    }
    return largest;
}

static inline void flip_tank_free(FlipTank *tank)
{
    wadi_arena_free(&tank->scratch);
    flip_box_free(&tank->box);
}

#endif
