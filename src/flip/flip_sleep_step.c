/* Which particles take part in a step. */
#include "flip/flip.h"
#include "flip/flip_stage.h"

WadiFlipSleepIn wadi_flip_sleep_in(WadiFlip *flip, const WadiFlipStep *step)
{
    return (WadiFlipSleepIn){ .context = &flip->context,
                              .pressure = &flip->pressure_memory,
                              .friction = &flip->friction_memory,
                              .time = step->time,
                              .dt = step->dt };
}

/* Repeats: sorting can change which tiles are awake. */
WadiStatus wadi_flip_sort_awake(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiSolverContext *context = &flip->context;
    const WadiFlipSleepIn in = wadi_flip_sleep_in(flip, step);
    RUN("sleep", wadi_flip_sleep_wake(&flip->sleep, &in, error));
    for (bool is_changed = true; is_changed && flip->sleep.count < context->particles->count;) {
        /* This sort stays among the awake particles; tiles that wake or fall asleep move theirs with all columns. */
        wadi_flip_attributes_skip_in_sort(flip, !flip->sleep.is_on || flip->are_attributes_old);
        RUN("sort", wadi_flip_sort_from(&step->sort, context->particles, flip->sleep.count,
                                        context->world->cell_size, context->scratch, error));
        wadi_flip_attributes_skip_in_sort(flip, !flip->sleep.is_on);
        RUN("sleep", wadi_flip_sleep_update(&flip->sleep, &in, &step->sort, &is_changed, error));
    }
    wadi_flip_sleep_end(&flip->sleep, context->particles);
    return WADI_OK;
}
