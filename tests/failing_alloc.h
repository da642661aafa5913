/* An allocator that fails when its calls are used up. */
#ifndef WADI_TESTS_FAILING_ALLOC_H
#define WADI_TESTS_FAILING_ALLOC_H

#include <limits.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "expect.h"

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

/* Attempts with ever more calls granted, until one works; returns how many did not, each for want of memory. An attempt makes what
 * it needs, grants itself the calls, and all again before it frees everything. */
static inline int failures_until_it_works(WadiStatus (*attempt)(int calls))
{
    wadi_set_allocator(&failing_allocator);
    int failures = 0;
    for (WadiStatus status; (status = attempt(failures)) != WADI_OK; ++failures) {
        assert_int_equal(status, WADI_ERR_MEMORY);
        assert_int_equal(wadi_alloc_live_bytes(), 0);
    }
    assert_int_equal(wadi_alloc_live_bytes(), 0);
    wadi_set_allocator(NULL);
    return failures;
}

#endif
