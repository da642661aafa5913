/* Memory available to this process. */
#ifndef WADI_CORE_MEMORY_H
#define WADI_CORE_MEMORY_H

#include <stddef.h>

/* Bytes that can still be allocated and used: the smallest of the memory left in the machine (page cache
 * and free swap included), in the control groups of a container or service, and within the limits of the
 * shell (ulimit -v, -d). SIZE_MAX if unknown. */
size_t wadi_memory_available(void);

#endif
