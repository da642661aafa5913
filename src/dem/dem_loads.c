/* Forces of the grains on solids. */
#include <string.h>

#include "core/array.h"
#include "dem/dem.h"
#include "dem/walls/dem_wall_loads.h"

static WadiDemWallLoads loads_in(const WadiDem *dem)
{
    const WadiParticles *p = dem->context.particles;
    return (WadiDemWallLoads){ .solids = &dem->context.world->solids,
                               .cover = dem->cover.solids != NULL ? &dem->cover : NULL,
                               .particles = p,
                               .radius = wadi_particles_column(p, dem->radius_column),
                               .pivot = dem->context.loads->pivot };
}

/* What sleeps has the same forces until another set of grains does. */
static WadiStatus find_sleeping(WadiDem *dem, WadiError *error)
{
    const int count = dem->context.loads->count;
    if (dem->is_sleeping_load_known) {
        return WADI_OK;
    }
    WADI_TRY(wadi_array_renew((void **)&dem->sleeping_load, &dem->sleeping_load_capacity, (size_t)count,
                              sizeof *dem->sleeping_load, "forces on solids", error));
    memset(dem->sleeping_load, 0, (size_t)count * sizeof *dem->sleeping_load);
    WadiDemWallLoads in = loads_in(dem);
    in.wall = dem->sleeping.wall;
    WADI_TRY(wadi_solid_loads_sum((int64_t)dem->sleeping.wall_count, wadi_dem_add_wall_loads, &in, count,
                                  dem->sleeping_load, dem->context.scratch, error));
    dem->is_sleeping_load_known = true;
    return WADI_OK;
}

WadiStatus wadi_dem_add_loads(WadiDem *dem, double dt, const WadiF8 *wall_load, WadiError *error)
{
    WadiSolidLoads *loads = dem->context.loads;
    WadiSolidLoad *force = NULL;
    WADI_TRY(find_sleeping(dem, error));
    WADI_TRY(WADI_ARENA_NEW(dem->context.scratch, &force, (size_t)loads->count, "forces on solids", error));
    memcpy(force, dem->sleeping_load, (size_t)loads->count * sizeof *force);
    WadiDemWallLoads in = loads_in(dem);
    in.wall = dem->walls.wall;
    in.load = wall_load;
    WADI_TRY(wadi_solid_loads_sum((int64_t)dem->walls.count, wadi_dem_add_wall_loads, &in, loads->count,
                                  force, dem->context.scratch, error));
    for (int i = 0; i < loads->count; ++i) {
        wadi_solid_load_add(&loads->step[i], &force[i], dt);
    }
    return WADI_OK;
}
