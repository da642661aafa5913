/* Extend face velocities into air and solids, layer by layer: a face of the next layer gets the mean of
 * its neighbours in older layers, each component on its own faces. [theory 2.4]
 * Faces of the first layer that particles reached get the mean change of their neighbours instead: with
 * their mean velocity each step would draw the particles at the surface and at round walls towards the
 * velocity of those inside. At walls along the grid the mean is the condition of free slip.
 * Source: [ZB05 sec. 4.2.3], where fast sweeping extends them along the gradient of a distance.
 * Differs: layers need no distance, also enter closed faces, and do not depend on the thread count: a
 * layer reads only older ones.
 *
 * Each block of rows has a list of the rows with unknown faces, shorter with every layer, so that rows
 * inside the fluid and far from it cost nothing. The three components are done together: two barriers a
 * layer. */
#include "flip/transfer/flip_extend.h"

#include "core/check.h"
#include "core/parallel.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"

enum { LANES = WADI_ROW_CELLS };

/* Faces of a row whose velocity is known, eight bits a component: u in the lowest. */
enum { ALL_KNOWN = 0xffffff, EVERY_FIRST = 0x010101, EVERY_LAST = 0x808080 };

typedef struct Extension {
    const WadiRows *rows;
    const WadiFlipExtendIn *in;
    float *const *velocity;
    uint32_t *known;     /* per row */
    int32_t *unfinished; /* per block of rows, from its first row on: the rows with unknown faces */
    uint32_t *fresh;     /* along `unfinished`: faces of the current layer */
    float *value;        /* along `unfinished`: their values, eight a component */
    int32_t *count;      /* per block: length of its list */
    bool is_first;       /* the current layer is the first */
    bool is_last;        /* the current layer is the last: faces still unknown become 0 */
} Extension;

typedef struct ListContext {
    const Extension *extension;
    const uint8_t *const *known;
} ListContext;

static void list_rows(void *user, int64_t first, int64_t end)
{
    const ListContext *context = user;
    const Extension *extension = context->extension;
    int32_t count = 0;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        uint32_t known = (uint32_t)context->known[0][row] | (uint32_t)context->known[1][row] << 8 |
                         (uint32_t)context->known[2][row] << 16;
        extension->known[row] = known;
        extension->unfinished[first + count] = row;
        count += known != ALL_KNOWN && row != 0;
    }
    extension->count[first / WADI_ROW_BLOCK] = count;
}

/* Add the known neighbours of each face on one side, as differences to `base`, and count them. */
static inline __attribute__((always_inline)) void add_side(const WadiF8 *neighbour, const WadiI8 *is_known,
                                                           const WadiF8 *base, WadiF8 *sum, WadiI8 *count)
{
    *sum += (WadiF8)((WadiI8)(*neighbour - *base) & *is_known);
    *count -= *is_known;
}

/* Bits of the known faces: of the row itself and of the neighbours on each side. */
typedef struct KnownFaces {
    uint32_t own, side[6];
} KnownFaces;

/* Bits of the unknown faces with a known neighbour: the next layer. */
static inline uint32_t find_next_layer(const Extension *extension, int32_t row, KnownFaces *faces)
{
    const int32_t *n = extension->rows->neighbour[row];
    const uint32_t *known = extension->known;
    const uint32_t own = known[row];
    faces->own = own;
    faces->side[0] = (own << 1 & ~(uint32_t)EVERY_FIRST) | (known[n[WADI_ROW_X_MIN]] & EVERY_LAST) >> 7;
    faces->side[1] = (own & ~(uint32_t)EVERY_FIRST) >> 1 | (known[n[WADI_ROW_X_MAX]] & EVERY_FIRST) << 7;
    faces->side[2] = known[n[WADI_ROW_Y_MIN]];
    faces->side[3] = known[n[WADI_ROW_Y_MAX]];
    faces->side[4] = known[n[WADI_ROW_Z_MIN]];
    faces->side[5] = known[n[WADI_ROW_Z_MAX]];
    return (faces->side[0] | faces->side[1] | faces->side[2] | faces->side[3] | faces->side[4] |
            faces->side[5]) &
           ~own & ALL_KNOWN;
}

/* Mean of the known neighbours of each face: one of them plus the mean of the differences to it, so that a
 * constant field stays constant to the bit. */
