/* Paths of the velocity field against the solids. [theory 3.4]
 * Differs: [ZB05] pushes particles out of solids after they have moved; here the chord from the old to the new position is
 * followed continuously, so that a wall of any thickness holds at any speed.
 *
 * Most chords are free, and convex sets show it without asking the solids: a chord whose ends lie in a ball that no solid enters
 * during the step is free, and so is one whose ends lie between the domain's walls. Tiles away from all shapes have one ball
 * around their middle, and the walls. Cells near shapes have a ball around their centre, as large as the centre's distance, and
 * the largest of their neighbours' balls, which reaches almost down to a smooth surface; longer chords may take the first half
 * in these and the second in the ball of the cell they end in. These balls stay clear of the walls too, and where a shape moves
 * they are smaller by the way that it can have gone since the beginning of the step: where that is not enough, a cell has one
 * that stays clear of the shapes alone, and the walls. */
#include "flip/move/flip_move.h"

#include <stdatomic.h>

#include "core/parallel.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"

/* In cells. Half the diagonal of a tile, and how far from its middle shapes are looked for. */
#define TILE_HALF 6.9283
#define TILE_REACH 16.0
/* Longest path that two balls are tried for: a ball has at most two cells. */
#define LONGEST 3.0
/* From the middle of a tile to that of any cell that such a path begins or ends in: where a shape's speed matters. */
#define CENTRES 11.0
/* Cell distances are cut off at two cells. */
#define FAR 2.0
/* Largest ball around the middle of a cell that is of use. */
#define CLEAR 3.0
/* Paths that come closer than this to a solid, in skins, are left to collide.c: twice what is touch there. */
#define MARGIN 4.0

typedef struct Ball {
    WadiVec3 centre;
    double square; /* of the radius; negative: empty */
} Ball;

static Ball ball_of(WadiVec3 centre, double radius)
{
    return (Ball){ centre, radius > 0.0 ? radius * radius : -1.0 };
}

static bool ball_holds(const Ball *ball, WadiVec3 x)
{
    WadiVec3 offset = wadi_sub(x, ball->centre);
    return wadi_dot(offset, offset) < ball->square;
}

static WadiBox inner_box(const WadiSolids *solids, double margin)
{
    return wadi_box_closed_sides(wadi_box_grown(solids->domain, -margin), solids->closed_sides);
}

/* The shapes, not the walls, around a tile. */
typedef struct TileView {
    Ball free;    /* around its middle: no shape enters during the step */
    bool is_free; /* that ball holds the tile and some way around it */
    double sweep; /* m: how much nearer to a cell a shape can have been than it is at the end of the step */
    double error; /* m: of the distances of cells, which may be those of a narrow band */
} TileView;

/* Shape i alone. */
static WadiSolids shape_of(const WadiSolids *solids, int i)
{
    WadiSolids one = *solids;
    one.closed_sides = 0;
    one.count = 1;
    one.solids = &solids->solids[i];
    return one;
}

static TileView look_around(const WadiFlipMover *context, WadiTile tile)
{
    const WadiFlipMoveIn *in = context->in;
    const double h = in->cell_size, reach = TILE_REACH * h, end = in->time + in->dt;
    const WadiVec3 middle = { h * (8.0 * tile.x + 4.0), h * (8.0 * tile.y + 4.0), h * (8.0 * tile.z + 4.0) };
    double clear = reach;
    TileView view = { 0 };
    for (int i = 0; i < in->solids->count; ++i) {
        const WadiSolids one = shape_of(in->solids, i);
        double sweep = in->dt * wadi_solids_speed_bound(&one, middle, CENTRES * h, in->time, end);
        double d = wadi_solids_distance(&one, middle, end, reach + sweep);
        clear = fmin(clear, d - sweep);
        if (d - CENTRES * h < FAR * h + sweep) {
            view.sweep = fmax(view.sweep, sweep);
            view.error = fmax(view.error, wadi_shape_band_error(one.solids->shape, end));
        }
    }
    view.free = ball_of(middle, clear - context->margin);
    view.is_free = clear - context->margin > (TILE_HALF + 1.0) * h;
    return view;
}

