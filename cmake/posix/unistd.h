#ifndef WADI_POSIX_UNISTD_H
#define WADI_POSIX_UNISTD_H

#include_next <unistd.h>

enum { _SC_PAGESIZE };

static inline long sysconf(int name)
{
    (void)name;
    return 4096;
}

#endif
