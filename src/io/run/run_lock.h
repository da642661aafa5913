/* One writer per run folder: RUN/lock has a kernel lock, which ends with the process in every case. */
#ifndef WADI_IO_RUN_LOCK_H
#define WADI_IO_RUN_LOCK_H

#include "core/log.h"
#include "core/status.h"
#include "io/files/files.h"

typedef struct WadiRunLock {
    int fd; /* -1: not locked */
    char path[WADI_PATH_SIZE];
} WadiRunLock;

/* WADI_ERR_BUSY names the process that has the lock. The file of a dead process is replaced, with a log
 * message. */
WadiStatus wadi_run_lock_acquire(WadiRunLock *lock, const char *folder, const WadiLog *log, WadiError *error);
void wadi_run_lock_release(WadiRunLock *lock);

#endif
