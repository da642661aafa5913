#include "core/parallel.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>

#include "core/check.h"

void wadi_parallel_set_threads(int threads)
{
    omp_set_num_threads(threads > 0 ? threads : omp_get_num_procs());
}

int wadi_parallel_threads(void)
{
    return omp_get_max_threads();
}

int64_t wadi_parallel_block_count(int64_t count, int64_t block_size)
{
    WADI_ASSERT(block_size > 0);
    return count > 0 ? (count + block_size - 1) / block_size : 0;
}

/* On a machine that others use too (and be it the thread that writes frames), a loop ends when the last thread has been given a
 * core: a slice of the scheduler, some 4 ms, for a loop of 50 us, and a step has hundreds of loops. A wait that the loop's own
 * blocks cannot explain is taken as a sign of that, and loops run on the calling thread alone for a while: twice the wait, and
 * twice as long each time the next wait comes soon after. Who runs a block never shows in its result. */
#define CROWDED_WAIT 1e-3 /* s */
#define CROWDED_BLOCKS 8.0
#define LONGEST_ALONE 1.0 /* s */

static _Thread_local double alone_until, alone_for; /* omp_get_wtime, s; 0: not crowded of late */

static bool is_worth_a_team(int64_t blocks)
{
    /* One block: no team, no barrier (0.8 us). */
    return blocks > 1 && omp_get_max_threads() > 1 && (alone_until <= 0.0 || omp_get_wtime() >= alone_until);
}

/* A loop began at `start`, the calling thread had done its own blocks at `done`. */
static void judge_wait(double start, double done, int64_t own_blocks)
{
    double end = omp_get_wtime(), waited = end - done;
    bool is_soon = alone_for > 0.0 && start < alone_until + 2.0 * alone_for;
    if (own_blocks > 0 && waited > CROWDED_WAIT &&
        waited > CROWDED_BLOCKS * (done - start) / (double)own_blocks) {
        alone_for = fmin(is_soon ? 2.0 * alone_for : 2.0 * waited, LONGEST_ALONE);
        alone_until = end + alone_for;
    } else if (!is_soon) {
        alone_until = alone_for = 0.0;
    }
}

typedef struct Loop {
    int64_t count, block_size;
    WadiBlockFn body; /* or: */
    WadiBlockReduceFn reduce;
    void *context;
    double *partials;
} Loop;

static inline void run_block(const Loop *loop, int64_t b)
{
    int64_t first = b * loop->block_size, end = first + loop->block_size;
    end = end < loop->count ? end : loop->count;
    if (loop->reduce != NULL) {
        loop->partials[b] = loop->reduce(loop->context, first, end);
    } else {
        loop->body(loop->context, first, end);
    }
}

static int64_t run(const Loop *loop)
{
    int64_t blocks = wadi_parallel_block_count(loop->count, loop->block_size), own_blocks = 0;
    if (!is_worth_a_team(blocks)) {
        for (int64_t b = 0; b < blocks; ++b) {
            run_block(loop, b);
        }
        return blocks;
    }
    double start = omp_get_wtime(), done = start;
#pragma omp parallel
    {
        int64_t ran = 0;
#pragma omp for schedule(dynamic, 1) nowait
        for (int64_t b = 0; b < blocks; ++b) {
            run_block(loop, b);
            ++ran;
        }
        if (omp_get_thread_num() == 0) {
            done = omp_get_wtime();
            own_blocks = ran;
        }
    }
    judge_wait(start, done, own_blocks);
    return blocks;
}

void wadi_parallel_for(int64_t count, int64_t block_size, WadiBlockFn body, void *context)
{
    run(&(Loop){ .count = count, .block_size = block_size, .body = body, .context = context });
}

static int64_t reduce_blocks(int64_t count, int64_t block_size, WadiBlockReduceFn body, void *context,
                             double *partials)
{
    return run(&(Loop){
        .count = count, .block_size = block_size, .reduce = body, .context = context, .partials = partials });
}

double wadi_parallel_sum(int64_t count, int64_t block_size, WadiBlockReduceFn body, void *context,
                         double *partials)
{
    int64_t blocks = reduce_blocks(count, block_size, body, context, partials);
    double sum = 0.0;
    for (int64_t b = 0; b < blocks; ++b) {
        sum += partials[b];
    }
    return sum;
}

double wadi_parallel_max(int64_t count, int64_t block_size, WadiBlockReduceFn body, void *context,
                         double *partials)
{
    int64_t blocks = reduce_blocks(count, block_size, body, context, partials);
    double largest = -INFINITY;
    for (int64_t b = 0; b < blocks; ++b) {
        largest = partials[b] > largest ? partials[b] : largest;
    }
    return largest;
}

int64_t wadi_prefix_sum(int32_t *counts_to_starts, int64_t n)
{
    int64_t total = 0;
    for (int64_t i = 0; i < n; ++i) {
        int32_t count = counts_to_starts[i];
        counts_to_starts[i] = (int32_t)total;
        total += count;
    }
    WADI_ASSERT(total <= INT32_MAX);
    counts_to_starts[n] = (int32_t)total;
    return total;
}
