/* The standard workloads of `wadi bench`: scenes whose size follows from the number of particles wanted. */
#ifndef WADI_CLI_BENCH_H
#define WADI_CLI_BENCH_H

#include <stdint.h>

typedef struct WadiBenchCase {
    const char *name;
    const char *summary;
    const char *scene; /* YAML text without its resolution */
    int resolution;    /* cells along the longest side at the standard size */
    int64_t particles; /* there */
} WadiBenchCase;

typedef struct WadiBench {
    const char *name;
    const char *summary;
    const WadiBenchCase *cases;
    int case_count;
} WadiBench;

extern const WadiBench wadi_benches[];
extern const int wadi_bench_count;

/* NULL: there is none of that name. */
const WadiBench *wadi_bench_find(const char *name);
/* The resolution at which the case has about `particles`; 0: the standard size. At least 4. */
int wadi_bench_resolution(const WadiBenchCase *bench_case, int64_t particles);

#endif
