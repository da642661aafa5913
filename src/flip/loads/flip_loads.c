/* Forces of the material on solids, from the pressure and the stresses of the last solve. [theory 5.7]
 *
 * A cell acts on the closed part of its faces: with open parts w the solid in it has the area
 * h^2 (w_low - w_high) along an axis, the same that stands in the divergence, so that what the solids get is
 * what the projection takes from the momentum of the faces. Pressure acts at the surface, to which that of
 * the centre is extrapolated: the half cell in between has weight, too. Friction is that of the facets. */
#include <math.h>

#include "flip/flip.h"
#include "flip/friction/flip_friction.h"
#include "flip/loads/flip_surplus.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_lanes.h"

static const float CLOSED = 0.999f;   /* closed part of a face that is closed */
static const double ON_FACE = 0.5001; /* cells: from a centre to a side of the domain that closes its face */

typedef struct Loads {
    WadiFlip *flip;
    const WadiFlipStep *step;
    const WadiFriction *friction; /* NULL: pressure alone */
    double scale;                 /* N s of a pressure P on the area of a face */
    double weight[3];             /* growth of P along the axes, of material at rest, m/s */
    double surplus;               /* P that a surface of first order adds, m/s */
} Loads;

/* A pressure cell and what is around it. */
typedef struct Cell {
    WadiRowCell cell;
    WadiVec3 centre; /* m */
    float closed[6]; /* part of the faces in the order of WadiRows.neighbour */
    bool is_open;    /* no part of a face is closed; the rest is then not set */
    WadiVec3 normal; /* of the solid in it, out of it; 0: there is none along the axes */
    double distance; /* m, of the centre from the surface */
} Cell;

static bool has_bit(const uint8_t *bits, WadiRowCell cell)
{
    return bits != NULL && (bits[cell.row] >> cell.lane & 1) != 0;
}

/* Normal stress along an axis, pressure positive, as P. */
static double stress_of(const Loads *loads, WadiRowCell cell, int axis)
{
    const WadiFlipCells *cells = &loads->step->cells;
    const double pressure = cells->pressure[wadi_table_cell(cells->pressure_row, wadi_row_cell_index(cell))];
    return loads->friction != NULL
               ? pressure - wadi_friction_normal_stress(loads->friction, cell.row, cell.lane, axis)
               : pressure;
}

static float closed_part(const Loads *loads, WadiRowCell cell, int side)
{
    const WadiFlipSolid *solid = &loads->step->solid;
    const WadiRowCell other = wadi_row_cell_neighbour(&loads->step->grid.rows, cell, side);
    const WadiRowCell face = side & 1 ? other : cell;
    if (face.row == 0) {
        return 1.0f;
    }
    if (has_bit(loads->step->cells.sleeping.cells, other)) {
        return 0.0f; /* what sleeps passes no changes on */
    }
    const size_t row = (size_t)wadi_table_row(solid->row, face.row);
    return 1.0f - solid->open[side >> 1][WADI_ROW_CELLS * row + (size_t)face.lane];
}

/* Growth of the stress from the centre towards a side, over a cell: that from the cell behind, or at rest. */
static double growth(const Loads *loads, const Cell *c, int side)
{
    const WadiRowCell behind = wadi_row_cell_neighbour(&loads->step->grid.rows, c->cell, side ^ 1);
    if (behind.row != 0 && has_bit(loads->step->cells.pressure_cells, behind) &&
        c->closed[side ^ 1] < CLOSED) {
        return stress_of(loads, c->cell, side >> 1) - stress_of(loads, behind, side >> 1);
    }
    return side & 1 ? loads->weight[side >> 1] : -loads->weight[side >> 1];
}

