/* Stages of a step that the modes `full` and `surface_flow` share: contacts, walls, move. [ZY10;
 * theory 13] */
#include <string.h>

#include "core/array.h"
#include "dem/contact/dem_bonds.h"
#include "dem/contact/dem_forces.h"
#include "dem/contact/dem_near.h"
#include "dem/dem.h"
#include "dem/dem_stage.h"
#include "dem/walls/dem_wall_loads.h"

static WadiDemLawConstants constants_of(const WadiDem *dem, const WadiDemStep *step)
{
    const WadiScene *scene = dem->context.world->scene;
    return (WadiDemLawConstants){ .law = wadi_dem_law(scene),
                                  .stiffness = (float)dem->stiffness,
                                  .damping = (float)dem->damping,
                                  .last_dt = (float)step->last_dt,
                                  .kick = (float)step->kick,
                                  .rupture = (float)dem->rupture,
                                  .has_viscous_friction = wadi_dem_def(scene)->published == WADI_DEM_ZY10 };
}

static WadiStatus find_forces(WadiDem *dem, const WadiDemLawConstants *law, WadiError *error)
{
    if (dem->is_near_stale) {
        WADI_TRY(
            wadi_dem_near_choose(&dem->list.pairs, &dem->grains, wadi_dem_bond_range(dem->rupture), error));
    }
    wadi_dem_find_forces(&dem->grains, &dem->list.pairs, law);
    dem->has_saved_loads = false;
    return WADI_OK;
}

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

/* Impulses on solids: those of the contacts in `wall_load`, and of what sleeps. */
static WadiStatus add_loads(WadiDem *dem, double dt, const WadiF8 *wall_load, WadiError *error)
{
    WadiSolidLoads *loads = dem->context.loads;
    WadiSolidLoad *force = NULL;
    WADI_TRY(find_sleeping(dem, error));
    WADI_TRY(WADI_ARENA_NEW(dem->context.scratch, &force, (size_t)loads->count, "forces on solids", error));
    memcpy(force, dem->sleeping_load, (size_t)loads->count * sizeof *force);
    WadiDemWallLoads in = loads_in(dem);
    in.wall = dem->walls.wall;
    in.load = wall_load;
    in.shift = dem->grains.shift;
    WADI_TRY(wadi_solid_loads_sum((int64_t)dem->walls.count, wadi_dem_add_wall_loads, &in, loads->count,
                                  force, dem->context.scratch, error));
    for (int i = 0; i < loads->count; ++i) {
        wadi_solid_load_add(&loads->step[i], &force[i], dt);
    }
    return WADI_OK;
}

static WadiStatus add_walls(WadiDem *dem, const WadiDemStep *step, const WadiDemLawConstants *law,
                            WadiError *error)
{
    const size_t count = (size_t)dem->context.particles->count;
    WADI_TRY(WADI_ARENA_NEW(dem->context.scratch, &dem->is_deep, count, "walls", error));
    memset(dem->is_deep, 0, count);
    WadiF8 *wall_load = NULL;
    if (dem->context.loads != NULL) {
        WADI_TRY(WADI_ARENA_NEW(dem->context.scratch, &wall_load, dem->walls.count, "walls", error));
    }
    const WadiDemWallForces in = { .solids = &dem->context.world->solids,
                                   .cover = dem->cover.solids != NULL ? &dem->cover : NULL,
                                   .particles = dem->context.particles,
                                   .grains = &dem->grains,
                                   .pairs = &dem->list.pairs,
                                   .mass = dem->mass,
                                   .law = law,
                                   .time = step->time,
                                   .dt = step->dt,
                                   .diameter = dem->diameter,
                                   .has_rough_surfaces = dem->has_rough_surfaces,
                                   .damping_of = dem->damping_of,
                                   .is_deep = dem->is_deep,
                                   .wall_load = wall_load };
    wadi_dem_add_wall_forces(&dem->walls, &in);
    return wall_load != NULL ? add_loads(dem, step->dt, wall_load, error) : WADI_OK;
}

bool wadi_dem_begin_step(WadiDem *dem, const WadiSolverStep *now, WadiDemStep *step)
{
    const double last_dt = dem->last_dt > 0.0 ? dem->last_dt : now->dt;
    *step = (WadiDemStep){ .time = now->time,
                           .dt = now->dt,
                           .last_dt = last_dt,
                           .kick = 0.5 * (last_dt + now->dt),
                           .ends_frame = now->ends_frame };
    dem->last_dt = 0.0;
    dem->now = now->time + now->dt;
    if (dem->context.particles->count == 0) {
        dem->known = 0;
        dem->is_stale = true; /* its grains are gone: those that are born have no index in it */
        return false;
    }
    return true;
}

bool wadi_dem_is_all_asleep(WadiDem *dem, WadiStepReport *report)
{
    report->sleeping_particles = dem->sleep.count;
    if (dem->sleep.count < dem->context.particles->count) {
        return false;
    }
    dem->fastest = 0.0;
    dem->known = dem->context.particles->count;
    wadi_solid_loads_repeat(dem->context.loads);
    return true;
}

WadiStatus wadi_dem_move_by_contacts(WadiDem *dem, const WadiDemStep *step, WadiError *error)
{
    const WadiDemLawConstants law = constants_of(dem, step);
    RUN("contacts", find_forces(dem, &law, error));
    RUN("walls", add_walls(dem, step, &law, error));
    RUN("move", wadi_dem_move(dem, step, error));
    dem->steps_since_list += 1;
    dem->last_dt = step->dt;
    return WADI_OK;
}
