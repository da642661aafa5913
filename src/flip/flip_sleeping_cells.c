/* Sleeping sand in the grid of a step: its effect on awake neighbours. [theory 8.2]
 *
 * A sleeping cell has velocity 0 and the stress with which it fell asleep. Its faces are closed to the
 * pressure; edges shared with awake cells carry shear as before, so that falling asleep changes no force
 * on an awake face. If its load later changes by more than the tolerance of wadi_flip_check_sleeping, its
 * tile wakes. */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "flip/flip.h"
#include "grid/row_lanes.h"

/* Change of pressure or stress at the border that wakes a tile: a fraction of the pressure plus the weight
 * of so many layers of cells. */
#define LOAD_FRACTION 0.1
#define LOAD_LAYERS 1.0

WadiStatus wadi_flip_find_sleeping(const WadiFlip *flip, WadiFlipStep *step, const uint8_t **occupied,
                                   WadiError *error)
{
    const WadiSleep *sleep = &flip->sleep;
    const WadiRows *rows = &step->grid.rows;
    WadiArena *arena = flip->context.scratch;
    *occupied = step->grid.occupied;
    if (sleep->tile_count == 0) {
        return WADI_OK;
    }
    int32_t *sleeper = NULL;
    bool has_any = false;
    WADI_TRY(WADI_ARENA_NEW(arena, &sleeper, (size_t)rows->tiles->count, "sleeping tiles", error));
    for (int32_t t = 0; t < rows->tiles->count; ++t) {
        sleeper[t] = wadi_sleep_find(sleep, rows->tiles->tiles[t]);
        has_any = has_any || sleeper[t] >= 0;
    }
    if (!has_any) {
        return WADI_OK;
    }
    WADI_ASSERT(flip->materials.has_sand); /* no awake tile touches a sleeping pool */
    uint8_t *bits = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &bits, (size_t)rows->count, "labels", error));
    memcpy(bits, step->grid.occupied, (size_t)rows->count);
    for (int32_t t = 0; t < rows->tiles->count; ++t) {
        for (int32_t r = rows->first[t]; sleeper[t] >= 0 && r < rows->first[t + 1]; ++r) {
            WADI_ASSERT(bits[r] == 0);
            bits[r] = sleep->tile[sleeper[t]].lanes[rows->index_in_tile[r]];
            for (unsigned left = bits[r]; left != 0; left &= left - 1) {
                step->cells.fill[8 * (size_t)r + (size_t)__builtin_ctz(left)] = 1.0f;
            }
        }
    }
    step->cells.sleeping.tile = sleeper;
    *occupied = bits;
    return WADI_OK;
}

WadiStatus wadi_flip_exclude_sleeping(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiRows *rows = &step->grid.rows;
    WadiFlipSleepingCells *sleeping = &step->cells.sleeping;
    sleeping->sand = step->cells.pressure_cells;
    if (sleeping->tile == NULL) {
        return WADI_OK;
    }
    size_t count = (size_t)rows->count;
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &sleeping->sand, count, "labels", error));
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &sleeping->cells, count, "labels", error));
    memcpy(sleeping->sand, step->cells.pressure_cells, count);
    memset(sleeping->cells, 0, count);
    for (int32_t t = 0; t < rows->tiles->count; ++t) {
        for (int32_t r = rows->first[t]; sleeping->tile[t] >= 0 && r < rows->first[t + 1]; ++r) {
            sleeping->cells[r] = step->cells.pressure_cells[r];
            step->cells.inside[r] |= step->cells.pressure_cells[r];
            step->cells.pressure_cells[r] = 0;
        }
    }
    return WADI_OK;
}

