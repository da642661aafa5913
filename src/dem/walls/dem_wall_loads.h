/* Forces of grains on solids, from the contacts that act on the grains. */
#ifndef WADI_DEM_WALL_LOADS_H
#define WADI_DEM_WALL_LOADS_H

#include "dem/walls/dem_walls.h"
#include "world/solid_loads.h"

typedef struct WadiDemWallLoads {
    const WadiDemWall *wall;
    /* Per wall that touches: force and torque on the grain, N and N m. NULL: grains at rest, whose walls
     * have them as their springs (wadi_dem_wall_remember). */
    const WadiF8 *load;
    const WadiF4 *shift; /* with `load`: as WadiDemGrains.shift */
    const WadiSolids *solids;
    const WadiDemCover *cover; /* as WadiDemWallsIn.cover */
    const WadiParticles *particles;
    const float *radius;   /* m, per particle */
    const WadiVec3 *pivot; /* of WadiSolidLoads */
} WadiDemWallLoads;

/* Keeps what a contact needs to give its load at rest: the normal force and the stiffness of its springs, in
 * the components of `spring` that the law leaves alone. */
void wadi_dem_wall_remember(WadiDemWall *wall, const WadiF8 *load);

/* Adds the forces of walls [first, end) on their solids, as WadiLoadBlockFn. */
void wadi_dem_add_wall_loads(const void *context, int64_t first, int64_t end, WadiSolidLoad *sum);

#endif
