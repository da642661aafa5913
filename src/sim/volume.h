/* Volume of the material against that of its particles: the drift `volume` of run.json. */
#ifndef WADI_SIM_VOLUME_H
#define WADI_SIM_VOLUME_H

#include "sim/sim.h"

typedef struct WadiVolumeDrift {
    double
        drift; /* space over the volume of the particles in it, less 1: -0.5 where twice as many are as belong there */
    int64_t cells;    /* that it was measured in; 0: none lies deep enough, and drift is 0 */
    double tolerance; /* of the drift, by the number of cells: what chance explains */
} WadiVolumeDrift;

/* Measured in cells of two spacings, eight particles when full, all of whose neighbours up to two cells away hold particles and which
 * no collider cuts: away from surfaces, walls, spray and thin sheets. Takes a look at every particle. */
WadiStatus wadi_volume_measure(const WadiSim *sim, WadiVolumeDrift *volume, WadiError *error);

/* Watches the drift and warns once when it stays too large: in either direction more than 1 %, and for material that
 * may be loose (poured, or sand that dilates) more than the solver's band on that side. */
typedef struct WadiVolumeWatch {
    WadiVolumeDrift last;
    int times; /* in a row that the drift was too large */
    bool has_warned;
} WadiVolumeWatch;

/* Frames from one measurement to the next: it costs about a tenth of a step. */
enum { WADI_VOLUME_EVERY = 4 };

WadiStatus wadi_volume_watch(WadiVolumeWatch *watch, const WadiSim *sim, WadiError *error);

#endif
