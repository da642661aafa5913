/* Mode `surface_flow`: grains move above a height field in which they rest [ZY10].
 *
 * Frozen grains are sleeping grains to the rest of the solver: the first of the store, with ids and
 * positions, without rows in the list, partners of the contacts of awake grains near them (ZY10's interface),
 * and their contacts with each other are kept with their springs (rest/dem_sleeping_contacts.h). Which grains
 * these are is decided by columns (columns/dem_flow.h) instead of tiles. */
#ifndef WADI_DEM_SURFACE_H
#define WADI_DEM_SURFACE_H

#include "dem/columns/dem_flow.h"
#include "world/solver.h"

typedef struct WadiDemSurface {
    WadiDemFlow flow;
    int state_column;      /* of bytes: as in dem_flow.h */
    int mark_column;       /* position at the last evaluation: the first of three */
    int32_t *frozen_count; /* frozen grains of each gap, to find gaps that lost some */
    uint8_t *quiescent;    /* of each gap, as in dem_flow.h */
    int32_t known_count;   /* of the store at the last evaluation, and its next id */
    uint32_t known_next_id;
    double elapsed;      /* s, since the last evaluation */
    int64_t froze, woke; /* numbers so far */
    bool is_frame_new;   /* the next step is the first of a frame */
    int damping;         /* evaluations until no grain has woken lately */
} WadiDemSurface;

struct WadiDem;

/* After removals, which keep the order of the store: frozen grains are its first ones. */
void wadi_dem_surface_recount(struct WadiDem *dem);
/* Frozen grains first, both kinds in their order; without velocities, for their partners in contacts too. */
WadiStatus wadi_dem_surface_sort(struct WadiDem *dem, WadiError *error);

/* dem_surface.c */
WadiStatus wadi_dem_surface_create(struct WadiDem *dem, WadiError *error);
void wadi_dem_surface_destroy(WadiDemSurface *surface);
/* Before a step: which grains freeze and wake, if it is time for it. */
WadiStatus wadi_dem_surface_evaluate(struct WadiDem *dem, double time, WadiError *error);
/* Whether the forces of the last step are those of the grains that there are. */
bool wadi_dem_surface_has_loads(const struct WadiDem *dem);
WadiStatus wadi_dem_surface_save(const struct WadiDem *dem, WadiState *state, WadiError *error);
WadiStatus wadi_dem_surface_load(struct WadiDem *dem, const WadiState *state, WadiError *error);

/* Whether all grains are frozen, and none was born or removed since they froze. */
bool wadi_dem_surface_is_frozen(const struct WadiDem *dem);
/* Wakes all grains. */
void wadi_dem_surface_wake(struct WadiDem *dem);

/* Takes speed from grains that have just woken. */
void wadi_dem_surface_damp(struct WadiDem *dem, double dt);
#endif
