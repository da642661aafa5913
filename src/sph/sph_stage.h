/* Run a stage of the step: timed under its name, and in the checking build searched for values that are
 * not finite. For functions with `sph`, `step` and `error` in scope. */
#ifndef WADI_SPH_STAGE_H
#define WADI_SPH_STAGE_H

#include "sph/sph.h"

#define RUN(name, call)                                                                                      \
    do {                                                                                                     \
        WADI_STAGE(sph->context.times, (name), WADI_TRY(call));                                              \
        WADI_TRY(wadi_sph_check_stage(sph, step, (name), error));                                            \
    } while (0)

#endif
