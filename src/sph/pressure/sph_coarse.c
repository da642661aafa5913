#include "sph/pressure/sph_coarse.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "math/minmax.h"

enum { ROW_BLOCK = 64 };
/* Largest number of conjugate gradients on the coarse grid, and the part of the residual that is left. It is
 * a preconditioner and need not be exact. */
enum { ITERATIONS = 12 };
static const double TOLERANCE = 0.03;

typedef struct Builder {
    const WadiSphCoarse *coarse;
    const WadiSphCoarseIn *in;
    float *weight; /* per cell: part of a full cell, times the mean inverse density */
    float *uneven; /* per cell: energy of a pressure that is 1 everywhere */
} Builder;

/* The particle at a place in the order of the cells. */
static inline int32_t particle_at(const WadiSphCoarse *coarse, int32_t n)
{
    return coarse->has_sizes ? coarse->order[n] : n - coarse->first;
}

static inline float volume_of(const WadiSphCoarse *coarse, int32_t i)
{
    return coarse->has_sizes ? coarse->volume[i] : 1.0f;
}

/* The square of the force of a pressure that is 1 everywhere. It is 0 on a lattice; elsewhere it drives
 * particles to even distances, the stronger the deeper they are. */
static float push_of_one(const Builder *b, int32_t i)
{
    const WadiSphPairs *pairs = b->in->pairs;
    WadiF4 sum = pairs->sum[i] * (-2.0f * wadi_sph_unit(pairs, i));
    const int32_t near = wadi_sph_near(b->in->walls, i);
    if (near >= 0) {
        sum += b->in->walls->gradient[near];
        for (int64_t n = pairs->mirror_start[near]; n < pairs->mirror_start[near + 1]; ++n) {
            sum += *(const WadiF4 *)pairs->mirror[n].gradient * 2.0f;
        }
    }
    const WadiF4 square = sum * sum;
    return square[0] + square[1] + square[2];
}

static void weigh_rows(void *context, int64_t first, int64_t end)
{
    const Builder *b = context;
    const WadiSphCoarse *coarse = b->coarse;
    const float full = (float)(coarse->width * coarse->width * coarse->width);
    for (int64_t c = 8 * first; c < 8 * end; ++c) {
        float sum = 0.0f, uneven = 0.0f;
        for (int32_t n = coarse->start[c]; n < coarse->start[c + 1]; ++n) {
            const int32_t i = particle_at(coarse, n);
            const float weight = b->in->inverse_density[i] * volume_of(coarse, i);
            sum += weight;
            uneven += weight * push_of_one(b, i);
        }
        b->weight[c + 8] = sum * (1.0f / full);
        b->uneven[c + 8] = uneven;
    }
}

static bool has_near(const Builder *b, int64_t cell)
{
    const WadiSphCoarse *coarse = b->coarse;
    for (int32_t n = coarse->start[cell - 8]; n < coarse->start[cell - 7]; ++n) {
        if (wadi_sph_near(b->in->walls, particle_at(coarse, n)) >= 0) {
            return true;
        }
    }
    return false;
}

/* Whether the empty cell beside one is air, and not behind a wall. */
static bool is_air(const Builder *b, int64_t cell, int side)
{
    int32_t at[3];
    const double h = b->coarse->blocks * b->in->sort->cell_size;
    if (!has_near(b, cell)) {
        return true;
    }
    wadi_rows_cell(&b->coarse->rows, (int32_t)(cell >> 3), at);
    at[0] += (int32_t)(cell & 7);
    at[side >> 1] += (side & 1) != 0 ? 1 : -1;
    const WadiVec3 x = { h * (at[0] + 0.5), h * (at[1] + 0.5), h * (at[2] + 0.5) };
    return wadi_solids_distance(b->in->solids, x, b->in->time, 0.0) > 0.0;
}

