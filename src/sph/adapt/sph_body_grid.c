#include "sph/adapt/sph_body_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "grid/row_lanes.h"
#include "particles/tile_sort.h"

enum { ROW_BLOCK = 64 };

/* Balls of this radius, in sizes of their particles, fill the body between particles of a lattice; they
 * reach out of it by the second number, for the outermost particles lie half a size deep. */
static const double RADIUS = 0.9, EXCESS = 0.3;
static const double LEAST_DEPTH = 0.1; /* cells */
static const double SOLID_DEPTH = 0.5; /* cells: from there on a cell is behind the wall */
static const double CELL_MAX = 2147483000.0;

static int compare_tiles(const void *x, const void *y)
{
    const WadiTile *a = x, *b = y;
    return wadi_tile_is_same(*a, *b) ? 0 : wadi_tile_is_before(*a, *b) ? -1 : 1;
}

static size_t sort_unique(WadiTile *tiles, size_t count)
{
    qsort(tiles, count, sizeof *tiles, compare_tiles);
    size_t kept = 0;
    for (size_t t = 0; t < count; ++t) {
        if (kept == 0 || !wadi_tile_is_same(tiles[kept - 1], tiles[t])) {
            tiles[kept++] = tiles[t];
        }
    }
    return kept;
}

/* Tiles with particles and all their neighbours. */
static WadiStatus find_tiles(WadiSphBodyGrid *grid, const WadiSphBodyGridIn *in, WadiArena *arena,
                             WadiError *error)
{
    const WadiParticles *p = in->particles;
    const double scale = 1.0 / grid->cell_size;
    WadiTile *tiles = NULL, *wide = NULL;
    size_t count = 0;
    WADI_TRY(WADI_ARENA_NEW(arena, &tiles, (size_t)p->count, "particle sizes", error));
    for (int32_t i = 0; i < p->count; ++i) {
        if (!(fabs(p->x[i] * scale) < CELL_MAX && fabs(p->y[i] * scale) < CELL_MAX &&
              fabs(p->z[i] * scale) < CELL_MAX)) {
            return wadi_fail(error, WADI_ERR_NUMERIC,
                             "particle %u lies too far from the origin for cells of %g m, or nowhere",
                             (unsigned)p->id[i], grid->cell_size);
        }
        const WadiTile tile = wadi_tile_of_particle(p, i, scale);
        if (count == 0 || !wadi_tile_is_same(tiles[count - 1], tile)) {
            tiles[count++] = tile;
        }
    }
    count = sort_unique(tiles, count);
    WADI_TRY(WADI_ARENA_NEW(arena, &wide, 27 * count, "particle sizes", error));
    for (size_t t = 0; t < 27 * count; ++t) {
        const WadiTile at = tiles[t / 27];
        const int n = (int)(t % 27);
        wide[t] = (WadiTile){ at.x + n % 3 - 1, at.y + n / 3 % 3 - 1, at.z + n / 9 - 1 };
    }
    return wadi_tile_map_create_in_arena(&grid->tiles, wide, sort_unique(wide, 27 * count), arena, error);
}

/* Cells whose centres lie within `radius` of a particle. */
typedef struct Ball {
    double x[3], radius; /* cells */
    int32_t low[3], high[3];
} Ball;

static Ball ball_of(const WadiSphBodyGridIn *in, int32_t i, double more)
{
    const double x[3] = { in->particles->x[i], in->particles->y[i], in->particles->z[i] };
    Ball ball = { .radius = RADIUS * cbrt(in->volume[i]) };
    for (int a = 0; a < 3; ++a) {
        ball.x[a] = x[a] / in->spacing;
        ball.low[a] = (int32_t)floor(ball.x[a] - ball.radius - more);
        ball.high[a] = (int32_t)floor(ball.x[a] + ball.radius + more);
    }
    return ball;
}

/* Rows of the body, and those around it. */
static void mark_rows(const WadiSphBodyGrid *grid, const WadiSphBodyGridIn *in)
{
    for (int32_t i = 0; i < in->particles->count; ++i) {
        const Ball ball = ball_of(in, i, 1.0);
        int32_t tile = -1;
        WadiTile last = { 0, 0, 0 };
        for (int32_t k = ball.low[2]; k <= ball.high[2]; ++k) {
            for (int32_t j = ball.low[1]; j <= ball.high[1]; ++j) {
                for (int32_t t = ball.low[0] >> 3; t <= ball.high[0] >> 3; ++t) {
                    const WadiTile at = { t, j >> 3, k >> 3 };
                    if (tile < 0 || !wadi_tile_is_same(at, last)) {
                        tile = wadi_tile_map_find(&grid->tiles, at);
                        last = at;
                    }
                    if (tile >= 0) {
                        grid->mask[tile] |= UINT64_C(1) << ((j & 7) + 8 * (k & 7));
                    }
                }
            }
        }
    }
}

