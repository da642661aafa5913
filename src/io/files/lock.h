/* Lock files: a kernel lock (flock), which ends with the process in every case, and a line about its
 * holder. */
#ifndef WADI_IO_LOCK_H
#define WADI_IO_LOCK_H

#include "core/log.h"
#include "core/status.h"
#include "io/files/files.h"

typedef struct WadiLock {
    int fd; /* -1: not locked */
    char path[WADI_PATH_SIZE];
} WadiLock;

/* Process that has or had a lock, as recorded in the file. */
typedef struct WadiLockHolder {
    char pid[24];
    char host[128];
    char since[40];
    char note[256]; /* "": none */
} WadiLockHolder;

/* Locks FOLDER/NAME. WADI_ERR_BUSY names the process that has it. The file of a dead process is replaced,
 * with a log message. `note` is added to the line. */
WadiStatus wadi_lock_acquire(WadiLock *lock, const char *folder, const char *name, const char *note,
                             const WadiLog *log, WadiError *error);
/* Removes the file. Safe without a lock. */
void wadi_lock_release(WadiLock *lock);
/* Whether a process has the lock FOLDER/NAME, and which. The file of a dead process is removed. */
bool wadi_lock_is_held(const char *folder, const char *name, WadiLockHolder *holder);

/* Waits for a kernel lock of an open file; false where the file system has none. */
bool wadi_lock_wait(int fd);

#endif
