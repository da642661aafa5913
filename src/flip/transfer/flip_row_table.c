#include "flip/transfer/flip_row_table.h"

WadiStatus wadi_table_of_rows(const WadiRows *rows, const uint8_t *bits, int32_t **table, int32_t *count,
                              WadiArena *arena, WadiError *error)
{
    int32_t next = 1, *result = NULL;
    *table = NULL;
    *count = 0;
    WADI_TRY(WADI_ARENA_NEW(arena, &result, (size_t)rows->count, "table of rows", error));
    result[0] = 0;
    for (int32_t row = 1; row < rows->count; ++row) {
        result[row] = bits[row] != 0 ? next : 0;
        next += bits[row] != 0;
    }
    *table = result;
    *count = next;
    return WADI_OK;
}
