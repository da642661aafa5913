/* How much memory is left for this process. */
#ifndef WADI_CORE_MEMORY_H
#define WADI_CORE_MEMORY_H

#include <stddef.h>

/* Bytes that can still be allocated and used: the smallest of what the machine has left (page cache that can be dropped and free swap
 * included), what the control groups of a container or a service leave, and what the limits of the shell (ulimit -v, -d) leave.
 * SIZE_MAX where the system does not say. */
size_t wadi_memory_available(void);

#endif
