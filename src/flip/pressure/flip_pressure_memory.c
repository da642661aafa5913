#include "flip/pressure/flip_pressure_memory.h"

#include <string.h>

#include "core/array.h"

void wadi_flip_pressure_memory_free(WadiFlipPressureMemory *memory)
{
    WADI_DELETE(memory->tile, memory->tile_capacity);
    WADI_DELETE(memory->mask, memory->mask_capacity);
    WADI_DELETE(memory->value, memory->value_capacity);
    *memory = (WadiFlipPressureMemory){ 0 };
}

static WadiStatus reserve(WadiFlipPressureMemory *memory, size_t tiles, size_t rows, WadiError *error)
{
    memory->tile_count = memory->row_count = 0;
    WADI_TRY(wadi_array_renew((void **)&memory->tile, &memory->tile_capacity, tiles, sizeof *memory->tile,
                              "kept pressure", error));
    WADI_TRY(wadi_array_renew((void **)&memory->mask, &memory->mask_capacity, tiles, sizeof *memory->mask,
                              "kept pressure", error));
    return wadi_array_renew((void **)&memory->value, &memory->value_capacity, 8 * rows, sizeof *memory->value,
                            "kept pressure", error);
}

WadiStatus wadi_flip_pressure_store(WadiFlipPressureMemory *memory, const WadiRows *rows,
                                    const int32_t *table, int32_t count, const double *pressure, double dt,
                                    WadiError *error)
{
    WADI_TRY(reserve(memory, (size_t)rows->tiles->count, (size_t)count, error));
    for (int32_t t = 0; t < rows->tiles->count; ++t) {
        uint64_t kept = 0;
        for (int32_t r = rows->first[t]; r < rows->first[t + 1]; ++r) {
            kept |= (uint64_t)(table[r] != 0) << rows->place[r];
        }
        if (kept != 0) {
            memory->tile[memory->tile_count] = rows->tiles->tiles[t];
            memory->mask[memory->tile_count++] = kept;
        }
    }
    memory->row_count = (size_t)count - 1;
    if (memory->row_count > 0) {
        memcpy(memory->value, pressure + WADI_ROW_CELLS, 8 * memory->row_count * sizeof(double));
    }
    memory->dt = dt;
    return WADI_OK;
}

void wadi_flip_pressure_recall(const WadiFlipPressureMemory *memory, const WadiRows *rows,
                               const int32_t *table, double dt, double *pressure)
{
    double scale = memory->dt > 0.0 ? dt / memory->dt : 0.0;
    size_t row = 0;
    for (size_t t = 0; t < memory->tile_count; ++t) {
        int32_t tile = wadi_tile_map_find(rows->tiles, memory->tile[t]);
        for (uint64_t left = memory->mask[t]; left != 0; left &= left - 1, ++row) {
            int32_t r = table[wadi_rows_at(rows, tile, __builtin_ctzll(left))];
            for (size_t l = 0; r > 0 && l < 8; ++l) {
                pressure[8 * (size_t)r + l] = scale * memory->value[8 * row + l];
            }
        }
    }
}

/* Place of the next tile to be kept, from `at` on; passes over the rows of the others. */
static size_t next_kept(const WadiFlipPressureMemory *memory, const uint8_t *keeps, size_t at, size_t *row)
{
    while (at < memory->tile_count && keeps != NULL && keeps[at] == 0) {
        *row += (size_t)__builtin_popcountll(memory->mask[at++]);
    }
    return at;
}

/* Tiles and rows that are kept. */
static void count_kept(const WadiFlipPressureMemory *memory, const uint8_t *keeps, size_t *tiles,
                       size_t *rows)
{
    for (size_t t = 0; t < memory->tile_count; ++t) {
        const bool is_kept = keeps == NULL || keeps[t] != 0;
        *tiles += is_kept;
        *rows += is_kept ? (size_t)__builtin_popcountll(memory->mask[t]) : 0;
    }
}

