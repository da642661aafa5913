/* A team of threads for loops over blocks.
 *
 * Each thread has a share of the blocks, a run of them, and helps with the others' when it is done with its own, the calling
 * thread too. So loop after loop a thread meets what its cache holds (blocks for whoever was free took 5 % more of a run on two
 * cores), and no loop waits for a thread that has not begun: on a machine that others use, or beside the thread that writes
 * frames, a worker without a core costs nothing. Only a worker in the middle of a block is waited for. Waiting threads look for a
 * while, longer than the stretches between loops, then sleep: waking them took 4 % of a run. Where there are more of them than
 * cores they sleep soon: two that look on one core would take each other's time. (OpenMP's barriers cost a slice of the scheduler
 * there, 4 ms for a loop of 50 us.)
 *
 * A loop is open while `generation` is odd. A worker says that it is inside (`busy`) before it looks whether the loop is still
 * open, and the caller closes the loop before it waits for `busy` to be 0: so nobody reads a loop that is being changed. */
#include "core/parallel.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "core/check.h"

enum {
    WORKERS_MAX = 255,
    LOOKS = 20000, /* before sleeping, where every thread has a core: some tenths of a millisecond */
    LOOKS_IF_CROWDED = 2000,
    LOOKS_A_TURN = 500, /* then another may have the core */
    LOOKS_AT_END = 200  /* before giving the core to a worker that may need it */
};

typedef struct Loop {
    int64_t count, block_size, blocks;
    WadiBlockFn body; /* or: */
    WadiBlockReduceFn reduce;
    void *context;
    double *partials;
} Loop;

/* The next block of a share; a line of its own. */
typedef struct Share {
    _Alignas(64) atomic_llong next;
} Share;

typedef struct Worker {
    struct Team *team;
    int number; /* of its share; the caller's is 0 */
    pthread_t thread;
} Worker;

typedef struct Team {
    int threads;     /* wanted, the caller included; 0: not yet said */
    int workers;     /* running */
    bool is_crowded; /* more threads than cores */
    Worker worker[WORKERS_MAX];
    Share share[WORKERS_MAX + 1];
    bool is_ending;
    Loop loop;
    atomic_uint generation;
    atomic_int busy, sleeping;
    pthread_mutex_t mutex; /* for sleep alone */
    pthread_cond_t wake;
} Team;

/* Each thread that calls has a team of its own. */
static _Thread_local Team team = { .mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };
static _Thread_local bool is_inside; /* a block: loops in loops run where they are */
static pthread_key_t end_of_thread;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void look_away(void)
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

static int64_t share_first(const Team *of, int number)
{
    return of->loop.blocks * number / (of->workers + 1);
}

static void take_blocks(Team *of, int number)
{
    const int shares = of->workers + 1;
    is_inside = true;
    for (int n = 0; n < shares; ++n) {
        const int share = (number + n) % shares;
        const int64_t end = share_first(of, share + 1);
        for (;;) {
            int64_t b = atomic_fetch_add_explicit(&of->share[share].next, 1, memory_order_relaxed);
            if (b >= end) {
                break;
            }
            run_block(&of->loop, b);
        }
    }
    is_inside = false;
}

/* Until `generation` is not `seen`. */
static unsigned wait_for_change(Team *of, unsigned seen)
{
    const int looks = of->is_crowded ? LOOKS_IF_CROWDED : LOOKS;
    for (int n = 1; n <= looks; ++n) {
        unsigned now = atomic_load_explicit(&of->generation, memory_order_acquire);
        if (now != seen) {
            return now;
        }
        if (n % LOOKS_A_TURN == 0) {
            sched_yield();
        } else {
            look_away();
        }
    }
    pthread_mutex_lock(&of->mutex);
    atomic_fetch_add(&of->sleeping, 1);
    while (atomic_load(&of->generation) == seen) {
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
    unsigned seen = 0;
    for (;;) {
        seen = wait_for_change(of, seen);
        atomic_fetch_add(&of->busy, 1);
        bool is_open = (seen & 1) != 0 && atomic_load(&of->generation) == seen;
        bool is_ending = is_open && of->is_ending;
        if (is_open && !is_ending) {
            take_blocks(of, self->number);
        }
        atomic_fetch_sub(&of->busy, 1);
        if (is_ending) {
            return NULL;
        }
    }
}

static void open_loop(Team *of)
{
    for (int n = 0; n <= of->workers; ++n) {
        atomic_store_explicit(&of->share[n].next, share_first(of, n), memory_order_relaxed);
    }
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
        if (n < LOOKS_AT_END) {
            look_away();
        } else {
            sched_yield();
        }
    }
}

static void dismiss(void *context)
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
    pthread_key_create(&end_of_thread, dismiss);
}

static int core_count(void)
{
#ifdef __linux__
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        return CPU_COUNT(&allowed);
    }
#endif
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

static void gather_workers(Team *of)
{
    pthread_once(&key_once, make_key);
    pthread_setspecific(end_of_thread, of);
    of->is_crowded = of->threads > core_count();
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

void wadi_parallel_set_threads(int threads)
{
    threads = threads > 0 ? threads : core_count();
    threads = threads <= WORKERS_MAX ? threads : WORKERS_MAX + 1;
    if (threads != team.threads) {
        dismiss(&team);
        team.threads = threads;
    }
}

int wadi_parallel_threads(void)
{
    return team.threads > 0 ? team.threads : core_count();
}

int64_t wadi_parallel_block_count(int64_t count, int64_t block_size)
{
    WADI_ASSERT(block_size > 0);
    return count > 0 ? (count + block_size - 1) / block_size : 0;
}

static int64_t run(const Loop *loop)
{
    if (loop->blocks > 1 && !is_inside && team.workers + 1 != team.threads) {
        team.threads = wadi_parallel_threads();
        gather_workers(&team);
    }
    if (loop->blocks <= 1 || is_inside || team.workers == 0) {
        for (int64_t b = 0; b < loop->blocks; ++b) {
            run_block(loop, b);
        }
        return loop->blocks;
    }
    team.loop = *loop;
    open_loop(&team);
    take_blocks(&team, 0);
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
