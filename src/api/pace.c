#include "api/pace.h"

#include <math.h>

enum { WARM_UP_STEPS = 1 };

/* Number of frames after which a weight decays to 1/e: at least 6, or a quarter of all measured frames. */
static const double SHORTEST_DECAY = 6.0, DECAY_FRACTION = 0.25;
/* An estimate needs a complete frame, or a part of one that took at least 10 s. */
static const double ENOUGH_FRAMES = 1.0, SOME_FRAMES = 0.2, ENOUGH_SECONDS = 10.0;

void wadi_pace_add(WadiPace *pace, double progress, double seconds)
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
    double decay_frames = fmax(SHORTEST_DECAY, DECAY_FRACTION * pace->measured_frames);
    double decay = exp(-frames / decay_frames);
    pace->measured_frames += frames;
    pace->measured_seconds += time;
    pace->weighted_frames = decay * pace->weighted_frames + frames;
    pace->weighted_seconds = decay * pace->weighted_seconds + time;
}

double wadi_pace_seconds_per_frame(const WadiPace *pace)
{
    bool is_enough = pace->measured_frames >= ENOUGH_FRAMES ||
                     (pace->measured_frames >= SOME_FRAMES && pace->measured_seconds >= ENOUGH_SECONDS);
    return is_enough ? pace->weighted_seconds / pace->weighted_frames : -1.0;
}
