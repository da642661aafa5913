/* Claims of frames: processes on any number of machines that see one folder make each frame once. A claim is
 * a file FOLDER/.wadi-claim-NAME.0012-1 that names its process. It is created with link(2), which is
 * exclusive on NFS too. A thread touches the claims that are held; one that was not touched for the stale
 * time belongs to a process that ended, and the next claim of the frame is ….0012-2. Ages are differences of
 * times that the file server gave, so the clocks of the machines do not matter. */
#ifndef WADI_IO_FRAME_CLAIM_H
#define WADI_IO_FRAME_CLAIM_H

#include <pthread.h>

#include "core/array.h"
#include "io/files/lock.h"

/* Items that are no frames. */
enum { WADI_CLAIM_PLAN = 0, WADI_CLAIM_PRODUCTS = -1 };

typedef struct WadiClaim {
    int item, generation;
} WadiClaim;

/* It must not move while it is open. */
typedef struct WadiClaims {
    char folder[WADI_PATH_SIZE], name[512];
    double stale; /* s */
    WadiStop stop;
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t ended;
    pthread_t thread; /* touches the files */
    bool is_running, is_ending;
    WADI_ARRAY(WadiClaim) held;
} WadiClaims;

/* `folder` exists; `name` is that of the files to make. Once `stop` is requested, all
 * claims are released at once, since the program may end before it calls wadi_claims_close. After a failure
 * there is nothing to close. */
WadiStatus wadi_claims_open(WadiClaims *claims, const char *folder, const char *name, double stale,
                            WadiStop stop, WadiError *error);
/* Releases all claims. */
void wadi_claims_close(WadiClaims *claims);

/* *is_mine: this process has the frame from now on. Otherwise `holder` is the process that has it. The frame
 * may have been made just before: look again for its files. */
WadiStatus wadi_claim_take(WadiClaims *claims, int item, bool *is_mine, WadiLockHolder *holder,
                           WadiError *error);
/* To be called after the files of the frame are listed in the folder's index. */
void wadi_claim_release(WadiClaims *claims, int item);

#endif
