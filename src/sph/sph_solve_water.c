/* Water alone: one pressure solve, which begins with the pressure of the last step. A thick liquid has its
 * viscosity at that pressure, between the two. [theory 11.4, 11.7] */
#include "sph/sph.h"
#include "sph/sph_stage.h"
#include "sph/viscosity/sph_viscosity.h"

WadiStatus wadi_sph_solve_water(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const bool is_thick = step->thickest > WADI_SPH_THICK;
    if (!is_thick) {
        RUN("viscosity", wadi_sph_apply_viscosity(sph, step, error));
    }
    RUN("pressure", wadi_sph_begin_pressure(sph, step, error));
    RUN("pressure", wadi_sph_save_v_star(step));
    RUN("pressure", wadi_sph_add_pressure(sph, step, step->pressure));
    if (is_thick) {
        RUN("viscosity", wadi_sph_couple_viscosity(sph, step, error));
    }
    RUN("pressure", wadi_sph_solve_pressure(sph, step, step->pressure, error));
    return WADI_OK;
}
