/* One step of the dem solver, stage by stage. [ZY10; theory 13] */
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
                                   .is_deep = dem->is_deep };
    wadi_dem_add_wall_forces(&dem->walls, &in);
    return WADI_OK;
}

WadiStatus wadi_dem_take_step(void *solver, const WadiSolverStep *now, WadiStepReport *report,
                              WadiError *error)
{
    WadiDem *dem = solver;
    if (dem->field != NULL) {
        return wadi_dem_field_take_step(dem->field, now, report, error);
    }
    const WadiDemStep step = { .time = now->time, .dt = now->dt, .ends_frame = now->ends_frame };
    const WadiDemLawConstants law = constants_of(dem, &step);
    dem->now = now->time + now->dt;
    if (dem->context.particles->count == 0) {
        dem->known = 0;
        dem->is_stale = true; /* its grains are gone: those that are born have no numbers of it */
        return WADI_OK;
    }
    RUN("sleep", wadi_dem_rest(dem, &step, error));
    if (dem->surface != NULL) {
        RUN("surface flow", wadi_dem_surface_evaluate(dem, step.time, error));
        dem->surface->elapsed += step.dt;
        dem->surface->is_frame_new = step.ends_frame;
    }
    report->sleeping_particles = dem->sleep.count;
    if (dem->sleep.count == dem->context.particles->count) {
        dem->fastest = 0.0;
        dem->known = dem->context.particles->count;
        return WADI_OK;
    }
    RUN("list", wadi_dem_relist(dem, &step, error));
    if (dem->surface != NULL) {
        wadi_dem_surface_calm(dem, step.dt);
    }
    RUN("contacts", find_forces(dem, &law, error));
    RUN("walls", add_walls(dem, &step, &law, error));
    RUN("move", wadi_dem_move(dem, &step, error));
    dem->steps_since_list += 1;
    return WADI_OK;
}
