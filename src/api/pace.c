#include "api/pace.h"

#include <math.h>

enum { WARM_UP_STEPS = 1 };

/* Frames that fade to a third; a quarter of all that were measured when these are more. */
static const double SHORTEST_MEMORY = 6.0, PART_OF_ALL = 0.25;
/* An estimate needs a whole frame, or a part of one that took long. */
static const double ENOUGH_FRAMES = 1.0, SOME_FRAMES = 0.2, ENOUGH_SECONDS = 10.0;

void wadi_pace_note(WadiPace *pace, double progress, double seconds)
{
    double frames = progress - pace->progress, time = seconds - pace->seconds;
    bool is_measured = pace->has_begun && pace->warm_up >= WARM_UP_STEPS && frames > 0.0;
    pace->warm_up += pace->has_begun && !is_measured;
    pace->has_begun = true;
    pace->progress = progress;
    pace->seconds = seconds;
    if (!is_measured) {
        return;
    }
    double memory = fmax(SHORTEST_MEMORY, PART_OF_ALL * pace->measured_frames);
    double fading = exp(-frames / memory);
    pace->measured_frames += frames;
    pace->measured_seconds += time;
    pace->weighted_frames = fading * pace->weighted_frames + frames;
    pace->weighted_seconds = fading * pace->weighted_seconds + time;
}

double wadi_pace_seconds_per_frame(const WadiPace *pace)
{
    bool is_enough = pace->measured_frames >= ENOUGH_FRAMES ||
                     (pace->measured_frames >= SOME_FRAMES && pace->measured_seconds >= ENOUGH_SECONDS);
    return is_enough ? pace->weighted_seconds / pace->weighted_frames : -1.0;
}
