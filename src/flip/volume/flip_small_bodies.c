/* Momentum of small bodies at walls: drops and single particles on a floor. [theory 2.8]
 * Pressure changes the velocity of all free faces of a cell alike, but its particles lie nearer to some of
 * them, and faces in a wall have no velocity across it: a drop would push itself along the floor. The forces
 * inside a body may change its momentum only along the normals of the walls at it. The rest of the mean
 * change of its particles' velocities is taken off all faces that they read, which leaves the divergence as
 * it is. Bodies that are held by friction at a wall are left out.
 * Source: none. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"

/* Larger bodies have so many particles on each side that the push evens out. */
enum { CELLS_MAX = 8 };
/* Of the area of a face: a wall that differs by less from those found before counts as one of them. */
static const double SAME_WALL = 0.1;
static const double SAME_DIRECTION = 0.9; /* cosine */
/* Of gravity times the step: smaller changes are rounding. */
static const double NEGLIGIBLE = 1e-4;

typedef struct SmallBodies {
    const WadiFlip *flip;
    const WadiFlipStep *step;
    WadiVec3 gravity;  /* m/s^2 */
    double negligible; /* m/s */
    uint8_t *pushed;   /* per row: first cells of bodies with a push to take off */
} SmallBodies;

typedef struct Body {
    WadiRowCell cells[CELLS_MAX];
    int count;
} Body;

static float open_of(const SmallBodies *all, WadiRowCell cell, int axis)
{
    const WadiFlipSolid *solid = &all->step->solid;
    return solid->open[axis][wadi_table_cell(solid->row, wadi_row_cell_index(cell))];
}

/* Filled cells of a row without a filled cell on their low sides. */
static unsigned first_cells(const WadiFlipStep *step, int32_t row)
{
    unsigned first = step->filled[row];
    for (int axis = 0; axis < 3 && first != 0; ++axis) {
        first &= ~(unsigned)wadi_row_neighbour_bits(&step->grid.rows, step->filled, row, 2 * axis);
    }
    return first;
}

static bool has_cell(const Body *body, WadiRowCell cell)
{
    for (int n = 0; n < body->count; ++n) {
        if (body->cells[n].row == cell.row && body->cells[n].lane == cell.lane) {
            return true;
        }
    }
    return false;
}

static bool is_at_wall(const SmallBodies *all, WadiRowCell cell)
{
    for (int side = 0; side < 6; ++side) {
        const WadiRowCell face =
            (side & 1) != 0 ? wadi_row_cell_neighbour(&all->step->grid.rows, cell, side) : cell;
        if (open_of(all, face, side / 2) < 1.0f) {
            return true;
        }
    }
    return false;
}

/* Adds the filled cells around a cell to the body of `first`. false: it has more than CELLS_MAX cells, or one
 * that is a first cell too and has a lower index. */
static bool add_cells_around(const WadiFlipStep *step, WadiRowCell first, WadiRowCell cell, Body *body)
{
    for (int n = 0; n < 27; ++n) {
        int offset[3];
        const WadiRowCell next = wadi_row_cell_around(&step->grid.rows, cell, n, offset);
        if (next.row == 0 || (step->filled[next.row] >> next.lane & 1) == 0 || has_cell(body, next)) {
            continue;
        }
        const bool is_before = wadi_row_cell_index(next) < wadi_row_cell_index(first) &&
                               (first_cells(step, next.row) >> next.lane & 1) != 0;
        if (body->count == CELLS_MAX || is_before) {
            return false;
        }
        body->cells[body->count++] = next;
    }
    return true;
}

/* The body of cell `first`: filled cells that touch, at corners too: their particles share faces. false:
 * it is not small, no wall is at it, one holds it by friction, or it is found from another cell. */
static bool find_body(const SmallBodies *all, WadiRowCell first, Body *body)
{
    const WadiFlipStep *step = all->step;
    bool is_any_at_wall = false;
    body->count = 0;
    body->cells[body->count++] = first;
    for (int n = 0; n < body->count; ++n) {
        const WadiRowCell cell = body->cells[n];
        const bool is_gripped = step->gripped != NULL && (step->gripped[cell.row] >> cell.lane & 1) != 0;
        if (is_gripped || !add_cells_around(step, first, cell, body)) {
            return false;
        }
        is_any_at_wall = is_any_at_wall || is_at_wall(all, cell);
    }
    return is_any_at_wall;
}

