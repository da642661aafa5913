#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/os/os_file.h"

int wadi_os_open_read(const char *path, int flags)
{
    int mode = O_RDONLY | O_CLOEXEC;
    mode |= (flags & WADI_OS_WAITS) != 0 ? 0 : O_NONBLOCK | O_NOCTTY;
    mode |= (flags & WADI_OS_NO_LINKS) != 0 ? O_NOFOLLOW : 0;
    int fd;
    do {
        fd = open(path, mode);
    } while (fd < 0 && errno == EINTR && (flags & WADI_OS_WAITS) == 0);
    return fd;
}

int wadi_os_open_new(const char *path)
{
    int fd;
    do {
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

bool wadi_os_direct(int fd, bool is_wanted)
{
#ifdef O_DIRECT
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && ((flags & O_DIRECT) != 0) != is_wanted && fcntl(fd, F_SETFL, flags ^ O_DIRECT) == 0;
#else
    (void)fd;
    (void)is_wanted;
    return false;
#endif
}

ssize_t wadi_os_write_pieces(int fd, const WadiOsPiece *pieces, int count, uint64_t offset)
{
    enum { MOST = 64 };
    struct iovec vector[MOST];
    count = count < MOST ? count : MOST;
    for (int i = 0; i < count; ++i) {
        vector[i] = (struct iovec){ (void *)pieces[i].bytes, pieces[i].size };
    }
    return pwritev(fd, vector, count, (off_t)offset);
}

ssize_t wadi_os_write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
    return pwrite(fd, bytes, size, (off_t)offset);
}

int wadi_os_flush(int fd)
{
    int result;
    do {
        result = fsync(fd);
    } while (result != 0 && errno == EINTR);
    return result;
}

int wadi_os_flush_folder(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    const int result = fsync(fd), problem = errno;
    close(fd);
    errno = problem;
    return result;
}

int wadi_os_rename(const char *from, const char *to)
{
    return rename(from, to);
}

int wadi_os_make_folder(const char *path)
{
    return mkdir(path, (mode_t)0777);
}

ssize_t wadi_os_read_link(const char *path, char *target, size_t size)
{
    return readlink(path, target, size);
}

uint64_t wadi_os_file_limit(void)
{
    struct rlimit limit;
    const int result = getrlimit(RLIMIT_FSIZE, &limit);
    return result == 0 && limit.rlim_cur != RLIM_INFINITY ? (uint64_t)limit.rlim_cur : UINT64_MAX;
}

double wadi_os_number(const char *text)
{
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) {
        return strtod(text, NULL);
    }
    const double value = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    return value;
}
