/* Locks of a folder of surfaces, pictures, secondary particles or exports. Processes that write different
 * files, or the same files with the same settings, share it; other processes get an error with the holder. */
#ifndef WADI_IO_OUTPUT_LOCK_H
#define WADI_IO_OUTPUT_LOCK_H

#include "io/files/lock.h"

typedef struct WadiOutputLock {
    WadiLock lock; /* FOLDER/.wadi-work-N; released by the kernel when the process ends */
    int guard;     /* FOLDER/.wadi-lock, locked while the folder is opened; -1: not locked */
    bool is_alone; /* no other process works in the folder. False where the file system has no locks */
} WadiOutputLock;

/* What a process is about to write: files that begin with `name`, with settings whose hash is `key`. With the
 * key 0 they are not shared with any other process. */
typedef struct WadiOutputWork {
    const char *folder; /* exists */
    const char *name;
    uint64_t key;
} WadiOutputWork;

/* WADI_ERR_BUSY: another process writes the same files with other settings. Other processes wait in this call
 * until wadi_output_lock_ready: meanwhile the caller may remove what killed processes left. */
WadiStatus wadi_output_lock_enter(WadiOutputLock *lock, const WadiOutputWork *work, WadiError *error);
void wadi_output_lock_ready(WadiOutputLock *lock);
/* Safe after a failure. */
void wadi_output_lock_leave(WadiOutputLock *lock);

#endif
