/* Sand, or sand and water: friction at the pressure of the last step, then pressure. The pressure comes last,
 * so that what is left of the error is friction and not compression. [theory 11.5] */
#include "sph/sph.h"
#include "sph/sph_stage.h"

enum { FIRST_ROUNDS = 6 }; /* of friction and pressure in the first step, which has neither of a last one */

/* The first step has no pressure of a last one: it solves for one before the first friction. */
WadiStatus wadi_sph_solve_sand(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    const bool is_first = sph->steps == 0;
    RUN("viscosity", wadi_sph_apply_viscosity(sph, step, error));
    RUN("pressure", wadi_sph_begin_pressure(sph, step, error));
    RUN("friction", wadi_sph_begin_friction(sph, step, error));
    RUN("friction", wadi_sph_measure_friction(sph, step, error));
    RUN("friction", wadi_sph_add_last_friction(sph, step));
    RUN("pressure", wadi_sph_save_v_star(step));
    RUN("pressure", wadi_sph_add_pressure(sph, step, step->pressure));
    if (is_first) {
        RUN("pressure", wadi_sph_solve_pressure(sph, step, step->pressure, error));
    }
    const int rounds = is_first && def->friction_rounds < FIRST_ROUNDS ? FIRST_ROUNDS : def->friction_rounds;
    for (int n = 0; n < rounds; ++n) { /* bounds depend on the pressure, and it on friction */
        RUN("friction", wadi_sph_solve_friction(sph, step, error));
        RUN("pressure", wadi_sph_solve_pressure(sph, step, step->pressure, error));
    }
    RUN("friction", wadi_sph_store_stresses(sph, step));
    return WADI_OK;
}
