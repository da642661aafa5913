#include "grid/tile_memory.h"

#include <string.h>

#include "core/array.h"

static size_t row_bytes(const WadiTileMemoryKind *kind)
{
    return (size_t)kind->row_values * wadi_type_size(kind->type);
}

void wadi_tile_memory_free(WadiTileMemory *memory)
{
    WADI_DELETE(memory->tile, memory->tile_capacity);
    WADI_DELETE(memory->mask, memory->mask_capacity);
    WADI_DELETE(memory->first, memory->first_capacity);
    wadi_free(memory->value, memory->value_capacity, 1);
    *memory = (WadiTileMemory){ 0 };
}

WadiStatus wadi_tile_memory_reserve(WadiTileMemory *memory, const WadiTileMemoryKind *kind, size_t tiles,
                                    size_t rows, WadiError *error)
{
    memory->dt = 0.0;
    memory->tile_count = memory->row_count = 0;
    WADI_TRY(wadi_array_renew((void **)&memory->tile, &memory->tile_capacity, tiles, sizeof *memory->tile,
                              kind->what, error));
    WADI_TRY(wadi_array_renew((void **)&memory->mask, &memory->mask_capacity, tiles, sizeof *memory->mask,
                              kind->what, error));
    WADI_TRY(wadi_array_renew((void **)&memory->first, &memory->first_capacity, tiles, sizeof *memory->first,
                              kind->what, error));
    return wadi_array_renew(&memory->value, &memory->value_capacity, rows * row_bytes(kind), 1, kind->what,
                            error);
}

void wadi_tile_memory_add(WadiTileMemory *memory, WadiTile tile, uint64_t mask)
{
    if (mask != 0) {
        memory->tile[memory->tile_count] = tile;
        memory->mask[memory->tile_count] = mask;
        memory->first[memory->tile_count++] = (int32_t)memory->row_count;
        memory->row_count += (size_t)__builtin_popcountll(mask);
    }
}

int32_t wadi_tile_memory_find(WadiTileMemoryFinder *finder, int32_t row)
{
    const WadiRows *rows = finder->rows;
    if (rows->tile[row] != finder->tile) {
        finder->tile = rows->tile[row];
        finder->at = wadi_tile_memory_tile(finder->memory, rows->tiles->tiles[finder->tile]);
    }
    return wadi_tile_memory_row(finder->memory, finder->at, rows->index_in_tile[row]);
}

/* One of the two memories of a join. */
typedef struct Source {
    const WadiTileMemory *memory;
    const uint8_t *flags;
    double scale; /* to the dt of the result */
    size_t at;    /* its next tile */
} Source;

/* Moves on to the next tile that is wanted; false: there is none. */
static bool find_next(Source *source)
{
    while (source->at < source->memory->tile_count && source->flags != NULL &&
           source->flags[source->at] == 0) {
        source->at += 1;
    }
    return source->at < source->memory->tile_count;
}

static WadiStatus reserve_joined(WadiTileMemory *out, const WadiTileMemoryKind *kind, Source source[2],
                                 WadiError *error)
{
    size_t tiles = 0, rows = 0;
    for (int of = 0; of < 2; ++of) {
        for (source[of].at = 0; find_next(&source[of]); source[of].at += 1) {
            tiles += 1;
            rows += (size_t)__builtin_popcountll(source[of].memory->mask[source[of].at]);
        }
        source[of].at = 0;
    }
    return wadi_tile_memory_reserve(out, kind, tiles, rows, error);
}

static void copy_row(void *to, const Source *source, size_t row, const WadiTileMemoryKind *kind)
{
    const size_t count = (size_t)kind->row_values;
    if (kind->type == WADI_TYPE_F64) {
        const double *from = (const double *)source->memory->value + count * row;
        for (size_t n = 0; n < count; ++n) {
            ((double *)to)[n] = source->scale * from[n];
        }
    } else {
        const float *from = (const float *)source->memory->value + count * row, scale = (float)source->scale;
        for (size_t n = 0; n < count; ++n) {
            ((float *)to)[n] = scale * from[n];
        }
    }
}

