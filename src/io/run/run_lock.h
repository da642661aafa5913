/* One writer a run folder: RUN/lock, held with a kernel lock that ends with the process, however it ends. */
#ifndef WADI_IO_RUN_LOCK_H
#define WADI_IO_RUN_LOCK_H

#include "core/log.h"
#include "core/status.h"
#include "io/files/files.h"

typedef struct WadiRunLock {
    int fd; /* -1: not held */
    char path[WADI_PATH_SIZE];
} WadiRunLock;

/* WADI_ERR_BUSY names the process that holds it. A file left by a process that died is taken over and said in
 * the log. */
WadiStatus wadi_run_lock_take(WadiRunLock *lock, const char *folder, const WadiLog *log, WadiError *error);
void wadi_run_lock_release(WadiRunLock *lock);

#endif
