/* Distance from the free surface, from the fill of the cells. [theory 4.2]
 * The fill is smoothed with the hat of the transfers (weights 1/8, 3/4, 1/8 a cell and axis), divided by
 * the smoothed open fraction, and inverted to a depth s in cells below a flat surface:
 *   f(s) = 1 - (1 - s)^2 / 2 for 0 <= s <= 1,   f(s) = (1 + s)^2 / 2 for -1 <= s <= 0.
 * There is no radius to choose: a box of fluid along the grid has its surface on its faces.
 * In cells that walls cut this is the depth of their open part, not of their centre: flip_surface_centroid.c.
 * Near walls that never move the level of the cells around counts too: flip_surface_level.c.
 * Differs: the usual distance from the nearest particles less a radius puts a settled surface 0.3 cells
 * off. */
#include "flip/pressure/flip_surface.h"

#include <math.h>

#include "core/parallel.h"
#include "flip/pressure/flip_surface_centroid.h"
#include "flip/pressure/flip_surface_level.h"
#include "flip/transfer/flip_row_table.h"

enum { LANES = WADI_ROW_CELLS };

/* Smallest depth of FLUID cells and height of air cells, in cells: a lone particle is fluid too. Small, so
 * that a surface close to a centre is not moved. */
static const float min_depth = 0.01f;
/* Smoothed open fraction below which a cut cell also uses its neighbours, and the smallest one used as
 * divisor. In a corner along the grid it is 0.67. */
static const float enough_open = 0.6f, min_open = 0.25f;

typedef struct SmoothContext {
    const WadiRows *rows;
    const int32_t *table; /* of `from` */
    const float *from;
    float *to;
    int axis;
} SmoothContext;

static void smooth_rows(void *user, int64_t first, int64_t end)
{
    const SmoothContext *context = user;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        const int32_t *n = context->rows->neighbour[row] + 2 * context->axis;
        const WadiF8 own = WADI_ROW(context->from, wadi_table_row(context->table, row));
        WadiF8 low = WADI_ROW(context->from, wadi_table_row(context->table, n[0])),
               high = WADI_ROW(context->from, wadi_table_row(context->table, n[1]));
        if (context->axis == 0) {
            low = WADI_ROW_SHIFT_UP(low, own);
            high = WADI_ROW_SHIFT_DOWN(own, high);
        }
        WADI_ROW_OUT(context->to, row) = 0.75f * own + 0.125f * (low + high);
    }
}

/* table: rows of the values. result and spare: arrays of all rows, the null row zeroed. */
static void smooth(const WadiRows *rows, const int32_t *table, const float *values, float *result,
                   float *spare)
{
    const float *from[3] = { values, result, spare };
    float *to[3] = { result, spare, result };
    for (int axis = 0; axis < 3; ++axis) {
        SmoothContext context = { rows, axis == 0 ? table : NULL, from[axis], to[axis], axis };
        wadi_parallel_for(rows->count, WADI_ROW_BLOCK, smooth_rows, &context);
    }
}

typedef struct DepthContext {
    const WadiFlipSurfaceIn *in;
    const float *fill, *solid; /* smoothed; solid may be NULL */
    float *by_fill;            /* distance by the fill of each cell alone; may be `distance` */
    float *distance;
    uint8_t *deep;   /* per row: cells whose centre is under the surface */
    uint8_t *lone;   /* per row: cells with particles that are not beside deep cells */
    uint8_t *liquid; /* may be NULL */
    const uint8_t *occupied;
    const uint8_t *labels;      /* the sign of the distance follows these */
    const WadiFlipSpace *space; /* NULL: not needed */
} DepthContext;

/* Smoothed fill of a cut cell almost inside solids. It holds few particles, and by chance it would be air
 * under the fluid; so neighbours are added until the open fraction is `enough_open`. */
static float fill_with_neighbours(const DepthContext *context, WadiRowCell cell)
{
    const WadiRows *rows = context->in->rows;
    const size_t own = wadi_row_cell_index(cell);
    float fill = 0.0f, space = 0.0f;
    for (int side = 0; side < 6; ++side) {
        const WadiRowCell neighbour = wadi_row_cell_neighbour(rows, cell, side);
        if (neighbour.row != 0) {
            const size_t at = wadi_row_cell_index(neighbour);
            fill += context->fill[at];
            space += 1.0f - context->solid[at];
        }
    }
    const float own_open = 1.0f - context->solid[own];
    const float missing = (enough_open - own_open) / wadi_maxf(space, 1e-3f);
    return (context->fill[own] + missing * fill) / (own_open + missing * space + 1e-6f);
}