WadiStatus wadi_tile_memory_join(WadiTileMemory *result, const WadiTileMemoryKind *kind,
                                 const WadiTileMemory *a, const uint8_t *flags_a, const WadiTileMemory *b,
                                 const uint8_t *flags_b, WadiTileMemoryCopied copied, void *user,
                                 WadiError *error)
{
    const double dt = a->dt > 0.0 ? a->dt : b->dt;
    Source source[2] = { { a, flags_a, wadi_tile_memory_scale(a, dt), 0 },
                         { b, flags_b, wadi_tile_memory_scale(b, dt), 0 } };
    WadiTileMemory joined = { 0 };
    const WadiStatus status = reserve_joined(&joined, kind, source, error);
    if (status != WADI_OK) {
        wadi_tile_memory_free(&joined);
        return status;
    }
    joined.dt = dt;
    for (;;) {
        bool has[2] = { find_next(&source[0]), find_next(&source[1]) };
        if (!has[0] && !has[1]) {
            break;
        }
        if (has[0] && has[1]) {
            const WadiTile first = a->tile[source[0].at], second = b->tile[source[1].at];
            has[0] = !wadi_tile_is_before(second, first);
            has[1] = !wadi_tile_is_before(first, second);
        }
        const uint64_t mask[2] = { has[0] ? a->mask[source[0].at] : 0, has[1] ? b->mask[source[1].at] : 0 };
        size_t out = joined.row_count;
        wadi_tile_memory_add(&joined, has[0] ? a->tile[source[0].at] : b->tile[source[1].at],
                             mask[0] | mask[1]);
        for (uint64_t left = mask[0] | mask[1]; left != 0; left &= left - 1, ++out) {
            const int place = __builtin_ctzll(left);
            const Source *from = &source[mask[0] >> place & 1 ? 0 : 1];
            const size_t row = (size_t)wadi_tile_memory_row(from->memory, (int64_t)from->at, place);
            copy_row((char *)joined.value + out * row_bytes(kind), from, row, kind);
            if (copied != NULL) {
                copied(user, out, from->memory, row, from->scale);
            }
        }
        source[0].at += has[0];
        source[1].at += has[1];
    }
    wadi_tile_memory_free(result);
    *result = joined;
    return WADI_OK;
}

WadiStatus wadi_tile_memory_save(const WadiTileMemory *memory, const WadiTileMemoryKind *kind,
                                 const char *name, WadiState *state, WadiError *error)
{
    WadiStateName n;
    const size_t tiles = memory->tile_count;
    WADI_TRY(wadi_state_put(state, wadi_state_name(&n, name, "dt"), WADI_TYPE_F64, 1, 1, &memory->dt, error));
    WADI_TRY(wadi_state_put(state, wadi_state_name(&n, name, "tile"), WADI_TYPE_I32, 3, tiles, memory->tile,
                            error));
    WADI_TRY(wadi_state_put(state, wadi_state_name(&n, name, "mask"), WADI_TYPE_U64, 1, tiles, memory->mask,
                            error));
    return wadi_state_put(state, wadi_state_name(&n, name, kind->name), kind->type, kind->components,
                          memory->row_count * (size_t)(kind->row_values / kind->components), memory->value,
                          error);
}

WadiStatus wadi_tile_memory_load(WadiTileMemory *memory, const WadiTileMemoryKind *kind, const char *name,
                                 const WadiState *state, WadiError *error)
{
    WadiStateName n;
    const WadiStateArray *dt, *tile, *mask, *value;
    memory->dt = 0.0;
    memory->tile_count = memory->row_count = 0;
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "dt"), WADI_TYPE_F64, 1, 1, &dt, error));
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "tile"), WADI_TYPE_I32, 3, SIZE_MAX, &tile,
                               error));
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "mask"), WADI_TYPE_U64, 1, tile->count, &mask,
                               error));
    size_t rows = 0;
    for (size_t t = 0; t < mask->count; ++t) {
        rows += (size_t)__builtin_popcountll(((const uint64_t *)mask->data)[t]);
    }
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, kind->name), kind->type, kind->components,
                               rows * (size_t)(kind->row_values / kind->components), &value, error));
    if (kind->type == WADI_TYPE_F32 || kind->type == WADI_TYPE_F64) {
        WADI_TRY(wadi_state_check_reals(value, -1e30, 1e30, error));
    }
    const double stored_dt = *(const double *)dt->data;
    if (!(stored_dt >= 0.0 && stored_dt <= 1e6) ||
        !wadi_tiles_are_sound(tile->data, sizeof(WadiTile), tile->count)) {
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "the %s of the checkpoint contradict each other; resume from another one",
                         kind->what);
    }
    WADI_TRY(wadi_tile_memory_reserve(memory, kind, tile->count, rows, error));
    for (size_t t = 0; t < tile->count; ++t) {
        wadi_tile_memory_add(memory, ((const WadiTile *)tile->data)[t], ((const uint64_t *)mask->data)[t]);
    }
    if (rows > 0) {
        memcpy(memory->value, value->data, wadi_state_array_bytes(value));
    }
    memory->dt = stored_dt;
    return WADI_OK;
}
