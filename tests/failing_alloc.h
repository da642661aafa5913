/* An allocator that fails, for tests of errors without memory. */
#ifndef WADI_TESTS_FAILING_ALLOC_H
#define WADI_TESTS_FAILING_ALLOC_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "expect.h"

/* Every call fails after so many, or one call alone: `alloc_calls` counts them, number `alloc_fails_at`
 * fails, 0: none. */
static atomic_int alloc_calls_left = INT_MAX;
static atomic_long alloc_calls, alloc_fails_at;

static inline void *failing_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    const bool fails_now = atomic_fetch_add(&alloc_calls, 1) + 1 == alloc_fails_at;
    return fails_now || atomic_fetch_sub(&alloc_calls_left, 1) <= 0
               ? NULL
               : aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static inline void failing_free(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}

static const WadiAllocator failing_allocator = { failing_alloc, failing_free, NULL };

/* Repeats an attempt with one more successful call each time until it works; returns the number of
 * failures, each WADI_ERR_MEMORY without a leak. An attempt sets alloc_calls_left to `calls`, and to
 * INT_MAX before it frees everything. */
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
