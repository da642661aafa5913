/* Paths of the velocity field against the solids. [theory 3.4]
 * Differs: [ZB05] pushes particles out of solids after they have moved; here the chord from the old to the
 * new position is followed continuously, so that a wall of any thickness holds at any speed.
 *
 * Most chords need no query of the solids: a chord with both ends in a ball that no solid enters during
 * the step is free, and so is one with both ends between the domain's walls, because both sets are convex.
 * Tiles away from all shapes have one ball around their centre. Cells near shapes have a ball with the
 * radius of their centre's distance, and the largest ball of their neighbours; a longer chord may have its
 * first half in these and its second in the ball of the cell where it ends. These balls avoid the walls
 * too; if they are too small, a ball that avoids only the shapes is combined with the walls.
 *
 * Balls are those of the time of the solids on the grid, within the step. A rigid moving shape carries them
 * along: in its frame of that time a path goes from where the shape carries its start to where it carries
 * its end, and is straight up to a sag. For other moving shapes the radius is reduced by the largest
 * displacement of the shape during the step. */
#include "flip/move/flip_move.h"

#include "core/parallel.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"

/* In cells: half the diagonal of a tile, and the radius around its centre in which shapes are searched. */
#define TILE_HALF 6.9283
#define TILE_SEARCH 16.0
/* Longest path that is tested with two balls: a ball has a radius of at most two cells. */
#define LONGEST_PATH 3.0
/* From the centre of a tile to the farthest centre of a cell where such a path starts or ends: there the
 * shape's speed is bounded. */
#define CENTRE_RADIUS 11.0
/* Cut-off of cell distances. */
#define FAR 2.0
/* Largest useful radius of a ball around a cell's centre. */
#define LARGEST_BALL 3.0
/* Paths closer than this to a solid, in skins, are left to collide.c: twice its contact distance. */
#define MARGIN 4.0

typedef struct Ball {
    WadiVec3 centre;
    double square; /* of the radius, m^2; negative: empty */
} Ball;

static Ball ball_of(WadiVec3 centre, double radius)
{
    return (Ball){ centre, radius > 0.0 ? radius * radius : -1.0 };
}

static bool ball_contains(const Ball *ball, WadiVec3 x)
{
    WadiVec3 offset = wadi_sub(x, ball->centre);
    return wadi_dot(offset, offset) < ball->square;
}

static WadiBox inner_box(const WadiSolids *solids, double margin)
{
    return wadi_box_closed_sides(wadi_box_grown(solids->domain, -margin), solids->closed_sides);
}

enum { CARRIED_MAX = 2 };

/* Rigid motion between two times: x is carried to `to` + turn (x - from). */
typedef struct RigidMotion {
    WadiVec3 from, to;
    WadiAffine turn;
} RigidMotion;

/* A rigid shape near a tile, and its motions from the start and from the end of the step to the time of the
 * balls. */
typedef struct Carried {
    const WadiShape *shape;
    RigidMotion start, end;
} Carried;

/* Shapes (not walls) near a tile. */
typedef struct NearShapes {
    Ball free;    /* around its centre: no shape enters it during the step */
    bool is_free; /* that ball contains the tile and a margin */
    Carried carried[CARRIED_MAX];
    int carried_count;
    bool has_others;      /* some near shapes are not rigid */
    double sag;           /* m: of paths in the frames of the carried shapes */
    double sweep;         /* m: bound of how much nearer to a cell another shape is during the step */
    double carried_sweep; /* m: the same for the carried shapes */
    double error;         /* m: error of the cell distances, which may come from a narrow band */
} NearShapes;

/* Shape i alone. */
static WadiSolids single_shape(const WadiSolids *solids, int i)
{
    WadiSolids one = *solids;
    one.closed_sides = 0;
    one.count = 1;
    one.solids = &solids->solids[i];
    return one;
}

