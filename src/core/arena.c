#include "core/arena.h"

#include <stdint.h>

#include "core/alloc.h"

struct WadiArenaBlock {
    WadiArenaBlock *next;
    size_t size; /* of the whole block, this header's aligned slot included */
};

static void free_overflow(WadiArena *arena)
{
    while (arena->overflow != NULL) {
        WadiArenaBlock *block = arena->overflow;
        arena->overflow = block->next;
        wadi_free(block, block->size, 1);
    }
}

void wadi_arena_free(WadiArena *arena)
{
    free_overflow(arena);
    wadi_free(arena->memory, arena->capacity, 1);
    *arena = (WadiArena){ 0 };
}

WadiStatus wadi_arena_reset(WadiArena *arena, WadiError *error)
{
    free_overflow(arena);
    size_t wanted = arena->high_water;
    arena->used = 0;
    arena->high_water = 0;
    if (wanted > arena->capacity) {
        /* A quarter more: a splash needs a little more in each step, and a new block a step costs more than the step. */
        wanted += (wanted / 4) & ~(size_t)(WADI_ALIGNMENT - 1);
        wadi_free(arena->memory, arena->capacity, 1);
        arena->memory = NULL;
        arena->capacity = 0;
        WADI_TRY(wadi_alloc((void **)&arena->memory, wanted, 1, "step scratch", error));
        arena->capacity = wanted;
    }
    return WADI_OK;
}

WadiStatus wadi_arena_alloc(WadiArena *arena, void **memory, size_t count, size_t size, const char *what,
                            WadiError *error)
{
    *memory = NULL;
    size_t bytes = 0;
    if (!wadi_size_multiply(count, size, &bytes) || bytes > PTRDIFF_MAX - 2 * WADI_ALIGNMENT) {
        return wadi_fail(error, WADI_ERR_MEMORY, "out of memory: %s needs %zu items of %zu bytes", what,
                         count, size);
    }
    size_t rounded = (bytes + WADI_ALIGNMENT - 1) & ~(size_t)(WADI_ALIGNMENT - 1);
    if (rounded <= arena->capacity - arena->used) {
        *memory = arena->memory + arena->used;
        arena->used += rounded;
    } else {
        WadiArenaBlock *block = NULL;
        size_t block_size = rounded + WADI_ALIGNMENT;
        WADI_TRY(wadi_alloc((void **)&block, block_size, 1, what, error));
        *block = (WadiArenaBlock){ .next = arena->overflow, .size = block_size };
        arena->overflow = block;
        *memory = (unsigned char *)block + WADI_ALIGNMENT;
    }
    arena->high_water += rounded;
    return WADI_OK;
}
