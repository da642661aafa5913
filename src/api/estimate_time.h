/* How long a run would take. */
#ifndef WADI_API_ESTIMATE_TIME_H
#define WADI_API_ESTIMATE_TIME_H

#include "sim/sim.h"
#include "wadi/run.h"

/* Seconds of wall clock for `frames` frames with the present number of threads, from a few steps of the scene and a run on a grid so
 * coarse that all of it takes about a second; negative when there is nothing to try. `sim` is seeded, and has taken a step,
 * or (is_tried false) is too large for that. */
WadiStatus wadi_estimate_time(WadiSim *sim, bool is_tried, int frames, const WadiEstimate *sizes,
                              double *seconds, WadiError *error);

#endif
