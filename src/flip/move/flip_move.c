/* Paths of the velocity field against the solids. [theory 3.4]
 * Differs: [ZB05] pushes particles out of solids after they have moved; here the chord from the old to the new position is
 * followed continuously, so that a wall of any thickness holds at any speed.
 *
 * Most chords are free, and convex sets show it without asking the solids: a chord whose ends lie in a ball that no solid enters
 * during the step is free, and so is one whose ends lie between the domain's walls. Tiles away from all shapes have one ball
 * around their middle, and the walls. Cells near shapes have a ball around their centre, as large as the centre's distance, and
 * the largest of their neighbours' balls, which reaches almost down to a smooth surface; longer chords may take the first half
 * in these and the second in the ball of the cell they end in. These balls stay clear of the walls too: where that is not enough,
 * a cell has one that stays clear of the shapes alone, and the walls.
 *
 * Balls are those of the end of the step. A shape that moves as one rigid piece carries them along: seen from it, a path begins
 * where the shape carries its beginning to, and is straight but for a sag. Of other moving shapes balls are smaller by the way
 * that the shape can have gone since the beginning of the step. */
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

enum { CARRIED_MAX = 2 };

/* A rigid shape near a tile: x at the beginning of the step is carried to `to` + turn (x - from). */
typedef struct Carried {
    const WadiShape *shape;
    WadiVec3 from, to;
    WadiAffine turn;
} Carried;

/* The shapes, not the walls, around a tile. */
typedef struct TileView {
    Ball free;    /* around its middle: no shape enters during the step */
    bool is_free; /* that ball holds the tile and some way around it */
    Carried carried[CARRIED_MAX];
    int carried_count;
    bool has_others; /* shapes near it that are not carried */
    double sag;      /* m: of paths seen from the carried shapes */
    double
        sweep; /* m: how much nearer to a cell another shape can have been than it is at the end of the step */
    double carried_sweep; /* m: the same of the carried shapes */
    double error;         /* m: of the distances of cells, which may be those of a narrow band */
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

/* Around `from`; `h` is of the order of the distances there. */
static Carried carried_by(const WadiShape *shape, WadiVec3 from, double h, double t0, double t1)
{
    static const WadiVec3 unit[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    Carried made = { .shape = shape, .from = from, .to = wadi_shape_carry(shape, from, t0, t1) };
    for (int a = 0; a < 3; ++a) {
        WadiVec3 end = wadi_shape_carry(shape, wadi_add_scaled(from, unit[a], h), t0, t1);
        WadiVec3 column = wadi_scale(wadi_sub(end, made.to), 1.0 / h);
        made.turn.m[0][a] = column.x;
        made.turn.m[1][a] = column.y;
        made.turn.m[2][a] = column.z;
    }
    return made;
}

static WadiVec3 carry(const Carried *carried, WadiVec3 x)
{
    return wadi_add(carried->to, wadi_affine_vector(&carried->turn, wadi_sub(x, carried->from)));
}

/* A shape that is near the tile. */
static void add_to_view(const WadiFlipMover *context, const WadiShape *shape, WadiVec3 middle, double sweep,
                        TileView *view)
{
    const WadiFlipMoveIn *in = context->in;
    const double h = in->cell_size, end = in->time + in->dt;
    WadiShapeMotion motion;
    view->error = fmax(view->error, wadi_shape_band_error(shape, end));
    if (view->carried_count < CARRIED_MAX && wadi_shape_rigid_motion(shape, in->time, end, &motion)) {
        const double sag = wadi_shape_motion_sag(&motion, middle, CENTRES * h, LONGEST * h, in->dt);
        if (sag < sweep) {
            view->carried[view->carried_count++] = carried_by(shape, middle, CENTRES * h, in->time, end);
            view->sag = fmax(view->sag, sag);
            view->carried_sweep = fmax(view->carried_sweep, sweep);
            return;
        }
    }
    view->has_others = true;
    view->sweep = fmax(view->sweep, sweep);
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
            add_to_view(context, one.solids->shape, middle, sweep, &view);
        }
    }
    view.free = ball_of(middle, clear - context->margin);
    view.is_free = clear - context->margin > (TILE_HALF + 1.0) * h;
    return view;
}

