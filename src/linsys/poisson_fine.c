/* The finest level in the solver's form, and the plain operator for tests and residuals. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "grid/row_vectors.h"
#include "linsys/poisson_internal.h"

/* The coupling of a cell with its neighbour n (order of WADI_ROW_X_MIN ...), and the neighbour's index. */
static float coupling_of(const WadiPoisson *system, int32_t row, int lane, int n, size_t *index)
{
    const int32_t *neighbour = system->rows->neighbour[row];
    size_t cell = 8 * (size_t)row + (size_t)lane;
    if (n == WADI_ROW_X_MIN) {
        *index = lane > 0 ? cell - 1 : 8 * (size_t)neighbour[n] + 7;
        return system->cx[cell];
    }
    if (n == WADI_ROW_X_MAX) {
        *index = lane < 7 ? cell + 1 : 8 * (size_t)neighbour[n];
        return system->cx[*index];
    }
    const float *c = n < WADI_ROW_Z_MIN ? system->cy : system->cz;
    *index = 8 * (size_t)neighbour[n] + (size_t)lane;
    return (n & 1) == 0 ? c[cell] : c[*index];
}

double wadi_poisson_excess(const WadiPoisson *system, int32_t row, int lane, double *sum)
{
    *sum = 0.0;
    for (int n = 0; n < 6; ++n) {
        size_t index;
        *sum += (double)coupling_of(system, row, lane, n, &index);
    }
    double diagonal = (double)system->diagonal[8 * (size_t)row + (size_t)lane];
    double excess = diagonal - *sum;
    return excess > WADI_POISSON_EXCESS_FLOOR * diagonal ? excess : 0.0;
}

static void fine_rows(void *context, int64_t first, int64_t end)
{
    WadiPoissonFine *fine = context;
    const WadiPoisson *s = fine->system;
    const WadiF8 common = (WadiF8){ 0 } + fine->plain_coupling;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const int32_t *n = fine->rows->neighbour[row];
        const WadiF8 cx = WADI_ROW(s->cx, row), d = WADI_ROW(s->diagonal, row);
        const WadiF8 c[6] = { cx,
                              WADI_ROW_SHIFT_DOWN(cx, WADI_ROW(s->cx, n[WADI_ROW_X_MAX])),
                              WADI_ROW(s->cy, row),
                              WADI_ROW(s->cy, n[WADI_ROW_Y_MAX]),
                              WADI_ROW(s->cz, row),
                              WADI_ROW(s->cz, n[WADI_ROW_Z_MAX]) };
        WadiI8 is_coupled = c[0] > 0.0f, is_plain = c[0] == common;
        WadiD4 sum[2] = { WADI_ROW_LOW_DOUBLE(c[0]), WADI_ROW_HIGH_DOUBLE(c[0]) };
        for (int side = 1; side < 6; ++side) {
            is_coupled |= c[side] > 0.0f;
            is_plain &= c[side] == common;
            sum[0] += WADI_ROW_LOW_DOUBLE(c[side]);
            sum[1] += WADI_ROW_HIGH_DOUBLE(c[side]);
        }
        const WadiD4 diagonal[2] = { WADI_ROW_LOW_DOUBLE(d), WADI_ROW_HIGH_DOUBLE(d) };
        WadiF4 excess[2], inverse[2];
        for (int half = 0; half < 2; ++half) {
            WadiD4 remainder = diagonal[half] - sum[half];
            remainder =
                (WadiD4)((WadiL4)remainder & (remainder > WADI_POISSON_EXCESS_FLOOR * diagonal[half]));
            excess[half] = __builtin_convertvector(remainder, WadiF4);
            inverse[half] = __builtin_convertvector(1.0 / (remainder + sum[half]), WadiF4);
        }
        WadiF8 whole = __builtin_shufflevector(excess[0], excess[1], 0, 1, 2, 3, 4, 5, 6, 7);
        WADI_ROW_OUT(fine->excess, row) = whole = (WadiF8)((WadiI8)whole & is_coupled);
        is_plain &= whole == 0.0f;
        whole = __builtin_shufflevector(inverse[0], inverse[1], 0, 1, 2, 3, 4, 5, 6, 7);
        WADI_ROW_OUT(fine->inverse, row) = (WadiF8)((WadiI8)whole & is_coupled);
        fine->is_plain[row] = wadi_row_bits(&is_plain) == 0xff;
        fine->coupled[row] = (uint8_t)wadi_row_bits(&is_coupled);
    }
}

