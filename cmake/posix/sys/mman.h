#ifndef WADI_POSIX_MMAN_H
#define WADI_POSIX_MMAN_H

#include <stddef.h>

#define PROT_READ 1
#define MAP_PRIVATE 2
#define MAP_FAILED ((void *)-1)

static inline void *mmap(void *at, size_t size, int access, int flags, int fd, long long offset)
{
    (void)at, (void)size, (void)access, (void)flags, (void)fd, (void)offset;
    return MAP_FAILED;
}

static inline int munmap(void *at, size_t size)
{
    (void)at, (void)size;
    return -1;
}

#endif
