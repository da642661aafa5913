/* An allocator that fails when its calls are used up. */
#ifndef WADI_TESTS_FAILING_ALLOC_H
#define WADI_TESTS_FAILING_ALLOC_H

#include <limits.h>
#include <stdlib.h>

#include "wadi/base.h"

static int alloc_calls_left = INT_MAX;

static inline void *failing_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    return alloc_calls_left-- > 0 ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                                  : NULL;
}

static inline void failing_free(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}

static const WadiAllocator failing_allocator = { failing_alloc, failing_free, NULL };

#endif