static double component(WadiVec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static WadiVec3 along(int axis, double length)
{
    return wadi_vec3(axis == 0 ? length : 0.0, axis == 1 ? length : 0.0, axis == 2 ? length : 0.0);
}

/* Distance of a point from a side of the domain; INFINITY where it is open. */
static double side_distance(const WadiSolids *solids, int side, WadiVec3 x)
{
    if ((solids->closed_sides >> side & 1) == 0) {
        return INFINITY;
    }
    const double at = component(x, side >> 1);
    return side & 1 ? component(solids->domain.max, side >> 1) - at
                    : at - component(solids->domain.min, side >> 1);
}

/* Index in WadiSolidLoads of the solid nearest to x. */
static int nearest_solid(const Loads *loads, WadiVec3 x)
{
    const WadiSolids *solids = &loads->flip->context.world->solids;
    int nearest = 0;
    for (int side = 1; side < WADI_LOAD_SIDES; ++side) {
        if (side_distance(solids, side, x) < side_distance(solids, nearest, x)) {
            nearest = side;
        }
    }
    if (solids->count == 0) {
        return wadi_load_of_side(nearest);
    }
    if (solids->count == 1 && solids->closed_sides == 0) {
        return wadi_load_of_collider(0);
    }
    const WadiSolidPoint point = wadi_solids_sample_for_grid(solids, x, loads->step->solid.time);
    return point.index >= 0 ? wadi_load_of_collider(point.index) : wadi_load_of_side(nearest);
}

/* Where the surface behind a face is, and whose it is. */
static int find_surface(const Loads *loads, const Cell *c, int side, WadiVec3 *x)
{
    const double h = loads->step->grid.cell_size, sign = side & 1 ? 1.0 : -1.0;
    const double way = side_distance(&loads->flip->context.world->solids, side, c->centre);
    if (way <= ON_FACE * h && c->closed[side] >= CLOSED) {
        *x = wadi_add(c->centre, along(side >> 1, sign * way));
        return wadi_load_of_side(side);
    }
    const WadiVec3 face = wadi_add(c->centre, along(side >> 1, 0.5 * sign * h));
    *x = wadi_add_scaled(c->centre, c->normal, -fmin(fmax(c->distance, -0.5 * h), h));
    return nearest_solid(loads, face);
}

static Cell look_at(const Loads *loads, WadiRowCell cell)
{
    const WadiFlipStep *step = loads->step;
    const double h = step->grid.cell_size;
    int32_t first[3];
    Cell c = { .cell = cell };
    wadi_rows_cell(&step->grid.rows, cell.row, first);
    c.centre = wadi_vec3((first[0] + cell.lane + 0.5) * h, (first[1] + 0.5) * h, (first[2] + 0.5) * h);
    float sum = 0.0f;
    for (int side = 0; side < 6; ++side) {
        c.closed[side] = closed_part(loads, cell, side);
        sum += c.closed[side];
    }
    c.is_open = sum == 0.0f;
    if (c.is_open) {
        return c;
    }
    const WadiVec3 area = wadi_vec3((double)(c.closed[0] - c.closed[1]), (double)(c.closed[2] - c.closed[3]),
                                    (double)(c.closed[4] - c.closed[5]));
    const double size = wadi_norm(area);
    c.normal = size > 0.0 ? wadi_scale(area, 1.0 / size) : area;
    const size_t row = (size_t)wadi_table_row(step->solid.row, cell.row);
    c.distance = (double)step->solid.distance[WADI_ROW_CELLS * row + (size_t)cell.lane];
    return c;
}

/* Part of the stresses in a cell without the surplus, which is one of the stress along gravity. */
static double true_part(const Loads *loads, WadiRowCell cell)
{
    double square = 0.0, stress = 0.0;
    for (int a = 0; a < 3; ++a) {
        square += loads->weight[a] * loads->weight[a];
        stress += loads->weight[a] * loads->weight[a] * stress_of(loads, cell, a);
    }
    return stress > 0.0 ? fmin(fmax(1.0 - loads->surplus * square / stress, 0.0), 1.0) : 1.0;
}

/* Stress along an axis at a point near the centre. Cells that a unilateral solve leaves out have P = 0, and
 * carry no weight. */
static double stress_at(const Loads *loads, const Cell *c, int axis, WadiVec3 x)
{
    const double h = loads->step->grid.cell_size;
    double stress = stress_of(loads, c->cell, axis);
    if (stress == 0.0) {
        return 0.0;
    }
    stress *= true_part(loads, c->cell);
    for (int a = 0; a < 3; ++a) {
        const double way = (component(x, a) - component(c->centre, a)) / h;
        if (way != 0.0) {
            stress += fabs(way) * growth(loads, c, 2 * a + (way > 0.0));
        }
    }
    return stress;
}

static WadiStatus load_of(const Loads *loads, int32_t row, int solid, WadiSolidLoad **load, WadiError *error)
{
    const WadiRows *rows = &loads->step->grid.rows;
    return wadi_sleep_loads_of(&loads->flip->sleep_loads, rows->tiles->tiles[rows->tile[row]], solid, load,
                               error);
}

static WadiStatus press(const Loads *loads, const Cell *c, int side, double closed, WadiError *error)
{
    WadiVec3 x;
    WadiSolidLoad *load = NULL;
    const int solid = find_surface(loads, c, side, &x);
    const double force = stress_at(loads, c, side >> 1, x) * closed * loads->scale / loads->step->force_dt;
    WADI_TRY(load_of(loads, c->cell.row, solid, &load, error));
    wadi_solid_load_press(load, wadi_sub(x, loads->flip->context.loads->pivot[solid]),
                          along(side >> 1, side & 1 ? force : -force));
    return WADI_OK;
}

/* Friction goes with the stress; that along gravity bears weight, whose surplus the stress gives up. */
static WadiVec3 true_friction(const Loads *loads, WadiRowCell cell, WadiVec3 impulse)
{
    const WadiVec3 down = wadi_normalized_or(wadi_vec3(loads->weight[0], loads->weight[1], loads->weight[2]),
                                             wadi_vec3(0, 0, 0));
    const WadiVec3 along_gravity = wadi_scale(down, wadi_dot(impulse, down));
    return wadi_add_scaled(along_gravity, wadi_sub(impulse, along_gravity), true_part(loads, cell));
}

static WadiStatus rub(const Loads *loads, const Cell *c, int side, WadiError *error)
{
    double impulse[3];
    WadiVec3 x;
    WadiSolidLoad *load = NULL;
    if (!wadi_friction_wall_impulse(loads->friction, c->cell.row, c->cell.lane, side, impulse)) {
        return WADI_OK;
    }
    int solid;
    if (side < 6) {
        solid = find_surface(loads, c, side, &x);
    } else {
        x = wadi_add_scaled(c->centre, c->normal, -c->distance);
        solid = nearest_solid(loads, x);
    }
    const double scale = -loads->scale / loads->step->force_dt;
    const WadiVec3 force = true_friction(loads, c->cell, wadi_vec3(impulse[0], impulse[1], impulse[2]));
    WADI_TRY(load_of(loads, c->cell.row, solid, &load, error));
    wadi_solid_load_rub(load, wadi_sub(x, loads->flip->context.loads->pivot[solid]),
                        wadi_scale(force, scale));
    return WADI_OK;
}

/* Both parts where a gap is as wide as the cell, else their difference: the rest of a face that is closed in
 * part presses on the cells on its two sides alike. */
static WadiStatus press_along(const Loads *loads, const Cell *c, int axis, WadiError *error)
{
    const float low = c->closed[2 * axis], high = c->closed[2 * axis + 1];
    if (low >= CLOSED && high >= CLOSED) {
        WADI_TRY(press(loads, c, 2 * axis, 1.0, error));
        return press(loads, c, 2 * axis + 1, 1.0, error);
    }
    const double net = (double)high - (double)low;
    return net != 0.0 ? press(loads, c, 2 * axis + (net > 0.0), fabs(net), error) : WADI_OK;
}

static WadiStatus add_cell(const Loads *loads, WadiRowCell cell, WadiError *error)
{
    const Cell c = look_at(loads, cell);
    if (c.is_open) {
        return WADI_OK;
    }
    for (int axis = 0; axis < 3; ++axis) {
        WADI_TRY(press_along(loads, &c, axis, error));
    }
    for (int side = 0; loads->friction != NULL && side < WADI_FRICTION_SIDES; ++side) {
        WADI_TRY(rub(loads, &c, side, error));
    }
    return WADI_OK;
}

/* Whether a row or one of its neighbours has faces that are not open. */
static bool is_near_solid(const Loads *loads, int32_t row)
{
    const WadiRows *rows = &loads->step->grid.rows;
    const int32_t *table = loads->step->solid.row;
    bool is_near = wadi_table_row(table, row) != WADI_FLIP_SOLID_OPEN_ROW;
    for (int side = 0; side < 6; ++side) {
        const int32_t other = rows->neighbour[row][side];
        is_near = is_near || other == 0 || wadi_table_row(table, other) != WADI_FLIP_SOLID_OPEN_ROW;
    }
    return is_near;
}

WadiStatus wadi_flip_add_loads(WadiFlip *flip, const WadiFlipStep *step, const WadiFriction *friction,
                               WadiError *error)
{
    WadiSolidLoads *out = flip->context.loads;
    const double h = step->grid.cell_size;
    const WadiVec3 gravity = wadi_curve_value3(&flip->context.world->scene->gravity, step->time);
    if (out == NULL || !out->is_reported) {
        return WADI_OK;
    }
    Loads loads = { .flip = flip,
                    .step = step,
                    .friction = friction,
                    .scale = flip->materials.density * h * h * h,
                    .weight = { gravity.x * step->force_dt, gravity.y * step->force_dt,
                                gravity.z * step->force_dt } };
    loads.surplus = wadi_flip_surplus(flip, step, loads.weight);
    WADI_TRY(wadi_sleep_loads_begin(&flip->sleep_loads, &flip->sleep, error));
    for (int32_t row = 1; row < step->grid.rows.count; ++row) {
        if (step->cells.pressure_cells[row] == 0 || !is_near_solid(&loads, row)) {
            continue;
        }
        for (unsigned left = step->cells.pressure_cells[row]; left != 0; left &= left - 1) {
            WADI_TRY(add_cell(&loads, (WadiRowCell){ row, __builtin_ctz(left) }, error));
        }
    }
    out->step_time = step->force_dt;
    wadi_sleep_loads_sum(&flip->sleep_loads, step->force_dt, out);
    return WADI_OK;
}
