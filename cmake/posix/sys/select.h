#ifndef WADI_POSIX_SELECT_H
#define WADI_POSIX_SELECT_H

typedef struct fd_set {
    int none;
} fd_set;

#define FD_ZERO(set) ((set)->none = 0)
#define FD_SET(fd, set) ((void)(fd), (void)(set))
#define FD_ISSET(fd, set) ((void)(fd), (set)->none)

struct timeval;

static inline int select(int count, fd_set *read, fd_set *write, fd_set *failed, struct timeval *limit)
{
    (void)count, (void)read, (void)write, (void)failed, (void)limit;
    return -1;
}

#endif
