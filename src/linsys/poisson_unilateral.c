/* Pressure with no tension, or a bounded one: x >= least by dropping the unknowns with a smaller solution
 * [theory 5.2, 6.13]. */
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
    const float *b;
    float *rhs; /* b with the values of the dropped unknowns; NULL: they are 0 */
    double *x, *partials;
} Drop;

/* Removes the unknowns below their least value and sets all removed ones to it: a solve clears what is no
 * unknown. Returns the count of the new ones. */
static double drop_low(void *context, int64_t first, int64_t end)
{
    const Drop *d = context;
    int64_t count = 0;
    const double zeros[8] = { 0 };
    for (int64_t row = first; row < end; ++row) {
        double *x = d->x + 8 * row, bounds[8];
        const double *least = zeros;
        if (d->from->least != NULL) {
            for (int l = 0; l < 8; ++l) {
                bounds[l] = (double)d->from->least[8 * row + l];
            }
            least = bounds;
        }
        unsigned low = 0;
        for (int l = 0; l < 8; ++l) {
            low |= (unsigned)(x[l] < least[l]) << l;
        }
        low &= d->active[row];
        d->active[row] = (uint8_t)(d->active[row] & ~low);
        count += __builtin_popcount(low);
        for (unsigned left = d->from->active[row] & ~d->active[row]; left != 0; left &= left - 1) {
            x[__builtin_ctz(left)] = least[__builtin_ctz(left)];
        }
    }
    return (double)count;
}

/* b plus coupling times value of each dropped neighbour. */
static void shift_rows(void *context, int64_t first, int64_t end)
{
    const Drop *d = context;
    const float *coupling[3] = { d->from->cx, d->from->cy, d->from->cz };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        for (unsigned left = d->active[row]; left != 0; left &= left - 1) {
            const WadiRowCell here = { row, __builtin_ctz(left) };
            const size_t at = wadi_row_cell_index(here);
            double sum = (double)d->b[at];
            for (int side = 0; side < 6; ++side) {
                const WadiRowCell there = wadi_row_cell_neighbour(d->rows, here, side);
                if (there.row == 0 || (d->active[there.row] >> there.lane & 1) != 0) {
                    continue;
                }
                const size_t beside = wadi_row_cell_index(there);
                sum += (double)coupling[side >> 1][(side & 1) != 0 ? beside : at] * d->x[beside];
            }
            d->rhs[at] = (float)sum;
        }
    }
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
    if (d->from->least != NULL) {
        WADI_TRY(WADI_ARENA_NEW(scratch, &d->rhs, cells, "pressure", error));
        memcpy(d->rhs, d->b, cells * sizeof *d->rhs);
    }
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
    Drop d = { .from = system, .rows = system->rows, .b = b, .x = x };
    WADI_TRY(drop_alloc(&d, scratch, error));
    WadiPoisson whole = *system, remaining = {
        .rows = system->rows, .active = d.active, .diagonal = d.diagonal, .cx = d.cx, .cy = d.cy, .cz = d.cz
    };
    const WadiPoisson *now = &whole;
    WadiPoissonHierarchy reduced;
    if (whole.hierarchy == NULL) {
        WADI_TRY(wadi_poisson_hierarchy_begin(&whole.hierarchy, scratch, error));
    }
    int iterations = 0;
    for (int round = 0; round < rounds; ++round) {
        const float *rhs = now == &remaining && d.rhs != NULL ? d.rhs : b;
        WADI_TRY(wadi_poisson_solve_from(now, rhs, settings, true, x, scratch, report, error));
        iterations += report->iterations;
        report->iterations = iterations;
        double dropped_now =
            wadi_parallel_sum(system->rows->count, WADI_POISSON_ROW_BLOCK, drop_low, &d, d.partials);
        count += (int64_t)dropped_now;
        if (dropped_now <= 0.0) {
            break;
        }
        if (round + 1 < rounds) {
            wadi_parallel_for(system->rows->count, WADI_POISSON_ROW_BLOCK, couple_rows, &d);
            if (d.rhs != NULL) {
                wadi_parallel_for(system->rows->count, WADI_POISSON_ROW_BLOCK, shift_rows, &d);
            }
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
