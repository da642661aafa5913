/* Asserts: for what only a bug in wadi or in its caller can cause. Users, files and disks get a WadiStatus.
 *
 * A failed assert is recorded and told to the hook (wadi_set_assert_hook); nothing is printed and nothing ends. The function goes
 * on, or returns where going on would leave an array; the public call that is under way then returns WADI_ERR_INTERNAL
 * (wadi_assert_status). The checking build prints and aborts, unless there is a hook. */
#ifndef WADI_CORE_CHECK_H
#define WADI_CORE_CHECK_H

#include "core/status.h"

typedef struct WadiAssertPlace {
    const char *condition, *file;
    int line;
} WadiAssertPlace;

#if defined(__GNUC__)
__attribute__((cold))
#endif
void wadi_assert_failed(const WadiAssertPlace *place);

/* `action` leaves the function where going on would leave an array: WADI_ASSERT_ELSE(count < MAX, return); */
#define WADI_ASSERT_ELSE(claim, action)                                                                      \
    do {                                                                                                     \
        if (!(claim)) {                                                                                      \
            static const WadiAssertPlace wadi_assert_place = { #claim, __FILE__, __LINE__ };                 \
            wadi_assert_failed(&wadi_assert_place);                                                          \
            action;                                                                                          \
        }                                                                                                    \
    } while (0)

#define WADI_ASSERT(claim) WADI_ASSERT_ELSE(claim, (void)0)

/* In a function that returns a WadiStatus, while there is nothing to release. */
#define WADI_ASSERT_TRY(claim, error)                                                                        \
    WADI_ASSERT_ELSE(claim, return wadi_fail_assert((error), &wadi_assert_place))
WadiStatus wadi_fail_assert(WadiError *error, const WadiAssertPlace *place);

/* Asserts that failed so far in this process, in any thread. */
unsigned wadi_assert_count(void);
/* For the end of a public call: `status`, unless an assert failed since wadi_assert_count() was `before`. Then WADI_ERR_INTERNAL,
 * and the text tells the last one that failed. */
WadiStatus wadi_assert_status(WadiStatus status, unsigned before, WadiError *error);

/* Checks that walk whole structures run between stages in the checking build only. */
#ifdef WADI_CHECKS
#define WADI_VALIDATE(call) WADI_ASSERT(call)
#else
#define WADI_VALIDATE(call) ((void)0)
#endif

#endif