/* The rigid motion around `from`; `h` is the size of the neighbourhood. */
static RigidMotion rigid_motion(const WadiShape *shape, WadiVec3 from, double h, double t0, double t1)
{
    static const WadiVec3 unit[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    RigidMotion result = { .from = from, .to = wadi_shape_carry(shape, from, t0, t1) };
    for (int a = 0; a < 3; ++a) {
        WadiVec3 end = wadi_shape_carry(shape, wadi_add_scaled(from, unit[a], h), t0, t1);
        WadiVec3 column = wadi_scale(wadi_sub(end, result.to), 1.0 / h);
        result.turn.m[0][a] = column.x;
        result.turn.m[1][a] = column.y;
        result.turn.m[2][a] = column.z;
    }
    return result;
}

static WadiVec3 carry(const RigidMotion *motion, WadiVec3 x)
{
    return wadi_add(motion->to, wadi_affine_vector(&motion->turn, wadi_sub(x, motion->from)));
}

/* Add a shape near the tile. */
static void add_near_shape(const WadiFlipMover *context, const WadiShape *shape, WadiVec3 middle,
                           double sweep, NearShapes *shapes)
{
    const WadiFlipMoveIn *in = context->in;
    const double h = in->cell_size, end = in->time + in->dt, radius = CENTRE_RADIUS * h,
                 now = in->solid->time;
    WadiShapeMotion motion;
    shapes->error = fmax(shapes->error, wadi_shape_band_error(shape, now));
    if (shapes->carried_count < CARRIED_MAX && wadi_shape_rigid_motion(shape, in->time, end, &motion)) {
        const double sag = wadi_shape_motion_sag(&motion, middle, radius, LONGEST_PATH * h, in->dt);
        if (sag < sweep) {
            shapes->carried[shapes->carried_count++] =
                (Carried){ shape, rigid_motion(shape, middle, radius, in->time, now),
                           rigid_motion(shape, middle, radius, end, now) };
            shapes->sag = fmax(shapes->sag, sag);
            shapes->carried_sweep = fmax(shapes->carried_sweep, sweep);
            return;
        }
    }
    shapes->has_others = true;
    shapes->sweep = fmax(shapes->sweep, sweep);
}

static NearShapes find_near_shapes(const WadiFlipMover *context, WadiTile tile)
{
    const WadiFlipMoveIn *in = context->in;
    const double h = in->cell_size, search = TILE_SEARCH * h, end = in->time + in->dt;
    const WadiVec3 middle = { h * (8.0 * tile.x + 4.0), h * (8.0 * tile.y + 4.0), h * (8.0 * tile.z + 4.0) };
    double clear = search;
    NearShapes shapes = { 0 };
    for (int i = 0; i < in->solids->count; ++i) {
        const WadiSolids one = single_shape(in->solids, i);
        double sweep = in->dt * wadi_solids_speed_bound(&one, middle, CENTRE_RADIUS * h, in->time, end);
        double d = wadi_solids_distance(&one, middle, in->solid->time, search + sweep);
        clear = fmin(clear, d - sweep);
        if (d - CENTRE_RADIUS * h < FAR * h + sweep) {
            add_near_shape(context, one.solids->shape, middle, sweep, &shapes);
        }
    }
    shapes.free = ball_of(middle, clear - context->margin);
    shapes.is_free = clear - context->margin > (TILE_HALF + 1.0) * h;
    return shapes;
}

static bool is_carried(const NearShapes *shapes, const WadiShape *shape)
{
    bool is_found = false;
    for (int n = 0; n < shapes->carried_count; ++n) {
        is_found |= shapes->carried[n].shape == shape;
    }
    return is_found;
}

/* Ball around a point that no shape enters during the step, up to LARGEST_BALL. */
static Ball ball_clear_of_shapes(const WadiFlipMover *context, const NearShapes *shapes, WadiVec3 x)
{
    const WadiFlipMoveIn *in = context->in;
    const double end = in->time + in->dt;
    double clear = LARGEST_BALL * in->cell_size;
    for (int i = 0; i < in->solids->count; ++i) {
        const WadiSolids one = single_shape(in->solids, i);
        const double sweep = is_carried(shapes, one.solids->shape)
                                 ? shapes->sag
                                 : in->dt * wadi_solids_speed_bound(&one, x, 0.0, in->time, end);
        clear = fmin(clear, wadi_solids_distance(&one, x, in->solid->time, clear + sweep) - sweep);
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

/* Move four particles from index i in a tile away from all shapes. Returns the bits of those that arrived. */
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

/* The same for one particle. */
static bool move_one(const WadiFlipMover *context, const Ball *free, const WadiFlipPath *path, int32_t i)
{
    const WadiParticles *p = context->particles;
    const WadiVec3 x0 = { p->x[i], p->y[i], p->z[i] }, x1 = end_of(path, i);
    const bool is_free = wadi_box_contains(context->inner, x0) && wadi_box_contains(context->inner, x1) &&
                         ball_contains(free, x1);
    if (is_free) {
        p->x[i] = x1.x;
        p->y[i] = x1.y;
        p->z[i] = x1.z;
    }
    return is_free;
}

/* A particle whose path ends in a solid is marked: the solid jumped, or the flow did not see it. */
static void move_against_solids(const WadiFlipMover *context, int32_t i, WadiVec3 to,
                                WadiCollideReport *report)
{
    const WadiCollideIn *in = &context->collide;
    const int64_t touched = report->touched;
    wadi_collide_move_one(in, context->particles, i, to, report);
    if (context->in->compressed != NULL && report->touched > touched &&
        wadi_solids_distance(in->solids, to, in->t1, in->skin) < -in->skin) {
        context->in->compressed[i] = 1;
    }
}

static void move_part_between_walls(const WadiFlipMover *context, const NearShapes *shapes,
                                    const WadiFlipPath *path, int32_t begin, int32_t end,
                                    WadiCollideReport *report)
{
    for (int32_t first = begin; first < end; first += 4) {
        unsigned arrived = 0, all = 0xf;
        if (end - first >= 4) {
            arrived = move_four(context, &shapes->free, path, first);
        } else {
            all = (1u << (end - first)) - 1;
            for (int n = 0; n < end - first; ++n) {
                arrived |= (unsigned)move_one(context, &shapes->free, path, first + n) << n;
            }
        }
        for (unsigned left = all & ~arrived; left != 0; left &= left - 1) {
            const int32_t i = first + __builtin_ctz(left);
            move_against_solids(context, i, end_of(path, i), report);
        }
    }
}

/* Distance of a cell's centre from the solids on the grid. */
static float distance_of(const WadiFlipMover *context, WadiRowCell cell)
{
    const WadiFlipSolid *solid = context->in->solid;
    return solid->distance[wadi_table_cell(solid->row, wadi_row_cell_index(cell))];
}

static Ball ball_of_cell(const WadiFlipMover *context, const NearShapes *shapes, WadiRowCell cell,
                         double sweep)
{
    const double h = context->in->cell_size;
    int32_t at[3];
    wadi_rows_cell(&context->in->grid->rows, cell.row, at);
    /* Reduced, because the distance is in single precision. */
    double distance = (1.0 - 1e-6) * (double)distance_of(context, cell);
    return ball_of(wadi_vec3(h * (at[0] + cell.lane + 0.5), h * (at[1] + 0.5), h * (at[2] + 0.5)),
                   wadi_band_least(distance, shapes->error) - shapes->sweep - sweep - context->margin);
}

/* The neighbour with the largest distance, or the cell itself. */
static WadiRowCell farthest_neighbour(const WadiFlipMover *context, WadiRowCell cell)
{
    WadiRowCell best = cell;
    for (int side = 0; side < 6; ++side) {
        WadiRowCell neighbour = wadi_row_cell_neighbour(&context->in->grid->rows, cell, side);
        if (neighbour.row != 0 && distance_of(context, neighbour) > distance_of(context, best)) {
            best = neighbour;
        }
    }
    return best;
}

/* The cell of x; its row is 0 outside the grid. */
static WadiRowCell cell_at(const WadiFlipMover *context, WadiVec3 x)
{
    const double h = context->in->cell_size;
    const int32_t cell[3] = { (int32_t)floor(x.x / h), (int32_t)floor(x.y / h), (int32_t)floor(x.z / h) };
    return (WadiRowCell){ wadi_rows_find(&context->in->grid->rows, cell[0], cell[1], cell[2]), cell[0] & 7 };
}

/* Does the ball of the cell where the path ends contain its second half? */
static bool is_end_free(const WadiFlipMover *context, const NearShapes *shapes, WadiVec3 x0, WadiVec3 x1)
{
    const WadiVec3 chord = wadi_sub(x1, x0), middle = wadi_add_scaled(x0, chord, 0.5);
    const double h = context->in->cell_size;
    if (!(wadi_dot(chord, chord) < LONGEST_PATH * LONGEST_PATH * h * h)) {
        return false;
    }
    const WadiRowCell end = cell_at(context, x1);
    if (end.row == 0) {
        return false;
    }
    Ball ball = ball_of_cell(context, shapes, end, shapes->sag);
    return ball_contains(&ball, middle) && ball_contains(&ball, x1);
}

/* Does a ball of the cell where the path ends, or of its neighbour, contain all of it? */
static bool is_free_at_end(const WadiFlipMover *context, const NearShapes *shapes, WadiVec3 x0, WadiVec3 x1)
{
    const WadiRowCell end = cell_at(context, x1);
    if (end.row == 0) {
        return false;
    }
    const Ball cell = ball_of_cell(context, shapes, end, shapes->sag);
    if (ball_contains(&cell, x0) && ball_contains(&cell, x1)) {
        return true;
    }
    const Ball neighbour = ball_of_cell(context, shapes, farthest_neighbour(context, end), shapes->sag);
    return ball_contains(&neighbour, x0) && ball_contains(&neighbour, x1);
}

/* Balls of a cell: around its centre, around a neighbour's centre, one that avoids only the shapes, and a
 * smaller first one that carried shapes do not enter in any frame. */
typedef struct CellBalls {
    Ball cell, neighbour, clear, core;
} CellBalls;

/* Is the chord in one of the first two, or half in one and half in the ball of the cell where it ends? */
static bool is_chord_free(const WadiFlipMover *context, const NearShapes *shapes, const CellBalls *balls,
                          WadiVec3 x0, WadiVec3 x1)
{
    const Ball *cell = &balls->cell, *neighbour = &balls->neighbour;
    const bool is_in_cell = ball_contains(cell, x0), is_in_neighbour = ball_contains(neighbour, x0);
    if ((is_in_cell && ball_contains(cell, x1)) || (is_in_neighbour && ball_contains(neighbour, x1))) {
        return true;
    }
    if (!is_in_cell && !is_in_neighbour) {
        return false;
    }
    const WadiVec3 middle = wadi_lerp(x0, x1, 0.5);
    return ((is_in_cell && ball_contains(cell, middle)) ||
            (is_in_neighbour && ball_contains(neighbour, middle))) &&
           is_end_free(context, shapes, x0, x1);
}

/* Is the path free of the walls and, in its own frame, of each shape? */
static bool is_path_free(const WadiFlipMover *context, const NearShapes *shapes, const CellBalls *balls,
                         WadiVec3 x0, WadiVec3 x1)
{
    if (shapes->carried_count == 0) {
        return is_chord_free(context, shapes, balls, x0, x1);
    }
    if (ball_contains(&balls->core, x0) && ball_contains(&balls->core, x1)) {
        return true;
    }
    const WadiVec3 chord = wadi_sub(x1, x0);
    const double longest = LONGEST_PATH * context->in->cell_size;
    const bool is_between_walls =
        wadi_box_contains(context->inner, x0) && wadi_box_contains(context->inner, x1);
    bool is_free = wadi_dot(chord, chord) < longest * longest;
    for (int n = 0; n < shapes->carried_count && is_free; ++n) {
        /* A particle that moves with the shape is at rest in its frame. */
        const WadiVec3 begin = carry(&shapes->carried[n].start, x0), end = carry(&shapes->carried[n].end, x1);
        is_free =
            is_chord_free(context, shapes, balls, begin, end) || is_free_at_end(context, shapes, begin, end);
    }
    return is_free &&
           ((is_between_walls && !shapes->has_others) || is_chord_free(context, shapes, balls, x0, x1));
}

/* Is the path between the walls and, in each shape's frame, in the ball that avoids the shapes? */
static bool is_between_walls(const WadiFlipMover *context, const NearShapes *shapes, const Ball *clear,
                             WadiVec3 x0, WadiVec3 x1)
{
    bool is_free = wadi_box_contains(context->inner, x0) && wadi_box_contains(context->inner, x1);
    for (int n = 0; n < shapes->carried_count && is_free; ++n) {
        is_free = ball_contains(clear, carry(&shapes->carried[n].start, x0)) &&
                  ball_contains(clear, carry(&shapes->carried[n].end, x1));
    }
    const bool is_alone = shapes->carried_count > 0 && !shapes->has_others;
    return is_free && (is_alone || (ball_contains(clear, x0) && ball_contains(clear, x1)));
}

static void move_cell(const WadiFlipMover *context, const NearShapes *shapes, WadiRowCell cell,
                      const WadiFlipPath *path, int32_t first, int32_t end, WadiCollideReport *report)
{
    WadiParticles *p = context->particles;
    CellBalls balls = { .cell = ball_of_cell(context, shapes, cell, shapes->sag),
                        .neighbour =
                            ball_of_cell(context, shapes, farthest_neighbour(context, cell), shapes->sag),
                        .clear = { .square = NAN } }; /* computed for the first particle that needs it */
    if (shapes->carried_count > 0) {
        balls.core = ball_of_cell(context, shapes, cell, shapes->carried_sweep);
    }
    for (int32_t i = first; i < end; ++i) {
        const WadiVec3 x0 = { p->x[i], p->y[i], p->z[i] }, x1 = end_of(path, i);
        bool is_free = is_path_free(context, shapes, &balls, x0, x1);
        if (!is_free) {
            if (isnan(balls.clear.square)) {
                balls.clear = ball_clear_of_shapes(context, shapes, balls.cell.centre);
            }
            is_free = is_between_walls(context, shapes, &balls.clear, x0, x1);
        }
        if (is_free) {
            p->x[i] = x1.x;
            p->y[i] = x1.y;
            p->z[i] = x1.z;
        } else {
            move_against_solids(context, i, x1, report);
        }
    }
}

static void move_part_near_shapes(const WadiFlipMover *context, const NearShapes *shapes, int32_t tile,
                                  const WadiFlipPath *path, int32_t begin, int32_t end,
                                  WadiCollideReport *report)
{
    const WadiTileSort *sort = context->in->sort;
    const WadiFlipGrid *grid = context->in->grid;
    WadiTileCell cell;
    for (wadi_tile_cells_begin(&cell, sort, tile); wadi_tile_cells_next(&cell, sort);) {
        const int32_t from = cell.first > begin ? cell.first : begin, to = cell.end < end ? cell.end : end;
        if (from < to) {
            const int32_t row = wadi_rows_at(&grid->rows, grid->tile_of[tile], cell.row);
            move_cell(context, shapes, (WadiRowCell){ row, cell.lane }, path, from, to, report);
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
    NearShapes shapes = find_near_shapes(mover, mover->in->sort->tiles.tiles[tile]);
    if (shapes.is_free) {
        move_part_between_walls(mover, &shapes, path, first, end, report);
    } else {
        move_part_near_shapes(mover, &shapes, tile, path, first, end, report);
    }
}
