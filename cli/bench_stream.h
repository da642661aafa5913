/* Bandwidth of the streaming stages of a step relative to that of the memory. */
#ifndef WADI_CLI_BENCH_STREAM_H
#define WADI_CLI_BENCH_STREAM_H

#include <stdint.h>

#include "wadi/wadi.h"

/* Work of the stages, summed over the steps of a run. */
typedef struct WadiBenchWork {
    int64_t cells, grid_cells; /* with material; in all */
    int64_t pressure_cells;    /* cells with material times pressure iterations */
    int64_t friction_cells;    /* cells with material times friction iterations */
} WadiBenchWork;

/* Adds the step between two profiles. */
void wadi_bench_work_add(WadiBenchWork *work, const WadiProfile *before, const WadiProfile *after);

enum { WADI_BENCH_STREAM_MAX = 5 };

typedef struct WadiBenchStreams {
    int count;
    const char *name[WADI_BENCH_STREAM_MAX];
    double rate[WADI_BENCH_STREAM_MAX]; /* bytes per second */
} WadiBenchStreams;

/* For each stage that ran: the bytes of the arrays it reads and writes, each counted once, divided by its
 * time. Repeated traffic is not counted, so a stage that streams perfectly has the rate of the triad. */
void wadi_bench_streams(const WadiProfile *profile, const WadiBenchWork *work, WadiBenchStreams *streams);

/* a = b + s c over arrays of 128 MiB on this many threads: the best of a few passes, bytes per second; 0: not
 * enough memory. */
double wadi_bench_triad(int threads);

#endif
