/* Smooths the field: each node becomes the mean of its six neighbours. Lowering passes take the smaller of
 * that and the old value, so that thin parts are not lost. [ZB05 sec. 5; theory 10.3]
 *
 * A neighbour outside the band is replaced by the node itself. The error does not reach a sign change, since
 * the band is wide enough (field.c). */
#include <string.h>

#include "core/parallel.h"
#include "surface/field/field_band.h"

enum { ROW_BLOCK = 512 };

typedef struct SmoothPass {
    const WadiRows *rows;
    const float *from;
    float *to;
    bool is_lowering;
} SmoothPass;

static void smooth_rows(void *context, int64_t first, int64_t end)
{
    const SmoothPass *pass = context;
    const float *from = pass->from;
    for (int64_t r = first > 0 ? first : 1; r < end; ++r) {
        const int32_t *neighbour = pass->rows->neighbour[r];
        int32_t at[6];
        for (int side = 0; side < 6; ++side) {
            at[side] = neighbour[side] != 0 ? neighbour[side] : (int32_t)r;
        }
        WadiF8 centre = WADI_ROW(from, r), before = WADI_ROW(from, at[WADI_ROW_X_MIN]),
               after = WADI_ROW(from, at[WADI_ROW_X_MAX]);
        before[7] = neighbour[WADI_ROW_X_MIN] != 0 ? before[7] : centre[0];
        after[0] = neighbour[WADI_ROW_X_MAX] != 0 ? after[0] : centre[7];
        WadiF8 along = WADI_ROW_SHIFT_UP(before, centre) + WADI_ROW_SHIFT_DOWN(centre, after);
        WadiF8 across = WADI_ROW(from, at[WADI_ROW_Y_MIN]) + WADI_ROW(from, at[WADI_ROW_Y_MAX]);
        WadiF8 upright = WADI_ROW(from, at[WADI_ROW_Z_MIN]) + WADI_ROW(from, at[WADI_ROW_Z_MAX]);
        WadiF8 mean = (along + across + upright) * (1.0f / 6.0f);
        WADI_ROW_OUT(pass->to, r) = pass->is_lowering ? WADI_ROW_SELECT(mean < centre, mean, centre) : mean;
    }
}

WadiStatus wadi_field_smooth(WadiField *field, int smoothing, int lowering, WadiArena *arena,
                             WadiError *error)
{
    if (smoothing + lowering == 0 || field->rows.count <= 1) {
        return WADI_OK;
    }
    float *other;
    size_t floats = wadi_rows_floats(&field->rows);
    WADI_TRY(WADI_ARENA_NEW(arena, &other, floats, "smoothing", error));
    memset(other, 0, WADI_ROW_CELLS * sizeof *other);
    for (int p = 0; p < smoothing + lowering; ++p) {
        SmoothPass pass = { &field->rows, field->value, other, p >= smoothing };
        wadi_parallel_for(field->rows.count, ROW_BLOCK, smooth_rows, &pass);
        other = field->value;
        field->value = pass.to;
    }
    return WADI_OK;
}
