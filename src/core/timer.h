/* Wall-clock time under the names of the stages. */
#ifndef WADI_CORE_TIMER_H
#define WADI_CORE_TIMER_H

#include <stdbool.h>
#include <stddef.h>

/* Seconds on a monotonic clock. */
double wadi_time_now(void);

enum { WADI_STAGE_MAX = 48 };

/* Seconds by stage, in the order in which the stages first ran. */
typedef struct WadiStageTimes {
    const char *name[WADI_STAGE_MAX]; /* static storage: literals of the stages */
    double seconds[WADI_STAGE_MAX];
    int count;
    const char *running; /* outermost stage begun and not ended: after a failure the stage that failed */
} WadiStageTimes;

/* Add `seconds` to the stage called `name` (a string literal). */
void wadi_stage_times_add(WadiStageTimes *times, const char *name, double seconds);

static inline bool wadi_stage_begin(WadiStageTimes *times, const char *name)
{
    const bool is_outer = times->running == NULL;
    times->running = is_outer ? name : times->running;
    return is_outer;
}

static inline void wadi_stage_end(WadiStageTimes *times, bool is_outer)
{
    times->running = is_outer ? NULL : times->running;
}

/* Time one call:  WADI_STAGE(&times, "sort by cell", status = sort(...)); */
#define WADI_STAGE(times, name, statement)                                                                   \
    do {                                                                                                     \
        double wadi_stage_start = wadi_time_now();                                                           \
        const bool wadi_stage_is_outer = wadi_stage_begin((times), (name));                                  \
        statement;                                                                                           \
        wadi_stage_end((times), wadi_stage_is_outer);                                                        \
        wadi_stage_times_add((times), (name), wadi_time_now() - wadi_stage_start);                           \
    } while (0)

#endif
