/* A recording of the session: simulated again from its start into a run folder, in a thread of its own. */
#ifndef WADI_VIEW_RECORD_H
#define WADI_VIEW_RECORD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "view.h"

/* Zeroed: nothing is recorded. */
typedef struct WadiViewRecorder {
    pthread_t thread;
    bool is_busy; /* there is a thread, which may have ended */
    const WadiScene *scene;
    bool owns_scene;
    char *changes; /* of wadi_sim_changes; owned */
    WadiStop stop;
    char wanted[3000]; /* folder asked for */
    char folder[3000]; /* folder written: another one where `wanted` exists */
    int frames;
    atomic_int frame; /* finished so far */
    atomic_bool has_ended;
    WadiStatus status; /* of the ended recording */
    WadiError error;
} WadiViewRecorder;

/* Begins a recording of `frames` frames; takes `changes`. The scene must stay until wadi_view_record_take or
 * wadi_view_record_adopt. A folder that exists and is not empty is never written to: another name is
 * found. */
WadiStatus wadi_view_record_begin(WadiViewRecorder *recorder, const WadiViewDef *def, const WadiScene *scene,
                                  char *changes, int frames, WadiError *error);
/* True once, when a recording has ended: `status` and `error` say how. */
bool wadi_view_record_take(WadiViewRecorder *recorder);
/* Gives the scene to the recording where that uses it. False: it does not, the caller keeps it. */
bool wadi_view_record_adopt(WadiViewRecorder *recorder, const WadiScene *scene);
/* Waits for the end of a recording: soon after a requested stop. One that was cut short is named on stderr,
 * with the command that continues it. */
void wadi_view_record_end(WadiViewRecorder *recorder);
/* What a person is told of the ended recording. */
void wadi_view_record_tell(const WadiViewRecorder *recorder, char *text, size_t size);

#endif
