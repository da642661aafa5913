/* Run a stage of the step: timed under its name, and in the checking build searched for values that are
 * not finite. For functions with `flip`, `step` and `error` in scope. */
#ifndef WADI_FLIP_STAGE_H
#define WADI_FLIP_STAGE_H

#include "flip/flip.h"

/* A stage that returns a WadiStatus. */
#define RUN(name, call)                                                                                      \
    do {                                                                                                     \
        WADI_STAGE(flip->context.times, (name), WADI_TRY(call));                                             \
        WADI_TRY(wadi_flip_check_stage(flip, step, (name), error));                                          \
    } while (0)

/* A stage that cannot fail. */
#define DO(name, statement)                                                                                  \
    do {                                                                                                     \
        WADI_STAGE(flip->context.times, (name), statement);                                                  \
        WADI_TRY(wadi_flip_check_stage(flip, step, (name), error));                                          \
    } while (0)

#endif
