/* Conjugate gradients preconditioned by one multigrid V-cycle [MST10; theory 5.3].
 *
 * The recursion is in float, the solution in double. The true residual is computed in double each time the
 * recursion has gained three digits, and before the end, and replaces the recursive one without restarting
 * the search direction [theory 5.4].
 * Differs: iterative refinement, which restarts the iteration, would cost two or three iterations per
 * restart. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "grid/row_vectors.h"
#include "linsys/poisson_components.h"

/* Reduction of the residual after which the true one replaces it. */
#define REPLACE_AT 1e-3

/* Largest factor of a warm start: x.Ax is a difference of two numbers with seven digits. */
#define SCALE_MAX 1e3

typedef struct Solve {
    const WadiPoisson *system;
    const WadiPoissonHierarchy *hierarchy;
    const float *b_given;
    double *b, *x;        /* per cell, 0 where not coupled; x is the caller's */
    float *r, *z, *p, *q; /* per cell */
    double *partials;     /* two per block */
    double scale;         /* of the warm start */
} Solve;

/* Largest |b| over the unknowns of a block; infinite if one is not finite. */
static double largest_b(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    const WadiI8 magnitude = (WadiI8){ 0 } + INT32_MAX;
    WadiF8 largest = { 0 };
    WadiI8 is_finite = (WadiI8){ 0 } - 1;
    for (int64_t row = first; row < end; ++row) {
        WadiI8 is_unknown;
        wadi_row_mask(s->system->active[row], &is_unknown);
        WadiF8 size = (WadiF8)((WadiI8)WADI_ROW(s->b_given, row) & is_unknown & magnitude);
        is_finite &= size <= FLT_MAX;
        largest = WADI_MAX8(size, largest);
    }
    float maximum = 0.0f;
    for (int l = 0; l < 8; ++l) {
        maximum = largest[l] > maximum ? largest[l] : maximum;
    }
    return wadi_row_bits(&is_finite) == 0xff ? (double)maximum : (double)INFINITY;
}

/* Loads b and the warm start of the coupled unknowns. */
static void load_rows(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    const WadiL4 magnitude = (WadiL4){ 0 } + INT64_MAX;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        WadiI8 mask;
        wadi_row_mask(s->hierarchy->tree.fine.coupled[row], &mask);
        WadiF8 b = (WadiF8)((WadiI8)WADI_ROW(s->b_given, row) & mask);
        WADI_HALF_OUT(s->b, row, 0) = WADI_ROW_LOW_DOUBLE(b);
        WADI_HALF_OUT(s->b, row, 4) = WADI_ROW_HIGH_DOUBLE(b);
        const WadiL4 is_coupled[2] = { __builtin_convertvector(WADI_ROW_LOW(mask), WadiL4),
                                       __builtin_convertvector(WADI_ROW_HIGH(mask), WadiL4) };
        for (int half = 0; half < 2; ++half) {
            WadiL4 x = (WadiL4)WADI_HALF(s->x, row, 4 * half);
            WadiL4 is_finite = (WadiD4)(x & magnitude) <= DBL_MAX;
            WADI_HALF_OUT(s->x, row, 4 * half) = (WadiD4)(x & is_coupled[half] & is_finite);
        }
        WADI_ROW_OUT(s->p, row) = (WadiF8){ 0 };
    }
}

/* Solves the unknowns without a coupling. */
static void solve_uncoupled(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    const WadiPoisson *system = s->system;
    for (int64_t row = first + (first == 0); row < end; ++row) {
        const unsigned uncoupled = system->active[row] & ~(unsigned)s->hierarchy->tree.fine.coupled[row];
        for (unsigned left = uncoupled; left != 0; left &= left - 1) {
            const int64_t cell = 8 * row + __builtin_ctz(left);
            const double d = (double)system->diagonal[cell];
            s->x[cell] = d > 0.0 ? (double)s->b_given[cell] / d : 0.0;
        }
    }
}

static WadiStatus alloc_vectors(Solve *s, size_t cells, WadiArena *scratch, WadiError *error)
{
    WADI_TRY(WADI_ARENA_NEW(scratch, &s->b, cells, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &s->r, cells, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &s->z, cells, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &s->p, cells, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &s->q, cells, "pressure", error));
    return WADI_OK;
}

static double true_residual(Solve *s)
{
    return wadi_poisson_residual(&s->hierarchy->tree.fine, s->b, s->x, s->r, s->partials);
}

/* x.b and x.r of a block of rows. */
static void dot_rows(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    WadiD4 xb = { 0 }, xr = { 0 };
    for (int64_t row = first + (first == 0); row < end; ++row) {
        const WadiF8 r = WADI_ROW(s->r, row);
        const WadiD4 low = WADI_HALF(s->x, row, 0), high = WADI_HALF(s->x, row, 4);
        xb += low * WADI_HALF(s->b, row, 0) + high * WADI_HALF(s->b, row, 4);
        xr += low * WADI_ROW_LOW_DOUBLE(r) + high * WADI_ROW_HIGH_DOUBLE(r);
    }
    double *to = s->partials + 2 * (first / WADI_POISSON_ROW_BLOCK);
    to[0] = (xb[0] + xb[1]) + (xb[2] + xb[3]);
    to[1] = (xr[0] + xr[1]) + (xr[2] + xr[3]);
}

static void scale_rows(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int64_t row = first; row < end; ++row) {
        WADI_HALF_OUT(s->x, row, 0) *= s->scale;
        WADI_HALF_OUT(s->x, row, 4) *= s->scale;
    }
}

