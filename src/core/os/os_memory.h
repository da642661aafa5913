/* Memory from the system, and how much of it there is. Sizes are in bytes, 0 or SIZE_MAX where unknown. */
#ifndef WADI_CORE_OS_MEMORY_H
#define WADI_CORE_OS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* A block whose size is a multiple of `alignment`, a power of two; NULL when there is none. */
void *wadi_os_block(size_t size, size_t alignment);
void wadi_os_block_free(void *block);
/* A hint: the block is large and begins on a huge page. */
void wadi_os_block_is_huge(void *block, size_t size);
/* Whether the process may still take `size` bytes. Takes none. */
bool wadi_os_has_room(size_t size);

/* Largest resident set of this process so far, and the present one; 0 if unknown. */
size_t wadi_memory_peak_rss(void);
size_t wadi_memory_rss(void);
/* Upper limit of the memory of this process: of the machine, its container or the shell. */
size_t wadi_memory_total(void);
/* Bytes that can still be allocated and used: the smallest of the memory left in the machine (page cache
 * and free swap included), in the control groups of a container or service, and within the limits of the
 * shell (ulimit -v, -d). SIZE_MAX if unknown. */
size_t wadi_memory_available(void);

#endif
