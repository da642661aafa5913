/* Bytes that the streaming stages of flip must move, and the triad of STREAM [McC95] as the reference. */
#include "bench_stream.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIAD_LENGTH = 16 << 20, TRIAD_PASSES = 6, TRIAD_THREADS = 256 };

/* Bytes per particle: position in double, velocity in float, material; the path is a position. */
#define POSITION 24.0
#define VELOCITY 12.0
#define MATERIAL 1.0
/* Per cell of the grid: one number on each of its three faces. */
#define FACES 12.0
/* Per cell and friction iteration. Stresses to velocities reads 14 stresses, the velocities before and the
 * forces of the last iteration and writes forces and velocities; velocities to stresses reads velocities and
 * two sets of stresses and writes one. */
#define FRICTION (56.0 + 4.0 * 12.0 + 12.0 + 3.0 * 56.0)
/* Per cell and pressure iteration, on the finest level: four sweeps of the smoother (the first reads the
 * right side and writes; the others read both and write), the residual, then direction, product and step of
 * conjugate gradients. Couplings are not counted: where all are equal none is read. */
#define PRESSURE (8.0 + 3.0 * 12.0 + 8.0 + 12.0 + 8.0 + 24.0)

void wadi_bench_work_add(WadiBenchWork *work, const WadiProfile *before, const WadiProfile *after)
{
    work->cells += after->cells;
    work->grid_cells += after->grid_cells;
    work->pressure_cells += after->cells * (after->pressure_iterations - before->pressure_iterations);
    work->friction_cells += after->cells * (after->friction_iterations - before->friction_iterations);
}

static void add(WadiBenchStreams *streams, const WadiProfile *profile, const char *stage, const char *name,
                double bytes)
{
    for (int i = 0; i < profile->stage_count; ++i) {
        if (strcmp(profile->stage[i], stage) == 0 && profile->seconds[i] > 0.0 && bytes > 0.0) {
            streams->name[streams->count] = name;
            streams->rate[streams->count++] = bytes / profile->seconds[i];
        }
    }
}

void wadi_bench_streams(const WadiProfile *profile, const WadiBenchWork *work, WadiBenchStreams *streams)
{
    const double particles = (double)profile->particle_steps, grid = (double)work->grid_cells;
    *streams = (WadiBenchStreams){ 0 };
    add(streams, profile, "sort", "sort", particles * 2.0 * (double)profile->particle_bytes);
    add(streams, profile, "particles to grid", "particles to grid",
        particles * (POSITION + VELOCITY + MATERIAL) + grid * 2.0 * FACES);
    add(streams, profile, "grid to particles", "grid to particles",
        particles * (2.0 * POSITION + 2.0 * VELOCITY + MATERIAL) + grid * 2.0 * FACES);
    add(streams, profile, "friction", "friction", (double)work->friction_cells * FRICTION);
    add(streams, profile, "pressure", "pressure", (double)work->pressure_cells * PRESSURE);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Part {
    double *a, *b, *c; /* of one thread */
    size_t count;
    double factor; /* 0: initialise the arrays, so that each thread touches its pages first */
} Part;

static void *work_on_part(void *user)
{
    const Part *part = user;
    double *restrict a = part->a, *restrict b = part->b, *restrict c = part->c;
    const double factor = part->factor;
    if (factor == 0.0) {
        for (size_t i = 0; i < part->count; ++i) {
            a[i] = 0.0;
            b[i] = 1.0;
            c[i] = 2.0;
        }
        return NULL;
    }
    for (size_t i = 0; i < part->count; ++i) {
        a[i] = b[i] + factor * c[i];
    }
    return NULL;
}

/* One pass over all parts, s. It includes starting the threads: about 10 us of 10 ms. */
static double run_pass(Part *part, int threads, double factor)
{
    pthread_t thread[TRIAD_THREADS];
    bool is_running[TRIAD_THREADS] = { false };
    const double start = now();
    for (int n = threads - 1; n >= 0; --n) {
        part[n].factor = factor;
        is_running[n] = n > 0 && pthread_create(&thread[n], NULL, work_on_part, &part[n]) == 0;
        if (!is_running[n]) {
            work_on_part(&part[n]);
        }
    }
    for (int n = 1; n < threads; ++n) {
        if (is_running[n]) {
            pthread_join(thread[n], NULL);
        }
    }
    return now() - start;
}

double wadi_bench_triad(int threads)
{
    const size_t bytes = TRIAD_LENGTH * sizeof(double);
    threads = threads < 1 ? 1 : threads > TRIAD_THREADS ? TRIAD_THREADS : threads;
    double *a = aligned_alloc(64, bytes), *b = aligned_alloc(64, bytes), *c = aligned_alloc(64, bytes);
    double best = 1e30;
    const bool has_memory = a != NULL && b != NULL && c != NULL;
    if (has_memory) {
        Part part[TRIAD_THREADS];
        for (int n = 0; n < threads; ++n) {
            const size_t first = (size_t)TRIAD_LENGTH * (size_t)n / (size_t)threads;
            const size_t end = (size_t)TRIAD_LENGTH * (size_t)(n + 1) / (size_t)threads;
            part[n] = (Part){ a + first, b + first, c + first, end - first, 0.0 };
        }
        run_pass(part, threads, 0.0);
        for (int pass = 0; pass < TRIAD_PASSES; ++pass) {
            const double seconds = run_pass(part, threads, 3.0 + pass);
            best = seconds < best ? seconds : best;
        }
    }
    free(a);
    free(b);
    free(c);
    return has_memory ? 3.0 * (double)bytes / best : 0.0;
}
