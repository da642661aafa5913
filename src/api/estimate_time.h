/* Estimates how long a run takes. */
#ifndef WADI_API_ESTIMATE_TIME_H
#define WADI_API_ESTIMATE_TIME_H

#include "sim/sim.h"
#include "wadi/run.h"

/* Wall-clock seconds for `frames` frames with the current number of threads, from a few steps of the scene
 * and a complete run on a grid so coarse that it takes about a second; negative without anything to simulate.
 * `sim` must be seeded and have taken a step, or (has_stepped false) be too large for one. */
WadiStatus wadi_estimate_time(WadiSim *sim, bool has_stepped, int frames, const WadiEstimate *sizes,
                              double *seconds, WadiError *error);

#endif
