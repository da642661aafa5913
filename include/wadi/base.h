/* Status codes, error text, hooks and version: used by every other public header. */
#ifndef WADI_BASE_H
#define WADI_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WADI_API __attribute__((visibility("default")))
#define WADI_PRINTF(format_index, first_arg) __attribute__((format(printf, format_index, first_arg)))
#else
#define WADI_API
#define WADI_PRINTF(format_index, first_arg)
#endif

#define WADI_VERSION_MAJOR 0
#define WADI_VERSION_MINOR 2
#define WADI_VERSION_PATCH 0

/* "0.2.0"; static storage. */
WADI_API const char *wadi_version(void);

/* The numbers are part of the interface: they are never reused for another meaning. */
typedef enum WadiStatus {
    WADI_OK = 0,
    WADI_ERR_ARGUMENT = 1,    /* a def not made by its default function, a value out of range */
    WADI_ERR_MEMORY = 2,      /* an allocation failed */
    WADI_ERR_IO = 3,          /* a file or folder could not be read or written */
    WADI_ERR_FORMAT = 4,      /* a file was read and its content is invalid */
    WADI_ERR_SCENE = 5,       /* the scene file is wrong; the text has one line per problem */
    WADI_ERR_BUSY = 6,        /* another process is using the folder, or a frame is yet to come */
    WADI_ERR_STOPPED = 7,     /* the caller requested a stop; a checkpoint was written */
    WADI_ERR_NUMERIC = 8,     /* the simulation produced a value that is not finite */
    WADI_ERR_UNSUPPORTED = 9, /* valid, but not in this build or this version */
    WADI_ERR_INTERNAL = 10    /* an assert of the library failed: a bug; see WadiAssertHook */
} WadiStatus;

/* Pointers must not be NULL, unless their comment says what NULL means; every `_destroy`, `_close` and
 * `_release` takes NULL. A call that returns a status refuses a simulation or scene that is NULL. */

/* Short lower-case name of a status ("io"), static storage, never NULL. */
WADI_API const char *wadi_status_name(WadiStatus status);

enum { WADI_ERROR_TEXT_SIZE = 4096 };

/* Remedy for a failure, where a field of a def decides it. The numbers are part of the interface. */
typedef enum WadiHint {
    WADI_HINT_NONE = 0,
    WADI_HINT_HAS_FRAMES = 1,    /* the run folder has frames: WadiRunDef.mode */
    WADI_HINT_SCENE_CHANGED = 2, /* they belong to another scene: WadiRunDef.from_frame or .mode */
    WADI_HINT_FEWER_FRAMES = 3,  /* more frames exist than are requested: WadiRunDef.from_frame */
    WADI_HINT_RESUME = 4         /* the run can be continued once the cause is removed: WadiRunDef.mode */
} WadiHint;

/* Filled by a call that fails; unchanged by one that succeeds. Every `WadiError *` may be NULL. The text has
 * the problem and then, with a hint, the remedy in terms of this library. A program with its own terms
 * (options, buttons) shows the first `hint_at` bytes and adds its own remedy. */
typedef struct WadiError {
    WadiStatus status;
    WadiHint hint;
    int hint_at;                     /* bytes of `text` before the remedy; undefined with WADI_HINT_NONE */
    char text[WADI_ERROR_TEXT_SIZE]; /* always terminated; lines end in '\n' except the last */
} WadiError;

typedef enum WadiLogLevel {
    WADI_LOG_INFO = 0,
    WADI_LOG_WARNING = 1,
} WadiLogLevel;

/* WADI_OK: this processor has all instructions that the library was built for. Otherwise
 * WADI_ERR_UNSUPPORTED, and the text names what is missing: any other call may then crash. Call it at the
 * start of a program when the library was built with -DWADI_NATIVE=ON and may run on other machines. */
WADI_API WadiStatus wadi_check_processor(WadiError *error);

/* Receiver of messages. `function` may be NULL: messages are discarded. Called from the calling thread
 * only. */
typedef struct WadiLog {
    void (*function)(void *user, WadiLogLevel level, const char *text);
    void *user;
} WadiLog;

/* Ends a long call early. `is_requested` is called between steps, files or rounds of a loop, also from
 * threads of the library and from several at once; once it returns true, the call returns WADI_ERR_STOPPED
 * soon, and what is finished is whole. Reading an atomic variable is enough. NULL: no stop. */
typedef struct WadiStop {
    bool (*is_requested)(void *user);
    void *user;
} WadiStop;

/* The task system of the program, for loops that run in its threads instead of the library's. `run` calls
 * task(context, i) once for each i from 0 to count - 1, in any order and any threads, several at once where
 * it can, and returns when all have returned; tasks never wait for each other. It is called from the thread
 * that called the library, hundreds of times a step. NULL: threads of the library. */
typedef void (*WadiTask)(void *context, int index);
typedef struct WadiTasks {
    void (*run)(void *user, int count, WadiTask task, void *context);
    void *user;
} WadiTasks;

/* Called when an assert fails: a bug in the library, or a call that its header forbids. `condition` is the C
 * expression that was false. Called from the thread in which it happened, possibly one of the library's. The
 * hook may end the program; if it returns, the public calls in progress in all threads return
 * WADI_ERR_INTERNAL, and their objects should be destroyed. Without a hook nothing is printed and nothing
 * aborts, except in a checking build (-DWADI_CHECKS=ON), which does both. */
typedef struct WadiAssertHook {
    void (*function)(void *user, const char *condition, const char *file, int line);
    void *user;
} WadiAssertHook;

/* Replaces the hook; NULL removes it. Only while no call into the library is in progress. */
WADI_API void wadi_set_assert_hook(const WadiAssertHook *hook);

/* Every allocation of the library uses these functions. `free` receives the size that was requested. alloc
 * must return memory aligned to `alignment` (a power of two, at least 64) or NULL. */
typedef struct WadiAllocator {
    void *(*alloc)(void *user, size_t size, size_t alignment);
    void (*free)(void *user, void *memory, size_t size);
    void *user;
} WadiAllocator;

/* Replaces the allocator; NULL restores the default. Only while no object of the library exists. The
 * allocator belongs to the process, not to a simulation: scenes are shared, and every layer and thread
 * allocates (docs/library.md). */
WADI_API void wadi_set_allocator(const WadiAllocator *allocator);

/* Bytes allocated by the library; release them with wadi_buffer_release. A zeroed buffer is empty. */
typedef struct WadiBuffer {
    unsigned char *bytes; /* aligned to 64 */
    size_t size;
} WadiBuffer;

/* Frees the bytes and zeroes the struct. NULL and an empty buffer are allowed. */
WADI_API void wadi_buffer_release(WadiBuffer *buffer);

#ifdef __cplusplus
}
#endif
#endif
