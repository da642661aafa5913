/* Stages of a step that the modes `full` and `surface_flow` share: contacts, walls, move. [ZY10;
 * theory 13] */
#include <string.h>

#include "dem/contact/dem_bonds.h"
#include "dem/contact/dem_forces.h"
#include "dem/contact/dem_near.h"
#include "dem/dem.h"
#include "dem/dem_stage.h"

static WadiDemLawConstants constants_of(const WadiDem *dem, const WadiDemStep *step)
{
    return (WadiDemLawConstants){ .law = (WadiDemLaw)wadi_dem_def(dem->context.world->scene)->law,
                                  .stiffness = (float)dem->stiffness,
                                  .damping = (float)dem->damping,
                                  .dt = (float)step->dt,
                                  .rupture = (float)dem->rupture };
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
                                   .diameter = dem->diameter,
                                   .has_rough_surfaces = dem->has_rough_surfaces,
                                   .damping_of = dem->damping_of,
                                   .is_deep = dem->is_deep,
                                   .wall_load = wall_load };
    wadi_dem_add_wall_forces(&dem->walls, &in);
    return wall_load != NULL ? wadi_dem_add_loads(dem, step->dt, wall_load, error) : WADI_OK;
}

bool wadi_dem_begin_step(WadiDem *dem, const WadiSolverStep *now, WadiDemStep *step)
{
    *step = (WadiDemStep){ .time = now->time, .dt = now->dt, .ends_frame = now->ends_frame };
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
    return WADI_OK;
}
