#include "io/files/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool read_holder(int fd, WadiLockHolder *holder)
{
    char text[600] = { 0 };
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    *holder = (WadiLockHolder){ "?", "?", "?", "" };
    return got > 0 && sscanf(text, "process %23[0-9] on %127[^ \n] since %39[^ ,\n], %255[^\n]", holder->pid,
                             holder->host, holder->since, holder->note) >= 3;
}

static WadiStatus write_holder(const WadiLock *lock, const char *note, WadiError *error)
{
    char host[128] = "?", since[40], text[600];
    gethostname(host, sizeof host - 1);
    time_t now = time(NULL);
    struct tm utc;
    strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    int length = snprintf(text, sizeof text, "process %ld on %s since %s%s%.255s\n", (long)getpid(), host,
                          since, note[0] != '\0' ? ", " : "", note);
    if (ftruncate(lock->fd, 0) != 0 || pwrite(lock->fd, text, (size_t)length, 0) != length) {
        return wadi_fail_errno(error, errno, "cannot write %s", lock->path);
    }
    return WADI_OK;
}

/* Whether the path still names the file that was locked: its previous owner may have removed it between open
 * and lock. */
static bool is_current(const WadiLock *lock)
{
    struct stat ours, there;
    return fstat(lock->fd, &ours) == 0 && stat(lock->path, &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

static WadiStatus fail_busy(const WadiLock *lock, const char *folder, WadiError *error)
{
    WadiLockHolder holder;
    read_holder(lock->fd, &holder);
    return wadi_fail(
        error, WADI_ERR_BUSY,
        "%s is in use by process %s on %s since %s; wait for it, stop it, or choose another folder", folder,
        holder.pid, holder.host, holder.since);
}

/* flock without interruptions: 0 or the errno. */
static int lock_file(int fd, int operation)
{
    int result;
    do {
        result = flock(fd, operation);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

/* wadi_lock_is_held locks for a moment, for instance in processes that follow a run; a lock that lasts is
 * that of an owner. */
static int lock_file_patiently(int fd)
{
    const struct timespec moment = { .tv_nsec = 20000000 };
    int problem = lock_file(fd, LOCK_EX | LOCK_NB);
    for (int i = 0; i < 5 && problem == EWOULDBLOCK; ++i) {
        nanosleep(&moment, NULL);
        problem = lock_file(fd, LOCK_EX | LOCK_NB);
    }
    return problem;
}

bool wadi_lock_wait(int fd)
{
    return lock_file(fd, LOCK_EX) == 0;
}

bool wadi_lock_is_held(const char *folder, const char *name, WadiLockHolder *holder)
{
    WadiLock lock;
    *holder = (WadiLockHolder){ 0 };
    snprintf(lock.path, sizeof lock.path, "%s/%s", folder, name);
    lock.fd = open(lock.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (lock.fd < 0) {
        return false;
    }
    const int problem = lock_file(lock.fd, LOCK_EX | LOCK_NB);
    if (problem == 0) {
        wadi_lock_release(&lock);
        return false;
    }
    read_holder(lock.fd, holder);
    close(lock.fd);
    return problem == EWOULDBLOCK;
}

WadiStatus wadi_lock_acquire(WadiLock *lock, const char *folder, const char *name, const char *note,
                             const WadiLog *log, WadiError *error)
{
    lock->fd = -1;
    if (snprintf(lock->path, sizeof lock->path, "%s/%s", folder, name) >= WADI_PATH_SIZE) {
        return wadi_fail_errno(error, ENAMETOOLONG, "cannot lock %.200s", folder);
    }
    for (;;) {
        lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, (mode_t)0666);
        if (lock->fd < 0) {
            return wadi_fail_errno(error, errno, "cannot write %s", lock->path);
        }
        const int problem = lock_file_patiently(lock->fd);
        if (problem == EWOULDBLOCK) {
            WadiStatus status = fail_busy(lock, folder, error);
            close(lock->fd);
            lock->fd = -1;
            return status;
        }
        if (problem != 0) {
            wadi_log(log, WADI_LOG_WARNING,
                     "%s: this file system has no locks (%s): see that no other wadi writes here", folder,
                     strerror(problem));
        }
        if (is_current(lock)) {
            break;
        }
        close(lock->fd);
    }
    WadiLockHolder holder;
    if (read_holder(lock->fd, &holder)) {
        wadi_log(log, WADI_LOG_INFO, "%s: process %s on %s, here since %s, ended without closing the folder",
                 folder, holder.pid, holder.host, holder.since);
    }
    WadiStatus status = write_holder(lock, note, error);
    if (status != WADI_OK) {
        wadi_lock_release(lock);
    }
    return status;
}

void wadi_lock_release(WadiLock *lock)
{
    if (lock->fd >= 0) {
        /* Removed before the lock is released, so that no other process can lock the name and lose it. If the
         * folder was replaced by another of the same name, the file in it is not ours. */
        if (is_current(lock)) {
            unlink(lock->path);
        }
        close(lock->fd);
        lock->fd = -1;
    }
}
