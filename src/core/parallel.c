/* A team of threads for loops over blocks.
 *
 * Each thread has a range of the blocks and, when it is done, helps with the other ranges; the calling
 * thread too. So from loop to loop a thread mostly has its data in the cache, and no loop waits for a
 * thread that has not started, only for one in the middle of a block. Waiting threads spin for longer than
 * the time between loops, then sleep; with more threads than cores they sleep soon. OpenMP's barriers
 * would cost a time slice of the scheduler there.
 *
 * A loop is open while `generation` is odd. A worker increments `busy` before it checks whether the loop
 * is still open, and the caller closes the loop before it waits for `busy` to be 0: no worker reads a loop
 * that is being changed. */
#include "core/parallel.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "core/check.h"
#include "core/os/os_thread.h"

enum {
    WORKERS_MAX = 255,
    SPINS = 20000, /* before sleep, with a core for every thread: some tenths of a millisecond */
    SPINS_IF_OVERSUBSCRIBED = 2000,
    SPINS_PER_YIELD = 500, /* before the core is offered to another thread */
    SPINS_AT_END = 200     /* before the core is offered to a worker */
};

typedef struct Loop {
    int64_t count, block_size, blocks;
    int ranges;
    WadiBlockFn body; /* or `reduce` */
    WadiBlockReduceFn reduce;
    void *context;
    double *partials;
} Loop;

/* The next block of a range; on a cache line of its own. */
typedef struct Range {
    _Alignas(64) atomic_llong next;
} Range;

typedef struct Worker {
    struct Team *team;
    int number; /* of its range; the caller has range 0 */
    pthread_t thread;
} Worker;

typedef struct Team {
    int threads;            /* wanted, the caller included; 0: not yet set */
    WadiTasks tasks;        /* of the program, instead of workers; run may be NULL */
    int workers;            /* running */
    bool is_oversubscribed; /* more threads than cores */
    Worker worker[WORKERS_MAX];
    Range range[WORKERS_MAX + 1];
    bool is_ending;
    Loop loop;
    atomic_uint generation;
    atomic_int busy, sleeping;
    pthread_mutex_t mutex; /* for sleep only */
    pthread_cond_t wake;
} Team;

/* Each calling thread has its own team. */
static _Thread_local Team team = { .mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };
static _Thread_local bool is_inside; /* a block: nested loops run serially in it */
static pthread_key_t end_of_thread;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void pause_core(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void run_block(const Loop *loop, int64_t b)
{
    int64_t first = b * loop->block_size, end = first + loop->block_size;
    end = end < loop->count ? end : loop->count;
    if (loop->reduce != NULL) {
        loop->partials[b] = loop->reduce(loop->context, first, end);
    } else {
        loop->body(loop->context, first, end);
    }
}

static int64_t range_first(const Loop *loop, int number)
{
    return loop->blocks * number / loop->ranges;
}

static void set_ranges(const Loop *loop, Range *ranges)
{
    for (int n = 0; n < loop->ranges; ++n) {
        atomic_store_explicit(&ranges[n].next, range_first(loop, n), memory_order_relaxed);
    }
}

/* The blocks of a range, then those that are left of the others. */
static void run_blocks(const Loop *loop, Range *ranges, int number)
{
    is_inside = true;
    for (int n = 0; n < loop->ranges; ++n) {
        const int range = (number + n) % loop->ranges;
        const int64_t end = range_first(loop, range + 1);
        for (;;) {
            int64_t b = atomic_fetch_add_explicit(&ranges[range].next, 1, memory_order_relaxed);
            if (b >= end) {
                break;
            }
            run_block(loop, b);
        }
    }
    is_inside = false;
}

/* Waits until `generation` differs from `last`, and returns it. */
static unsigned wait_for_change(Team *of, unsigned last)
{
    const int spins = of->is_oversubscribed ? SPINS_IF_OVERSUBSCRIBED : SPINS;
    for (int n = 1; n <= spins; ++n) {
        unsigned now = atomic_load_explicit(&of->generation, memory_order_acquire);
        if (now != last) {
            return now;
        }
        if (n % SPINS_PER_YIELD == 0) {
            sched_yield();
        } else {
            pause_core();
        }
    }
    pthread_mutex_lock(&of->mutex);
    atomic_fetch_add(&of->sleeping, 1);
    while (atomic_load(&of->generation) == last) {
        pthread_cond_wait(&of->wake, &of->mutex);
    }
    atomic_fetch_sub(&of->sleeping, 1);
    pthread_mutex_unlock(&of->mutex);
    return atomic_load(&of->generation);
}

static void *work(void *context)
{
    const Worker *self = context;
    Team *of = self->team;
    unsigned last = 0;
    for (;;) {
        last = wait_for_change(of, last);
        atomic_fetch_add(&of->busy, 1);
        bool is_open = (last & 1) != 0 && atomic_load(&of->generation) == last;
        bool is_ending = is_open && of->is_ending;
        if (is_open && !is_ending) {
            run_blocks(&of->loop, of->range, self->number);
        }
        atomic_fetch_sub(&of->busy, 1);
        if (is_ending) {
            return NULL;
        }
    }
}

static void open_loop(Team *of)
{
    set_ranges(&of->loop, of->range);
    atomic_fetch_add(&of->generation, 1);
    if (atomic_load(&of->sleeping) > 0) {
        pthread_mutex_lock(&of->mutex);
        pthread_cond_broadcast(&of->wake);
        pthread_mutex_unlock(&of->mutex);
    }
}

static void close_loop(Team *of)
{
    atomic_fetch_add(&of->generation, 1);
    for (int n = 0; atomic_load(&of->busy) > 0; ++n) {
        if (n < SPINS_AT_END) {
            pause_core();
        } else {
            sched_yield();
        }
    }
}

static void stop_workers(void *context)
{
    Team *of = context;
    if (of->workers > 0) {
        of->is_ending = true;
        open_loop(of);
        for (int i = 0; i < of->workers; ++i) {
            pthread_join(of->worker[i].thread, NULL);
        }
        close_loop(of);
        of->is_ending = false;
        of->workers = 0;
        atomic_store(&of->generation, 0);
    }
}

static void make_key(void)
{
    pthread_key_create(&end_of_thread, stop_workers);
}

static void start_workers(Team *of)
{
    pthread_once(&key_once, make_key);
    pthread_setspecific(end_of_thread, of);
    of->is_oversubscribed = of->threads > wadi_os_cores();
    /* Fewer than wanted is slower, not wrong. */
    while (of->workers < of->threads - 1) {
        Worker *worker = &of->worker[of->workers];
        *worker = (Worker){ .team = of, .number = of->workers + 1 };
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
            break;
        }
        of->workers += 1;
    }
    of->threads = of->workers + 1;
}

