/* Memory: one hook, overflow-checked sizes, sized free. */
#ifndef WADI_CORE_ALLOC_H
#define WADI_CORE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

enum { WADI_ALIGNMENT = 64 };

/* false on overflow; *product is then 0. */
bool wadi_size_multiply(size_t a, size_t b, size_t *product);

/* count * size bytes, zeroed, 64-byte aligned. NULL for a zero product. On failure or overflow returns
 * WADI_ERR_MEMORY and *memory is NULL. `what` names the data in the message. */
WadiStatus wadi_alloc(void **memory, size_t count, size_t size, const char *what, WadiError *error);

/* The same, NOT zeroed: pages that are never written take no memory. */
WadiStatus wadi_alloc_unset(void **memory, size_t count, size_t size, const char *what, WadiError *error);

/* Grow or shrink to new_count elements; keeps the common prefix, zeroes new elements. On failure the old
 * block is unchanged. */
WadiStatus wadi_realloc(void **memory, size_t old_count, size_t new_count, size_t size, const char *what,
                        WadiError *error);

/* WADI_ERR_MEMORY when so many bytes are not available now; nothing stays allocated. For libraries that
 * crash without memory: call it before them, with more than they use. */
WadiStatus wadi_memory_probe(size_t bytes, const char *what, WadiError *error);

/* Pass the count and size of the allocation. NULL is allowed. */
void wadi_free(void *memory, size_t count, size_t size);

/* Typed front ends: WADI_NEW(&p, 10, "keys", error). */
#define WADI_NEW(pointer, count, what, error)                                                                \
    wadi_alloc((void **)(pointer), (count), sizeof(**(pointer)), (what), (error))
#define WADI_RESIZE(pointer, old_count, new_count, what, error)                                              \
    wadi_realloc((void **)(pointer), (old_count), (new_count), sizeof(**(pointer)), (what), (error))
#define WADI_DELETE(pointer, count) wadi_free((pointer), (count), sizeof(*(pointer)))

/* Terminated copy of `length` bytes of `text`; release with wadi_string_free. */
WadiStatus wadi_string_copy(char **copy, const char *text, size_t length, WadiError *error);
void wadi_string_free(char *text);

/* Bytes allocated through the hook and not yet freed, and the largest number so far. */
size_t wadi_alloc_live_bytes(void);
size_t wadi_alloc_peak_bytes(void);
/* Calls of the hook's alloc so far; a test asserts that warmed-up steps do not raise it. */
size_t wadi_alloc_call_count(void);

#endif