/* The cell beyond a side, or 0. */
static int64_t beside(const WadiRows *rows, int64_t cell, int side)
{
    const int64_t row = cell >> 3;
    const int lane = (int)(cell & 7);
    if (side == WADI_ROW_X_MIN && lane > 0) {
        return cell - 1;
    }
    if (side == WADI_ROW_X_MAX && lane < 7) {
        return cell + 1;
    }
    const int64_t next = rows->neighbour[row][side];
    const int to = side == WADI_ROW_X_MIN ? 7 : side == WADI_ROW_X_MAX ? 0 : lane;
    return next == 0 ? 0 : 8 * next + to;
}

/* Couplings of a cell w spacings wide: w^3 particles times (1 / w)^2. Whether it has air beside it, which
 * then counts for what is uneven. */
static bool couple(const Builder *b, int64_t cell)
{
    const WadiSphCoarse *coarse = b->coarse;
    const float own = b->weight[cell];
    float sum = 0.0f;
    bool has_air = false;
    for (int side = 0; side < 6; ++side) {
        const int64_t next = beside(&coarse->rows, cell, side);
        const float other = next != 0 ? b->weight[next] : 0.0f;
        float coupling = 0.0f;
        if (own > 0.0f && other > 0.0f) {
            coupling = wadi_minf(own, other) + 0.25f * (wadi_maxf(own, other) - wadi_minf(own, other));
        } else if (own > 0.0f && is_air(b, cell, side)) {
            coupling = own;
            has_air = true;
        }
        coupling *= (float)coarse->width;
        sum += coupling;
        if ((side & 1) == 0) {
            coarse->low[side >> 1][cell] = other > 0.0f ? coupling : 0.0f;
        }
    }
    coarse->diagonal[cell] = has_air ? sum : sum + b->uneven[cell];
    return has_air;
}

static void couple_rows(void *context, int64_t first, int64_t end)
{
    const Builder *b = context;
    for (int64_t row = first + 1; row < end + 1; ++row) {
        unsigned bits = 0;
        for (int lane = 0; lane < 8; ++lane) {
            bits |= (unsigned)couple(b, 8 * row + lane) << lane;
        }
        b->coarse->has_air[row] = (uint8_t)bits;
    }
}

/* Rows of cells twice as wide as those of the sort. */
static WadiStatus build_wide_rows(WadiSphCoarse *coarse, WadiArena *arena, WadiError *error)
{
    const WadiTileSort *sort = coarse->sort;
    WadiTile *wide = NULL;
    uint64_t *mask = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &wide, (size_t)sort->tiles.count, "coarse pressure", error));
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        const WadiTile at = sort->tiles.tiles[t];
        wide[t] = (WadiTile){ at.x >> 1, at.y >> 1, at.z >> 1 };
    }
    const size_t count = wadi_tiles_sort_unique(wide, (size_t)sort->tiles.count);
    WADI_TRY(wadi_tile_map_create_in_arena(&coarse->tiles, wide, count, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &mask, count, "coarse pressure", error));
    memset(mask, 0, count * sizeof *mask);
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        const WadiTile at = sort->tiles.tiles[t];
        const int32_t to = wadi_tile_map_find(&coarse->tiles, (WadiTile){ at.x >> 1, at.y >> 1, at.z >> 1 });
        for (uint64_t rows = sort->row_mask[t]; rows != 0; rows &= rows - 1) {
            const int row = __builtin_ctzll(rows), j = (row & 7) + 8 * (at.y & 1);
            const int k = (row >> 3) + 8 * (at.z & 1);
            mask[to] |= UINT64_C(1) << ((j >> 1) + 8 * (k >> 1));
        }
    }
    return wadi_rows_build(&coarse->rows, &coarse->tiles, mask, arena, error);
}