static void particles_of(const WadiFlipStep *step, WadiRowCell cell, int32_t *first, int32_t *end)
{
    const WadiRows *rows = &step->grid.rows;
    const WadiTileSort *sort = &step->sort;
    const int32_t tile = step->grid.sort_tile[rows->tile[cell.row]];
    const int32_t row = wadi_tile_sort_row(sort, tile, rows->index_in_tile[cell.row]);
    const int32_t *start = row < 0 ? NULL : sort->cell_start + 8 * (int64_t)row + cell.lane;
    *first = start != NULL ? start[0] : 0;
    *end = start != NULL ? start[1] : 0;
}

/* Faces, by the cells that have them on their low sides: a cell and the 26 around it, x fastest; 0: none. */
static void faces_around(const SmallBodies *all, WadiRowCell cell, size_t faces[27])
{
    for (int n = 0; n < 27; ++n) {
        int offset[3];
        faces[n] = wadi_row_cell_index(wadi_row_cell_around(&all->step->grid.rows, cell, n, offset));
    }
}

/* Change of the velocity at a position in a cell since the transfer to the grid, forces included. `fraction`:
 * of the cell, from its low corner. */
static WadiVec3 change_at(const WadiFlipStep *step, const size_t faces[27], const double fraction[3])
{
    static const int stride[3] = { 1, 3, 9 };
    double change[3] = { 0 };
    for (int axis = 0; axis < 3; ++axis) {
        int low = 0;
        double f[3];
        for (int a = 0; a < 3; ++a) { /* nodes lie on the faces along the axis itself, else in the centres */
            const bool is_up = a == axis || fraction[a] >= 0.5;
            low += is_up ? stride[a] : 0;
            f[a] = fraction[a] + (a == axis ? 0.0 : is_up ? -0.5 : 0.5);
        }
        for (int n = 0; n < 8; ++n) {
            const size_t face = faces[low + (n & 1) + 3 * (n >> 1 & 1) + 9 * (n >> 2)];
            const double w = ((n & 1) != 0 ? f[0] : 1.0 - f[0]) * ((n & 2) != 0 ? f[1] : 1.0 - f[1]) *
                             ((n & 4) != 0 ? f[2] : 1.0 - f[2]);
            change[axis] += w * ((double)step->grid.velocity[axis][face] -
                                 (double)step->saved[axis][wadi_table_cell(step->saved_row, face)]);
        }
    }
    return wadi_vec3(change[0], change[1], change[2]);
}

/* Mean change of velocity of a body's particles by the forces inside it and those of walls. */
static WadiVec3 mean_change(const SmallBodies *all, const Body *body)
{
    const WadiParticles *p = all->flip->context.particles;
    const WadiFlipStep *step = all->step;
    WadiVec3 momentum = { 0, 0, 0 };
    double mass = 0.0;
    for (int n = 0; n < body->count; ++n) {
        int32_t corner[3], first, end;
        size_t faces[27];
        wadi_rows_cell(&step->grid.rows, body->cells[n].row, corner);
        corner[0] += body->cells[n].lane;
        particles_of(step, body->cells[n], &first, &end);
        if (end > first) {
            faces_around(all, body->cells[n], faces);
        }
        for (int32_t i = first; i < end; ++i) {
            const WadiVec3 x = { p->x[i], p->y[i], p->z[i] },
                           v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
            const double m = (double)all->flip->materials.mass[p->material[i]];
            double fraction[3];
            for (int a = 0; a < 3; ++a) {
                fraction[a] = wadi_component(x, a) / step->grid.cell_size - corner[a];
            }
            const WadiWorld *world = all->flip->context.world;
            const WadiVec3 force = world->scene->force_count > 0
                                       ? wadi_world_acceleration(world, x, v, step->time, step->force_dt)
                                       : all->gravity;
            const WadiVec3 change = wadi_add_scaled(change_at(step, faces, fraction), force, -step->force_dt);
            momentum = wadi_add_scaled(momentum, change, m);
            mass += m;
        }
    }
    return mass > 0.0 ? wadi_scale(momentum, 1.0 / mass) : momentum;
}

static double distance_at(const SmallBodies *all, WadiRowCell cell)
{
    const WadiFlipSolid *solid = &all->step->solid;
    return (double)solid->distance[wadi_table_cell(solid->row, wadi_row_cell_index(cell))];
}

/* Area of the walls in a cell, towards the fluid, over that of a face. Small open fractions are 0 and bend
 * it; so it gets the direction of the distance, except in edges of walls, where this has none. */