/* The ball around a point that no shape enters during the step, as large as is of use to a cell. */
static Ball ball_clear_of_shapes(const WadiFlipMover *context, WadiVec3 x)
{
    const WadiFlipMoveIn *in = context->in;
    const double end = in->time + in->dt;
    double clear = CLEAR * in->cell_size;
    for (int i = 0; i < in->solids->count; ++i) {
        const WadiSolids one = shape_of(in->solids, i);
        const double sweep = in->dt * wadi_solids_speed_bound(&one, x, 0.0, in->time, end);
        clear = fmin(clear, wadi_solids_distance(&one, x, end, clear + sweep) - sweep);
    }
    return ball_of(x, clear - context->margin);
}

static WadiVec3 end_of(const WadiFlipPath *path, int32_t i)
{
    int32_t n = i - path->first;
    return wadi_vec3(path->x[n], path->y[n], path->z[n]);
}

/* One coordinate of four particles. */
static inline WadiD4 *four_at(double *values, int32_t i)
{
    return (WadiD4 *)(values + i);
}

/* Four particles from number i on, of a tile that no shape is near. Returns bits of those that have arrived. */
static inline unsigned move_four(const WadiFlipMover *context, const Ball *free, const WadiFlipPath *path,
                                 int32_t i)
{
    const WadiParticles *p = context->particles;
    WadiD4 *x0[3] = { four_at(p->x, i), four_at(p->y, i), four_at(p->z, i) };
    const int32_t n = i - path->first;
    const WadiD4 x1[3] = { *four_at(path->x, n), *four_at(path->y, n), *four_at(path->z, n) };
    const WadiBox *inner = &context->inner;
    const double low[3] = { inner->min.x, inner->min.y, inner->min.z };
    const double high[3] = { inner->max.x, inner->max.y, inner->max.z };
    const double centre[3] = { free->centre.x, free->centre.y, free->centre.z };
    WadiD4 square = { 0.0 };
    WadiL4 is_inside = (WadiL4){ 0 } - 1;
    for (int a = 0; a < 3; ++a) {
        const WadiD4 offset = x1[a] - centre[a];
        square += offset * offset;
        is_inside &= (*x0[a] >= low[a]) & (*x0[a] <= high[a]) & (x1[a] >= low[a]) & (x1[a] <= high[a]);
    }
    is_inside &= square < free->square;
    for (int a = 0; a < 3; ++a) {
        *x0[a] = (WadiD4)(((WadiL4)x1[a] & is_inside) | ((WadiL4)*x0[a] & ~is_inside));
    }
    return wadi_half_bits(&is_inside);
}

/* The same of one. */
static bool move_one(const WadiFlipMover *context, const Ball *free, const WadiFlipPath *path, int32_t i)
{
    const WadiParticles *p = context->particles;
    const WadiVec3 x0 = { p->x[i], p->y[i], p->z[i] }, x1 = end_of(path, i);
    const bool is_free = wadi_box_contains(context->inner, x0) && wadi_box_contains(context->inner, x1) &&
                         ball_holds(free, x1);
    if (is_free) {
        p->x[i] = x1.x;
        p->y[i] = x1.y;
        p->z[i] = x1.z;
    }
    return is_free;
}

static void move_part_between_walls(const WadiFlipMover *context, const TileView *view,
                                    const WadiFlipPath *path, int32_t begin, int32_t end,
                                    WadiCollideReport *report)
{
    for (int32_t first = begin; first < end; first += 4) {
        unsigned arrived = 0, all = 0xf;
        if (end - first >= 4) {
            arrived = move_four(context, &view->free, path, first);
        } else {
            all = (1u << (end - first)) - 1;
            for (int n = 0; n < end - first; ++n) {
                arrived |= (unsigned)move_one(context, &view->free, path, first + n) << n;
            }
        }
        for (unsigned left = all & ~arrived; left != 0; left &= left - 1) {
            const int32_t i = first + __builtin_ctz(left);
            wadi_collide_move_one(&context->collide, context->particles, i, end_of(path, i), report);
        }
    }
}

