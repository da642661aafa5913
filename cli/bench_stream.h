/* How near the streaming stages of a step come to the bandwidth of the memory. */
#ifndef WADI_CLI_BENCH_STREAM_H
#define WADI_CLI_BENCH_STREAM_H

#include <stdint.h>

#include "wadi/wadi.h"

/* What the stages had to go through, summed over the steps of a run. */
typedef struct WadiBenchWork {
    int64_t cells, grid_cells; /* with material; in all */
    int64_t pressure_cells;    /* cells with material, once an iteration of the pressure */
    int64_t friction_cells;    /* the same of friction */
} WadiBenchWork;

/* Add the step between two profiles. */
void wadi_bench_work_add(WadiBenchWork *work, const WadiProfile *before, const WadiProfile *after);

enum { WADI_BENCH_STREAM_MAX = 5 };

typedef struct WadiBenchStreams {
    int count;
    const char *name[WADI_BENCH_STREAM_MAX];
    double rate[WADI_BENCH_STREAM_MAX]; /* bytes a second */
} WadiBenchStreams;

/* The stages that ran: the bytes of the arrays that they read and write, each counted once, over the time that they took. What goes
 * through the caches more often does not count, so that the rate of a stage that streams perfectly is that of the triad. */
void wadi_bench_streams(const WadiProfile *profile, const WadiBenchWork *work, WadiBenchStreams *streams);

/* a = b + s c over arrays of 128 MiB on so many threads: the best of a few passes, bytes a second; 0: no memory for it. */
double wadi_bench_triad(int threads);

#endif
