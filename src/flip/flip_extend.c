/* Extend face velocities into air and solids, layer by layer: a face of the next layer gets the mean of its
 * neighbours in the layers before, each component on its own faces.
 * Source: [ZB05 sec. 4.2.3], who extend by fast sweeping (grid/sweep.c has that).
 * Differs: layers need no distance, reach into closed faces too (tangential velocity at a wall read as 0
 * makes particles stick in corners) and are the same for any thread count: a layer reads only older ones.
 *
 * Each block of rows keeps the list of its rows that have faces left to reach, shorter with every layer; inside the fluid and
 * far from it a row costs nothing. The three components go together, so that there are two barriers a layer. */
#include "flip/flip_extend.h"

#include "core/check.h"
#include "core/parallel.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"

enum { LANES = WADI_ROW_CELLS };

/* One component. */
typedef struct Faces {
    float *velocity;
    uint8_t *known;
    int32_t *left;  /* per block of rows, at its first row: those with faces that are not known */
    uint8_t *fresh; /* along `left`: faces of the layer in work */
    float *value;   /* along `left`: their values */
    int32_t *count; /* per block: length of its list */
} Faces;

typedef struct Extension {
    const WadiRows *rows;
    Faces faces[3];
    bool is_last; /* the layer in work: what it does not reach becomes 0 */
} Extension;

static void list_rows(void *user, int64_t first, int64_t end)
{
    const Extension *extension = user;
    for (int axis = 0; axis < 3; ++axis) {
        const Faces *faces = &extension->faces[axis];
        int32_t count = 0;
        for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
            faces->left[first + count] = row;
            count += faces->known[row] != 0xff;
        }
        faces->count[first / WADI_ROW_BLOCK] = count;
    }
}

/* Sum and number of known values beside each face, on one side. */
static inline __attribute__((always_inline)) void add_side(const WadiF8 *beside, unsigned known,
                                                           WadiD4 sum[2], WadiI8 *count)
{
    WadiI8 is_known;
    wadi_row_mask(known, &is_known);
    WadiF8 value = (WadiF8)((WadiI8)*beside & is_known);
    sum[0] += WADI_ROW_LOW_DOUBLE(value);
    sum[1] += WADI_ROW_HIGH_DOUBLE(value);
    *count -= is_known;
}

/* Faces that the next layer reaches; their values into `value`. */
static inline unsigned gather_row(const WadiRows *rows, const Faces *faces, int32_t row, float *value)
{
    const int32_t *n = rows->neighbour[row];
    const uint8_t *known = faces->known;
    const unsigned own = known[row];
    const unsigned low = (own << 1 | (unsigned)known[n[WADI_ROW_X_MIN]] >> 7) & 0xff;
    const unsigned high = own >> 1 | ((unsigned)known[n[WADI_ROW_X_MAX]] << 7 & 0xff);
    const unsigned y_low = known[n[WADI_ROW_Y_MIN]], y_high = known[n[WADI_ROW_Y_MAX]];
    const unsigned z_low = known[n[WADI_ROW_Z_MIN]], z_high = known[n[WADI_ROW_Z_MAX]];
    const unsigned fresh = (low | high | y_low | y_high | z_low | z_high) & ~own;
    if (fresh == 0) {
        return 0;
    }
    const float *u = faces->velocity;
    WadiF8 here = WADI_ROW(u, row), left = WADI_ROW(u, n[WADI_ROW_X_MIN]),
           right = WADI_ROW(u, n[WADI_ROW_X_MAX]);
    WadiF8 before = WADI_ROW_SHIFT_UP(left, here);
    WadiF8 after = WADI_ROW_SHIFT_DOWN(here, right);
    /* In double the sum of equal floats is exact: a constant field stays constant to the bit. */
    WadiD4 sum[2] = { { 0 } };
    WadiI8 count = { 0 };
    add_side(&before, low, sum, &count);
    add_side(&after, high, sum, &count);
    add_side(&WADI_ROW(u, n[WADI_ROW_Y_MIN]), y_low, sum, &count);
    add_side(&WADI_ROW(u, n[WADI_ROW_Y_MAX]), y_high, sum, &count);
    add_side(&WADI_ROW(u, n[WADI_ROW_Z_MIN]), z_low, sum, &count);
    add_side(&WADI_ROW(u, n[WADI_ROW_Z_MAX]), z_high, sum, &count);
    count -= count == 0; /* one, where there is none */
    WadiD4 low_mean = sum[0] / WADI_ROW_LOW_DOUBLE(count);
    WadiD4 high_mean = sum[1] / WADI_ROW_HIGH_DOUBLE(count);
    *(WadiF4 *)value = __builtin_convertvector(low_mean, WadiF4);
    *(WadiF4 *)(value + 4) = __builtin_convertvector(high_mean, WadiF4);
    return fresh;
}