/* The wide cell of each cell of the sort, and so the order of the particles by wide cells. */
static WadiStatus order_by_wide_cells(WadiSphCoarse *coarse, WadiArena *arena, WadiError *error)
{
    const WadiTileSort *sort = coarse->sort;
    const int32_t count = sort->tile_start[sort->tiles.count] - sort->first;
    const size_t cells = 8 * (size_t)(coarse->rows.count - 1);
    int32_t *start = NULL, *order = NULL, *cell_of = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &start, cells + 2, "coarse pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &order, (size_t)count, "coarse pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &cell_of, (size_t)count, "coarse pressure", error));
    memset(start, 0, (cells + 2) * sizeof *start);
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        const WadiTile at = sort->tiles.tiles[t];
        int32_t row = sort->row_first[t];
        for (uint64_t rows = sort->row_mask[t]; rows != 0; rows &= rows - 1, ++row) {
            const int bit = __builtin_ctzll(rows);
            const int32_t j = (8 * at.y + (bit & 7)) >> 1, k = (8 * at.z + (bit >> 3)) >> 1;
            const int32_t to = wadi_rows_find(&coarse->rows, 4 * at.x, j, k);
            for (int32_t n = sort->cell_start[8 * row]; n < sort->cell_start[8 * row + 8]; ++n) {
                int lane = 0;
                while (n >= sort->cell_start[8 * row + lane + 1]) {
                    ++lane;
                }
                cell_of[n - sort->first] = 8 * (to - 1) + 4 * (at.x & 1) + (lane >> 1);
                start[cell_of[n - sort->first] + 1] += 1;
            }
        }
    }
    for (size_t c = 0; c <= cells; ++c) {
        start[c + 1] += start[c];
    }
    for (int32_t i = count; i-- > 0;) {
        order[--start[cell_of[i] + 1]] = i;
    }
    coarse->start = start + 1; /* ends of cells have become their beginnings */
    coarse->order = order;
    return WADI_OK;
}