static double largest_coupling(void *context, int64_t first, int64_t end)
{
    const WadiPoissonFine *fine = context;
    float largest = FLT_MIN;
    for (int64_t c = 8 * first; c < 8 * end; ++c) {
        float xy = fine->cx[c] > fine->cy[c] ? fine->cx[c] : fine->cy[c];
        float xyz = xy > fine->cz[c] ? xy : fine->cz[c];
        largest = xyz > largest ? xyz : largest;
    }
    return (double)largest;
}

WadiStatus wadi_poisson_fine_build(WadiPoissonFine *fine, const WadiPoisson *system, WadiArena *arena,
                                   WadiError *error)
{
    *fine = (WadiPoissonFine){
        .system = system, .rows = system->rows, .cx = system->cx, .cy = system->cy, .cz = system->cz
    };
    size_t rows = (size_t)fine->rows->count, cells = wadi_rows_floats(fine->rows);
    WADI_TRY(WADI_ARENA_NEW(arena, &fine->coupled, rows, "pressure unknowns", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &fine->excess, cells, "pressure unknowns", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &fine->inverse, cells, "pressure unknowns", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &fine->is_plain, rows, "pressure unknowns", error));
    /* Inside a fluid all couplings are equal, that of an open face, which is the largest. */
    double *partials;
    int64_t blocks = wadi_parallel_block_count((int64_t)rows, WADI_POISSON_ROW_BLOCK);
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, (size_t)blocks, "pressure unknowns", error));
    fine->plain_coupling =
        (float)wadi_parallel_max((int64_t)rows, WADI_POISSON_ROW_BLOCK, largest_coupling, fine, partials);
    fine->plain_inverse = (float)(1.0 / (6.0 * (double)fine->plain_coupling));
    wadi_parallel_for((int64_t)rows, WADI_POISSON_ROW_BLOCK, fine_rows, fine);
    return WADI_OK;
}

typedef struct Apply {
    const WadiPoisson *system;
    const double *x;
    double *y;
} Apply;

static void apply_rows(void *context, int64_t first, int64_t end)
{
    const Apply *a = context;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        for (int l = 0; l < 8; ++l) {
            size_t cell = 8 * (size_t)row + (size_t)l;
            a->y[cell] = 0.0;
            if ((a->system->active[row] >> l & 1) == 0) {
                continue;
            }
            double sum;
            double y = wadi_poisson_excess(a->system, row, l, &sum) * a->x[cell];
            for (int n = 0; n < 6; ++n) {
                size_t neighbour;
                float c = coupling_of(a->system, row, l, n, &neighbour);
                y += c > 0.0f ? (double)c * (a->x[cell] - a->x[neighbour]) : 0.0;
            }
            a->y[cell] = y;
        }
    }
}

void wadi_poisson_apply(const WadiPoisson *system, const double *x, double *y)
{
    Apply apply = { system, x, y };
    wadi_parallel_for(system->rows->count, WADI_POISSON_ROW_BLOCK, apply_rows, &apply);
}

bool wadi_poisson_validate(const WadiPoisson *system)
{
    for (int32_t row = 0; row < system->rows->count; ++row) {
        for (int l = 0; l < 8; ++l) {
            size_t cell = 8 * (size_t)row + (size_t)l;
            bool is_unknown = row > 0 && (system->active[row] >> l & 1) != 0;
            double sum = 0.0;
            for (int n = 0; n < 6; ++n) {
                size_t neighbour;
                float c = coupling_of(system, row, l, n, &neighbour);
                bool is_coupled = is_unknown && (system->active[neighbour / 8] >> neighbour % 8 & 1) != 0;
                if (!(c >= 0.0f && c < INFINITY) || (c > 0.0f && !is_coupled)) {
                    return false;
                }
                sum += (double)c;
            }
            double d = (double)system->diagonal[cell];
            if (is_unknown ? !(d >= sum * (1.0 - WADI_POISSON_EXCESS_FLOOR) && isfinite(d)) : d != 0.0) {
                return false;
            }
        }
    }
    return true;
}
