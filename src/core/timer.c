#include "core/timer.h"

#include <string.h>
#include <time.h>

#include "core/check.h"

double wadi_time_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void wadi_stage_times_add(WadiStageTimes *times, const char *name, double seconds)
{
    for (int i = 0; i < times->count; ++i) {
        if (times->name[i] == name || strcmp(times->name[i], name) == 0) {
            times->seconds[i] += seconds;
            return;
        }
    }
    WADI_ASSERT_ELSE(times->count < WADI_STAGE_MAX, return;);
    times->name[times->count] = name;
    times->seconds[times->count++] = seconds;
}
