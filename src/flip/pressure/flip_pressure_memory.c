#include "flip/pressure/flip_pressure_memory.h"

#include <string.h>

const WadiTileMemoryKind wadi_flip_pressure_kind = {
    .what = "pressures", .name = "value", .type = WADI_TYPE_F64, .row_values = WADI_ROW_CELLS, .components = 1
};

WadiStatus wadi_flip_pressure_store(WadiTileMemory *memory, const WadiRows *rows, const int32_t *table,
                                    int32_t count, const double *pressure, double dt, WadiError *error)
{
    WADI_TRY(wadi_tile_memory_reserve(memory, &wadi_flip_pressure_kind, (size_t)rows->tiles->count,
                                      (size_t)count - 1, error));
    for (int32_t t = 0; t < rows->tiles->count; ++t) {
        uint64_t mask = 0;
        for (int32_t r = rows->first[t]; r < rows->first[t + 1]; ++r) {
            mask |= (uint64_t)(table[r] != 0) << rows->index_in_tile[r];
        }
        wadi_tile_memory_add(memory, rows->tiles->tiles[t], mask);
    }
    if (memory->row_count > 0) {
        memcpy(memory->value, pressure + WADI_ROW_CELLS,
               WADI_ROW_CELLS * memory->row_count * sizeof *pressure);
    }
    memory->dt = dt;
    return WADI_OK;
}

void wadi_flip_pressure_recall(const WadiTileMemory *memory, const WadiRows *rows, const int32_t *table,
                               double dt, double *pressure)
{
    const double scale = wadi_tile_memory_scale(memory, dt), *value = memory->value;
    for (size_t t = 0; t < memory->tile_count; ++t) {
        const int32_t tile = wadi_tile_map_find(rows->tiles, memory->tile[t]);
        for (uint64_t left = memory->mask[t]; left != 0; left &= left - 1, value += WADI_ROW_CELLS) {
            const int32_t r = table[wadi_rows_at(rows, tile, __builtin_ctzll(left))];
            for (size_t l = 0; r > 0 && l < WADI_ROW_CELLS; ++l) {
                pressure[WADI_ROW_CELLS * (size_t)r + l] = scale * value[l];
            }
        }
    }
}
