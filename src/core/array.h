/* Growing arrays of any plain type.
 *   typedef WADI_ARRAY(WadiKey) WadiKeys;      WadiKeys keys = { 0 };
 *   WADI_TRY(WADI_ARRAY_PUSH(&keys, key, "keys", error));   keys.data[i]   keys.count
 *   WADI_ARRAY_FREE(&keys);
 * Invariant: count <= capacity; data is NULL exactly when capacity is 0. */
#ifndef WADI_CORE_ARRAY_H
#define WADI_CORE_ARRAY_H

#include "core/alloc.h"

#define WADI_ARRAY(type)                                                                                     \
    struct {                                                                                                 \
        type *data;                                                                                          \
        size_t count;                                                                                        \
        size_t capacity;                                                                                     \
    }

/* Capacity for `wanted` elements in all; grows by at least half of the old capacity. */
WadiStatus wadi_array_reserve(void **data, size_t *capacity, size_t wanted, size_t size, const char *what,
                              WadiError *error);

/* Capacity for `wanted` elements that are all written anew: the old content is lost. Allocates a sixteenth
 * more than wanted, and shrinks when it has more than twice that. */
WadiStatus wadi_array_renew(void **data, size_t *capacity, size_t wanted, size_t size, const char *what,
                            WadiError *error);

/* The same, and the old content is kept, as far as it fits: for arrays whose number of elements changes little. */
WadiStatus wadi_array_fit(void **data, size_t *capacity, size_t wanted, size_t size, const char *what,
                          WadiError *error);

#define WADI_ARRAY_RESERVE(array, wanted, what, error)                                                       \
    wadi_array_reserve((void **)&(array)->data, &(array)->capacity, (wanted), sizeof(*(array)->data),        \
                       (what), (error))

/* Appends a copy of `value` (an lvalue or compound literal of the element type). */
#define WADI_ARRAY_PUSH(array, value, what, error)                                                           \
    (WADI_ARRAY_RESERVE((array), (array)->count + 1, (what), (error)) == WADI_OK                             \
         ? ((array)->data[(array)->count++] = (value), WADI_OK)                                              \
         : WADI_ERR_MEMORY)

#define WADI_ARRAY_FREE(array)                                                                               \
    do {                                                                                                     \
        WADI_DELETE((array)->data, (array)->capacity);                                                       \
        (array)->data = NULL;                                                                                \
        (array)->count = (array)->capacity = 0;                                                              \
    } while (0)

#endif
