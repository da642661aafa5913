/* Velocity on closed faces: the extended velocity along the wall, the solid's across it, and at a curved wall
 * the crossing of chords.
 * Source: [theory 2.3, 2.5].
 * Differs: the component across the wall is replaced also where it points out of the solid, because the
 * projection has set the wall's flux to the solid's. */
#include "core/parallel.h"
#include "flip/transfer/flip_extend.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_vectors.h"

#include <math.h>

enum { LANES = WADI_ROW_CELLS };

typedef struct WallContext {
    const WadiFlipWallIn *in;
    float *const *velocity;
    float *value[3];    /* per face; set where closed */
    uint8_t *closed[3]; /* per row: faces that are closed */
} WallContext;

/* Velocity of the fluid relative to the solid at a face. */
static double relative_at(const WallContext *context, int axis, size_t face)
{
    const float *solid = context->in->solid_velocity[axis];
    return (double)context->velocity[axis][face] -
           (solid != NULL ? (double)solid[wadi_table_cell(context->in->solid_row, face)] : 0.0);
}

static double distance_at(const WadiFlipWallIn *in, WadiRowCell cell)
{
    return (double)in->distance[wadi_table_cell(in->solid_row, wadi_row_cell_index(cell))];
}

/* Slope of the distance along an axis in the plane of the face between the two cells, m a cell. */
static double slope_along(const WadiFlipWallIn *in, const WadiRowCell pair[2], int axis)
{
    double slope = 0.0;
    int slopes = 0;
    for (int side = 0; side < 2; ++side) {
        const WadiRowCell low = wadi_row_cell_neighbour(in->rows, pair[side], 2 * axis),
                          high = wadi_row_cell_neighbour(in->rows, pair[side], 2 * axis + 1);
        if (low.row != 0 && high.row != 0) {
            slope += 0.5 * (distance_at(in, high) - distance_at(in, low));
            ++slopes;
        }
    }
    return slopes > 0 ? slope / slopes : 0.0;
}

/* Mean relative velocity along that axis over the four faces around. */
static double relative_along(const WallContext *context, const WadiRowCell pair[2], int axis)
{
    double sum = 0.0;
    int faces = 0;
    for (int side = 0; side < 2; ++side) {
        const WadiRowCell owner[2] = { pair[side],
                                       wadi_row_cell_neighbour(context->in->rows, pair[side], 2 * axis + 1) };
        for (int n = 0; n < 2; ++n) {
            if (owner[n].row != 0) {
                sum += relative_at(context, axis, wadi_row_cell_index(owner[n]));
                ++faces;
            }
        }
    }
    return sum / faces;
}

/* Whether a wall cuts a face of the cell: it does not lie along the grid. */
static bool is_cut(const WadiFlipWallIn *in, WadiRowCell cell)
{
    bool is_cut = false;
    for (int side = 0; side < 6; ++side) {
        const WadiRowCell owner = side % 2 == 0 ? cell : wadi_row_cell_neighbour(in->rows, cell, side);
        const float open = in->open[side / 2][wadi_table_cell(in->solid_row, wadi_row_cell_index(owner))];
        is_cut = is_cut || (owner.row != 0 && open > 0.0f && open < 1.0f);
    }
    return is_cut;
}

/* v . H v with H the second derivatives of the distance, m a cell^2; 0 where a neighbour is missing. */
static double bend_along(const WadiFlipWallIn *in, WadiRowCell cell, const double v[3])
{
    enum { CENTRE = 13 };
    static const int stride[3] = { 1, 3, 9 };
    double d[27], sum = 0.0;
    for (int n = 0; n < 27; ++n) {
        int step[3];
        const WadiRowCell near = wadi_row_cell_around(in->rows, cell, n, step);
        if (near.row == 0) {
            return 0.0;
        }
        d[n] = distance_at(in, near);
    }
    for (int a = 0; a < 3; ++a) {
        const int b = (a + 1) % 3, plus = CENTRE + stride[a], minus = CENTRE - stride[a], side = stride[b];
        sum += v[a] * v[a] * (d[plus] + d[minus] - 2.0 * d[CENTRE]);
        sum += 0.5 * v[a] * v[b] * (d[plus + side] - d[plus - side] - d[minus + side] + d[minus - side]);
    }
    return sum;
}

