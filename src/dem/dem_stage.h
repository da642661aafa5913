/* Run a stage of the step: timed under its name, and in the checking build searched for values that are
 * not finite. For functions with `dem` and `error` in scope. */
#ifndef WADI_DEM_STAGE_H
#define WADI_DEM_STAGE_H

#include "dem/dem.h"

#define RUN(name, call)                                                                                      \
    do {                                                                                                     \
        WADI_STAGE(dem->context.times, (name), WADI_TRY(call));                                              \
        WADI_TRY(wadi_solver_check_stage(&dem->context, (name), error));                                     \
    } while (0)

#endif
