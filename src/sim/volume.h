/* Volume of the material relative to that of its particles: the drift `volume` of run.json. */
#ifndef WADI_SIM_VOLUME_H
#define WADI_SIM_VOLUME_H

#include "sim/sim.h"

typedef struct WadiVolumeDrift {
    double
        drift; /* volume of the space over that of its particles, minus 1: -0.5 at twice the proper density */
    int64_t cells;    /* cells measured; 0: none is deep enough, and drift is 0, or NAN if it is undefined */
    double tolerance; /* bound of the random error of the drift, from the number of cells */
} WadiVolumeDrift;

/* Measured in cells of two spacings of the largest particle (eight of them when full) whose neighbours up to
 * two cells away all have particles and which no collider cuts: away from surfaces, walls, spray and thin
 * sheets. Visits every particle. */
WadiStatus wadi_volume_measure(const WadiSim *sim, WadiVolumeDrift *volume, WadiError *error);

/* Monitors the drift and warns once when it remains too large: more than the solver allows, and for
 * material that may be loose (poured, or sand that dilates) more than the solver's band on that side. */
typedef struct WadiVolumeWatch {
    WadiVolumeDrift last;
    int times; /* consecutive measurements with too large a drift */
    bool has_warned;
} WadiVolumeWatch;

/* Frames between measurements: one costs about a tenth of a step. */
enum { WADI_VOLUME_EVERY = 4 };

WadiStatus wadi_volume_watch(WadiVolumeWatch *watch, const WadiSim *sim, WadiError *error);

#endif
