/* Scratch memory of one step: bump allocation, reset at the end of the step.
 * What does not fit goes to blocks of its own; the next reset grows the main block to the high-water mark, so a
 * warmed-up step does not call the system allocator. A block that many steps have not needed shrinks. Not thread-safe: allocate
 * before a parallel loop.
 *
 * It has two ends. What a stage leaves to others comes from the front; what it needs while it makes that comes from the back, as
 * a temporary, and goes when the stage is done although its results, made later, stay. */
#ifndef WADI_CORE_ARENA_H
#define WADI_CORE_ARENA_H

#include "core/status.h"

typedef struct WadiArenaBlock WadiArenaBlock;

typedef struct WadiArena {
    unsigned char *memory;
    size_t capacity;
    size_t used;           /* at the front of `memory`; a multiple of the alignment, as all sizes here */
    size_t temporary;      /* used at its back */
    size_t live;           /* bytes of all requests since the last reset that were not released */
    size_t live_temporary; /* those of temporaries */
    size_t high_water;     /* the most that were live at once */
    size_t recent;         /* the same of the resets since the block was last fitted */
    int resets;            /* their number */
    WadiArenaBlock *overflow, *overflow_temporary; /* newest first */
} WadiArena;

/* A zeroed WadiArena is valid and empty. */
void wadi_arena_free(WadiArena *arena);

/* Forget every allocation. Pointers handed out before are invalid afterwards. */
WadiStatus wadi_arena_reset(WadiArena *arena, WadiError *error);

/* count * size bytes, NOT zeroed, 64-byte aligned. */
WadiStatus wadi_arena_alloc(WadiArena *arena, void **memory, size_t count, size_t size, const char *what,
                            WadiError *error);

/* The same from the back. */
WadiStatus wadi_arena_alloc_temporary(WadiArena *arena, void **memory, size_t count, size_t size,
                                      const char *what, WadiError *error);

/* What a stage needs for itself only: mark before, release after, and the next stage has the memory. Pointers handed out since
 * the mark are invalid afterwards. Marks nest; a reset forgets them. Temporaries older than a mark may go before it is released;
 * then none may have come since. */
typedef struct WadiArenaMark {
    size_t used, temporary, live, live_temporary;
    WadiArenaBlock *overflow, *overflow_temporary;
} WadiArenaMark;

WadiArenaMark wadi_arena_mark(const WadiArena *arena);
void wadi_arena_release(WadiArena *arena, WadiArenaMark mark);
/* Only temporaries: what came from the front since the mark stays. */
void wadi_arena_release_temporaries(WadiArena *arena, WadiArenaMark mark);

#define WADI_ARENA_NEW(arena, pointer, count, what, error)                                                   \
    wadi_arena_alloc((arena), (void **)(pointer), (count), sizeof(**(pointer)), (what), (error))
#define WADI_ARENA_NEW_TEMPORARY(arena, pointer, count, what, error)                                         \
    wadi_arena_alloc_temporary((arena), (void **)(pointer), (count), sizeof(**(pointer)), (what), (error))

#endif