/* The multiple of the warm start with the least energy of the error: x.b / x.Ax, where x.Ax = x.b - x.r.
 * Where the fluid has moved, the start is wrong near the surface but still right inside. */
static double best_scale(Solve *s, int32_t rows)
{
    wadi_parallel_for(rows, WADI_POISSON_ROW_BLOCK, dot_rows, s);
    const int64_t blocks = wadi_parallel_block_count(rows, WADI_POISSON_ROW_BLOCK);
    double xb = 0.0, xr = 0.0;
    for (int64_t block = 0; block < blocks; ++block) {
        xb += s->partials[2 * block];
        xr += s->partials[2 * block + 1];
    }
    const double scale = xb / (xb - xr);
    return xb > 0.0 && xb > xr && scale <= SCALE_MAX ? scale : 0.0;
}

/* Iterates from the true residual in r. */
static void iterate(Solve *s, double target, const WadiPoissonSettings *settings, WadiPoissonReport *report)
{
    const int minimum = settings->min_iterations, maximum = settings->max_iterations;
    const WadiPoissonFine *fine = &s->hierarchy->tree.fine;
    double replaced = report->residual, last_rz = 0.0;
    while ((report->residual > target || (report->iterations < minimum && report->residual > 0.0)) &&
           report->iterations < maximum) {
        /* q is free until the product; the cycle uses it as its second vector. */
        double rz = wadi_poisson_cycle(&s->hierarchy->tree, s->r, s->z, s->q, s->partials);
        double beta = last_rz > 0.0 ? rz / last_rz : 0.0;
        wadi_poisson_direction(fine, (float)beta, s->z, s->p);
        double pq = wadi_poisson_multiply(fine, s->p, s->q, s->partials);
        if (!(rz > 0.0 && pq > 0.0 && isfinite(rz / pq))) {
            report->residual = true_residual(s);
            break;
        }
        last_rz = rz;
        ++report->iterations;
        double size = wadi_poisson_advance(fine, rz / pq, s->p, s->q, s->x, s->r, s->partials);
        bool is_last = report->iterations == maximum;
        if (size <= fmax(REPLACE_AT * replaced, 0.9 * target) || size > 100.0 * replaced || is_last) {
            replaced = true_residual(s);
            size = replaced;
        } else {
            size = fmax(size, 2.0 * target);
        }
        report->residual = size;
    }
}

WadiStatus wadi_poisson_solve_from(const WadiPoisson *system, const float *b,
                                   const WadiPoissonSettings *settings, bool is_lowest_zero, double *x,
                                   WadiArena *scratch, WadiPoissonReport *report, WadiError *error)
{
    WADI_VALIDATE(wadi_poisson_validate(system));
    *report = (WadiPoissonReport){ .has_converged = true };
    WadiArenaMark mark = wadi_arena_mark(scratch);
    Solve s = { .system = system, .b_given = b, .x = x };
    int32_t rows = system->rows->count;
    int64_t blocks = wadi_parallel_block_count(rows, WADI_POISSON_ROW_BLOCK);
    WADI_TRY(WADI_ARENA_NEW(scratch, &s.partials, 2 * (size_t)blocks, "pressure", error));
    double largest = wadi_parallel_max(rows, WADI_POISSON_ROW_BLOCK, largest_b, &s, s.partials);
    if (!isfinite(largest)) {
        report->has_converged = false;
        return wadi_fail(error, WADI_ERR_NUMERIC,
                         "pressure: the divergence of the velocity is not finite; the time step is too large "
                         "or a force is");
    }
    if (largest <= 0.0) {
        memset(x, 0, wadi_rows_floats(system->rows) * sizeof *x);
        wadi_arena_release(scratch, mark);
        return WADI_OK;
    }
    WadiPoissonHierarchy local = { 0 }, *hierarchy = system->hierarchy != NULL ? system->hierarchy : &local;
    if (!hierarchy->is_made) {
        WADI_TRY(wadi_poisson_hierarchy_make(hierarchy, system, scratch, error));
        mark = hierarchy != &local ? wadi_arena_mark(scratch) : mark;
    }
    s.hierarchy = hierarchy;
    WADI_TRY(alloc_vectors(&s, wadi_rows_floats(system->rows), scratch, error));
    wadi_parallel_for(rows, WADI_POISSON_ROW_BLOCK, load_rows, &s);
    wadi_poisson_closed_shift(&hierarchy->closed, &hierarchy->tree.fine, false, s.b);
    report->closed_components = hierarchy->closed.count;
    double target = fmax(settings->tolerance * largest, settings->absolute);
    report->residual = report->first_residual = true_residual(&s);
    if (report->residual > target) {
        s.scale = best_scale(&s, rows);
        wadi_parallel_for(rows, WADI_POISSON_ROW_BLOCK, scale_rows, &s);
        report->residual = true_residual(&s);
    }
    iterate(&s, target, settings, report);
    wadi_poisson_closed_shift(&hierarchy->closed, &hierarchy->tree.fine, is_lowest_zero, s.x);
    wadi_parallel_for(rows, WADI_POISSON_ROW_BLOCK, solve_uncoupled, &s);
    wadi_arena_release(scratch, mark);
    report->has_converged = report->residual <= target;
    return WADI_OK;
}

WadiStatus wadi_poisson_solve(const WadiPoisson *system, const float *b, const WadiPoissonSettings *settings,
                              double *x, WadiArena *scratch, WadiPoissonReport *report, WadiError *error)
{
    return wadi_poisson_solve_from(system, b, settings, false, x, scratch, report, error);
}
