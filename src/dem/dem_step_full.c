/* One step of mode `full`, stage by stage: every grain that is awake is in contact. [theory 13] */
#include "dem/dem.h"
#include "dem/dem_stage.h"

WadiStatus wadi_dem_step_full(WadiDem *dem, const WadiSolverStep *now, WadiStepReport *report,
                              WadiError *error)
{
    WadiDemStep step;
    if (!wadi_dem_begin_step(dem, now, &step)) {
        return WADI_OK;
    }
    RUN("sleep", wadi_dem_rest(dem, &step, error));
    if (wadi_dem_is_all_asleep(dem, report)) {
        return WADI_OK;
    }
    RUN("list", wadi_dem_rebuild_list(dem, &step, error));
    return wadi_dem_move_by_contacts(dem, &step, error);
}
