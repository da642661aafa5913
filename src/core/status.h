/* How a function of the library fails: return a status, fill the optional error. */
#ifndef WADI_CORE_STATUS_H
#define WADI_CORE_STATUS_H

#include "wadi/base.h"

/* Fill `error` (may be NULL) and return `status`, for `return wadi_fail(...)`. */
WadiStatus wadi_fail(WadiError *error, WadiStatus status, const char *format, ...) WADI_PRINTF(3, 4);

/* The same for a failed system call: appends ": " and the text of errno, and advice for the errnos a
 * user can act on (disk full, read-only, no permission, too many files). Status is WADI_ERR_IO. */
WadiStatus wadi_fail_errno(WadiError *error, int errno_value, const char *format, ...) WADI_PRINTF(3, 4);

/* The same with a hint, whose text for users of the library follows after "; ". */
WadiStatus wadi_fail_hint(WadiError *error, WadiStatus status, WadiHint hint, const char *format, ...)
    WADI_PRINTF(4, 5);

/* Copy an error that was stored elsewhere, with its hint. Returns its status. */
WadiStatus wadi_fail_as(WadiError *error, const WadiError *from);

/* An allocation of `size` bytes for `what` failed. */
WadiStatus wadi_fail_memory(WadiError *error, size_t size, const char *what);

/* Whether the caller of a long call wants it to end. */
static inline bool wadi_stop_requested(WadiStop stop)
{
    return stop.is_requested != NULL && stop.is_requested(stop.user);
}

/* Return early when a call failed and there is nothing to release. */
#define WADI_TRY(call)                                                                                       \
    do {                                                                                                     \
        WadiStatus wadi_try_status = (call);                                                                 \
        if (wadi_try_status != WADI_OK) {                                                                    \
            return wadi_try_status;                                                                          \
        }                                                                                                    \
    } while (0)

#endif