/* Visit the faces of sleeping cells. */
static void visit_faces(WadiFlipStep *step, void (*visit)(WadiFlipStep *, int axis, int32_t row, int lane))
{
    const WadiRows *rows = &step->grid.rows;
    for (int32_t t = 0; t < rows->tiles->count && step->cells.sleeping.tile != NULL; ++t) {
        for (int32_t r = rows->first[t]; step->cells.sleeping.tile[t] >= 0 && r < rows->first[t + 1]; ++r) {
            for (unsigned left = step->cells.sleeping.cells[r]; left != 0; left &= left - 1) {
                int l = __builtin_ctz(left);
                for (int axis = 0; axis < 3; ++axis) {
                    int32_t next = rows->neighbour[r][2 * axis + 1];
                    visit(step, axis, r, l);
                    if (axis == 0 && l < 7) {
                        visit(step, axis, r, l + 1);
                    } else if (next != 0) {
                        visit(step, axis, next, axis == 0 ? 0 : l);
                    }
                }
            }
        }
    }
}

static void close_face(WadiFlipStep *step, int axis, int32_t row, int lane)
{
    const int32_t own = step->solid.row[row];
    WADI_ASSERT(own >= WADI_FLIP_SOLID_PLAIN_ROWS);
    step->solid.open[axis][8 * (size_t)own + (size_t)lane] = 0.0f;
}

void wadi_flip_close_sleeping(WadiFlipStep *step)
{
    visit_faces(step, close_face);
}

static void stop_face(WadiFlipStep *step, int axis, int32_t row, int lane)
{
    step->grid.velocity[axis][8 * (size_t)row + (size_t)lane] = 0.0f;
    step->known[axis][row] |= (uint8_t)(1u << lane);
}

void wadi_flip_stop_sleeping(WadiFlipStep *step)
{
    visit_faces(step, stop_face);
}

typedef struct Check {
    const WadiFlipStep *step;
    const WadiFriction *friction;
    const WadiFrictionMemory *sleeping_stress;
    double layer; /* weight of a layer of cells, as P */
} Check;

/* Largest change of the load of awake cells on a sleeping row; 1 wakes the tile. */
static double change_of_row(const Check *check, const WadiSleepTile *tile, int32_t row)
{
    const WadiFlipStep *step = check->step;
    const WadiRows *rows = &step->grid.rows;
    const int j = rows->index_in_tile[row] & 7, k = rows->index_in_tile[row] >> 3;
    double largest = 0.0;
    for (int side = 0; side < 6; ++side) {
        unsigned meets = step->cells.sleeping.cells[row] &
                         wadi_row_neighbour_bits(rows, step->cells.pressure_cells, row, side);
        for (; meets != 0; meets &= meets - 1) {
            WadiRowCell asleep = { row, __builtin_ctz(meets) };
            WadiRowCell awake = wadi_row_cell_neighbour(rows, asleep, side);
            int index = side < 2 ? j + 8 * k : side < 4 ? asleep.lane + 8 * k : asleep.lane + 8 * j;
            double then = step->force_dt * (double)tile->load[side][index];
            double change = fabs(
                step->cells.pressure[wadi_table_cell(step->cells.pressure_row, wadi_row_cell_index(awake))] -
                then);
            change = fmax(
                change, wadi_friction_change(check->friction, check->sleeping_stress, awake.row, awake.lane));
            largest = fmax(largest, change / (LOAD_FRACTION * then + LOAD_LAYERS * check->layer));
        }
    }
    return largest;
}

void wadi_flip_check_sleeping(WadiFlip *flip, const WadiFlipStep *step, const WadiFriction *friction)
{
    const WadiRows *rows = &step->grid.rows;
    Check check = { .step = step,
                    .friction = friction,
                    .sleeping_stress = &flip->sleep_stresses.friction,
                    .layer = wadi_flip_gravity_step(flip, step) };
    for (int32_t t = 0; t < rows->tiles->count && step->cells.sleeping.tile != NULL; ++t) {
        double change = 0.0;
        if (step->cells.sleeping.tile[t] < 0) {
            continue;
        }
        WadiSleepTile *tile = &flip->sleep.tile[step->cells.sleeping.tile[t]];
        for (int32_t r = rows->first[t]; r < rows->first[t + 1]; ++r) {
            change = fmax(change, change_of_row(&check, tile, r));
        }
        tile->change = (float)change;
    }
}
