#include "sph/adapt/sph_body_grid.h"

#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "grid/row_lanes.h"
#include "math/cbrt.h"
#include "particles/cells.h"

enum { ROW_BLOCK = 64, BALL_BLOCK = 1024 };

/* Balls of this radius, in sizes of their particles, fill the body between particles of a lattice, whose
 * middles are half the diagonal of a cube away. */
static const double RADIUS = 0.9;
/* They reach out of it by this, for the outermost particles lie half a size deep. */
static const double EXCESS = 0.3;
static const double LEAST_DEPTH = 0.1; /* cells: what is in the body is deeper than 0 */
static const double CELL_MAX = 2147483000.0;

/* Cells whose centres lie within `radius` of a particle. */
typedef struct Ball {
    double x[3], radius; /* cells */
} Ball;

/* The particles by tile, and their balls in the order of these. */
typedef struct Fill {
    const WadiSphBodyGrid *grid;
    const WadiSphBodyGridIn *in;
    WadiCells cells; /* as wide as tiles */
    Ball *ball;
} Fill;

static WadiStatus check_positions(const WadiSphBodyGridIn *in, WadiError *error)
{
    const WadiParticles *p = in->particles;
    const double scale = 1.0 / in->spacing;
    for (int32_t i = 0; i < p->count; ++i) {
        if (!(fabs(p->x[i] * scale) < CELL_MAX && fabs(p->y[i] * scale) < CELL_MAX &&
              fabs(p->z[i] * scale) < CELL_MAX)) {
            return wadi_fail(error, WADI_ERR_NUMERIC,
                             "particle %u lies too far from the origin for cells of %g m, or nowhere",
                             (unsigned)p->id[i], in->spacing);
        }
    }
    return WADI_OK;
}

/* Tiles with particles and all their neighbours. */
static WadiStatus find_tiles(WadiSphBodyGrid *grid, const WadiCells *cells, WadiArena *arena,
                             WadiError *error)
{
    const size_t count = (size_t)cells->cell_count;
    WadiTile *wide = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &wide, 27 * count, "particle sizes", error));
    for (size_t t = 0; t < 27 * count; ++t) {
        const int32_t *at = cells->coordinate[t / 27];
        const int n = (int)(t % 27);
        wide[t] = (WadiTile){ at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1 };
    }
    return wadi_tile_map_create_in_arena(&grid->tiles, wide, wadi_tiles_sort_unique(wide, 27 * count), arena,
                                         error);
}

static void ball_block(void *context, int64_t first, int64_t end)
{
    const Fill *f = context;
    const WadiParticles *p = f->in->particles;
    for (int64_t n = first; n < end; ++n) {
        const int32_t i = f->cells.order[n];
        f->ball[n] = (Ball){ { p->x[i] / f->in->spacing, p->y[i] / f->in->spacing, p->z[i] / f->in->spacing },
                             RADIUS * wadi_cbrt(f->in->volume[i]) };
    }
}

/* The cells of a tile, from 0 to 7 along each axis, within `more` cells of a ball. Returns false where there
 * are none. */
static inline bool clip_ball(const Ball *ball, WadiTile tile, double more, int low[3], int high[3])
{
    const double origin[3] = { 8.0 * tile.x, 8.0 * tile.y, 8.0 * tile.z };
    const double reach = ball->radius + more;
    for (int a = 0; a < 3; ++a) {
        const double from = ball->x[a] - reach - origin[a], to = ball->x[a] + reach - origin[a];
        if (!(to >= 0.0 && from < 8.0)) {
            return false;
        }
        low[a] = from > 0.0 ? (int)from : 0;
        high[a] = to < 7.0 ? (int)to : 7;
    }
    return true;
}

typedef void (*BallFn)(const Fill *f, int32_t tile, const Ball *ball);

/* Calls `add` for the balls of the particles in a tile and in those around it. */
static void walk_balls(const Fill *f, int32_t tile, BallFn add)
{
    const WadiTile at = f->grid->tiles.tiles[tile];
    for (int n = 0; n < 27; ++n) {
        const int32_t cell =
            wadi_cells_find(&f->cells, at.x + n % 3 - 1, at.y + n / 3 % 3 - 1, at.z + n / 9 - 1);
        for (int32_t k = cell >= 0 ? f->cells.start[cell] : 0; cell >= 0 && k < f->cells.start[cell + 1];
             ++k) {
            add(f, tile, &f->ball[k]);
        }
    }
}

/* Rows of the body, and those around it. */
static void mark_ball(const Fill *f, int32_t tile, const Ball *ball)
{
    int low[3], high[3];
    if (clip_ball(ball, f->grid->tiles.tiles[tile], 1.0, low, high)) {
        const uint64_t bits = (uint64_t)(0xff << low[1] & 0xff >> (7 - high[1]));
        for (int k = low[2]; k <= high[2]; ++k) {
            f->grid->mask[tile] |= bits << 8 * k;
        }
    }
}

/* Fills the cells of a ball in a row; a cell is as deep as the ball that holds it deepest says. `across` is
 * the squared distance of the row from the ball's centre, cells. */
static void fill_row(const Fill *f, int32_t row, const Ball *ball, double x, double across)
{
    const double excess = EXCESS / RADIUS * ball->radius;
    float *depth = f->grid->depth + 8 * (size_t)row;
    unsigned bits = 0;
    for (int l = 0; l < 8; ++l) {
        const double d = l + 0.5 - x, far = sqrt(d * d + across);
        const double deep = fmax(LEAST_DEPTH, ball->radius - excess - far) * f->grid->cell_size;
        const bool is_inside = !(far > ball->radius);
        depth[l] = is_inside && (float)deep > depth[l] ? (float)deep : depth[l];
        bits |= (unsigned)is_inside << l;
    }
    f->grid->inside[row] |= (uint8_t)bits;
}

