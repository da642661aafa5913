/* Linear extension of face velocities at the surface of bonded sand: a face of the next layer gets the mean
 * of 2 u_1 - u_2 over the directions with two known faces in line, so that a rigid motion stays rigid
 * [theory 6.13]. */
#include <string.h>

#include "core/parallel.h"
#include "flip/transfer/flip_extend.h"
#include "grid/row_lanes.h"

/* A particle reads faces up to a cell away along each axis; across edges and corners of a body that is the
 * third layer. */
enum { LAYERS = 3 };

typedef struct Linear {
    const WadiFlipLinearIn *in;
    float *const *velocity;
    uint8_t (*is_known)[3]; /* per row: faces of bonded sand and of older layers */
    uint8_t (*is_fresh)[3]; /* of this layer */
    float *value;           /* per row, component and lane: of this layer */
} Linear;

/* Faces of bonded cells whose velocity the solve determined. */
static void begin_rows(void *user, int64_t first, int64_t end)
{
    const Linear *linear = user;
    const WadiFlipLinearIn *in = linear->in;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        for (int a = 0; a < 3; ++a) {
            const unsigned low = wadi_row_neighbour_bits(in->rows, in->bonded, row, 2 * a);
            linear->is_known[row][a] = (uint8_t)(in->known[a][row] & (low | in->bonded[row]));
        }
    }
}

static bool is_known(const Linear *linear, WadiRowCell at, int axis)
{
    return (linear->is_known[at.row][axis] >> at.lane & 1) != 0;
}

static bool extend_face(const Linear *linear, WadiRowCell here, int axis, float *value)
{
    const WadiRows *rows = linear->in->rows;
    const float *u = linear->velocity[axis];
    float sum = 0.0f;
    int count = 0;
    for (int side = 0; side < 6; ++side) {
        const WadiRowCell near = wadi_row_cell_neighbour(rows, here, side);
        if (near.row == 0 || !is_known(linear, near, axis)) {
            continue;
        }
        const WadiRowCell far = wadi_row_cell_neighbour(rows, near, side);
        if (far.row != 0 && is_known(linear, far, axis)) {
            sum += 2.0f * u[wadi_row_cell_index(near)] - u[wadi_row_cell_index(far)];
            count += 1;
        }
    }
    *value = count > 0 ? sum / (float)count : 0.0f;
    return count > 0;
}

static void gather_rows(void *user, int64_t first, int64_t end)
{
    const Linear *linear = user;
    const WadiRows *rows = linear->in->rows;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        for (int a = 0; a < 3; ++a) {
            unsigned candidates = 0;
            for (int side = 0; side < 6 && row != 0; ++side) {
                const unsigned own = linear->is_known[row][a];
                const unsigned other = linear->is_known[rows->neighbour[row][side]][a];
                candidates |= side == 0 ? own << 1 | other >> 7 : side == 1 ? own >> 1 | other << 7 : other;
            }
            candidates &= ~(unsigned)(linear->is_known[row][a] | linear->in->known[a][row]) & 0xffu;
            unsigned fresh = 0;
            for (; candidates != 0; candidates &= candidates - 1) {
                const int lane = __builtin_ctz(candidates);
                float *value = &linear->value[8 * (3 * (size_t)row + (size_t)a) + (size_t)lane];
                fresh |= (unsigned)extend_face(linear, (WadiRowCell){ row, lane }, a, value) << lane;
            }
            linear->is_fresh[row][a] = (uint8_t)fresh;
        }
    }
}

static void apply_rows(void *user, int64_t first, int64_t end)
{
    const Linear *linear = user;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        for (int a = 0; a < 3; ++a) {
            const unsigned fresh = linear->is_fresh[row][a];
            for (unsigned left = fresh; left != 0; left &= left - 1) {
                const size_t lane = (size_t)__builtin_ctz(left);
                linear->velocity[a][8 * (size_t)row + lane] =
                    linear->value[8 * (3 * (size_t)row + (size_t)a) + lane];
            }
            linear->is_known[row][a] |= (uint8_t)fresh;
            linear->in->known[a][row] |= (uint8_t)fresh;
        }
    }
}

WadiStatus wadi_flip_extend_linear(const WadiFlipLinearIn *in, float *const velocity[3], WadiArena *scratch,
                                   WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    const size_t rows = (size_t)in->rows->count;
    Linear linear = { .in = in, .velocity = velocity };
    WADI_TRY(WADI_ARENA_NEW(scratch, &linear.is_known, rows, "velocity extension", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &linear.is_fresh, rows, "velocity extension", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &linear.value, 24 * rows, "velocity extension", error));
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, begin_rows, &linear);
    for (int layer = 0; layer < LAYERS; ++layer) {
        wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, gather_rows, &linear);
        wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, apply_rows, &linear);
    }
    wadi_arena_release(scratch, mark);
    return WADI_OK;
}