/* Cut cells: they may be empty by chance, and are fluid if all around them is. */
static unsigned cut_cells(const WadiFlipSurfaceIn *in, int32_t row)
{
    if (in->fraction == NULL) {
        return 0;
    }
    const WadiF8 fraction = WADI_ROW(in->fraction, wadi_table_row(in->solid_row, row));
    const WadiI8 is_touched = fraction > 0.0f, is_open = fraction < 1.0f;
    /* The fraction comes from a few samples, and all of a sliver may lie inside. */
    return wadi_row_bits(&is_touched) & (wadi_row_bits(&is_open) | in->fluid[row]);
}

/* Whether walls cut a cell of the row's tile or of one that touches it. Elsewhere centroids and levels change
 * nothing: walls along the grid on faces are such. */
static bool is_near_cut(const DepthContext *context, int32_t row)
{
    return context->space != NULL && context->space->near_cut[context->in->rows->tile[row]] != 0;
}

static void find_depths(void *user, int64_t first, int64_t end)
{
    const DepthContext *context = user;
    const float h = (float)context->in->cell_size;
    for (int64_t row = first + (first == 0); row < end; ++row) {
        const unsigned cut = cut_cells(context->in, (int32_t)row);
        for (int l = 0; l < LANES; ++l) {
            int64_t cell = LANES * row + l;
            const float space = context->solid != NULL ? 1.0f - context->solid[cell] : 1.0f;
            const bool is_cut = (cut >> l & 1) != 0 && space < enough_open;
            const float mean_fill = is_cut ? fill_with_neighbours(context, (WadiRowCell){ (int32_t)row, l })
                                           : context->fill[cell] / wadi_maxf(space, min_open);
            float depth = wadi_flip_depth_of(mean_fill);
            if (space < 1.0f && fabsf(depth) < 1.0f && is_near_cut(context, (int32_t)row)) {
                depth +=
                    wadi_flip_centroid_height(context->in, context->space, (WadiRowCell){ (int32_t)row, l },
                                              is_cut ? enough_open : 0.0f);
                depth = wadi_minf(wadi_maxf(depth, -1.0f), 1.0f);
            }
            context->by_fill[cell] = -h * depth;
        }
    }
}

static void level_depths(void *user, int64_t first, int64_t end)
{
    const DepthContext *context = user;
    const float h = (float)context->in->cell_size;
    const WadiFlipLevelIn in = { context->in, context->space, context->fill, context->by_fill };
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        const WadiF8 solid = WADI_ROW(context->solid, row);
        const WadiI8 is_near = (solid > 0.0f) & (solid < 1.0f);
        const unsigned near = is_near_cut(context, row) ? wadi_row_bits(&is_near) : 0;
        WADI_ROW_OUT(context->distance, row) = WADI_ROW(context->by_fill, row);
        if (near != 0) {
            float depths[LANES];
            WadiI8 is_set;
            wadi_flip_level_depths(&in, row, depths);
            wadi_row_mask(near, &is_set);
            const WadiF8 distance = -h * WADI_ROW(depths, 0);
            WADI_ROW_OUT(context->distance, row) =
                WADI_ROW_SELECT(is_set, distance, WADI_ROW(context->by_fill, row));
        }
    }
}

/* Cells that may be under the surface. In calm water a cell may hold no particle by chance, and as air it
 * would never rest. Beside solids that move the fill varies, and only cells with particles count. */
static unsigned open_cells(const WadiFlipSurfaceIn *in, int32_t row)
{
    const unsigned known = in->fluid[row] | cut_cells(in, row);
    if (!in->is_at_rest || in->fraction == NULL) {
        return in->is_at_rest ? 0xff : known;
    }
    const WadiI8 is_open = WADI_ROW(in->fraction, wadi_table_row(in->solid_row, row)) < 1.0f;
    return known | wadi_row_bits(&is_open);
}

static void find_deep(void *user, int64_t first, int64_t end)
{
    const DepthContext *context = user;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        const WadiI8 is_below = WADI_ROW(context->distance, row) < 0.0f;
        context->deep[row] = (uint8_t)(wadi_row_bits(&is_below) & open_cells(context->in, row));
    }
}

/* Deep cells and cells beside them. */
static unsigned near_deep(const DepthContext *context, int32_t row)
{
    unsigned near = context->deep[row];
    for (int side = 0; side < 6; ++side) {
        near |= wadi_row_neighbour_bits(context->in->rows, context->deep, row, side);
    }
    return near;
}

static void find_lone(void *user, int64_t first, int64_t end)
{
    const DepthContext *context = user;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        context->lone[row] = (uint8_t)(context->occupied[row] & ~near_deep(context, row));
    }
}

/* Cells with lone particles are liquid, and so are empty cut cells beside them. An empty cell under an
 * overhang is not, though the cell towards which it opens has particles: that one is below the surface. */
