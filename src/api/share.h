/* Frames of a run that several processes make together, each frame once; see io/run/frame_claim.h. The caller
 * loops over wadi_share_next, makes the frames and calls wadi_share_finish, until none is left. With
 * `is_waiting` the loop follows a simulation that is still writing frames. */
#ifndef WADI_API_SHARE_H
#define WADI_API_SHARE_H

#include "api/run_view.h"
#include "io/run/frame_claim.h"

typedef struct WadiShareDef {
    const WadiRunView *view; /* opened with is_shared; borrowed */
    const char *folder;      /* of the files; exists */
    const char *name;        /* of the files */
    int every;               /* every n-th frame from view->first to view->last */
    double stale;            /* s */
    bool is_waiting;         /* for the simulation and for other processes */
    bool is_watching;        /* claims nothing: all frames are made by others */
    WadiStop stop;
    /* Reads again which files exist; is_done is then asked with what was read. */
    WadiStatus (*refresh)(void *user, WadiError *error);
    WadiStatus (*is_done)(void *user, int frame, bool *is_done, WadiError *error);
    /* A frame that exists already or was made by another process. */
    void (*on_kept)(void *user, int frame);
    void *user;
} WadiShareDef;

typedef struct WadiShare {
    WadiShareDef def;
    WadiClaims claims;
    int count;     /* frames in the list */
    bool *is_done; /* of each */
    int *claimed;  /* frames that this process makes now */
    int claimed_count;
    int frames_seen;      /* last frame that was there */
    double changed;       /* s: when that number rose, or another process finished a frame */
    double pause;         /* s: the next one */
    WadiLockHolder other; /* that holds a frame of the list */
} WadiShare;

/* After a failure there is nothing to close. */
WadiStatus wadi_share_open(WadiShare *share, const WadiShareDef *def, WadiError *error);
void wadi_share_close(WadiShare *share);

/* Claims up to `most` frames, share->claimed; none: all frames of the list are done. WADI_ERR_BUSY, without
 * is_waiting: other processes make the rest, or frames are not there yet; with it: no process simulates the
 * rest. */
WadiStatus wadi_share_next(WadiShare *share, int most, WadiError *error);
/* The claimed frames are made and listed. */
void wadi_share_finish(WadiShare *share);
/* Claims an item that is no frame, once all processes before are done with it; it may be done then. */
WadiStatus wadi_share_claim(WadiShare *share, int item, bool is_waiting, WadiError *error);

WadiStatus wadi_share_check_stale(double stale, WadiError *error);

#endif
