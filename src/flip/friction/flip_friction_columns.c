/* Strength of sand that lies as a layer on a wall across cells. On a wall along the grid, with a first-order
 * surface, the pressure of a cell is that half a cell below its centre, so only the wall is at its limit. On
 * an oblique wall it is that at the centre, every depth is at its limit at once, and the staircase of the
 * surface gives way below the angle. So half a cell is added there too [theory 6.9]. */
#include <math.h>

#include "flip/friction/flip_friction_slots.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_lanes.h"

/* Cosine between the wall's normal and the gradient of the pressure: a layer along the wall has 1. Nothing is
 * added below the first (20 degrees), all of it above the second (10 degrees). */
#define LEAST_COSINE 0.94
#define FULL_COSINE 0.985
/* Cells above the wall over which the gradient is averaged: that of one cell is noisy in flowing sand. */
enum { AVERAGED_CELLS = 8 };

typedef struct Columns {
    const WadiFriction *friction;
    const double *pressure;
    WadiF8 *extra;
    int down; /* side to which gravity pulls most */
} Columns;

/* The side to which gravity pulls most; -1: no gravity. */
static int side_of_gravity(const double weight[3])
{
    int side = -1;
    double most = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        if (fabs(weight[axis]) > most) {
            most = fabs(weight[axis]);
            side = 2 * axis + (weight[axis] > 0.0);
        }
    }
    return side;
}

/* Sleeping sand is sand, but has no pressure in this step. */
static bool is_sand(const WadiFriction *friction, WadiRowCell cell)
{
    return friction->grid.fluid[cell.row] >> cell.lane & 1;
}

static bool is_awake(const WadiFriction *friction, WadiRowCell cell)
{
    return friction->slot[friction->slot_of[cell.row]].fluid >> cell.lane & 1;
}

static double pressure_of(const Columns *columns, WadiRowCell cell)
{
    return columns
        ->pressure[wadi_table_cell(columns->friction->grid.pressure_row, wadi_row_cell_index(cell))];
}

/* Gradient of the pressure; false where an axis has no neighbour with a pressure. */
static bool pressure_gradient(const Columns *columns, WadiRowCell cell, double gradient[3])
{
    const double here = pressure_of(columns, cell);
    for (int axis = 0; axis < 3; ++axis) {
        double sum = 0.0;
        int count = 0;
        for (int high = 0; high < 2; ++high) {
            WadiRowCell there = wadi_row_cell_neighbour(columns->friction->grid.rows, cell, 2 * axis + high);
            if (is_awake(columns->friction, there)) {
                double rise = pressure_of(columns, there) - here;
                sum += high ? rise : -rise;
                count += 1;
            }
        }
        if (count == 0) {
            return false;
        }
        gradient[axis] = sum / count;
    }
    return true;
}

/* How much the sand above a wall lies along it, 0 to 1. */
static double layer_factor(const Columns *columns, WadiRowCell cell, const double normal[3])
{
    double gradient[3], along = 0.0, square = 0.0, sum[3] = { 0.0, 0.0, 0.0 };
    for (int n = 0; n < AVERAGED_CELLS && is_sand(columns->friction, cell); ++n) {
        if (is_awake(columns->friction, cell) && pressure_gradient(columns, cell, gradient)) {
            for (int axis = 0; axis < 3; ++axis) {
                sum[axis] += gradient[axis];
            }
        }
        cell = wadi_row_cell_neighbour(columns->friction->grid.rows, cell, columns->down ^ 1);
    }
    for (int axis = 0; axis < 3; ++axis) {
        along += sum[axis] * normal[axis];
        square += sum[axis] * sum[axis];
    }
    double cosine = square > 0.0 ? along / sqrt(square) : 0.0;
    return fmin(fmax((cosine - LEAST_COSINE) / (FULL_COSINE - LEAST_COSINE), 0.0), 1.0);
}

/* Half the weight of a cell across the walls of a slot, times min(1, 2 sin b), b the angle between wall and
 * grid: nothing changes as a wall becomes one along the grid. */
static WadiF8 on_walls(const Columns *columns, int32_t s)
{
    const WadiFriction *friction = columns->friction;
    int32_t w = friction->wall[s][OBLIQUE];
    WadiF8 extra = wadi_splat(0.0f);
    for (int lane = 0; lane < 8 && w != 0; ++lane) {
        if (friction->facets[w].area[lane] <= 0.0f) {
            continue;
        }
        double pull = 0.0, largest = 0.0, normal[3];
        for (int axis = 0; axis < 3; ++axis) {
            normal[axis] = (double)friction->oblique[friction->facets[w].oblique].normal[axis][lane];
            pull += friction->grid.weight[axis] * normal[axis];
            largest = fmax(largest, normal[axis] * normal[axis]);
        }
        if (pull > 0.0) {
            double oblique = fmin(1.0, 2.0 * sqrt(fmax(1.0 - largest, 0.0)));
            WadiRowCell cell = { friction->slot[s].row, lane };
            extra[lane] = (float)(0.5 * pull * oblique * layer_factor(columns, cell, normal));
        }
    }
    return extra;
}

/* A cell has what the cell below has; along x the cells of a slot follow each other. */
static void rise(const Columns *columns, int32_t s)
{
    const WadiFrictionSlot *slot = &columns->friction->slot[s];
    WadiF8 own = on_walls(columns, s), below = columns->extra[slot->near[columns->down]];
    const WadiI8 sand = wadi_lanes(columns->friction->grid.fluid[slot->row]);
    if (columns->down >= 2) {
        columns->extra[s] = wadi_masked(WADI_MAX8(own, below), sand);
        return;
    }
    float last = below[columns->down == 0 ? 7 : 0];
    for (int n = 0; n < 8; ++n) {
        int lane = columns->down == 0 ? n : 7 - n;
        last = sand[lane] != 0 ? fmaxf(own[lane], last) : 0.0f;
        own[lane] = last;
    }
    columns->extra[s] = own;
}

/* Against gravity: a row's -x, -y and -z neighbours precede it. */
WadiStatus wadi_friction_find_columns(const WadiFriction *friction, const WadiFrictionLoad *load,
                                      const WadiF8 **extra, WadiArena *arena, WadiError *error)
{
    Columns columns = { .friction = friction,
                        .pressure = load->pressure,
                        .down = side_of_gravity(friction->grid.weight) };
    const int32_t count = friction->slot_count;
    *extra = NULL;
    if (friction->oblique_count == 0 || columns.down < 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &columns.extra, (size_t)count, "friction", error));
    columns.extra[0] = wadi_splat(0.0f);
    for (int32_t n = 1; n < count; ++n) {
        rise(&columns, (columns.down & 1) == 0 ? n : count - n);
    }
    *extra = columns.extra;
    return WADI_OK;
}

WadiStatus wadi_friction_is_layer(const WadiFriction *friction, const WadiFrictionLoad *load, bool *is_layer,
                                  WadiArena *arena, WadiError *error)
{
    const WadiF8 *extra;
    int64_t sand = 0, in_layers = 0;
    WADI_TRY(wadi_friction_find_columns(friction, load, &extra, arena, error));
    for (int32_t s = 1; s < friction->slot_count && extra != NULL; ++s) {
        sand += __builtin_popcount(friction->slot[s].fluid);
        for (int lane = 0; lane < 8; ++lane) {
            in_layers += (friction->slot[s].fluid >> lane & 1) != 0 && extra[s][lane] > 0.0f;
        }
    }
    *is_layer = 2 * in_layers > sand;
    return WADI_OK;
}
