#include "core/arena.h"

#include <stdint.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"

#ifdef WADI_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(first, bytes) ((void)(first), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(first, bytes) ((void)(first), (void)(bytes))
#endif

/* Number of resets: the first step, a cold start, should not set the size for all others. */
enum { SHRINK_AFTER = 8 };

struct WadiArenaBlock {
    WadiArenaBlock *next;
    size_t size; /* of the whole block, this header's aligned slot included */
};

/* Blocks newer than `kept`. */
static void free_overflow(WadiArenaBlock **newest, const WadiArenaBlock *kept)
{
    while (*newest != kept) {
        WadiArenaBlock *block = *newest;
        *newest = block->next;
        wadi_free(block, block->size, 1);
    }
}

/* Unallocated memory: with the address sanitizer an access stops the program, in a checking build it reads
 * as NaN. */
static void poison(const WadiArena *arena, size_t first, size_t bytes)
{
    if (bytes > 0) {
#ifdef WADI_CHECKS
        memset(arena->memory + first, 0xff, bytes);
#endif
        ASAN_POISON_MEMORY_REGION(arena->memory + first, bytes);
    }
}

static void free_main_block(WadiArena *arena)
{
    ASAN_UNPOISON_MEMORY_REGION(arena->memory, arena->capacity);
    wadi_free(arena->memory, arena->capacity, 1);
}

void wadi_arena_free(WadiArena *arena)
{
    free_overflow(&arena->overflow, NULL);
    free_overflow(&arena->overflow_temporary, NULL);
    free_main_block(arena);
    *arena = (WadiArena){ 0 };
}

/* A sixteenth more than needed: a growing splash needs slightly more in each step, and a new block a step
 * would cost more than the step. */
static size_t with_margin(size_t needed)
{
    return needed + ((needed / 16) & ~(size_t)(WADI_ALIGNMENT - 1));
}

WadiStatus wadi_arena_reset(WadiArena *arena, WadiError *error)
{
    const size_t needed = arena->high_water;
    WadiArena fresh = { .memory = arena->memory,
                        .capacity = arena->capacity,
                        .recent = needed > arena->recent ? needed : arena->recent,
                        .resets = arena->resets + 1 };
    free_overflow(&arena->overflow, NULL);
    free_overflow(&arena->overflow_temporary, NULL);
    *arena = (WadiArena){ 0 };
    const bool is_due = fresh.resets == SHRINK_AFTER;
    if (needed > fresh.capacity || (is_due && fresh.recent + fresh.recent / 8 < fresh.capacity)) {
        free_main_block(&fresh);
        const size_t capacity = with_margin(needed > fresh.capacity ? needed : fresh.recent);
        fresh = (WadiArena){ .capacity = capacity };
        WADI_TRY(wadi_alloc_unset((void **)&fresh.memory, capacity, 1, "step scratch", error));
    } else if (is_due) {
        fresh.recent = 0;
        fresh.resets = 0;
    }
    *arena = fresh;
    ASAN_POISON_MEMORY_REGION(arena->memory, arena->capacity);
    return WADI_OK;
}

/* The bytes of a request in whole cache lines; fails on overflow. */
static WadiStatus round_up(size_t count, size_t size, const char *what, size_t *rounded, WadiError *error)
{
    size_t bytes = 0;
    if (!wadi_size_multiply(count, size, &bytes) || bytes > PTRDIFF_MAX - 2 * WADI_ALIGNMENT) {
        return wadi_fail(error, WADI_ERR_MEMORY, "out of memory: %s needs %zu items of %zu bytes", what,
                         count, size);
    }
    *rounded = (bytes + WADI_ALIGNMENT - 1) & ~(size_t)(WADI_ALIGNMENT - 1);
    return WADI_OK;
}

static WadiStatus alloc_overflow(WadiArenaBlock **newest, void **memory, size_t rounded, const char *what,
                                 WadiError *error)
{
    WadiArenaBlock *block = NULL;
    const size_t size = rounded + WADI_ALIGNMENT;
    WADI_TRY(wadi_alloc_unset((void **)&block, size, 1, what, error));
    *block = (WadiArenaBlock){ .next = *newest, .size = size };
    *newest = block;
    *memory = (unsigned char *)block + WADI_ALIGNMENT;
    return WADI_OK;
}

/* Address of empty arrays in an empty arena: NULL + 0 is undefined. */
static unsigned char empty[1];

static void count_live(WadiArena *arena, size_t rounded)
{
    arena->live += rounded;
    arena->high_water = arena->live > arena->high_water ? arena->live : arena->high_water;
}

WadiStatus wadi_arena_alloc(WadiArena *arena, void **memory, size_t count, size_t size, const char *what,
                            WadiError *error)
{
    *memory = NULL;
    size_t rounded = 0;
    WADI_TRY(round_up(count, size, what, &rounded, error));
    if (rounded <= arena->capacity - arena->temporary - arena->used) {
        *memory = arena->memory != NULL ? arena->memory + arena->used : empty;
        ASAN_UNPOISON_MEMORY_REGION(*memory, rounded);
        arena->used += rounded;
    } else {
        WADI_TRY(alloc_overflow(&arena->overflow, memory, rounded, what, error));
    }
    count_live(arena, rounded);
    return WADI_OK;
}

WadiStatus wadi_arena_alloc_temporary(WadiArena *arena, void **memory, size_t count, size_t size,
                                      const char *what, WadiError *error)
{
    *memory = NULL;
    size_t rounded = 0;
    WADI_TRY(round_up(count, size, what, &rounded, error));
    if (rounded <= arena->capacity - arena->temporary - arena->used) {
        arena->temporary += rounded;
        *memory = arena->memory != NULL ? arena->memory + arena->capacity - arena->temporary : empty;
        ASAN_UNPOISON_MEMORY_REGION(*memory, rounded);
    } else {
        WADI_TRY(alloc_overflow(&arena->overflow_temporary, memory, rounded, what, error));
    }
    arena->live_temporary += rounded;
    count_live(arena, rounded);
    return WADI_OK;
}

WadiArenaMark wadi_arena_mark(const WadiArena *arena)
{
    return (WadiArenaMark){ arena->used,           arena->temporary, arena->live,
                            arena->live_temporary, arena->overflow,  arena->overflow_temporary };
}

void wadi_arena_release_temporaries(WadiArena *arena, WadiArenaMark mark)
{
    if (arena->live_temporary <= mark.live_temporary) {
        return;
    }
    WADI_ASSERT_ELSE(mark.temporary <= arena->temporary, return;);
    free_overflow(&arena->overflow_temporary, mark.overflow_temporary);
    poison(arena, arena->capacity - arena->temporary, arena->temporary - mark.temporary);
    arena->temporary = mark.temporary;
    arena->live -= arena->live_temporary - mark.live_temporary;
    arena->live_temporary = mark.live_temporary;
}

void wadi_arena_release(WadiArena *arena, WadiArenaMark mark)
{
    WADI_ASSERT_ELSE(mark.used <= arena->used, return;);
    wadi_arena_release_temporaries(arena, mark);
    free_overflow(&arena->overflow, mark.overflow);
    poison(arena, mark.used, arena->used - mark.used);
    arena->used = mark.used;
    arena->live = mark.live - mark.live_temporary + arena->live_temporary;
}
