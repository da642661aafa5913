#include "api/secondary/read_ahead.h"

static void read_frame(void *context)
{
    WadiReadAhead *ahead = context;
    ahead->status =
        wadi_frame_file_read(ahead->path, "particles", &ahead->header, ahead->state, &ahead->error);
}

void wadi_read_ahead_start(WadiReadAhead *ahead, const WadiRunView *view, int number, WadiState *state)
{
    ahead->number = number;
    ahead->state = state;
    wadi_run_frame_path(ahead->path, sizeof ahead->path, view->run, view->summary.name, number);
    wadi_background_start(&ahead->background, read_frame, ahead);
}

WadiStatus wadi_read_ahead_finish(WadiReadAhead *ahead, WadiError *error)
{
    wadi_background_join(&ahead->background);
    ahead->number = 0;
    if (ahead->status != WADI_OK && error != NULL) {
        *error = ahead->error;
    }
    return ahead->status;
}

void wadi_read_ahead_join(WadiReadAhead *ahead)
{
    wadi_background_join(&ahead->background);
}
