/* Water alone: viscosity at the pressure of the last step, then one pressure solve, which begins with that
 * pressure. [theory 11.4, 11.7] */
#include "sph/sph.h"
#include "sph/sph_stage.h"

WadiStatus wadi_sph_solve_water(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    RUN("pressure", wadi_sph_begin_pressure(sph, step, error));
    RUN("pressure", wadi_sph_save_v_star(step));
    RUN("pressure", wadi_sph_add_pressure(sph, step, step->pressure));
    RUN("viscosity", wadi_sph_couple_viscosity(sph, step, error));
    RUN("pressure", wadi_sph_solve_pressure(sph, step, step->pressure, error));
    return WADI_OK;
}
