/* Save the face velocities from the particles for FLIP; then add body forces: u* = u + dt a.
 * [ZB05 sec. 4.2.3] */
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "grid/row_vectors.h"

enum { LANES = WADI_ROW_CELLS };

typedef struct SaveContext {
    WadiFlipStep *step;
    uint8_t *any; /* per row: cells with a velocity from particles */
} SaveContext;

typedef struct ForceContext {
    const WadiWorld *world;
    WadiFlipStep *step;
    WadiVec3 gravity; /* m/s^2, at `time` */
    double time;      /* s, middle of the interval in which forces act */
} ForceContext;

/* Gravity and forces, which depend on the position, and drag on the velocity of the face. */
static void add_all_forces(const ForceContext *context, int32_t row)
{
    const WadiFlipStep *step = context->step;
    const double h = step->grid.cell_size;
    int32_t cell[3];
    wadi_rows_cell(&step->grid.rows, row, cell);
    for (int i = 0; i < 3 * LANES; ++i) {
        const int a = i / LANES, l = i % LANES;
        float *u = &step->grid.velocity[a][LANES * row + l];
        if ((step->reached[a][row] >> l & 1) != 0) {
            WadiVec3 x = { h * (cell[0] + l + (a == 0 ? 0.0 : 0.5)), h * (cell[1] + (a == 1 ? 0.0 : 0.5)),
                           h * (cell[2] + (a == 2 ? 0.0 : 0.5)) };
            WadiVec3 v = { a == 0 ? (double)*u : 0.0, a == 1 ? (double)*u : 0.0, a == 2 ? (double)*u : 0.0 };
            const WadiKick kick = wadi_world_kick(context->world, x, v, context->time, step->force_dt);
            *u += (float)wadi_component(kick.velocity, a);
        }
    }
}

static void force_rows(void *user, int64_t first, int64_t end)
{
    const ForceContext *context = user;
    WadiFlipStep *step = context->step;
    const float change[3] = { (float)(context->gravity.x * step->force_dt),
                              (float)(context->gravity.y * step->force_dt),
                              (float)(context->gravity.z * step->force_dt) };
    const bool has_others = context->world->scene->force_count > 0;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        if (step->saved_row[row] == 0) {
            continue;
        }
        if (has_others) {
            add_all_forces(context, row);
            continue;
        }
        for (int a = 0; a < 3; ++a) {
            const WadiF8 u = WADI_ROW(step->grid.velocity[a], row);
            WadiI8 is_reached;
            wadi_row_mask(step->reached[a][row], &is_reached);
            WADI_ROW_OUT(step->grid.velocity[a], row) = WADI_ROW_SELECT(is_reached, u + change[a], u);
        }
    }
}

void wadi_flip_add_forces(const WadiFlip *flip, WadiFlipStep *step)
{
    ForceContext context = { .world = flip->context.world,
                             .step = step,
                             .gravity = wadi_curve_value3(&flip->context.world->scene->gravity, step->time),
                             .time = step->time };
    wadi_parallel_for(step->grid.rows.count, WADI_ROW_BLOCK, force_rows, &context);
}

static void find_reached(void *user, int64_t first, int64_t end)
{
    const SaveContext *context = user;
    const WadiFlipStep *step = context->step;
    for (int64_t row = first; row < end; ++row) {
        unsigned any = 0;
        for (int a = 0; a < 3; ++a) {
            const WadiI8 is_reached = WADI_ROW(step->grid.face_mass[a], row) > 0.0f;
            const unsigned reached = wadi_row_bits(&is_reached);
            step->reached[a][row] = (uint8_t)reached;
            any |= reached;
        }
        context->any[row] = (uint8_t)any;
    }
}

static void save_rows(void *user, int64_t first, int64_t end)
{
    const WadiFlipStep *step = ((const SaveContext *)user)->step;
    for (int64_t row = first; row < end; ++row) {
        for (int a = 0; a < 3 && step->saved_row[row] != 0; ++a) {
            WADI_ROW_OUT(step->saved[a], step->saved_row[row]) = WADI_ROW(step->grid.velocity[a], row);
        }
    }
}

WadiStatus wadi_flip_save_velocity(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiRows *rows = &step->grid.rows;
    WadiArena *arena = flip->context.scratch;
    uint8_t *any = NULL;
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &step->reached[a], (size_t)rows->count, "reached faces", error));
    }
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &any, (size_t)rows->count, "reached faces", error));
    SaveContext context = { .step = step, .any = any };
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, find_reached, &context);
    WADI_TRY(wadi_table_of_rows(rows, any, &step->saved_row, &step->saved_rows, arena, error));
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &step->saved[a], LANES * (size_t)step->saved_rows, "saved velocities",
                                error));
        memset(step->saved[a], 0, LANES * sizeof(float));
    }
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, save_rows, &context);
    return WADI_OK;
}