static void fill_ball(const Fill *f, int32_t tile, const Ball *ball)
{
    const WadiTile at = f->grid->tiles.tiles[tile];
    int low[3], high[3];
    if (!clip_ball(ball, at, 0.0, low, high)) {
        return;
    }
    for (int k = low[2]; k <= high[2]; ++k) {
        for (int j = low[1]; j <= high[1]; ++j) {
            const double y = 8.0 * at.y + j + 0.5 - ball->x[1], z = 8.0 * at.z + k + 0.5 - ball->x[2];
            const double across = y * y + z * z;
            if (across <= ball->radius * ball->radius) {
                fill_row(f, wadi_rows_at(&f->grid->rows, tile, j + 8 * k), ball, ball->x[0] - 8.0 * at.x,
                         across);
            }
        }
    }
}

static void mark_tiles(void *context, int64_t first, int64_t end)
{
    for (int64_t t = first; t < end; ++t) {
        walk_balls(context, (int32_t)t, mark_ball);
    }
}

static void fill_tiles(void *context, int64_t first, int64_t end)
{
    for (int64_t t = first; t < end; ++t) {
        walk_balls(context, (int32_t)t, fill_ball);
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
            const double least = 0.5 * grid->cell_size; /* some of the cell is behind the wall */
            if ((beside >> l & 1) != 0 &&
                wadi_solids_distance_within(s->in->solids, wadi_sph_body_centre(grid, cell), s->in->time,
                                            least) < least) {
                solid |= 1u << l;
            }
        }
        grid->solid[row] = (uint8_t)solid;
    }
}

WadiStatus wadi_sph_body_grid(WadiSphBodyGrid *grid, const WadiSphBodyGridIn *in, WadiArena *arena,
                              WadiError *error)
{
    Fill fill = { .grid = grid, .in = in };
    *grid = (WadiSphBodyGrid){ .cell_size = in->spacing };
    WADI_TRY(check_positions(in, error));
    WADI_TRY(wadi_cells_build(&fill.cells, in->particles, 8.0 * in->spacing, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &fill.ball, (size_t)in->particles->count, "particle sizes", error));
    wadi_parallel_for(in->particles->count, BALL_BLOCK, ball_block, &fill);
    WADI_TRY(find_tiles(grid, &fill.cells, arena, error));
    const int32_t tiles = grid->tiles.count;
    WADI_TRY(WADI_ARENA_NEW(arena, &grid->mask, (size_t)tiles, "particle sizes", error));
    memset(grid->mask, 0, (size_t)tiles * sizeof *grid->mask);
    wadi_parallel_for(tiles, 1, mark_tiles, &fill);
    WADI_TRY(wadi_rows_build(&grid->rows, &grid->tiles, grid->mask, arena, error));
    const size_t rows = (size_t)grid->rows.count;
    WADI_TRY(WADI_ARENA_NEW(arena, &grid->inside, rows, "particle sizes", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &grid->solid, rows, "particle sizes", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &grid->depth, 8 * rows, "particle sizes", error));
    memset(grid->inside, 0, rows);
    memset(grid->solid, 0, rows);
    memset(grid->depth, 0, 8 * rows * sizeof(float));
    wadi_parallel_for(tiles, 1, fill_tiles, &fill);
    Solids solids = { grid, in };
    wadi_parallel_for(grid->rows.count - 1, ROW_BLOCK, solid_rows, &solids);
    return WADI_OK;
}

bool wadi_sph_body_sample(const WadiSphBodyGrid *grid, const float *const arrays[2], const double x[3],
                          double values[2])
{
    int32_t low[3], tile = -1;
    double part[3], sum[2] = { 0.0, 0.0 }, weights = 0.0;
    WadiTile last = { 0, 0, 0 };
    for (int a = 0; a < 3; ++a) {
        const double at = x[a] / grid->cell_size - 0.5;
        low[a] = (int32_t)floor(at);
        part[a] = at - floor(at);
    }
    for (int n = 0; n < 8; ++n) {
        const int32_t i = low[0] + (n & 1), j = low[1] + (n >> 1 & 1), k = low[2] + (n >> 2);
        const WadiTile at = { i >> 3, j >> 3, k >> 3 };
        if (n == 0 || !wadi_tile_is_same(at, last)) {
            tile = wadi_tile_map_find(&grid->tiles, at);
            last = at;
        }
        const int32_t row = wadi_rows_at(&grid->rows, tile, (j & 7) + 8 * (k & 7));
        const double weight = ((n & 1) != 0 ? part[0] : 1.0 - part[0]) *
                              ((n >> 1 & 1) != 0 ? part[1] : 1.0 - part[1]) *
                              (n >> 2 != 0 ? part[2] : 1.0 - part[2]);
        if ((grid->inside[row] >> (i & 7) & 1) != 0 && weight > 0.0) {
            const size_t cell = 8 * (size_t)row + (size_t)(i & 7);
            sum[0] += weight * (double)arrays[0][cell];
            sum[1] += weight * (double)arrays[1][cell];
            weights += weight;
        }
    }
    values[0] = weights > 0.0 ? sum[0] / weights : 0.0;
    values[1] = weights > 0.0 ? sum[1] / weights : 0.0;
    return weights > 0.0;
}

WadiVec3 wadi_sph_body_centre(const WadiSphBodyGrid *grid, size_t cell)
{
    int32_t at[3];
    wadi_rows_cell(&grid->rows, (int32_t)(cell / 8), at);
    return wadi_vec3((at[0] + (int)(cell % 8) + 0.5) * grid->cell_size, (at[1] + 0.5) * grid->cell_size,
                     (at[2] + 0.5) * grid->cell_size);
}