void wadi_parallel_set_tasks(int threads, WadiTasks tasks)
{
    threads = threads > 0 ? threads : wadi_os_cores();
    threads = threads <= WORKERS_MAX ? threads : WORKERS_MAX + 1;
    if (threads != team.threads || tasks.run != NULL) {
        stop_workers(&team);
        team.threads = threads;
    }
    team.tasks = tasks;
}

void wadi_parallel_set_threads(int threads)
{
    wadi_parallel_set_tasks(threads, (WadiTasks){ 0 });
}

int wadi_parallel_threads(void)
{
    return team.threads > 0 ? team.threads : wadi_os_cores();
}

int64_t wadi_parallel_block_count(int64_t count, int64_t block_size)
{
    WADI_ASSERT(block_size > 0);
    return count > 0 ? (count + block_size - 1) / block_size : 0;
}

/* A loop that the program runs. */
typedef struct TaskLoop {
    Loop loop;
    Range range[WORKERS_MAX + 1];
} TaskLoop;

static void run_task(void *context, int index)
{
    TaskLoop *tasks = context;
    run_blocks(&tasks->loop, tasks->range, index % tasks->loop.ranges);
}

static void run_in_tasks(const Loop *loop)
{
    TaskLoop of_program;
    of_program.loop = *loop;
    /* A thread that waits for its tasks may step another simulation: `run` may change the team's settings. */
    const int threads = team.threads;
    const WadiTasks tasks = team.tasks;
    of_program.loop.ranges = loop->blocks < threads ? (int)loop->blocks : threads;
    set_ranges(&of_program.loop, of_program.range);
    tasks.run(tasks.user, of_program.loop.ranges, run_task, &of_program);
    wadi_parallel_set_tasks(threads, tasks);
}

static int64_t run(const Loop *loop)
{
    if (loop->blocks > 1 && !is_inside && team.threads > 1 && team.tasks.run != NULL) {
        run_in_tasks(loop);
        return loop->blocks;
    }
    if (loop->blocks > 1 && !is_inside && team.workers + 1 != team.threads) {
        team.threads = wadi_parallel_threads();
        start_workers(&team);
    }
    if (loop->blocks <= 1 || is_inside || team.workers == 0) {
        for (int64_t b = 0; b < loop->blocks; ++b) {
            run_block(loop, b);
        }
        return loop->blocks;
    }
    team.loop = *loop;
    team.loop.ranges = team.workers + 1;
    open_loop(&team);
    run_blocks(&team.loop, team.range, 0);
    close_loop(&team);
    return loop->blocks;
}

void wadi_parallel_for(int64_t count, int64_t block_size, WadiBlockFn body, void *context)
{
    run(&(Loop){ .count = count,
                 .block_size = block_size,
                 .blocks = wadi_parallel_block_count(count, block_size),
                 .body = body,
                 .context = context });
}

static int64_t reduce_blocks(int64_t count, int64_t block_size, WadiBlockReduceFn body, void *context,
                             double *partials)
{
    WADI_ASSERT(body != NULL);
    return run(&(Loop){ .count = count,
                        .block_size = block_size,
                        .blocks = wadi_parallel_block_count(count, block_size),
                        .reduce = body,
                        .context = context,
                        .partials = partials });
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
