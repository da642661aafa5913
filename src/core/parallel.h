/* Loops and reductions whose result does not depend on the thread count.
 * Items are split into blocks of `block_size`, which must be a function of the item count only. A block is
 * run by one thread, in order. Reductions add the results of the blocks in block order. */
#ifndef WADI_CORE_PARALLEL_H
#define WADI_CORE_PARALLEL_H

#include "core/arena.h"
#include "core/status.h"

/* Handles [first, end). Blocks write to disjoint outputs and must not fail; a stage that can fail per item
 * records it in its output and reports the lowest index afterwards. */
typedef void (*WadiBlockFn)(void *context, int64_t first, int64_t end);
/* The same, and returns the partial sum or maximum of the block. */
typedef double (*WadiBlockReduceFn)(void *context, int64_t first, int64_t end);

/* Number of threads of the loops of the calling thread; 0 = all cores the process may run on. Set at the
 * start of a run (wadi_run, wadi_sim_step); each calling thread has its own team, so there is no global. */
void wadi_parallel_set_threads(int threads);
/* The same with loops as at most `threads` tasks of the program; tasks.run NULL: threads of the library. */
void wadi_parallel_set_tasks(int threads, WadiTasks tasks);
int wadi_parallel_threads(void);

void wadi_parallel_for(int64_t count, int64_t block_size, WadiBlockFn body, void *context);

/* `partials` needs wadi_parallel_block_count(count, block_size) doubles of scratch. */
int64_t wadi_parallel_block_count(int64_t count, int64_t block_size);
double wadi_parallel_sum(int64_t count, int64_t block_size, WadiBlockReduceFn body, void *context,
                         double *partials);
/* -INFINITY for an empty range. */
double wadi_parallel_max(int64_t count, int64_t block_size, WadiBlockReduceFn body, void *context,
                         double *partials);

/* counts[0..n) becomes starts[0..n], starts[n] = total, in place (array of n + 1). Serial: it is
 * memory-bound. */
int64_t wadi_prefix_sum(int32_t *counts_to_starts, int64_t n);

#endif
