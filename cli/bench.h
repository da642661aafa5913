/* The standard workloads of `wadi bench`: scenes with a size that follows from the requested number of
 * particles. */
#ifndef WADI_CLI_BENCH_H
#define WADI_CLI_BENCH_H

#include <stdint.h>

typedef struct WadiBenchCase {
    const char *name;
    const char *summary;
    const char *scene; /* YAML text without its resolution */
    int resolution;    /* cells along the longest side at the standard size */
    int64_t particles; /* at that resolution */
} WadiBenchCase;

typedef struct WadiBench {
    const char *name;
    const char *summary;
    const WadiBenchCase *cases;
    int case_count;
} WadiBench;

extern const WadiBench wadi_benches[];
extern const int wadi_bench_count;

/* NULL when no bench has this name. */
const WadiBench *wadi_bench_find(const char *name);
/* The resolution at which the case has about `particles`; 0: the standard size. At least 4. */
int wadi_bench_resolution(const WadiBenchCase *bench_case, int64_t particles);

#endif