/* From the solids at the end of the step. */
static float distance_of(const WadiFlipMover *context, WadiRowCell cell)
{
    const WadiFlipSolid *solid = context->in->solid;
    return solid->distance[wadi_table_cell(solid->row, wadi_row_cell_index(cell))];
}

static Ball ball_of_cell(const WadiFlipMover *context, const TileView *view, WadiRowCell cell)
{
    const double h = context->in->cell_size;
    int32_t at[3];
    wadi_rows_cell(&context->in->grid->rows, cell.row, at);
    /* A hair less, for the distance is in single precision. */
    double distance = (1.0 - 1e-6) * (double)distance_of(context, cell);
    return ball_of(wadi_vec3(h * (at[0] + cell.lane + 0.5), h * (at[1] + 0.5), h * (at[2] + 0.5)),
                   wadi_band_least(distance, view->error) - view->sweep - context->margin);
}

/* The neighbour with the greatest distance; the cell itself when it has none greater. */
static WadiRowCell farthest_neighbour(const WadiFlipMover *context, WadiRowCell cell)
{
    WadiRowCell best = cell;
    for (int side = 0; side < 6; ++side) {
        WadiRowCell beside = wadi_row_cell_beside(&context->in->grid->rows, cell, side);
        if (beside.row != 0 && distance_of(context, beside) > distance_of(context, best)) {
            best = beside;
        }
    }
    return best;
}

/* Does a ball of the cell that the path ends in hold its second half? */
static bool is_end_free(const WadiFlipMover *context, const TileView *view, WadiVec3 x0, WadiVec3 x1)
{
    const WadiFlipMoveIn *in = context->in;
    const WadiVec3 way = wadi_sub(x1, x0), middle = wadi_add_scaled(x0, way, 0.5);
    const double h = in->cell_size;
    if (!(wadi_dot(way, way) < LONGEST * LONGEST * h * h)) {
        return false;
    }
    const int32_t cell[3] = { (int32_t)floor(x1.x / h), (int32_t)floor(x1.y / h), (int32_t)floor(x1.z / h) };
    WadiRowCell end = { wadi_rows_find(&in->grid->rows, cell[0], cell[1], cell[2]), cell[0] & 7 };
    if (end.row == 0) {
        return false;
    }
    Ball ball = ball_of_cell(context, view, end);
    return ball_holds(&ball, middle) && ball_holds(&ball, x1);
}

/* Is the path in a ball that is clear of shapes, and between the walls? */
static bool is_between_walls(const WadiFlipMover *context, const Ball *clear, WadiVec3 x0, WadiVec3 x1)
{
    return ball_holds(clear, x0) && ball_holds(clear, x1) && wadi_box_contains(context->inner, x0) &&
           wadi_box_contains(context->inner, x1);
}

static void move_cell(const WadiFlipMover *context, const TileView *view, WadiRowCell cell,
                      const WadiFlipPath *path, int32_t first, int32_t end, WadiCollideReport *report)
{
    WadiParticles *p = context->particles;
    const Ball own = ball_of_cell(context, view, cell);
    const Ball beside = ball_of_cell(context, view, farthest_neighbour(context, cell));
    Ball clear = { .square = NAN }; /* asked for by the first particle that needs it */
    for (int32_t i = first; i < end; ++i) {
        const WadiVec3 x0 = { p->x[i], p->y[i], p->z[i] }, x1 = end_of(path, i);
        const bool is_in_own = ball_holds(&own, x0), is_in_beside = ball_holds(&beside, x0);
        bool is_free = (is_in_own && ball_holds(&own, x1)) || (is_in_beside && ball_holds(&beside, x1));
        if (!is_free && (is_in_own || is_in_beside)) {
            WadiVec3 middle = wadi_lerp(x0, x1, 0.5);
            is_free =
                ((is_in_own && ball_holds(&own, middle)) || (is_in_beside && ball_holds(&beside, middle))) &&
                is_end_free(context, view, x0, x1);
        }
        if (!is_free) {
            if (isnan(clear.square)) {
                clear = ball_clear_of_shapes(context, own.centre);
            }
            is_free = is_between_walls(context, &clear, x0, x1);
        }
        if (is_free) {
            p->x[i] = x1.x;
            p->y[i] = x1.y;
            p->z[i] = x1.z;
        } else {
            wadi_collide_move_one(&context->collide, p, i, x1, report);
        }
    }
}

