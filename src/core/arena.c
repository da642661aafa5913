#include "core/arena.h"

#include <stdint.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"

struct WadiArenaBlock {
    WadiArenaBlock *next;
    size_t size; /* of the whole block, this header's aligned slot included */
};

/* Blocks newer than `kept`. */
static void free_overflow(WadiArena *arena, const WadiArenaBlock *kept)
{
    while (arena->overflow != kept) {
        WadiArenaBlock *block = arena->overflow;
        arena->overflow = block->next;
        wadi_free(block, block->size, 1);
    }
}

void wadi_arena_free(WadiArena *arena)
{
    free_overflow(arena, NULL);
    wadi_free(arena->memory, arena->capacity, 1);
    *arena = (WadiArena){ 0 };
}

WadiStatus wadi_arena_reset(WadiArena *arena, WadiError *error)
{
    free_overflow(arena, NULL);
    size_t wanted = arena->high_water;
    arena->used = 0;
    arena->live = 0;
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
    arena->live += rounded;
    arena->high_water = arena->live > arena->high_water ? arena->live : arena->high_water;
    return WADI_OK;
}

WadiArenaMark wadi_arena_mark(const WadiArena *arena)
{
    return (WadiArenaMark){ arena->used, arena->live, arena->overflow };
}

void wadi_arena_release(WadiArena *arena, WadiArenaMark mark)
{
    WADI_ASSERT(mark.used <= arena->used && mark.live <= arena->live);
    free_overflow(arena, mark.overflow);
#ifdef WADI_CHECKS
    /* What is read after its release shows: as a number, NaN. */
    if (arena->used > mark.used) {
        memset(arena->memory + mark.used, 0xff, arena->used - mark.used);
    }
#endif
    arena->used = mark.used;
    arena->live = mark.live;
}
