/* Body forces on the faces that particles reach: u* = u + dt a. [ZB05 sec. 4; models 2.2 A5]
 * Differs: the velocities that the particles gave are kept here too, for FLIP: the pass reads them anyway. */
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"

enum { LANES = WADI_ROW_CELLS };

typedef struct ForceContext {
    const WadiWorld *world;
    WadiFlipStep *step;
    WadiVec3 gravity; /* m/s^2, in the middle of the step */
    double middle;    /* s */
} ForceContext;

/* What is not gravity depends on the place, and drag on the velocity of the face. */
static void add_other_forces(const ForceContext *context, int32_t row)
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
            WadiVec3 force =
                wadi_sub(wadi_world_acceleration(context->world, x, v, context->middle), context->gravity);
            *u += (float)(step->kick * wadi_component(force, a));
        }
    }
}

static void force_rows(void *user, int64_t first, int64_t end)
{
    const ForceContext *context = user;
    WadiFlipStep *step = context->step;
    const float change[3] = { (float)(context->gravity.x * step->kick),
                              (float)(context->gravity.y * step->kick),
                              (float)(context->gravity.z * step->kick) };
    for (int a = 0; a < 3; ++a) {
        for (int64_t row = first; row < end; ++row) {
            const WadiF8 u = WADI_ROW(step->grid.velocity[a], row);
            const WadiI8 is_reached = WADI_ROW(step->grid.face_mass[a], row) > 0.0f;
            step->reached[a][row] = (uint8_t)wadi_row_bits(&is_reached);
            WADI_ROW_OUT(step->saved[a], row) = u;
            WADI_ROW_OUT(step->grid.velocity[a], row) = WADI_ROW_SELECT(is_reached, u + change[a], u);
        }
    }
    if (context->world->scene->force_count > 0) {
        for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
            add_other_forces(context, row);
        }
    }
}

WadiStatus wadi_flip_forces(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiRows *rows = &step->grid.rows;
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &step->saved[a], wadi_rows_floats(rows),
                                "saved velocities", error));
        WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &step->reached[a], (size_t)rows->count,
                                "reached faces", error));
    }
    const double middle = step->time; /* of the kick */
    ForceContext context = { .world = flip->context.world,
                             .step = step,
                             .gravity = wadi_curve_value3(&flip->context.world->scene->gravity, middle),
                             .middle = middle };
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, force_rows, &context);
    return WADI_OK;
}
