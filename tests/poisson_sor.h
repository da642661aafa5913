/* Red-black successive over-relaxation: the plain reference of the tests. A sweep updates the cells with even
 * i + j + k, then the odd ones; a cell reads only the other colour, so that the order within a colour does
 * not matter. */
#ifndef WADI_TESTS_POISSON_SOR_H
#define WADI_TESTS_POISSON_SOR_H

#include <math.h>

#include "core/check.h"
#include "core/parallel.h"
#include "linsys/poisson_internal.h"

typedef struct Sor {
    const WadiPoisson *system;
    const float *b;
    double omega;
    unsigned colour;
    bool is_update; /* false: only measures the residual */
    double *x;
} Sor;

static inline double neighbour_term(float coupling, const double *x, size_t at)
{
    return coupling > 0.0f ? (double)coupling * x[at] : 0.0;
}

/* Largest |b - A x|, before the update of the cell. */
static inline double sor_rows(void *context, int64_t first, int64_t end)
{
    const Sor *s = context;
    const WadiPoisson *a = s->system;
    double *x = s->x, largest = 0.0;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        unsigned parity = (a->rows->index_in_tile[row] ^ a->rows->index_in_tile[row] >> 3) & 1;
        unsigned lanes = !s->is_update ? 0xff : (parity ^ s->colour) != 0 ? 0xaa : 0x55;
        const int32_t *n = a->rows->neighbour[row];
        for (unsigned left = a->active[row] & lanes; left != 0; left &= left - 1) {
            int l = __builtin_ctz(left);
            size_t c = 8 * (size_t)row + (size_t)l;
            size_t xl = l > 0 ? c - 1 : 8 * (size_t)n[WADI_ROW_X_MIN] + 7;
            size_t xh = l < 7 ? c + 1 : 8 * (size_t)n[WADI_ROW_X_MAX];
            size_t yl = 8 * (size_t)n[WADI_ROW_Y_MIN] + (size_t)l,
                   yh = 8 * (size_t)n[WADI_ROW_Y_MAX] + (size_t)l;
            size_t zl = 8 * (size_t)n[WADI_ROW_Z_MIN] + (size_t)l,
                   zh = 8 * (size_t)n[WADI_ROW_Z_MAX] + (size_t)l;
            double sum;
            double diagonal = wadi_poisson_excess(a, row, l, &sum);
            diagonal += sum;
            double r = (double)s->b[c] - diagonal * x[c] + neighbour_term(a->cx[c], x, xl) +
                       neighbour_term(a->cx[xh], x, xh) + neighbour_term(a->cy[c], x, yl) +
                       neighbour_term(a->cy[yh], x, yh) + neighbour_term(a->cz[c], x, zl) +
                       neighbour_term(a->cz[zh], x, zh);
            largest = isfinite(r) ? fmax(largest, fabs(r)) : (double)INFINITY;
            if (s->is_update && diagonal > 0.0) {
                x[c] += s->omega * r / diagonal;
            }
        }
    }
    return largest;
}

static inline double pass_over(Sor *s, bool is_update, unsigned colour, double *partials)
{
    s->is_update = is_update;
    s->colour = colour;
    return wadi_parallel_max(s->system->rows->count, WADI_POISSON_ROW_BLOCK, sor_rows, s, partials);
}

/* omega in (0, 2); at most settings->max_iterations sweeps from the warm start in x. Means are not
 * subtracted. */
static inline WadiStatus poisson_sor(const WadiPoisson *system, const float *b, double omega,
                                     const WadiPoissonSettings *settings, double *x, WadiArena *scratch,
                                     WadiPoissonReport *report, WadiError *error)
{
    WADI_ASSERT(omega > 0.0 && omega < 2.0);
    *report = (WadiPoissonReport){ 0 };
    double *partials, largest = 0.0;
    int64_t blocks = wadi_parallel_block_count(system->rows->count, WADI_POISSON_ROW_BLOCK);
    WADI_TRY(WADI_ARENA_NEW(scratch, &partials, (size_t)blocks, "pressure", error));
    for (int32_t row = 1; row < system->rows->count; ++row) {
        for (unsigned left = system->active[row]; left != 0; left &= left - 1) {
            largest = fmax(largest, fabs((double)b[8 * (size_t)row + (size_t)__builtin_ctz(left)]));
        }
    }
    Sor s = { .system = system, .b = b, .omega = omega, .x = x };
    double target = fmax(settings->tolerance * largest, settings->absolute);
    report->first_residual = report->residual = pass_over(&s, false, 0, partials);
    while (report->residual > target && isfinite(report->residual) &&
           report->iterations < settings->max_iterations) {
        double red = pass_over(&s, true, 0, partials), black = pass_over(&s, true, 1, partials);
        ++report->iterations;
        /* The sweep gives an estimate; the reported residual is exact. */
        bool is_near = fmax(red, black) <= target || report->iterations == settings->max_iterations;
        report->residual = is_near ? pass_over(&s, false, 0, partials) : fmax(red, black);
    }
    if (!isfinite(report->residual)) {
        return wadi_fail(error, WADI_ERR_NUMERIC, "pressure: the divergence or the pressure is not finite");
    }
    report->has_converged = report->residual <= target;
    return WADI_OK;
}

#endif
