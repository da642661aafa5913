#include "core/timer.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

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

size_t wadi_memory_peak_rss(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) {
        return 0;
    }
    return (size_t)usage.ru_maxrss * 1024;
}

size_t wadi_memory_rss(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) {
        return 0;
    }
    unsigned long total = 0, resident = 0;
    /* NOLINTNEXTLINE(cert-err34-c): the kernel writes these numbers */
    int fields = fscanf(file, "%lu %lu", &total, &resident);
    fclose(file);
    return fields == 2 ? (size_t)resident * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

/* A number of bytes in a file of the kernel's; SIZE_MAX when there is none or it is not a number ("max"). */
static size_t read_limit(const char *path)
{
    unsigned long long bytes = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return SIZE_MAX;
    }
    /* NOLINTNEXTLINE(cert-err34-c): the kernel writes these numbers */
    int fields = fscanf(file, "%llu", &bytes);
    fclose(file);
    return fields == 1 ? (size_t)bytes : SIZE_MAX;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t wadi_memory_total(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    size_t total = pages > 0 ? (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) : SIZE_MAX;
    total = smaller(total, read_limit("/sys/fs/cgroup/memory.max"));
    total = smaller(total, read_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        total = smaller(total, (size_t)limit.rlim_cur);
    }
    return total;
}