static inline void mean_row(const WadiRows *rows, const float *u, int32_t row, const KnownFaces *known,
                            int shift, float *value)
{
    const int32_t *n = rows->neighbour[row];
    const WadiF8 here = WADI_ROW(u, row);
    const WadiF8 neighbour[6] = { WADI_ROW_SHIFT_UP(WADI_ROW(u, n[WADI_ROW_X_MIN]), here),
                                  WADI_ROW_SHIFT_DOWN(here, WADI_ROW(u, n[WADI_ROW_X_MAX])),
                                  WADI_ROW(u, n[WADI_ROW_Y_MIN]),
                                  WADI_ROW(u, n[WADI_ROW_Y_MAX]),
                                  WADI_ROW(u, n[WADI_ROW_Z_MIN]),
                                  WADI_ROW(u, n[WADI_ROW_Z_MAX]) };
    WadiI8 is_known[6], count = { 0 };
    WadiF8 base = { 0 }, sum = { 0 };
    for (int side = 0; side < 6; ++side) {
        wadi_row_mask(known->side[side] >> shift, &is_known[side]);
        base = WADI_ROW_SELECT(is_known[side], neighbour[side], base);
    }
    for (int side = 0; side < 6; ++side) {
        add_side(&neighbour[side], &is_known[side], &base, &sum, &count);
    }
    count -= count == 0; /* no division by zero */
    WADI_ROW_OUT(value, 0) = base + sum / __builtin_convertvector(count, WadiF8);
}

/* Faces that particles reached: their velocity before the step plus the mean change of their known
 * neighbours that particles reached, blended with the mean velocity in `value`. */
static inline void change_row(const WadiFlipExtendIn *in, const float *u, int32_t row, int axis,
                              const KnownFaces *known, float *value)
{
    const uint8_t *has_before = in->has_before[axis];
    if (has_before[row] == 0) {
        return;
    }
    const float *before = in->before[axis];
    const WadiF8 own = WADI_ROW(before, in->before_row[row]), here = WADI_ROW(u, row) - own;
    WadiI8 count = { 0 }, is_reached;
    WadiF8 sum = { 0 };
    for (int side = 0; side < 6; ++side) {
        WadiI8 is_known;
        wadi_row_mask((known->side[side] >> 8 * axis) &
                          wadi_row_neighbour_bits(in->rows, has_before, row, side),
                      &is_known);
        const int32_t next = in->rows->neighbour[row][side];
        WadiF8 change = WADI_ROW(u, next) - WADI_ROW(before, in->before_row[next]);
        if (side == WADI_ROW_X_MIN) {
            change = WADI_ROW_SHIFT_UP(change, here);
        } else if (side == WADI_ROW_X_MAX) {
            change = WADI_ROW_SHIFT_DOWN(here, change);
        }
        const WadiF8 zero = { 0 };
        add_side(&change, &is_known, &zero, &sum, &count);
    }
    wadi_row_mask(has_before[row], &is_reached);
    const WadiF8 open = WADI_ROW(in->open[axis], wadi_table_row(in->solid_row, row));
    WadiI8 is_oblique = (WadiI8){ 0 } - 1;
    if (in->is_mirrored) {
        wadi_row_mask(in->oblique[row] | wadi_row_neighbour_bits(in->rows, in->oblique, row, 2 * axis),
                      &is_oblique);
    }
    is_reached &= (count > 0) & (((open <= 0.0f) & is_oblique) | (open >= 1.0f));
    count -= count == 0;
    const WadiF8 changed = own + sum / __builtin_convertvector(count, WadiF8), mean = WADI_ROW(value, 0);
    WADI_ROW_OUT(value, 0) = WADI_ROW_SELECT(is_reached, mean + in->change_fraction * (changed - mean), mean);
}

typedef struct ObliqueContext {
    const WadiFlipExtendIn *in;
    uint8_t *cut, *oblique;
} ObliqueContext;

static void find_cut(void *user, int64_t first, int64_t end)
{
    const ObliqueContext *context = user;
    const WadiFlipExtendIn *in = context->in;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        WadiF8 area[3]; /* of the wall in each cell, as a vector */
        for (int axis = 0; axis < 3; ++axis) {
            const int32_t next = in->rows->neighbour[row][2 * axis + 1];
            const WadiF8 low = WADI_ROW(in->open[axis], wadi_table_row(in->solid_row, row));
            WadiF8 high = WADI_ROW(in->open[axis], wadi_table_row(in->solid_row, next));
            if (axis == 0) {
                high = WADI_ROW_SHIFT_DOWN(low, high);
            }
            area[axis] = high - low;
        }
        const WadiI8 is_oblique =
            (area[0] * area[1] != 0.0f) | (area[1] * area[2] != 0.0f) | (area[2] * area[0] != 0.0f);
        context->cut[row] = row > 0 ? (uint8_t)wadi_row_bits(&is_oblique) : 0;
    }
}

