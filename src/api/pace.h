/* How long the rest of a run takes, from how long its last frames took. */
#ifndef WADI_API_PACE_H
#define WADI_API_PACE_H

#include <stdbool.h>

/* Progress is counted in frames, with fractions; a zeroed WadiPace knows nothing. Seeding, reading meshes and the first step, which
 * allocates, do not count; frames long ago count less and less. */
typedef struct WadiPace {
    bool has_begun;
    int warm_up;              /* steps that were left out */
    double progress, seconds; /* at the last step */
    double measured_frames, measured_seconds;
    double weighted_frames, weighted_seconds; /* with the older ones fading */
} WadiPace;

/* After each step: frames simulated so far, and the clock. */
void wadi_pace_note(WadiPace *pace, double progress, double seconds);
/* Seconds a frame takes at present; negative while too little was seen. */
double wadi_pace_seconds_per_frame(const WadiPace *pace);

#endif
