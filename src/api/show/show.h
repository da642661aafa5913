/* Shared by what a viewer shows of simulations and of runs. */
#ifndef WADI_API_SHOW_H
#define WADI_API_SHOW_H

#include "wadi/show.h"
#include "world/world.h"

/* The surface of collider n at `time`; `particles` bounds what is shown of unbounded shapes where the scene
 * has no domain. */
WadiStatus wadi_show_collider(const WadiWorld *world, int n, double time, WadiBox particles,
                              WadiMeshData *mesh, WadiError *error);
bool wadi_show_moves(const WadiWorld *world, int n, double time);
void wadi_show_solid(const WadiWorld *world, double time, const double *points, size_t count,
                     uint8_t *is_inside);

#endif