static void find_liquid(void *user, int64_t first, int64_t end)
{
    const DepthContext *context = user;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        unsigned lone = context->lone[row],
                 empty = context->in->fluid[row] & ~(unsigned)context->occupied[row];
        if (empty != 0) {
            unsigned beside = 0;
            for (int side = 0; side < 6; ++side) {
                beside |= wadi_row_neighbour_bits(context->in->rows, context->lone, row, side);
            }
            lone |= empty & beside & ~near_deep(context, row);
        }
        context->liquid[row] = (uint8_t)(context->deep[row] | lone);
    }
}

static void agree_with_labels(void *user, int64_t first, int64_t end)
{
    const DepthContext *context = user;
    const float smallest = min_depth * (float)context->in->cell_size;
    for (int64_t row = first + (first == 0); row < end; ++row) {
        unsigned labels = context->labels[row];
        float *distance = context->distance + LANES * row;
        for (int l = 0; l < LANES; ++l) {
            distance[l] =
                labels >> l & 1 ? wadi_minf(distance[l], -smallest) : wadi_maxf(distance[l], smallest);
        }
    }
}

WadiStatus wadi_flip_surface_distance(const WadiFlipSurfaceIn *in, float *distance, uint8_t *liquid,
                                      WadiArena *scratch, WadiError *error)
{
    const size_t floats = wadi_rows_floats(in->rows);
    float *spare = NULL, *fill = NULL, *solid = NULL;
    uint8_t *deep = NULL, *lone = NULL;
    WADI_TRY(WADI_ARENA_NEW(scratch, &spare, floats, "surface distance", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &fill, floats, "surface distance", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &deep, (size_t)in->rows->count, "surface distance", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &lone, (size_t)in->rows->count, "surface distance", error));
    memset(spare, 0, LANES * sizeof(float));
    memset(fill, 0, LANES * sizeof(float));
    deep[0] = 0;
    smooth(in->rows, NULL, in->fill, fill, spare);
    if (in->fraction != NULL) {
        WADI_TRY(WADI_ARENA_NEW(scratch, &solid, floats, "surface distance", error));
        memset(solid, 0, LANES * sizeof(float));
        smooth(in->rows, in->solid_row, in->fraction, solid, spare);
    }
    memset(distance, 0, LANES * sizeof(float));
    WadiFlipSpace space = { 0 };
    const bool is_levelled = in->fraction != NULL && in->is_at_rest;
    DepthContext context = { .in = in,
                             .fill = fill,
                             .solid = solid,
                             .space = is_levelled ? &space : NULL,
                             .by_fill = is_levelled ? spare : distance,
                             .distance = distance,
                             .deep = deep,
                             .lone = lone,
                             .liquid = liquid,
                             .occupied = in->occupied != NULL ? in->occupied : in->fluid,
                             .labels = liquid != NULL ? liquid : in->fluid };
    if (is_levelled) {
        WADI_TRY(wadi_flip_find_space(in, &space, scratch, error));
    }
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, find_depths, &context);
    if (is_levelled) {
        wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, level_depths, &context);
    }
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, find_deep, &context);
    if (liquid != NULL) {
        wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, find_lone, &context);
        wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, find_liquid, &context);
    }
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, agree_with_labels, &context);
    return WADI_OK;
}

typedef struct ThetaContext {
    const WadiRows *rows;
    const uint8_t *fluid;
    const float *distance;
    float *const *theta;
    WadiFlipTheta kind;
} ThetaContext;

static void find_thetas(void *user, int64_t first, int64_t end)
{
    const ThetaContext *context = user;
    const float plain = context->kind == WADI_FLIP_THETA_HALF ? 0.5f : 1.0f;
    for (int axis = 0; axis < 3; ++axis) {
        for (int32_t row = (int32_t)first; row < end; ++row) {
            float *restrict theta = context->theta[axis] + (size_t)LANES * (size_t)row;
            unsigned here = context->fluid[row];
            unsigned low = wadi_row_neighbour_bits(context->rows, context->fluid, row, 2 * axis);
            unsigned surface = row > 0 ? here ^ low : 0;
            for (int l = 0; l < LANES; ++l) {
                theta[l] = surface >> l & 1 ? plain : 1.0f;
            }
            if (context->kind != WADI_FLIP_THETA_GHOST || surface == 0) {
                continue;
            }
            const float *restrict own = context->distance + (size_t)LANES * (size_t)row;
            float low_distance[LANES];
            wadi_row_neighbours(context->rows, context->distance, row, 2 * axis, low_distance);
            WadiF8 ghost_theta;
            wadi_flip_row_theta((const WadiF8 *)own, (const WadiF8 *)low_distance, here, &ghost_theta);
            for (int l = 0; l < LANES; ++l) {
                theta[l] = surface >> l & 1 ? ghost_theta[l] : theta[l];
            }
        }
    }
}

void wadi_flip_surface_theta(const WadiRows *rows, const uint8_t *fluid, const float *distance,
                             WadiFlipTheta kind, float *const theta[3])
{
    ThetaContext context = { rows, fluid, distance, theta, kind };
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, find_thetas, &context);
}