static bool is_carried(const TileView *view, const WadiShape *shape)
{
    bool is_one = false;
    for (int n = 0; n < view->carried_count; ++n) {
        is_one |= view->carried[n].shape == shape;
    }
    return is_one;
}

/* The ball around a point that no shape enters during the step, as large as is of use to a cell. */
static Ball ball_clear_of_shapes(const WadiFlipMover *context, const TileView *view, WadiVec3 x)
{
    const WadiFlipMoveIn *in = context->in;
    const double end = in->time + in->dt;
    double clear = CLEAR * in->cell_size;
    for (int i = 0; i < in->solids->count; ++i) {
        const WadiSolids one = shape_of(in->solids, i);
        const double sweep = is_carried(view, one.solids->shape)
                                 ? view->sag
                                 : in->dt * wadi_solids_speed_bound(&one, x, 0.0, in->time, end);
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

static Ball ball_of_cell(const WadiFlipMover *context, const TileView *view, WadiRowCell cell, double sweep)
{
    const double h = context->in->cell_size;
    int32_t at[3];
    wadi_rows_cell(&context->in->grid->rows, cell.row, at);
    /* A hair less, for the distance is in single precision. */
    double distance = (1.0 - 1e-6) * (double)distance_of(context, cell);
    return ball_of(wadi_vec3(h * (at[0] + cell.lane + 0.5), h * (at[1] + 0.5), h * (at[2] + 0.5)),
                   wadi_band_least(distance, view->error) - view->sweep - sweep - context->margin);
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

/* The cell that x is in; its row is 0 where the grid has none. */
static WadiRowCell cell_at(const WadiFlipMover *context, WadiVec3 x)
{
    const double h = context->in->cell_size;
    const int32_t cell[3] = { (int32_t)floor(x.x / h), (int32_t)floor(x.y / h), (int32_t)floor(x.z / h) };
    return (WadiRowCell){ wadi_rows_find(&context->in->grid->rows, cell[0], cell[1], cell[2]), cell[0] & 7 };
}

/* Does a ball of the cell that the path ends in hold its second half? */
static bool is_end_free(const WadiFlipMover *context, const TileView *view, WadiVec3 x0, WadiVec3 x1)
{
    const WadiVec3 way = wadi_sub(x1, x0), middle = wadi_add_scaled(x0, way, 0.5);
    const double h = context->in->cell_size;
    if (!(wadi_dot(way, way) < LONGEST * LONGEST * h * h)) {
        return false;
    }
    const WadiRowCell end = cell_at(context, x1);
    if (end.row == 0) {
        return false;
    }
    Ball ball = ball_of_cell(context, view, end, view->sag);
    return ball_holds(&ball, middle) && ball_holds(&ball, x1);
}

/* Does a ball of the cell that the path ends in, or of its neighbour, hold all of it? */
static bool is_free_at_end(const WadiFlipMover *context, const TileView *view, WadiVec3 x0, WadiVec3 x1)
{
    const WadiRowCell end = cell_at(context, x1);
    if (end.row == 0) {
        return false;
    }
    const Ball own = ball_of_cell(context, view, end, view->sag);
    if (ball_holds(&own, x0) && ball_holds(&own, x1)) {
        return true;
    }
    const Ball beside = ball_of_cell(context, view, farthest_neighbour(context, end), view->sag);
    return ball_holds(&beside, x0) && ball_holds(&beside, x1);
}

/* The balls of a cell: around its centre, around that of a neighbour, and around its centre clear of the shapes alone; and a part
 * of the first that carried shapes do not enter during the step, wherever they come from. */
typedef struct CellBalls {
    Ball own, beside, clear, core;
} CellBalls;

/* Is the straight way from x0 to x1 in one of the first two, or half in one and half in a ball of the cell where it ends? */
static bool is_chord_free(const WadiFlipMover *context, const TileView *view, const CellBalls *balls,
                          WadiVec3 x0, WadiVec3 x1)
{
    const Ball *own = &balls->own, *beside = &balls->beside;
    const bool is_in_own = ball_holds(own, x0), is_in_beside = ball_holds(beside, x0);
    if ((is_in_own && ball_holds(own, x1)) || (is_in_beside && ball_holds(beside, x1))) {
        return true;
    }
    if (!is_in_own && !is_in_beside) {
        return false;
    }
    const WadiVec3 middle = wadi_lerp(x0, x1, 0.5);
    return ((is_in_own && ball_holds(own, middle)) || (is_in_beside && ball_holds(beside, middle))) &&
           is_end_free(context, view, x0, x1);
}

/* In the balls as the walls and all shapes see the path. */
static bool is_path_free(const WadiFlipMover *context, const TileView *view, const CellBalls *balls,
                         WadiVec3 x0, WadiVec3 x1)
{
    if (view->carried_count == 0) {
        return is_chord_free(context, view, balls, x0, x1);
    }
    if (ball_holds(&balls->core, x0) && ball_holds(&balls->core, x1)) {
        return true;
    }
    const WadiVec3 way = wadi_sub(x1, x0);
    const double longest = LONGEST * context->in->cell_size;
    const bool is_between_walls =
        wadi_box_contains(context->inner, x0) && wadi_box_contains(context->inner, x1);
    bool is_free = wadi_dot(way, way) < longest * longest;
    for (int n = 0; n < view->carried_count && is_free; ++n) {
        /* What moves along with the shape ends where it began, seen from there. */
        const WadiVec3 begin = carry(&view->carried[n], x0);
        is_free = is_chord_free(context, view, balls, begin, x1) || is_free_at_end(context, view, begin, x1);
    }
    return is_free &&
           ((is_between_walls && !view->has_others) || is_chord_free(context, view, balls, x0, x1));
}

/* Is the path in the ball that is clear of shapes, as all of them see it, and between the walls? */
static bool is_between_walls(const WadiFlipMover *context, const TileView *view, const Ball *clear,
                             WadiVec3 x0, WadiVec3 x1)
{
    bool is_free = wadi_box_contains(context->inner, x0) && wadi_box_contains(context->inner, x1) &&
                   ball_holds(clear, x1);
    for (int n = 0; n < view->carried_count && is_free; ++n) {
        is_free = ball_holds(clear, carry(&view->carried[n], x0));
    }
    const bool is_alone = view->carried_count > 0 && !view->has_others;
    return is_free && (is_alone || ball_holds(clear, x0));
}

static void move_cell(const WadiFlipMover *context, const TileView *view, WadiRowCell cell,
                      const WadiFlipPath *path, int32_t first, int32_t end, WadiCollideReport *report)
{
    WadiParticles *p = context->particles;
    CellBalls balls = { .own = ball_of_cell(context, view, cell, view->sag),
                        .beside = ball_of_cell(context, view, farthest_neighbour(context, cell), view->sag),
                        .clear = { .square = NAN } }; /* asked for by the first particle that needs it */
    if (view->carried_count > 0) {
        balls.core = ball_of_cell(context, view, cell, view->carried_sweep);
    }
    for (int32_t i = first; i < end; ++i) {
        const WadiVec3 x0 = { p->x[i], p->y[i], p->z[i] }, x1 = end_of(path, i);
        bool is_free = is_path_free(context, view, &balls, x0, x1);
        if (!is_free) {
            if (isnan(balls.clear.square)) {
                balls.clear = ball_clear_of_shapes(context, view, balls.own.centre);
            }
            is_free = is_between_walls(context, view, &balls.clear, x0, x1);
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
    atomic_llong asked, touched, stuck; /* sums of integers: the order does not matter */
} MoveAll;

static void move_tiles(void *user, int64_t first, int64_t end)
{
    MoveAll *all = user;
    const int32_t *start = all->mover.in->sort->tile_start;
    WadiCollideReport report = { 0 };
    for (int32_t tile = (int32_t)first; tile < end; ++tile) {
        wadi_flip_move_part(&all->mover, tile, all->path, start[tile], start[tile + 1], &report);
    }
    atomic_fetch_add(&all->asked, report.asked);
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
    return (WadiCollideReport){ all.asked, all.touched, all.stuck };
}