/* dt/2 times grad d . ((2u - w) . grad w) at the low face of `cell`, v = u - w being along the wall, m/s
 * m/cell: a wall that turns or stretches is elsewhere at the end of a chord. */
static double turn_along(const WadiFlipWallIn *in, WadiRowCell cell, int axis, const double v[3],
                         const double gradient[3])
{
    const double h = in->cell_size;
    int32_t at[3];
    wadi_rows_cell(in->rows, cell.row, at);
    at[0] += cell.lane;
    double p[3] = { at[0] + 0.5, at[1] + 0.5, at[2] + 0.5 };
    p[axis] -= 0.5;
    const WadiVec3 x = { h * p[0], h * p[1], h * p[2] };
    const WadiSolidPoint wall = wadi_solids_sample_for_grid(in->solids, x, in->time);
    const WadiVec3 way =
        wadi_add_scaled(wadi_scale(wall.surface.velocity, in->dt), wadi_vec3(v[0], v[1], v[2]), 2.0 * in->dt);
    const WadiVec3 change = wadi_solids_carry_change(in->solids, wall.index, x, way, in->time + 0.5 * in->dt);
    return 0.5 * wadi_dot(wadi_vec3(gradient[0], gradient[1], gradient[2]), change);
}

/* Component along `axis` of the relative velocity normal to the wall, at the low face of `cell`, less that
 * of chords: a chord along a wall with the normal n = grad d and the velocity w crosses it by
 * -dt/2 v . H v + dt/2 n . ((2u - w) . grad w), v = u - w. */
static double across(const WallContext *context, WadiRowCell cell, int axis)
{
    const WadiFlipWallIn *in = context->in;
    const WadiRowCell pair[2] = { cell, wadi_row_cell_neighbour(in->rows, cell, 2 * axis) };
    const double normal = pair[1].row != 0 ? distance_at(in, pair[0]) - distance_at(in, pair[1]) : 0.0;
    if (normal == 0.0) {
        return 0.0; /* the wall is parallel to `axis`, or distances are cut off here */
    }
    const double relative = relative_at(context, axis, wadi_row_cell_index(cell));
    double length2 = normal * normal, dot = normal * relative, gradient[3], v[3];
    for (int b = 0; b < 3; ++b) {
        gradient[b] = b != axis ? slope_along(in, pair, b) : normal;
        length2 += b != axis ? gradient[b] * gradient[b] : 0.0;
    }
    if (length2 == normal * normal) {
        return relative; /* most walls lie along the grid */
    }
    for (int b = 0; b < 3; ++b) {
        v[b] = b != axis ? relative_along(context, pair, b) : relative;
        dot += b != axis ? gradient[b] * v[b] : 0.0;
    }
    /* In the inner edge of two walls along the grid nothing is curved. */
    const bool is_second_open = distance_at(in, pair[1]) > distance_at(in, pair[0]);
    if (in->chord > 0.0 && is_cut(in, pair[is_second_open])) {
        for (int b = 0; b < 3; ++b) {
            v[b] -= dot / length2 * gradient[b];
        }
        dot += 0.5 * in->chord * bend_along(in, pair[is_second_open], v);
        dot -= in->solids != NULL ? turn_along(in, cell, axis, v, gradient) : 0.0;
    }
    return dot * normal / length2;
}

/* Closed faces of a row with a wall across them: not those deeper than `deepest`, and not those with equal
 * distances on both sides. */
static unsigned walls_across(const WadiFlipWallIn *in, int32_t row, int axis)
{
    const WadiF8 zero = { 0 };
    const int32_t here_at = wadi_table_row(in->solid_row, row);
    WadiI8 is_open = WADI_ROW(in->open[axis], here_at) > zero;
    unsigned closed = ~wadi_row_bits(&is_open) & 0xff;
    if (closed == 0) {
        return 0;
    }
    const int32_t before = in->rows->neighbour[row][2 * axis];
    WadiF8 here = WADI_ROW(in->distance, here_at),
           neighbour = WADI_ROW(in->distance, wadi_table_row(in->solid_row, before));
    if (axis == 0) {
        neighbour = WADI_ROW_SHIFT_UP(neighbour, here);
    }
    if (before == 0) {
        closed &= axis == 0 ? ~1u : 0; /* no neighbour */
    }
    WadiI8 is_along = here == neighbour;
    if (in->deepest > 0.0) {
        is_along |= (here < -(float)in->deepest) & (neighbour < -(float)in->deepest);
    }
    return closed & ~wadi_row_bits(&is_along);
}

