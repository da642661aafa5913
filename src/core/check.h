/* Asserts: for failures that only a bug in wadi or in its caller can cause. Users, files and disks get a
 * WadiStatus.
 *
 * A failed assert is recorded and reported to the hook (wadi_set_assert_hook); nothing is printed and the
 * program does not end. The function continues, or returns where it would leave an array; the public call
 * in progress then returns WADI_ERR_INTERNAL (wadi_assert_status). The checking build prints and aborts,
 * unless there is a hook. */
#ifndef WADI_CORE_CHECK_H
#define WADI_CORE_CHECK_H

#include "core/status.h"

typedef struct WadiAssertSite {
    const char *condition, *file;
    int line;
} WadiAssertSite;

#if defined(__GNUC__)
__attribute__((cold))
#endif
void wadi_assert_failed(const WadiAssertSite *site);

/* `action` returns where continuing would leave an array: WADI_ASSERT_ELSE(count < MAX, return;); */
#define WADI_ASSERT_ELSE(claim, action)                                                                      \
    do {                                                                                                     \
        if (!(claim)) {                                                                                      \
            static const WadiAssertSite wadi_assert_site = { #claim, __FILE__, __LINE__ };                   \
            wadi_assert_failed(&wadi_assert_site);                                                           \
            action;                                                                                          \
        }                                                                                                    \
    } while (0)

#define WADI_ASSERT(claim) WADI_ASSERT_ELSE(claim, (void)0)

/* In a function that returns a WadiStatus, while there is nothing to release. */
#define WADI_ASSERT_TRY(claim, error)                                                                        \
    WADI_ASSERT_ELSE(claim, return wadi_fail_assert((error), &wadi_assert_site))
WadiStatus wadi_fail_assert(WadiError *error, const WadiAssertSite *site);

/* Asserts that failed so far in this process, in any thread. */
unsigned wadi_assert_count(void);
/* For the end of a public call: `status`, or WADI_ERR_INTERNAL with the text of the last failure if an
 * assert failed since wadi_assert_count() was `before`. */
WadiStatus wadi_assert_status(WadiStatus status, unsigned before, WadiError *error);

/* Checks of whole structures, between stages in the checking build only. */
#ifdef WADI_CHECKS
#define WADI_VALIDATE(call) WADI_ASSERT(call)
#else
#define WADI_VALIDATE(call) ((void)0)
#endif

#endif
