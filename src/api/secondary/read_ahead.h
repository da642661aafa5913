/* A frame of a run that is read while the one before it is worked on. */
#ifndef WADI_API_READ_AHEAD_H
#define WADI_API_READ_AHEAD_H

#include "api/run_view.h"
#include "core/background.h"
#include "io/run/run_files.h"

/* Zeroed: nothing is read. */
typedef struct WadiReadAhead {
    int number; /* of the frame; 0: none */
    char path[WADI_PATH_SIZE];
    WadiState *state;
    WadiFrameHeader header;
    WadiStatus status;
    WadiError error;
    WadiBackground background;
} WadiReadAhead;

/* The frame is in `state` once the reading is finished. */
void wadi_read_ahead_start(WadiReadAhead *ahead, const WadiRunView *view, int number, WadiState *state);
WadiStatus wadi_read_ahead_finish(WadiReadAhead *ahead, WadiError *error);
/* Waits, whatever the result. */
void wadi_read_ahead_join(WadiReadAhead *ahead);

#endif
