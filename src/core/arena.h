/* Scratch memory of one step: bump allocation, reset at the end of the step.
 * What does not fit goes to blocks of its own; the next reset grows the main block to the high-water mark, so a
 * warmed-up step does not call the system allocator. Not thread-safe: allocate before a parallel loop. */
#ifndef WADI_CORE_ARENA_H
#define WADI_CORE_ARENA_H

#include "core/status.h"

typedef struct WadiArenaBlock WadiArenaBlock;

typedef struct WadiArena {
    unsigned char *memory;
    size_t capacity;
    size_t used;              /* in `memory`; a multiple of the alignment */
    size_t live;              /* bytes of all requests since the last reset that were not released */
    size_t high_water;        /* the most that were live at once */
    WadiArenaBlock *overflow; /* newest first */
} WadiArena;

/* A zeroed WadiArena is valid and empty. */
void wadi_arena_free(WadiArena *arena);

/* Forget every allocation. Pointers handed out before are invalid afterwards. */
WadiStatus wadi_arena_reset(WadiArena *arena, WadiError *error);

/* count * size bytes, NOT zeroed, 64-byte aligned. */
WadiStatus wadi_arena_alloc(WadiArena *arena, void **memory, size_t count, size_t size, const char *what,
                            WadiError *error);

/* What a stage needs for itself only: mark before, release after, and the next stage has the memory. Pointers handed out since
 * the mark are invalid afterwards. Marks nest; a reset forgets them. */
typedef struct WadiArenaMark {
    size_t used, live;
    WadiArenaBlock *overflow;
} WadiArenaMark;

WadiArenaMark wadi_arena_mark(const WadiArena *arena);
void wadi_arena_release(WadiArena *arena, WadiArenaMark mark);

#define WADI_ARENA_NEW(arena, pointer, count, what, error)                                                   \
    wadi_arena_alloc((arena), (void **)(pointer), (count), sizeof(**(pointer)), (what), (error))

#endif