static WadiVec3 wall_area(const SmallBodies *all, WadiRowCell cell)
{
    double area[3], slope[3];
    for (int axis = 0; axis < 3; ++axis) {
        const WadiRowCell low = wadi_row_cell_neighbour(&all->step->grid.rows, cell, 2 * axis),
                          high = wadi_row_cell_neighbour(&all->step->grid.rows, cell, 2 * axis + 1);
        area[axis] = (double)open_of(all, high, axis) - (double)open_of(all, cell, axis);
        slope[axis] = distance_at(all, high) - distance_at(all, low);
    }
    const WadiVec3 normal = wadi_vec3(area[0], area[1], area[2]);
    const WadiVec3 direction = wadi_normalized_or(wadi_vec3(slope[0], slope[1], slope[2]), normal);
    const double along = wadi_dot(normal, direction);
    return along > SAME_DIRECTION * wadi_norm(normal) ? wadi_scale(direction, along) : normal;
}

/* The part of `change` across the normals of all walls that cut or close cells of the body. */
static WadiVec3 free_part(const SmallBodies *all, const Body *body, WadiVec3 change)
{
    WadiVec3 wall[3];
    int walls = 0;
    for (int n = 0; n < body->count && walls < 3; ++n) {
        WadiVec3 normal = wall_area(all, body->cells[n]);
        for (int w = 0; w < walls; ++w) {
            normal = wadi_add_scaled(normal, wall[w], -wadi_dot(normal, wall[w]));
        }
        const double length = wadi_norm(normal);
        if (length > SAME_WALL) {
            wall[walls] = wadi_scale(normal, 1.0 / length);
            change = wadi_add_scaled(change, wall[walls], -wadi_dot(change, wall[walls]));
            walls += 1;
        }
    }
    return walls < 3 ? change : wadi_vec3(0, 0, 0);
}

/* What has to be taken off the velocities of a body's faces. */
static WadiVec3 push_of(const SmallBodies *all, const Body *body)
{
    return free_part(all, body, mean_change(all, body));
}

static void find_pushed(void *user, int64_t first, int64_t end)
{
    const SmallBodies *all = user;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        all->pushed[row] = 0;
        for (unsigned left = row > 0 ? first_cells(all->step, row) : 0; left != 0; left &= left - 1) {
            const int lane = __builtin_ctz(left);
            Body body;
            if (find_body(all, (WadiRowCell){ row, lane }, &body) &&
                wadi_norm(push_of(all, &body)) > all->negligible) {
                all->pushed[row] |= (uint8_t)(1u << lane);
            }
        }
    }
}

/* Of the cells around a cell, is number k not before it along an axis? */
static bool is_read(int k, int axis)
{
    static const int stride[3] = { 1, 3, 9 };
    return k / stride[axis] % 3 != 0;
}

/* Is a face among those of the first `count` cells? */
static bool is_done(size_t (*faces)[27], int count, size_t face, int axis)
{
    for (int n = 0; n < count; ++n) {
        for (int k = 0; k < 27; ++k) {
            if (faces[n][k] == face && is_read(k, axis)) {
                return true;
            }
        }
    }
    return false;
}

/* Subtract from the faces that the body's particles may read: of each component those of the cells and of the
 * cells beside them across its axis. */
static void shift_faces(const SmallBodies *all, const Body *body, WadiVec3 push)
{
    const float change[3] = { (float)push.x, (float)push.y, (float)push.z };
    size_t faces[CELLS_MAX][27];
    for (int n = 0; n < body->count; ++n) {
        faces_around(all, body->cells[n], faces[n]);
        for (int axis = 0; axis < 3; ++axis) {
            for (int k = 0; k < 27; ++k) {
                const size_t face = faces[n][k];
                if (is_read(k, axis) && face >= WADI_ROW_CELLS && !is_done(faces, n, face, axis)) {
                    all->step->grid.velocity[axis][face] -= change[axis];
                }
            }
        }
    }
}

WadiStatus wadi_flip_balance_small_bodies(const WadiFlip *flip, const WadiFlipStep *step, WadiError *error)
{
    const int32_t rows = step->grid.rows.count;
    SmallBodies all = { .flip = flip,
                        .step = step,
                        .gravity = wadi_curve_value3(&flip->context.world->scene->gravity, step->time) };
    if (step->filled == NULL) {
        return WADI_OK;
    }
    all.negligible = NEGLIGIBLE * step->force_dt * wadi_norm(all.gravity);
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &all.pushed, (size_t)rows, "small bodies", error));
    wadi_parallel_for(rows, WADI_ROW_BLOCK, find_pushed, &all);
    for (int32_t row = 1; row < rows; ++row) { /* in order: bodies close to each other share faces */
        for (unsigned left = all.pushed[row]; left != 0; left &= left - 1) {
            Body body;
            if (find_body(&all, (WadiRowCell){ row, __builtin_ctz(left) }, &body)) {
                shift_faces(&all, &body, push_of(&all, &body));
            }
        }
    }
    return WADI_OK;
}