static void add_beside(void *user, int64_t first, int64_t end)
{
    const ObliqueContext *context = user;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        unsigned bits = context->cut[row];
        for (int side = 0; side < 6; ++side) {
            bits |= wadi_row_neighbour_bits(context->in->rows, context->cut, row, side);
        }
        context->oblique[row] = row > 0 ? (uint8_t)bits : 0;
    }
}

void wadi_flip_find_oblique(const WadiFlipExtendIn *in, uint8_t *cut, uint8_t *oblique)
{
    ObliqueContext context = { in, cut, oblique };
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, find_cut, &context);
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, add_beside, &context);
}

static void gather_layer(void *user, int64_t first, int64_t end)
{
    (void)end;
    const Extension *extension = user;
    const int32_t count = extension->count[first / WADI_ROW_BLOCK];
    for (int64_t n = first; n < first + count; ++n) {
        KnownFaces faces;
        const uint32_t fresh = find_next_layer(extension, extension->unfinished[n], &faces);
        extension->fresh[n] = fresh;
        for (int axis = 0; axis < 3; ++axis) {
            if ((fresh >> (8 * axis) & 0xff) != 0) {
                mean_row(extension->rows, extension->velocity[axis], extension->unfinished[n], &faces,
                         8 * axis, extension->value + LANES * (size_t)(3 * n + axis));
                if (extension->is_first && extension->in->before[axis] != NULL) {
                    change_row(extension->in, extension->velocity[axis], extension->unfinished[n], axis,
                               &faces, extension->value + LANES * (size_t)(3 * n + axis));
                }
            }
        }
    }
}

static void apply_layer(void *user, int64_t first, int64_t end)
{
    (void)end;
    const Extension *extension = user;
    const int32_t count = extension->count[first / WADI_ROW_BLOCK];
    int32_t remaining = 0;
    for (int64_t n = first; n < first + count; ++n) {
        const int32_t row = extension->unfinished[n];
        const uint32_t fresh = extension->fresh[n], known = extension->known[row] | fresh;
        for (int axis = 0; axis < 3; ++axis) {
            WadiI8 is_fresh, is_known;
            wadi_row_mask(fresh >> (8 * axis), &is_fresh);
            wadi_row_mask(known >> (8 * axis), &is_known);
            float *velocity = extension->velocity[axis];
            if ((fresh >> (8 * axis) & 0xff) != 0) {
                const WadiF8 value = WADI_ROW(extension->value, 3 * n + axis);
                WADI_ROW_OUT(velocity, row) = WADI_ROW_SELECT(is_fresh, value, WADI_ROW(velocity, row));
            }
            if (extension->is_last) {
                WADI_ROW_OUT(velocity, row) = (WadiF8)((WadiI8)WADI_ROW(velocity, row) & is_known);
            }
        }
        extension->known[row] = known;
        extension->unfinished[first + remaining] = row;
        remaining += known != ALL_KNOWN;
    }
    extension->count[first / WADI_ROW_BLOCK] = remaining;
}

WadiStatus wadi_flip_extend(const WadiFlipExtendIn *in, float *const velocity[3], uint8_t *const reached[3],
                            WadiArena *scratch, WadiError *error)
{
    WADI_ASSERT(in->layers > 0);
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    const size_t rows = (size_t)in->rows->count;
    const size_t blocks = (size_t)wadi_parallel_block_count(in->rows->count, WADI_ROW_BLOCK);
    Extension extension = { .rows = in->rows, .in = in, .velocity = velocity };
    WADI_TRY(WADI_ARENA_NEW(scratch, &extension.known, rows, "velocity extension", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &extension.unfinished, rows, "velocity extension", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &extension.fresh, rows, "velocity extension", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &extension.value, 3 * LANES * rows, "velocity extension", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &extension.count, blocks, "velocity extension", error));
    WADI_ASSERT(in->known[0][0] == 0 && in->known[1][0] == 0 && in->known[2][0] == 0);
    ListContext list = { &extension, in->known };
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, list_rows, &list);
    for (int layer = 0; layer < in->layers; ++layer) {
        extension.is_first = layer == 0;
        extension.is_last = layer + 1 == in->layers;
        wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, gather_layer, &extension);
        wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, apply_layer, &extension);
    }
    for (size_t row = 0; row < rows && reached != NULL; ++row) {
        for (int axis = 0; axis < 3; ++axis) {
            reached[axis][row] = (uint8_t)(extension.known[row] >> (8 * axis));
        }
    }
    wadi_arena_release(scratch, mark);
    return WADI_OK;
}
