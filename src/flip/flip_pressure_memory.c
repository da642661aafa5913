#include "flip/flip_pressure_memory.h"

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
    WADI_TRY(wadi_array_reserve((void **)&memory->tile, &memory->tile_capacity, tiles, sizeof *memory->tile,
                                "kept pressure", error));
    WADI_TRY(wadi_array_reserve((void **)&memory->mask, &memory->mask_capacity, tiles, sizeof *memory->mask,
                                "kept pressure", error));
    return wadi_array_reserve((void **)&memory->value, &memory->value_capacity, 8 * rows,
                              sizeof *memory->value, "kept pressure", error);
}

WadiStatus wadi_flip_pressure_keep(WadiFlipPressureMemory *memory, const WadiRows *rows,
                                   const uint8_t *active, const double *pressure, double dt, WadiError *error)
{
    WADI_TRY(reserve(memory, (size_t)rows->tiles->count, (size_t)rows->count, error));
    for (int32_t t = 0; t < rows->tiles->count; ++t) {
        uint64_t kept = 0;
        for (int32_t r = rows->first[t]; r < rows->first[t + 1]; ++r) {
            if (active[r] != 0) {
                kept |= UINT64_C(1) << rows->place[r];
                memcpy(memory->value + 8 * memory->row_count++, pressure + 8 * (size_t)r, 8 * sizeof(double));
            }
        }
        if (kept != 0) {
            memory->tile[memory->tile_count] = rows->tiles->tiles[t];
            memory->mask[memory->tile_count++] = kept;
        }
    }
    memory->dt = dt;
    return WADI_OK;
}

void wadi_flip_pressure_recall(const WadiFlipPressureMemory *memory, const WadiRows *rows, double dt,
                               double *pressure)
{
    memset(pressure, 0, wadi_rows_floats(rows) * sizeof *pressure);
    double scale = memory->dt > 0.0 ? dt / memory->dt : 0.0;
    size_t row = 0;
    for (size_t t = 0; t < memory->tile_count; ++t) {
        int32_t tile = wadi_tile_map_find(rows->tiles, memory->tile[t]);
        for (uint64_t left = memory->mask[t]; left != 0; left &= left - 1, ++row) {
            int32_t r = wadi_rows_at(rows, tile, __builtin_ctzll(left));
            for (size_t l = 0; r > 0 && l < 8; ++l) {
                pressure[8 * (size_t)r + l] = scale * memory->value[8 * row + l];
            }
        }
    }
}

WadiStatus wadi_flip_pressure_memory_save(const WadiFlipPressureMemory *memory, WadiState *state,
                                          WadiError *error)
{
    WADI_TRY(wadi_state_put(state, "pressure_dt", WADI_TYPE_F64, 1, 1, &memory->dt, error));
    WADI_TRY(
        wadi_state_put(state, "pressure_tile", WADI_TYPE_I32, 3, memory->tile_count, memory->tile, error));
    WADI_TRY(
        wadi_state_put(state, "pressure_mask", WADI_TYPE_U64, 1, memory->tile_count, memory->mask, error));
    return wadi_state_put(state, "pressure_value", WADI_TYPE_F64, 1, 8 * memory->row_count, memory->value,
                          error);
}

WadiStatus wadi_flip_pressure_memory_load(WadiFlipPressureMemory *memory, const WadiState *state,
                                          WadiError *error)
{
    const WadiStateArray *dt, *tile, *mask, *value;
    WADI_TRY(wadi_state_expect(state, "pressure_dt", WADI_TYPE_F64, 1, 1, &dt, error));
    WADI_TRY(wadi_state_expect(state, "pressure_tile", WADI_TYPE_I32, 3, SIZE_MAX, &tile, error));
    WADI_TRY(wadi_state_expect(state, "pressure_mask", WADI_TYPE_U64, 1, tile->count, &mask, error));
    size_t rows = 0;
    for (size_t t = 0; t < mask->count; ++t) {
        rows += (size_t)__builtin_popcountll(((const uint64_t *)mask->data)[t]);
    }
    WADI_TRY(wadi_state_expect(state, "pressure_value", WADI_TYPE_F64, 1, 8 * rows, &value, error));
    WADI_TRY(reserve(memory, tile->count, rows, error));
    memory->dt = *(const double *)dt->data;
    memory->tile_count = tile->count;
    memory->row_count = rows;
    if (rows > 0) {
        memcpy(memory->tile, tile->data, tile->count * sizeof *memory->tile);
        memcpy(memory->mask, mask->data, mask->count * sizeof *memory->mask);
        memcpy(memory->value, value->data, 8 * rows * sizeof *memory->value);
    }
    return WADI_OK;
}
