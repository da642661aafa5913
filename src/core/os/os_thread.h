/* Threads as far as systems differ. */
#ifndef WADI_CORE_OS_THREAD_H
#define WADI_CORE_OS_THREAD_H

#include <pthread.h>

/* Cores that this process may use, at least 1. */
int wadi_os_cores(void);
/* pthread_create for a thread in which the caller's signal handlers never run. 0, or an errno. */
int wadi_os_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

#endif
