/* A snapshot as a list of named, typed arrays: the content of a frame file, a checkpoint and a state_hash.
 * A solver's `save` adds its arrays, its `load` finds them by name; io writes and reads the list whatever
 * its origin. Invariants: names are unique, at most WADI_STATE_NAME_SIZE - 1 bytes; every array owns its
 * memory. */
#ifndef WADI_CORE_STATE_H
#define WADI_CORE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

typedef enum WadiType {
    WADI_TYPE_U8,
    WADI_TYPE_U32,
    WADI_TYPE_U64,
    WADI_TYPE_I32,
    WADI_TYPE_F32,
    WADI_TYPE_F64,
} WadiType;

size_t wadi_type_size(WadiType type);
const char *wadi_type_name(WadiType type); /* "f32" */

enum { WADI_STATE_NAME_SIZE = 48, WADI_STATE_MAX = 64, WADI_STATE_COMPONENTS_MAX = 256 };

/* What an array is for. One snapshot serves the frame file and the checkpoint, so that what both hold
 * (positions, velocities, ids) is copied and kept in memory once. */
typedef enum WadiUse {
    WADI_USE_FRAME = 1,      /* written to the frame file */
    WADI_USE_CHECKPOINT = 2, /* part of the exact state: written to checkpoints, hashed */
    WADI_USE_BOTH = 3,
} WadiUse;

typedef struct WadiStateArray {
    char name[WADI_STATE_NAME_SIZE];
    WadiType type;
    WadiUse use;
    int components;  /* values per item: 3 for a vector */
    size_t count;    /* items */
    void *data;      /* count * components values */
    size_t capacity; /* bytes allocated, so that a reused snapshot does not allocate */
    bool is_hashed;  /* by wadi_state_hash_arrays, and unchanged since */
    uint64_t hash;   /* wadi_hash_bytes(0, values), if is_hashed */
} WadiStateArray;

typedef struct WadiState {
    WadiStateArray array[WADI_STATE_MAX];
    int count;
    WadiUse next_use; /* use of the arrays added next; 0 counts as WADI_USE_BOTH */
} WadiState;

/* A zeroed WadiState is valid and empty. */
void wadi_state_free(WadiState *state);
/* Remove the arrays but keep their memory for the next snapshot. */
void wadi_state_clear(WadiState *state);

/* Append an array; *data points to uninitialised memory for count * components values. */
WadiStatus wadi_state_add(WadiState *state, const char *name, WadiType type, int components, size_t count,
                          void **data, WadiError *error);
/* The same, and copies `values` in. */
WadiStatus wadi_state_put(WadiState *state, const char *name, WadiType type, int components, size_t count,
                          const void *values, WadiError *error);

/* "OWNER_what", for a structure that is saved by several owners. */
typedef struct WadiStateName {
    char text[WADI_STATE_NAME_SIZE];
} WadiStateName;
const char *wadi_state_name(WadiStateName *name, const char *owner, const char *what);

const WadiStateArray *wadi_state_find(const WadiState *state, const char *name);

/* Find an array that must have this shape; `count` SIZE_MAX accepts any. Else WADI_ERR_FORMAT with the
 * reason. */
WadiStatus wadi_state_expect(const WadiState *state, const char *name, WadiType type, int components,
                             size_t count, const WadiStateArray **found, WadiError *error);

/* Copies the arrays of that use without the rows whose flag is not 0; all of them have `count` rows. */
WadiStatus wadi_state_drop_rows(const WadiState *state, WadiUse use, const uint8_t *is_dropped, size_t count,
                                WadiState *out, WadiError *error);

/* A view of the arrays of that use: it borrows their memory, is not freed, and is invalid after the next
 * change of `state`. */
void wadi_state_select(const WadiState *state, WadiUse use, WadiState *view);

/* Hash the values of the arrays of that use now, with all threads, for the state hash and checksums of
 * files. */
void wadi_state_hash_arrays(WadiState *state, WadiUse use);
/* Hash of the values of one array, computed now unless it is known. */
uint64_t wadi_state_array_hash(const WadiStateArray *array);
/* Over names, shapes and values of the arrays of that use, in list order. */
uint64_t wadi_state_hash(const WadiState *state, WadiUse use);
/* Bytes of one array's values. */
size_t wadi_state_array_bytes(const WadiStateArray *array);

/* Arrays of a checkpoint must make sense, not only be there. Errors name the array, the item, its value and
 * what to do. */

/* Fails with WADI_ERR_FORMAT: "array 'NAME' of the checkpoint, item N: ...; resume from an earlier
 * checkpoint". */
WadiStatus wadi_state_fail(WadiError *error, const WadiStateArray *array, size_t item, const char *format,
                           ...) WADI_PRINTF(4, 5);

/* Bound of saved values without one of their own: their squares are finite. */
#define WADI_STATE_REAL_MAX 1e30

/* All values are in [low, high]; real ones are finite. */
WadiStatus wadi_state_check_reals(const WadiStateArray *array, double low, double high, WadiError *error);
WadiStatus wadi_state_check_integers(const WadiStateArray *array, int64_t low, int64_t high,
                                     WadiError *error);

/* wadi_state_expect and one of the checks above. */
WadiStatus wadi_state_expect_reals(const WadiState *state, const char *name, WadiType type, int components,
                                   size_t count, double low, double high, const WadiStateArray **found,
                                   WadiError *error);
WadiStatus wadi_state_expect_integers(const WadiState *state, const char *name, WadiType type, int components,
                                      size_t count, int64_t low, int64_t high, const WadiStateArray **found,
                                      WadiError *error);

/* The finite numbers of a solver: an item of `count` components. Another number of them is another version
 * of the solver. */
WadiStatus wadi_state_expect_numbers(const WadiState *state, const char *name, int count,
                                     const WadiStateArray **found, WadiError *error);

#endif
