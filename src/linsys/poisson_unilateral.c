/* Pressure without tension: x >= 0 by dropping the unknowns with a negative solution [theory 5.2]. */
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"
#include "linsys/poisson_components.h"

/* Fraction of the unknowns that may be dropped before the coarse levels are rebuilt. */
#define REDUCE_FRACTION 0.1

typedef struct Drop {
    int64_t unknowns;
    const WadiPoisson *from;
    const WadiRows *rows;
    uint8_t *active;
    float *diagonal, *cx, *cy, *cz;
    double *x, *partials;
} Drop;

/* Removes the negative unknowns and sets them to 0. Returns their count. */
static double drop_negative(void *context, int64_t first, int64_t end)
{
    const Drop *d = context;
    int64_t count = 0;
    for (int64_t row = first; row < end; ++row) {
        double *x = d->x + 8 * row;
        unsigned negative = 0;
        for (int l = 0; l < 8; ++l) {
            negative |= (unsigned)(x[l] < 0.0) << l;
        }
        negative &= d->active[row];
        d->active[row] = (uint8_t)(d->active[row] & ~negative);
        count += __builtin_popcount(negative);
        for (; negative != 0; negative &= negative - 1) {
            x[__builtin_ctz(negative)] = 0.0;
        }
    }
    return (double)count;
}

/* Assembles the system of the remaining unknowns. */
static void couple_rows(void *context, int64_t first, int64_t end)
{
    const Drop *d = context;
    const float *from[3] = { d->from->cx, d->from->cy, d->from->cz };
    float *to[3] = { d->cx, d->cy, d->cz };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        WadiI8 is_active;
        wadi_row_mask(d->active[row], &is_active);
        WADI_ROW_OUT(d->diagonal, row) = (WadiF8)((WadiI8)WADI_ROW(d->from->diagonal, row) & is_active);
        for (int axis = 0; axis < 3; ++axis) {
            unsigned both = d->active[row] & wadi_row_neighbour_bits(d->rows, d->active, row, 2 * axis);
            wadi_row_mask(both, &is_active);
            WADI_ROW_OUT(to[axis], row) = (WadiF8)((WadiI8)WADI_ROW(from[axis], row) & is_active);
        }
    }
}

static WadiStatus drop_alloc(Drop *d, WadiArena *scratch, WadiError *error)
{
    size_t cells = wadi_rows_floats(d->rows), rows = (size_t)d->rows->count;
    size_t blocks = (size_t)wadi_parallel_block_count(d->rows->count, WADI_POISSON_ROW_BLOCK);
    WADI_TRY(WADI_ARENA_NEW(scratch, &d->active, rows, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &d->partials, blocks, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &d->diagonal, cells, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &d->cx, cells, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &d->cy, cells, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &d->cz, cells, "pressure", error));
    memcpy(d->active, d->from->active, rows);
    d->active[0] = 0;
    for (size_t row = 0; row < rows; ++row) {
        d->unknowns += __builtin_popcount(d->active[row]);
    }
    return WADI_OK;
}

WadiStatus wadi_poisson_solve_unilateral(const WadiPoisson *system, const float *b,
                                         const WadiPoissonSettings *settings, int rounds, double *x,
                                         WadiArena *scratch, WadiPoissonReport *report, int64_t *dropped,
                                         WadiError *error)
{
    WADI_ASSERT(rounds > 0);
    *report = (WadiPoissonReport){ 0 };
    int64_t count = 0;
    Drop d = { .from = system, .rows = system->rows, .x = x };
    WADI_TRY(drop_alloc(&d, scratch, error));
    WadiPoisson whole = *system, remaining = { system->rows, d.active, d.diagonal, d.cx, d.cy, d.cz, NULL };
    const WadiPoisson *now = &whole;
    WadiPoissonHierarchy reduced;
    if (whole.hierarchy == NULL) {
        WADI_TRY(wadi_poisson_hierarchy_begin(&whole.hierarchy, scratch, error));
    }
    int iterations = 0;
    for (int round = 0; round < rounds; ++round) {
        WADI_TRY(wadi_poisson_solve_from(now, b, settings, true, x, scratch, report, error));
        iterations += report->iterations;
        report->iterations = iterations;
        double dropped_now =
            wadi_parallel_sum(system->rows->count, WADI_POISSON_ROW_BLOCK, drop_negative, &d, d.partials);
        count += (int64_t)dropped_now;
        if (dropped_now <= 0.0) {
            break;
        }
        if (round + 1 < rounds) {
            wadi_parallel_for(system->rows->count, WADI_POISSON_ROW_BLOCK, couple_rows, &d);
            remaining.hierarchy = NULL;
            if (whole.hierarchy->is_made && (double)count <= REDUCE_FRACTION * (double)d.unknowns) {
                WADI_TRY(
                    wadi_poisson_hierarchy_reduce(&reduced, whole.hierarchy, &remaining, scratch, error));
                remaining.hierarchy = &reduced;
            }
            now = &remaining;
        }
    }
    if (dropped != NULL) {
        *dropped = count;
    }
    return WADI_OK;
}
