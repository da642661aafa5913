#include "surface/cloud/cloud_append.h"

#include <string.h>

#include "core/alloc.h"

WadiStatus wadi_cloud_like(WadiCloud *to, const WadiCloud *from, size_t size, WadiArena *arena,
                           WadiError *error)
{
    *to = *from;
    to->count = 0;
    WADI_TRY(WADI_ARENA_NEW(arena, &to->position, size, "particles of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &to->spacing, size, "particles of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &to->id, size, "particles of a surface", error));
    for (int a = 0; a < from->attribute_count; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &to->attribute[a].values, size * (size_t)from->attribute[a].components,
                                "particles of a surface", error));
    }
    return WADI_OK;
}

void wadi_cloud_append(WadiCloud *to, const WadiCloud *from, int32_t i, WadiVec3 position)
{
    const int32_t n = to->count++;
    to->position[n] = position;
    to->spacing[n] = from->spacing[i];
    to->id[n] = from->id[i];
    for (int a = 0; a < from->attribute_count; ++a) {
        const size_t c = (size_t)from->attribute[a].components;
        memcpy(to->attribute[a].values + (size_t)n * c, from->attribute[a].values + (size_t)i * c,
               c * sizeof(float));
    }
}
