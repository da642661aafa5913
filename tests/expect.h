/* cmocka with checks for numbers. Each prints both values and the file and line. */
#ifndef WADI_TESTS_EXPECT_H
#define WADI_TESTS_EXPECT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wadi/base.h"

/* A failed assert of the library fails the test, whichever call it happened in. */
static inline void expect_no_assert(void *user, const char *condition, const char *file, int line)
{
    (void)user;
    fprintf(stderr, "%s:%d: assert failed: %s\n", file, line, condition);
    abort();
}

__attribute__((constructor)) static void expect_no_asserts(void)
{
    wadi_set_assert_hook(&(WadiAssertHook){ expect_no_assert, NULL });
}

/* WADI_LONG=1 in the environment: longer and larger runs. */
static inline bool is_long_run(void)
{
    const char *value = getenv("WADI_LONG");
    return value != NULL && value[0] != '\0';
}

/* The address sanitizer checks this build: tests of very many cases try fewer of them, if not WADI_LONG. */
static inline bool is_sanitized(void)
{
#ifdef WADI_ASAN
    return !is_long_run();
#else
    return false;
#endif
}

#define CHECK_NEAR(actual, expected, tolerance)                                                              \
    do {                                                                                                     \
        double check_a = (actual), check_e = (expected), check_t = (tolerance);                              \
        if (!(fabs(check_a - check_e) <= check_t)) {                                                         \
            print_error("%s is %.17g, expected %.17g +- %g\n", #actual, check_a, check_e, check_t);          \
            fail();                                                                                          \
        }                                                                                                    \
    } while (0)

#define CHECK_AT_MOST(actual, limit)                                                                         \
    do {                                                                                                     \
        double check_a = (actual), check_l = (limit);                                                        \
        if (!(check_a <= check_l)) {                                                                         \
            print_error("%s is %.17g, at most %g was allowed\n", #actual, check_a, check_l);                 \
            fail();                                                                                          \
        }                                                                                                    \
    } while (0)

/* A time, or a ratio of times: only where nothing else has the machine, which is `make bench`. What would
 * otherwise not end is found by the time limit of the test. */
#define CHECK_BENCH(actual, limit)                                                                           \
    do {                                                                                                     \
        if (getenv("WADI_BENCH") != NULL) {                                                                  \
            CHECK_AT_MOST(actual, limit);                                                                    \
        }                                                                                                    \
    } while (0)

/* A call that must succeed; `error` is the WadiError it was given. */
#define CHECK_OK(call, error)                                                                                \
    do {                                                                                                     \
        WadiStatus check_s = (call);                                                                         \
        if (check_s != WADI_OK) {                                                                            \
            print_error("%s failed: %s: %s\n", #call, wadi_status_name(check_s), (error).text);              \
            fail();                                                                                          \
        }                                                                                                    \
    } while (0)

#endif