WadiStatus wadi_sph_coarse_begin(WadiSphCoarse *coarse, const WadiSphCoarseIn *in, WadiArena *arena,
                                 WadiError *error)
{
    *coarse = (WadiSphCoarse){ .sort = in->sort,
                               .blocks = in->has_sizes ? 2 : 1,
                               .width = (in->has_sizes ? 2.0 : 1.0) * in->sort->cell_size / in->spacing,
                               .has_sizes = in->has_sizes,
                               .volume = in->volume };
    if (in->has_sizes) {
        WADI_TRY(build_wide_rows(coarse, arena, error));
        WADI_TRY(order_by_wide_cells(coarse, arena, error));
    } else {
        WADI_TRY(wadi_rows_build(&coarse->rows, &in->sort->tiles, in->sort->row_mask, arena, error));
        coarse->start = in->sort->cell_start;
        coarse->first = in->sort->first;
    }
    const size_t count = wadi_rows_floats(&coarse->rows);
    Builder b = { .coarse = coarse, .in = in };
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &coarse->low[a], count, "coarse pressure", error));
        memset(coarse->low[a], 0, 8 * sizeof(float));
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &coarse->diagonal, count, "coarse pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &coarse->has_air, (size_t)coarse->rows.count, "coarse pressure", error));
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(WADI_ARENA_NEW(arena, &b.weight, count, "coarse pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &b.uneven, count, "coarse pressure", error));
    memset(coarse->diagonal, 0, 8 * sizeof(float));
    memset(b.weight, 0, 8 * sizeof(float));
    wadi_parallel_for(coarse->rows.count - 1, ROW_BLOCK, weigh_rows, &b);
    wadi_parallel_for(coarse->rows.count - 1, ROW_BLOCK, couple_rows, &b);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

typedef struct Correction {
    const WadiSphCoarse *coarse;
    const float *residual;
    const uint8_t *is_free; /* per particle */
    const WadiI4 *place;
    float *change, *b;
    uint8_t *active;
    float *low[3], *diagonal; /* those of the unknowns */
    double *x;
} Correction;

static void gather_rows(void *context, int64_t first, int64_t end)
{
    const Correction *c = context;
    const WadiSphCoarse *coarse = c->coarse;
    for (int64_t row = first; row < end; ++row) {
        unsigned bits = 0;
        for (int lane = 0; lane < 8; ++lane) {
            float sum = 0.0f;
            bool is_active = false;
            const int64_t cell = 8 * row + lane;
            for (int32_t n = coarse->start[cell]; n < coarse->start[cell + 1]; ++n) {
                const int32_t i = particle_at(coarse, n);
                sum += c->is_free[i] != 0 ? c->residual[i] * volume_of(coarse, i) : 0.0f;
                is_active = is_active || c->is_free[i] != 0;
            }
            c->b[cell + 8] = sum;
            c->x[cell + 8] = 0.0;
            bits |= (unsigned)is_active << lane;
        }
        c->active[row + 1] = (uint8_t)bits;
    }
}

static void restrict_rows(void *context, int64_t first, int64_t end)
{
    const Correction *c = context;
    const WadiRows *rows = &c->coarse->rows;
    for (int64_t cell = 8 * (first + 1); cell < 8 * (end + 1); ++cell) {
        const bool is_active = (c->active[cell >> 3] >> (cell & 7) & 1) != 0;
        c->diagonal[cell] = is_active ? c->coarse->diagonal[cell] : 0.0f;
        for (int a = 0; a < 3; ++a) {
            const int64_t low = beside(rows, cell, 2 * a);
            const bool are_both = is_active && low != 0 && (c->active[low >> 3] >> (low & 7) & 1) != 0;
            c->low[a][cell] = are_both ? c->coarse->low[a][cell] : 0.0f;
        }
    }
}

/* Corrections of a row of cells and of those around it: by y, z, and x from -1 to 8. */
typedef struct Around {
    float value[3][3][10];
    bool is_known[3][3][10];
} Around;

static bool is_active(const Correction *c, int64_t row, int lane)
{
    return (c->active[row] >> lane & 1) != 0;
}

/* The rows below and above along an axis, and the row itself; 0: none. */
static void find_along(const WadiRows *rows, int64_t row, int axis, int64_t out[3])
{
    out[0] = row == 0 ? 0 : rows->neighbour[row][2 * axis];
    out[1] = row;
    out[2] = row == 0 ? 0 : rows->neighbour[row][2 * axis + 1];
}

static void find_around(const Correction *c, int64_t row, Around *around)
{
    const WadiRows *rows = &c->coarse->rows;
    int64_t layers[3];
    find_along(rows, row, 2, layers);
    for (int z = 0; z < 3; ++z) {
        int64_t lines[3];
        find_along(rows, layers[z], 1, lines);
        for (int y = 0; y < 3; ++y) {
            int64_t ends[3];
            find_along(rows, lines[y], 0, ends);
            for (int x = 0; x < 10; ++x) {
                const int64_t from = x == 0 ? ends[0] : x == 9 ? ends[2] : ends[1];
                const int lane = (x + 7) & 7;
                around->is_known[z][y][x] = from != 0 && is_active(c, from, lane);
                around->value[z][y][x] = (float)c->x[8 * from + lane];
            }
        }
    }
}

typedef struct Cells {
    float value[3][3][3]; /* z, y, x */
} Cells;

/* Those of a cell and of the 26 around it. Cells without a correction of their own have that of this one. */
static void find_cells(const Around *around, int lane, Cells *out)
{
    const float own = around->value[1][1][1 + lane];
    for (int z = 0; z < 3; ++z) {
        for (int y = 0; y < 3; ++y) {
            for (int x = 0; x < 3; ++x) {
                out->value[z][y][x] = around->is_known[z][y][lane + x] ? around->value[z][y][lane + x] : own;
            }
        }
    }
}

static inline float mix(float a, float b, float part)
{
    return a + part * (b - a);
}

/* Linear between the centres of the cells: steps from cell to cell would be forces as large as those that
 * the correction is to remove. */
static float interpolate(const Cells *cells, const WadiI4 *place, const WadiU4 *low, double width)
{
    const float per_place = (float)(1.0 / (width * WADI_SPH_PLACES));
    int to[3];
    float part[3];
    for (int a = 0; a < 3; ++a) {
        const float at = (float)(int32_t)((uint32_t)(*place)[a] - (*low)[a]) * per_place - 0.5f;
        to[a] = at < 0.0f ? 0 : 2;
        part[a] = at < 0.0f ? -at : at;
    }
    float layers[2];
    for (int n = 0; n < 2; ++n) {
        const float(*layer)[3] = cells->value[n == 0 ? 1 : to[2]];
        layers[n] = mix(mix(layer[1][1], layer[1][to[0]], part[0]),
                        mix(layer[to[1]][1], layer[to[1]][to[0]], part[0]), part[1]);
    }
    return mix(layers[0], layers[1], part[2]);
}

/* The place at the low end of a cell with this number, modulo 2^32. */
static uint32_t place_of_cell(const WadiSphCoarse *coarse, int32_t n)
{
    return (uint32_t)(uint64_t)(int64_t)floor(n * coarse->width * WADI_SPH_PLACES);
}

/* That of the first cell of a row. */
static void find_low(const WadiSphCoarse *coarse, int64_t row, WadiU4 *low)
{
    int32_t at[3];
    wadi_rows_cell(&coarse->rows, (int32_t)row, at);
    *low = (WadiU4){ place_of_cell(coarse, at[0]), place_of_cell(coarse, at[1]), place_of_cell(coarse, at[2]),
                     0 };
}

static void spread_rows(void *context, int64_t first, int64_t end)
{
    const Correction *c = context;
    const WadiSphCoarse *coarse = c->coarse;
    for (int64_t row = first; row < end; ++row) {
        Around around = { 0 };
        if (c->active[row + 1] != 0) {
            find_around(c, row + 1, &around);
        }
        WadiU4 low;
        find_low(coarse, row + 1, &low);
        for (int lane = 0; lane < 8; ++lane) {
            const int64_t cell = 8 * row + lane;
            const WadiU4 corner = { low[0] + place_of_cell(coarse, lane), low[1], low[2], 0 };
            Cells cells = { 0 };
            if (is_active(c, row + 1, lane)) {
                find_cells(&around, lane, &cells);
            }
            for (int32_t n = coarse->start[cell]; n < coarse->start[cell + 1]; ++n) {
                const int32_t k = particle_at(coarse, n);
                c->change[k] =
                    c->is_free[k] != 0 ? interpolate(&cells, &c->place[k], &corner, coarse->width) : 0.0f;
            }
        }
    }
}

static WadiStatus make_correction(Correction *c, WadiArena *arena, WadiError *error)
{
    const size_t count = wadi_rows_floats(&c->coarse->rows);
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &c->low[a], count, "coarse pressure", error));
        memset(c->low[a], 0, 8 * sizeof(float));
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &c->diagonal, count, "coarse pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &c->b, count, "coarse pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &c->x, count, "coarse pressure", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &c->active, (size_t)c->coarse->rows.count, "coarse pressure", error));
    memset(c->diagonal, 0, 8 * sizeof(float));
    memset(c->b, 0, 8 * sizeof(float));
    memset(c->x, 0, 8 * sizeof(double));
    c->active[0] = 0;
    return WADI_OK;
}

WadiStatus wadi_sph_coarse_solve(const WadiSphCoarse *coarse, const WadiI4 *place, const float *residual,
                                 const uint8_t *is_free, float *change, WadiArena *arena, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Correction c = {
        .coarse = coarse, .place = place, .residual = residual, .is_free = is_free, .change = change
    };
    WADI_TRY(make_correction(&c, arena, error));
    const int64_t rows = coarse->rows.count - 1;
    wadi_parallel_for(rows, ROW_BLOCK, gather_rows, &c);
    wadi_parallel_for(rows, ROW_BLOCK, restrict_rows, &c);
    const WadiPoisson system = { .rows = &coarse->rows,
                                 .active = c.active,
                                 .diagonal = c.diagonal,
                                 .cx = c.low[0],
                                 .cy = c.low[1],
                                 .cz = c.low[2] };
    const WadiPoissonSettings settings = { .tolerance = TOLERANCE, .max_iterations = ITERATIONS };
    WadiPoissonReport report;
    WADI_TRY(wadi_poisson_solve(&system, c.b, &settings, c.x, arena, &report, error));
    wadi_parallel_for(rows, ROW_BLOCK, spread_rows, &c);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