WadiStatus wadi_flip_pressure_memory_join(WadiFlipPressureMemory *result, const WadiFlipPressureMemory *a,
                                          const uint8_t *keeps_a, const WadiFlipPressureMemory *b,
                                          const uint8_t *keeps_b, WadiError *error)
{
    WadiFlipPressureMemory joined = { 0 }, *out = &joined;
    size_t tiles = 0, rows = 0;
    count_kept(a, keeps_a, &tiles, &rows);
    count_kept(b, keeps_b, &tiles, &rows);
    const WadiStatus status = reserve(out, tiles, rows, error);
    if (status != WADI_OK) {
        wadi_flip_pressure_memory_free(out);
        return status;
    }
    out->dt = a->tile_count > 0 ? a->dt : b->dt;
    const WadiFlipPressureMemory *from[2] = { a, b };
    const uint8_t *keeps[2] = { keeps_a, keeps_b };
    size_t at[2] = { 0, 0 }, row[2] = { 0, 0 };
    for (;;) {
        at[0] = next_kept(a, keeps[0], at[0], &row[0]);
        at[1] = next_kept(b, keeps[1], at[1], &row[1]);
        bool has[2] = { at[0] < a->tile_count, at[1] < b->tile_count };
        if (!has[0] && !has[1]) {
            break;
        }
        if (has[0] && has[1]) {
            has[1] = !wadi_tile_is_before(a->tile[at[0]], b->tile[at[1]]);
            has[0] = !wadi_tile_is_before(b->tile[at[1]], a->tile[at[0]]);
        }
        uint64_t mask[2] = { has[0] ? a->mask[at[0]] : 0, has[1] ? b->mask[at[1]] : 0 };
        out->tile[out->tile_count] = has[0] ? a->tile[at[0]] : b->tile[at[1]];
        out->mask[out->tile_count++] = mask[0] | mask[1];
        for (uint64_t left = mask[0] | mask[1]; left != 0; left &= left - 1) {
            uint64_t bit = left & -left;
            int of = (mask[0] & bit) != 0 ? 0 : 1;
            double scale = from[of]->dt > 0.0 ? out->dt / from[of]->dt : 0.0;
            for (size_t l = 0; l < 8; ++l) {
                out->value[8 * out->row_count + l] = scale * from[of]->value[8 * row[of] + l];
            }
            row[0] += (mask[0] & bit) != 0;
            row[1] += (mask[1] & bit) != 0;
            out->row_count += 1;
        }
        at[0] += has[0];
        at[1] += has[1];
    }
    wadi_flip_pressure_memory_free(result);
    *result = joined;
    return WADI_OK;
}

WadiStatus wadi_flip_pressure_memory_save(const WadiFlipPressureMemory *memory, const char *name,
                                          WadiState *state, WadiError *error)
{
    WadiStateName n;
    WADI_TRY(wadi_state_put(state, wadi_state_name(&n, name, "dt"), WADI_TYPE_F64, 1, 1, &memory->dt, error));
    WADI_TRY(wadi_state_put(state, wadi_state_name(&n, name, "tile"), WADI_TYPE_I32, 3, memory->tile_count,
                            memory->tile, error));
    WADI_TRY(wadi_state_put(state, wadi_state_name(&n, name, "mask"), WADI_TYPE_U64, 1, memory->tile_count,
                            memory->mask, error));
    return wadi_state_put(state, wadi_state_name(&n, name, "value"), WADI_TYPE_F64, 1, 8 * memory->row_count,
                          memory->value, error);
}

WadiStatus wadi_flip_pressure_memory_load(WadiFlipPressureMemory *memory, const char *name,
                                          const WadiState *state, WadiError *error)
{
    WadiStateName n;
    const WadiStateArray *dt, *tile, *mask, *value;
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "dt"), WADI_TYPE_F64, 1, 1, &dt, error));
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "tile"), WADI_TYPE_I32, 3, SIZE_MAX, &tile,
                               error));
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "mask"), WADI_TYPE_U64, 1, tile->count, &mask,
                               error));
    size_t rows = 0;
    for (size_t t = 0; t < mask->count; ++t) {
        rows += (size_t)__builtin_popcountll(((const uint64_t *)mask->data)[t]);
    }
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "value"), WADI_TYPE_F64, 1, 8 * rows, &value,
                               error));
    WADI_TRY(reserve(memory, tile->count, rows, error));
    memory->dt = *(const double *)dt->data;
    memory->tile_count = tile->count;
    memory->row_count = rows;
    if (rows > 0) {
        memcpy(memory->tile, tile->data, tile->count * sizeof *memory->tile);
        memcpy(memory->mask, mask->data, mask->count * sizeof *memory->mask);
        memcpy(memory->value, value->data, 8 * rows * sizeof *memory->value);
    }
    if (rows > 0 && !wadi_tiles_are_in_range(memory->tile, memory->tile_count)) {
        memory->tile_count = memory->row_count = 0;
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "the pressures of the checkpoint lie outside the grid; resume from another one");
    }
    return WADI_OK;
}