/* Lanes of a row where the distance is equal on both sides, along x and along the axis that is neither x
 * nor `axis`. */
static unsigned flat_lanes(const WadiFlipWallIn *in, int32_t row, int axis)
{
    const int32_t *n = in->rows->neighbour[row], *of = in->solid_row;
    const int other = 3 - axis;
    const WadiF8 here = WADI_ROW(in->distance, wadi_table_row(of, row));
    const WadiF8 left = WADI_ROW(in->distance, wadi_table_row(of, n[WADI_ROW_X_MIN])),
                 right = WADI_ROW(in->distance, wadi_table_row(of, n[WADI_ROW_X_MAX])),
                 low = WADI_ROW(in->distance, wadi_table_row(of, n[2 * other])),
                 high = WADI_ROW(in->distance, wadi_table_row(of, n[2 * other + 1]));
    const WadiI8 along_x = WADI_ROW_SHIFT_UP(left, here) == WADI_ROW_SHIFT_DOWN(here, right);
    const WadiI8 along_other = low == high;
    /* Without a neighbour on either side there is no slope. */
    unsigned alone = (n[WADI_ROW_X_MIN] == 0 ? 1u : 0) | (n[WADI_ROW_X_MAX] == 0 ? 0x80u : 0);
    unsigned flat = wadi_row_bits(&along_x) | alone;
    return n[2 * other] == 0 || n[2 * other + 1] == 0 ? flat : flat & wadi_row_bits(&along_other);
}

static void find_row_values(const WallContext *context, int32_t row, int axis)
{
    const WadiFlipWallIn *in = context->in;
    unsigned closed = walls_across(in, row, axis);
    context->closed[axis][row] = (uint8_t)closed;
    if (closed == 0) {
        return;
    }
    float *value = context->value[axis] + LANES * (size_t)row;
    unsigned flat = 0; /* the wall is along the grid: the face has the velocity of the solid */
    if (axis > 0) {
        flat = flat_lanes(in, row, axis) & flat_lanes(in, in->rows->neighbour[row][2 * axis], axis);
        WADI_ROW_OUT(value, 0) = in->solid_velocity[axis] != NULL
                                     ? WADI_ROW(in->solid_velocity[axis], wadi_table_row(in->solid_row, row))
                                     : (WadiF8){ 0 };
    }
    for (unsigned left = closed & ~flat; left != 0; left &= left - 1) {
        int l = __builtin_ctz(left);
        double u = (double)context->velocity[axis][LANES * (size_t)row + (size_t)l];
        value[l] = (float)(u - across(context, (WadiRowCell){ row, l }, axis));
    }
}

static void find_values(void *user, int64_t first, int64_t end)
{
    for (int axis = 0; axis < 3; ++axis) {
        for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
            find_row_values(user, row, axis);
        }
    }
}

static void set_values(void *user, int64_t first, int64_t end)
{
    const WallContext *context = user;
    for (int axis = 0; axis < 3; ++axis) {
        for (int64_t row = first + (first == 0); row < end; ++row) {
            for (unsigned left = context->closed[axis][row]; left != 0; left &= left - 1) {
                size_t at = LANES * (size_t)row + (size_t)__builtin_ctz(left);
                context->velocity[axis][at] = context->value[axis][at];
            }
        }
    }
}

WadiStatus wadi_flip_extend_walls(const WadiFlipWallIn *in, float *const velocity[3], WadiArena *scratch,
                                  WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    WallContext context = { .in = in, .velocity = velocity };
    for (int axis = 0; axis < 3; ++axis) {
        WADI_TRY(WADI_ARENA_NEW(scratch, &context.closed[axis], (size_t)in->rows->count, "velocity extension",
                                error));
        WADI_TRY(WADI_ARENA_NEW(scratch, &context.value[axis], wadi_rows_floats(in->rows),
                                "velocity extension", error));
    }
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, find_values, &context);
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, set_values, &context);
    wadi_arena_release(scratch, mark);
    return WADI_OK;
}
