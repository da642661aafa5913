/* Estimates the remaining time of a run from the time of its last frames. */
#ifndef WADI_API_PACE_H
#define WADI_API_PACE_H

#include <stdbool.h>

/* Progress is counted in frames, with fractions; a zeroed WadiPace is empty. Seeding, reading meshes and the
 * first step, which allocates, are excluded; older frames have less weight. */
typedef struct WadiPace {
    bool has_begun;
    int warm_up;              /* steps excluded */
    double progress, seconds; /* at the last step */
    double measured_frames, measured_seconds;
    double weighted_frames, weighted_seconds; /* sums with decaying weights */
} WadiPace;

/* Called after each step with the frames simulated so far and the clock. */
void wadi_pace_add(WadiPace *pace, double progress, double seconds);
/* Seconds per frame at present; negative while too little was measured. */
double wadi_pace_seconds_per_frame(const WadiPace *pace);

#endif
