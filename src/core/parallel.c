#include "core/parallel.h"

#include <math.h>
#include <omp.h>

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

void wadi_parallel_for(int64_t count, int64_t block_size, WadiBlockFn body, void *context)
{
    int64_t blocks = wadi_parallel_block_count(count, block_size);
    /* One block: no team, no barrier (0.8 us, or a scheduler slice on a busy machine). */
    if (blocks <= 1) {
        if (blocks == 1) {
            body(context, 0, count);
        }
        return;
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t b = 0; b < blocks; ++b) {
        int64_t first = b * block_size;
        int64_t end = first + block_size < count ? first + block_size : count;
        body(context, first, end);
    }
}

static int64_t reduce_blocks(int64_t count, int64_t block_size, WadiBlockReduceFn body, void *context,
                             double *partials)
{
    int64_t blocks = wadi_parallel_block_count(count, block_size);
#pragma omp parallel for schedule(dynamic, 1) if (blocks > 1)
    for (int64_t b = 0; b < blocks; ++b) {
        int64_t first = b * block_size;
        int64_t end = first + block_size < count ? first + block_size : count;
        partials[b] = body(context, first, end);
    }
    return blocks;
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