static void gather_layer(void *user, int64_t first, int64_t end)
{
    (void)end;
    const Extension *extension = user;
    for (int axis = 0; axis < 3; ++axis) {
        const Faces *faces = &extension->faces[axis];
        const int32_t count = faces->count[first / WADI_ROW_BLOCK];
        for (int64_t n = first; n < first + count; ++n) {
            unsigned fresh =
                gather_row(extension->rows, faces, faces->left[n], faces->value + LANES * (size_t)n);
            faces->fresh[n] = (uint8_t)fresh;
        }
    }
}

static void apply_layer(void *user, int64_t first, int64_t end)
{
    (void)end;
    const Extension *extension = user;
    for (int axis = 0; axis < 3; ++axis) {
        const Faces *faces = &extension->faces[axis];
        const int32_t count = faces->count[first / WADI_ROW_BLOCK];
        int32_t kept = 0;
        for (int64_t n = first; n < first + count; ++n) {
            const int32_t row = faces->left[n];
            const unsigned fresh = faces->fresh[n], known = faces->known[row] | fresh;
            float *restrict velocity = faces->velocity + LANES * (size_t)row;
            const float *restrict value = faces->value + LANES * (size_t)n;
            for (int l = 0; l < LANES && fresh != 0; ++l) {
                velocity[l] = (fresh >> l & 1) != 0 ? value[l] : velocity[l];
            }
            for (int l = 0; l < LANES && extension->is_last; ++l) {
                velocity[l] = (known >> l & 1) != 0 ? velocity[l] : 0.0f;
            }
            faces->known[row] = (uint8_t)known;
            faces->left[first + kept] = row;
            kept += known != 0xff;
        }
        faces->count[first / WADI_ROW_BLOCK] = kept;
    }
}

static WadiStatus alloc_faces(Faces *faces, size_t rows, size_t blocks, WadiArena *scratch, WadiError *error)
{
    WADI_TRY(WADI_ARENA_NEW(scratch, &faces->known, rows, "velocity extension", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &faces->left, rows, "velocity extension", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &faces->fresh, rows, "velocity extension", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &faces->value, LANES * rows, "velocity extension", error));
    return WADI_ARENA_NEW(scratch, &faces->count, blocks, "velocity extension", error);
}

WadiStatus wadi_flip_extend(const WadiFlipExtendIn *in, float *const velocity[3], uint8_t *const reached[3],
                            WadiArena *scratch, WadiError *error)
{
    WADI_ASSERT(in->layers > 0);
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    const size_t rows = (size_t)in->rows->count;
    const size_t blocks = (size_t)wadi_parallel_block_count(in->rows->count, WADI_ROW_BLOCK);
    Extension extension = { .rows = in->rows };
    for (int axis = 0; axis < 3; ++axis) {
        WADI_ASSERT(in->known[axis][0] == 0);
        WADI_TRY(alloc_faces(&extension.faces[axis], rows, blocks, scratch, error));
        memcpy(extension.faces[axis].known, in->known[axis], rows);
        extension.faces[axis].velocity = velocity[axis];
    }
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, list_rows, &extension);
    for (int layer = 0; layer < in->layers; ++layer) {
        extension.is_last = layer + 1 == in->layers;
        wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, gather_layer, &extension);
        wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, apply_layer, &extension);
    }
    for (int axis = 0; axis < 3 && reached != NULL; ++axis) {
        memcpy(reached[axis], extension.faces[axis].known, rows);
    }
    wadi_arena_release(scratch, mark);
    return WADI_OK;
}
