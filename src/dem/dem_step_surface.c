/* One step of mode `surface_flow`, stage by stage: grains in contact above a height field in which sand
 * rests. [ZY10] */
#include "dem/dem.h"
#include "dem/dem_stage.h"

WadiStatus wadi_dem_step_surface(WadiDem *dem, const WadiSolverStep *now, WadiStepReport *report,
                                 WadiError *error)
{
    WadiDemStep step;
    if (!wadi_dem_begin_step(dem, now, &step)) {
        return WADI_OK;
    }
    RUN("sleep", wadi_dem_rest(dem, &step, error));
    RUN("surface flow", wadi_dem_surface_evaluate(dem, step.time, error));
    dem->surface->elapsed += step.dt;
    dem->surface->is_frame_new = step.ends_frame;
    if (wadi_dem_is_all_asleep(dem, report)) {
        return WADI_OK;
    }
    RUN("list", wadi_dem_rebuild_list(dem, &step, error));
    wadi_dem_surface_damp(dem, step.dt);
    return wadi_dem_move_by_contacts(dem, &step, error);
}