/* Fills the cells of the particles' balls; a cell is as deep as the ball that holds it deepest says. */
static void fill_balls(const WadiSphBodyGrid *grid, const WadiSphBodyGridIn *in)
{
    for (int32_t i = 0; i < in->particles->count; ++i) {
        const Ball ball = ball_of(in, i, 0.0);
        const double inner = EXCESS / RADIUS * ball.radius;
        for (int32_t k = ball.low[2]; k <= ball.high[2]; ++k) {
            for (int32_t j = ball.low[1]; j <= ball.high[1]; ++j) {
                int32_t row = wadi_rows_find(&grid->rows, ball.low[0], j, k);
                for (int32_t c = ball.low[0]; c <= ball.high[0]; ++c) {
                    row = (c & 7) == 0 ? wadi_rows_find(&grid->rows, c, j, k) : row;
                    const double d[3] = { c + 0.5 - ball.x[0], j + 0.5 - ball.x[1], k + 0.5 - ball.x[2] };
                    const double far = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
                    if (row == 0 || far > ball.radius) {
                        continue;
                    }
                    const size_t at = 8 * (size_t)row + (size_t)(c & 7);
                    const double deep = fmax(LEAST_DEPTH, ball.radius - inner - far) * grid->cell_size;
                    grid->inside[row] |= (uint8_t)(1u << (c & 7));
                    grid->depth[at] = fmaxf(grid->depth[at], (float)deep);
                }
            }
        }
    }
}

typedef struct Solids {
    const WadiSphBodyGrid *grid;
    const WadiSphBodyGridIn *in;
} Solids;

/* Cells beside the body that are behind a wall. */
static void solid_rows(void *context, int64_t first, int64_t end)
{
    const Solids *s = context;
    const WadiSphBodyGrid *grid = s->grid;
    for (int32_t row = (int32_t)first + 1; row < end + 1; ++row) {
        unsigned beside = 0;
        for (int side = 0; side < 6; ++side) {
            beside |= wadi_row_neighbour_bits(&grid->rows, grid->inside, row, side);
        }
        beside &= ~(unsigned)grid->inside[row];
        unsigned solid = 0;
        for (int l = 0; l < 8; ++l) {
            const size_t cell = 8 * (size_t)row + (size_t)l;
            const double least = SOLID_DEPTH * grid->cell_size;
            if ((beside >> l & 1) != 0 &&
                wadi_solids_distance(s->in->solids, wadi_sph_body_centre(grid, cell), s->in->time, least) <
                    least) {
                solid |= 1u << l;
            }
        }
        grid->solid[row] = (uint8_t)solid;
    }
}

WadiStatus wadi_sph_body_grid(WadiSphBodyGrid *grid, const WadiSphBodyGridIn *in, WadiArena *arena,
                              WadiError *error)
{
    *grid = (WadiSphBodyGrid){ .cell_size = in->spacing };
    WADI_TRY(find_tiles(grid, in, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &grid->mask, (size_t)grid->tiles.count, "particle sizes", error));
    memset(grid->mask, 0, (size_t)grid->tiles.count * sizeof *grid->mask);
    mark_rows(grid, in);
    WADI_TRY(wadi_rows_build(&grid->rows, &grid->tiles, grid->mask, arena, error));
    const size_t rows = (size_t)grid->rows.count;
    WADI_TRY(WADI_ARENA_NEW(arena, &grid->inside, rows, "particle sizes", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &grid->solid, rows, "particle sizes", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &grid->depth, 8 * rows, "particle sizes", error));
    memset(grid->inside, 0, rows);
    memset(grid->solid, 0, rows);
    memset(grid->depth, 0, 8 * rows * sizeof(float));
    fill_balls(grid, in);
    Solids solids = { grid, in };
    wadi_parallel_for(grid->rows.count - 1, ROW_BLOCK, solid_rows, &solids);
    return WADI_OK;
}

bool wadi_sph_body_sample(const WadiSphBodyGrid *grid, const float *array, double x, double y, double z,
                          double *value)
{
    const double at[3] = { x / grid->cell_size - 0.5, y / grid->cell_size - 0.5, z / grid->cell_size - 0.5 };
    const double low[3] = { floor(at[0]), floor(at[1]), floor(at[2]) };
    double sum = 0.0, weights = 0.0;
    for (int n = 0; n < 8; ++n) {
        const int32_t to[3] = { n & 1, n >> 1 & 1, n >> 2 };
        double weight = 1.0;
        for (int a = 0; a < 3; ++a) {
            const double part = at[a] - low[a];
            weight *= to[a] != 0 ? part : 1.0 - part;
        }
        const int32_t i = (int32_t)low[0] + to[0];
        const int32_t row = wadi_rows_find(&grid->rows, i, (int32_t)low[1] + to[1], (int32_t)low[2] + to[2]);
        if ((grid->inside[row] >> (i & 7) & 1) != 0 && weight > 0.0) {
            sum += weight * (double)array[8 * (size_t)row + (size_t)(i & 7)];
            weights += weight;
        }
    }
    *value = weights > 0.0 ? sum / weights : 0.0;
    return weights > 0.0;
}

WadiVec3 wadi_sph_body_centre(const WadiSphBodyGrid *grid, size_t cell)
{
    int32_t at[3];
    wadi_rows_cell(&grid->rows, (int32_t)(cell / 8), at);
    return wadi_vec3((at[0] + (int)(cell % 8) + 0.5) * grid->cell_size, (at[1] + 0.5) * grid->cell_size,
                     (at[2] + 0.5) * grid->cell_size);
}
