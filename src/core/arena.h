/* Scratch memory of one step: bump allocation, reset at the end of the step.
 * Requests that do not fit get blocks of their own; the next reset grows the main block to the high-water
 * mark, so that a warmed-up step does not call the system allocator. A block that is too large for many
 * steps shrinks. Not thread-safe: allocate before a parallel loop.
 *
 * It has two ends. Results of a stage come from the front; its temporaries come from the back and are
 * released when the stage is done, while results that were allocated later stay. */
#ifndef WADI_CORE_ARENA_H
#define WADI_CORE_ARENA_H

#include "core/status.h"

typedef struct WadiArenaBlock WadiArenaBlock;

typedef struct WadiArena {
    unsigned char *memory;
    size_t capacity;
    /* bytes used at the front of `memory`; a multiple of the alignment, as all sizes here */
    size_t used;
    size_t temporary;      /* bytes used at its back */
    size_t live;           /* bytes of all requests since the last reset that are not released */
    size_t live_temporary; /* those of temporaries */
    size_t high_water;     /* largest `live` since the last reset */
    size_t recent;         /* largest high_water since the block was last resized */
    int resets;            /* number of resets since then */
    WadiArenaBlock *overflow, *overflow_temporary; /* newest first */
} WadiArena;

/* A zeroed WadiArena is valid and empty. */
void wadi_arena_free(WadiArena *arena);

/* Release every allocation: all pointers become invalid. */
WadiStatus wadi_arena_reset(WadiArena *arena, WadiError *error);

/* count * size bytes, NOT zeroed, 64-byte aligned. */
WadiStatus wadi_arena_alloc(WadiArena *arena, void **memory, size_t count, size_t size, const char *what,
                            WadiError *error);

/* The same from the back. */
WadiStatus wadi_arena_alloc_temporary(WadiArena *arena, void **memory, size_t count, size_t size,
                                      const char *what, WadiError *error);

/* Scope of a stage's memory: mark before, release after. Pointers from between become invalid. Marks nest;
 * a reset ends them. Temporaries older than a mark may be released before it only if no newer ones exist. */
typedef struct WadiArenaMark {
    size_t used, temporary, live, live_temporary;
    WadiArenaBlock *overflow, *overflow_temporary;
} WadiArenaMark;

WadiArenaMark wadi_arena_mark(const WadiArena *arena);
void wadi_arena_release(WadiArena *arena, WadiArenaMark mark);
/* Temporaries only: allocations from the front since the mark stay. */
void wadi_arena_release_temporaries(WadiArena *arena, WadiArenaMark mark);

#define WADI_ARENA_NEW(arena, pointer, count, what, error)                                                   \
    wadi_arena_alloc((arena), (void **)(pointer), (count), sizeof(**(pointer)), (what), (error))
#define WADI_ARENA_NEW_TEMPORARY(arena, pointer, count, what, error)                                         \
    wadi_arena_alloc_temporary((arena), (void **)(pointer), (count), sizeof(**(pointer)), (what), (error))

#endif
