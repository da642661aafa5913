/* What the static analyzer cannot see, since it looks at one file at a time: a failure is never WADI_OK.
 * tools/tidy.py includes this in front of the files of src/; the compiler never reads it. */
#ifndef WADI_TOOLS_TIDY_HINTS_H
#define WADI_TOOLS_TIDY_HINTS_H

#include "core/check.h"
#include "core/status.h"

#define wadi_fail(error, status, ...) ((void)wadi_fail(error, status, __VA_ARGS__), (status))
#define wadi_fail_errno(...) ((void)wadi_fail_errno(__VA_ARGS__), WADI_ERR_IO)
#define wadi_fail_hint(error, status, ...) ((void)wadi_fail_hint(error, status, __VA_ARGS__), (status))
#define wadi_fail_assert(...) ((void)wadi_fail_assert(__VA_ARGS__), WADI_ERR_INTERNAL)
#define wadi_fail_memory(...) ((void)wadi_fail_memory(__VA_ARGS__), WADI_ERR_MEMORY)

#endif