static void move_part_near_shapes(const WadiFlipMover *context, const TileView *view, int32_t tile,
                                  const WadiFlipPath *path, int32_t begin, int32_t end,
                                  WadiCollideReport *report)
{
    const WadiFlipSort *sort = context->in->sort;
    const WadiFlipGrid *grid = context->in->grid;
    int32_t r = sort->row_first[tile];
    for (uint64_t left = sort->row_mask[tile]; left != 0; left &= left - 1, ++r) {
        int32_t row = wadi_rows_at(&grid->rows, grid->tile_of[tile], __builtin_ctzll(left));
        for (unsigned lanes = sort->lanes[r]; lanes != 0; lanes &= lanes - 1) {
            int lane = __builtin_ctz(lanes);
            const int32_t *start = sort->cell_start + 8 * (size_t)r + lane;
            int32_t from = start[0] > begin ? start[0] : begin, to = start[1] < end ? start[1] : end;
            if (from < to) {
                move_cell(context, view, (WadiRowCell){ row, lane }, path, from, to, report);
            }
        }
    }
}

void wadi_flip_move_begin(WadiFlipMover *mover, WadiParticles *particles, const WadiFlipMoveIn *in)
{
    const double skin = WADI_FLIP_SKIN * in->cell_size, margin = MARGIN * skin;
    *mover = (WadiFlipMover){
        .in = in,
        .collide = { .solids = in->solids, .t0 = in->time, .t1 = in->time + in->dt, .skin = skin },
        .particles = particles,
        .inner = inner_box(in->solids, margin),
        .margin = margin
    };
}

void wadi_flip_move_part(const WadiFlipMover *mover, int32_t tile, const WadiFlipPath *path, int32_t first,
                         int32_t end, WadiCollideReport *report)
{
    TileView view = look_around(mover, mover->in->sort->tiles.tiles[tile]);
    if (view.is_free) {
        move_part_between_walls(mover, &view, path, first, end, report);
    } else {
        move_part_near_shapes(mover, &view, tile, path, first, end, report);
    }
}

typedef struct MoveAll {
    WadiFlipMover mover;
    const WadiFlipPath *path;
    atomic_llong touched, stuck; /* sums of integers: the order does not matter */
} MoveAll;

static void move_tiles(void *user, int64_t first, int64_t end)
{
    MoveAll *all = user;
    const int32_t *start = all->mover.in->sort->tile_start;
    WadiCollideReport report = { 0 };
    for (int32_t tile = (int32_t)first; tile < end; ++tile) {
        wadi_flip_move_part(&all->mover, tile, all->path, start[tile], start[tile + 1], &report);
    }
    atomic_fetch_add(&all->touched, report.touched);
    atomic_fetch_add(&all->stuck, report.stuck);
}

WadiCollideReport wadi_flip_move(WadiParticles *particles, const WadiFlipPath *path, const WadiFlipMoveIn *in)
{
    MoveAll all = { .path = path };
    wadi_flip_move_begin(&all.mover, particles, in);
    if (in->solid == NULL) {
        return wadi_collide_move_all(&all.mover.collide, particles, path->x, path->y, path->z);
    }
    wadi_parallel_for(in->sort->tiles.count, 1, move_tiles, &all);
    return (WadiCollideReport){ all.touched, all.stuck };
}
