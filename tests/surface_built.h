/* Fields of clouds, for tests. */
#ifndef WADI_TESTS_SURFACE_BUILT_H
#define WADI_TESTS_SURFACE_BUILT_H

#include "core/hash.h"
#include "expect.h"
#include "surface_clouds.h"

typedef struct Built {
    WadiArena arena;
    WadiBins bins;
    WadiField field;
} Built;

static inline void build(Built *b, const WadiCloud *cloud, const WadiFieldDef *def)
{
    WadiError error = { 0 };
    *b = (Built){ 0 };
    CHECK_OK(wadi_bins_build(&b->bins, cloud, def->support, &b->arena, &error), error);
    CHECK_OK(wadi_field_build(&b->field, cloud, &b->bins, def, &b->arena, &error), error);
}

static inline void release(Built *b)
{
    wadi_arena_free(&b->arena);
}

static inline WadiFieldDef default_def(double cell)
{
    return (WadiFieldDef){ .method = WADI_SURFACE_ZHU_BRIDSON, .cell = cell, .support = 2.0, .radius = 1.0 };
}

/* NAN: not in the band. */
static inline float value_at(const WadiField *field, int32_t i, int32_t j, int32_t k)
{
    int32_t row = wadi_rows_find(&field->rows, i, j, k);
    return row == 0 ? NAN : field->value[8 * (size_t)row + (size_t)(i & 7)];
}

static inline uint64_t field_hash(const WadiField *field)
{
    uint64_t hash = wadi_hash_bytes(0, field->tiles.tiles, (size_t)field->tiles.count * sizeof(WadiTile));
    hash = wadi_hash_bytes(hash, field->rows.index_in_tile, (size_t)field->rows.count);
    return wadi_hash_bytes(hash, field->value, wadi_rows_floats(&field->rows) * sizeof(float));
}

#endif
