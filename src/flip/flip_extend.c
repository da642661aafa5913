/* Extend face velocities into air and solids, layer by layer: a face of the next layer gets the mean of its
 * neighbours in the layers before, each component on its own faces.
 * Source: [ZB05 sec. 4.2.3], who extend by fast sweeping (grid/sweep.c has that).
 * Differs: layers need no distance, reach into closed faces too (tangential velocity at a wall read as 0
 * makes particles stick in corners) and are the same for any thread count: a layer reads only older ones. */
#include "flip/flip_extend.h"

#include "core/check.h"
#include "core/parallel.h"
#include "grid/row_lanes.h"

enum { LANES = WADI_ROW_CELLS };

typedef struct LayerContext {
    const WadiRows *rows;
    float *velocity;
    uint8_t *known;
    uint8_t *fresh; /* per row: faces of the layer in work */
    float *value;   /* per face: their values */
} LayerContext;

static void gather_layer(void *user, int64_t first, int64_t end)
{
    const LayerContext *context = user;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        unsigned known = context->known[row], beside[6], any = 0;
        for (int side = 0; side < 6; ++side) {
            beside[side] = wadi_row_bits_beside(context->rows, context->known, row, side);
            any |= beside[side];
        }
        unsigned fresh = row > 0 ? any & ~known : 0;
        context->fresh[row] = (uint8_t)fresh;
        if (fresh == 0) {
            continue;
        }
        /* In double the sum of equal floats is exact: a constant field stays constant to the bit. */
        double sum[LANES] = { 0 }, count[LANES] = { 0 };
        for (int side = 0; side < 6; ++side) {
            float value[LANES];
            wadi_row_beside(context->rows, context->velocity, row, side, value);
            for (int l = 0; l < LANES; ++l) {
                bool is_known = (beside[side] >> l & 1) != 0;
                sum[l] += is_known ? (double)value[l] : 0.0;
                count[l] += is_known ? 1.0 : 0.0;
            }
        }
        float *restrict out = context->value + (size_t)LANES * (size_t)row;
        for (int l = 0; l < LANES; ++l) {
            out[l] = (float)(sum[l] / (count[l] > 0.0 ? count[l] : 1.0));
        }
    }
}

static void apply_layer(void *user, int64_t first, int64_t end)
{
    const LayerContext *context = user;
    for (int64_t row = first; row < end; ++row) {
        unsigned fresh = context->fresh[row];
        if (fresh == 0) {
            continue;
        }
        for (int l = 0; l < LANES; ++l) {
            if (fresh >> l & 1) {
                context->velocity[LANES * row + l] = context->value[LANES * row + l];
            }
        }
        context->known[row] |= (uint8_t)fresh;
    }
}

static void clear_unreached(void *user, int64_t first, int64_t end)
{
    const LayerContext *context = user;
    for (int64_t row = first; row < end; ++row) {
        const unsigned known = context->known[row];
        float *velocity = context->velocity + LANES * row;
        for (int l = 0; l < LANES && known != 0xff; ++l) {
            velocity[l] = known >> l & 1 ? velocity[l] : 0.0f;
        }
    }
}

WadiStatus wadi_flip_extend(const WadiFlipExtendIn *in, float *const velocity[3], uint8_t *const reached[3],
                            WadiArena *scratch, WadiError *error)
{
    WADI_ASSERT(in->layers >= 0);
    const size_t rows = (size_t)in->rows->count;
    LayerContext context = { .rows = in->rows };
    WADI_TRY(WADI_ARENA_NEW(scratch, &context.known, rows, "velocity extension", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &context.fresh, rows, "velocity extension", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &context.value, LANES * rows, "velocity extension", error));
    for (int axis = 0; axis < 3; ++axis) {
        WADI_ASSERT(in->known[axis][0] == 0);
        memcpy(context.known, in->known[axis], rows);
        context.velocity = velocity[axis];
        for (int layer = 0; layer < in->layers; ++layer) {
            wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, gather_layer, &context);
            wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, apply_layer, &context);
        }
        wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, clear_unreached, &context);
        if (reached != NULL) {
            memcpy(reached[axis], context.known, rows);
        }
    }
    return WADI_OK;
}
