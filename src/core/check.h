/* Asserts: for what only a bug in wadi or in its caller can cause. Users, files and disks get a WadiStatus. */
#ifndef WADI_CORE_CHECK_H
#define WADI_CORE_CHECK_H

/* Prints the place and aborts. */
_Noreturn void wadi_assert_failed(const char *condition, const char *file, int line);

#define WADI_ASSERT(condition) ((condition) ? (void)0 : wadi_assert_failed(#condition, __FILE__, __LINE__))

/* Checks that walk whole structures run between stages in the checking build only. */
#ifdef WADI_CHECKS
#define WADI_VALIDATE(call) WADI_ASSERT(call)
#else
#define WADI_VALIDATE(call) ((void)0)
#endif

#endif
