/* Water alone: one pressure solve, which begins with the pressure of the last step. [theory 11.4] */
#include "sph/sph.h"
#include "sph/sph_stage.h"

WadiStatus wadi_sph_solve_water(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    RUN("viscosity", wadi_sph_apply_viscosity(sph, step, error));
    RUN("pressure", wadi_sph_begin_pressure(sph, step, error));
    RUN("pressure", wadi_sph_save_v_star(step));
    RUN("pressure", wadi_sph_add_pressure(sph, step, step->pressure));
    RUN("pressure", wadi_sph_solve_pressure(sph, step, step->pressure, error));
    return WADI_OK;
}
