#include "io/run/output_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORKERS_MAX = 256, NOTE_SIZE = 256 };

/* The line of a worker is "NAME KEY". */
static void make_note(const WadiOutputWork *work, char note[NOTE_SIZE])
{
    snprintf(note, NOTE_SIZE, "%.200s %016" PRIx64, work->name, work->key);
}

static bool is_same_work(const char *note, const char *other)
{
    const char *end = strrchr(note, ' ');
    size_t length = end != NULL ? (size_t)(end - note) : strlen(note);
    return strncmp(note, other, length + 1) == 0;
}

static WadiStatus open_guard(WadiOutputLock *lock, const char *folder, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    struct stat info;
    if (snprintf(path, sizeof path, "%s/.wadi-lock", folder) >= WADI_PATH_SIZE) {
        return wadi_fail_errno(error, ENAMETOOLONG, "cannot lock %.200s", folder);
    }
    lock->guard = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, (mode_t)0666);
    if (lock->guard < 0) {
        return wadi_fail_errno(error, errno, "cannot write %s", path);
    }
    return fstat(lock->guard, &info) == 0 && S_ISREG(info.st_mode)
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_IO, "%s: is not a regular file; remove it", path);
}

/* Checks all locks of the folder; *name becomes that of a free one. */
static WadiStatus look_around(WadiOutputLock *lock, const WadiOutputWork *work, const char *note,
                              char name[32], WadiError *error)
{
    name[0] = '\0';
    lock->is_alone = true;
    for (int i = 0; i < WORKERS_MAX; ++i) {
        char worker[32];
        WadiLockHolder holder;
        snprintf(worker, sizeof worker, ".wadi-work-%d", i);
        if (!wadi_lock_is_held(work->folder, worker, &holder)) {
            if (name[0] == '\0') {
                memcpy(name, worker, sizeof worker);
            }
            continue;
        }
        lock->is_alone = false;
        if (is_same_work(note, holder.note) && (work->key == 0 || strcmp(note, holder.note) != 0)) {
            return wadi_fail(
                error, WADI_ERR_BUSY,
                "%s: process %s on %s has been writing the files of '%s' since %s%s; wait for it, "
                "or stop it",
                work->folder, holder.pid, holder.host, work->name, holder.since,
                work->key == 0 ? "" : ", with other settings");
        }
    }
    return name[0] != '\0' ? WADI_OK
                           : wadi_fail(error, WADI_ERR_BUSY, "%s: %d processes work here; wait for one",
                                       work->folder, WORKERS_MAX);
}

WadiStatus wadi_output_lock_enter(WadiOutputLock *lock, const WadiOutputWork *work, WadiError *error)
{
    char note[NOTE_SIZE], name[32];
    *lock = (WadiOutputLock){ .lock.fd = -1, .guard = -1 };
    make_note(work, note);
    WadiStatus status = open_guard(lock, work->folder, error);
    if (status == WADI_OK && !wadi_lock_wait(lock->guard)) {
        wadi_output_lock_ready(lock);
        return WADI_OK; /* no locks here: as without this file */
    }
    if (status == WADI_OK) {
        status = look_around(lock, work, note, name, error);
    }
    if (status == WADI_OK) {
        status = wadi_lock_acquire(&lock->lock, work->folder, name, note, NULL, error);
    }
    if (status != WADI_OK) {
        wadi_output_lock_leave(lock);
    }
    return status;
}

void wadi_output_lock_ready(WadiOutputLock *lock)
{
    if (lock->guard >= 0) {
        close(lock->guard);
        lock->guard = -1;
    }
}

void wadi_output_lock_leave(WadiOutputLock *lock)
{
    wadi_output_lock_ready(lock);
    wadi_lock_release(&lock->lock);
}
