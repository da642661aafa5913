/* Passes over the rows of the finest level: a row of eight cells is one 256-bit vector, its x-neighbours are shuffles with the
 * rows beside it, and the null row stands for what is missing.
 *
 * Vectors are kept in locals and behind pointers, never passed or returned: their calling convention depends on the target. */
#include "core/parallel.h"
#include "linsys/poisson_internal.h"

typedef float F8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t I8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float F4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef double D4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t L4 __attribute__((vector_size(32), aligned(8), may_alias));

#define ROW(array, row) (*(const F8 *)((array) + 8 * (size_t)(row)))
#define ROW_OUT(array, row) (*(F8 *)((array) + 8 * (size_t)(row)))
/* Doubles go by half rows: the four values from lane l on, which may reach into the row's other half only. */
#define HALF(array, row, lane) (*(const D4 *)((array) + 8 * (size_t)(row) + (lane)))
#define SHIFT_UP(before, row) __builtin_shufflevector(before, row, 7, 8, 9, 10, 11, 12, 13, 14)
#define SHIFT_DOWN(row, after) __builtin_shufflevector(row, after, 1, 2, 3, 4, 5, 6, 7, 8)
#define LOW_HALF(row) __builtin_convertvector(__builtin_shufflevector(row, row, 0, 1, 2, 3), D4)
#define HIGH_HALF(row) __builtin_convertvector(__builtin_shufflevector(row, row, 4, 5, 6, 7), D4)

typedef struct Pass {
    const WadiPoissonFine *fine;
    float weight;
    double alpha;
    const float *b, *x, *coarse;
    const double *b_double, *x_double;
    float *out, *r;
    double *out_double;
} Pass;

/* A x of one row, and one over its diagonal. */
static inline __attribute__((always_inline)) void stencil(const WadiPoissonFine *f, int32_t row,
                                                          const float *x, F8 *ax, F8 *inverse)
{
    const int32_t *n = f->rows->neighbour[row];
    F8 here = ROW(x, row);
    F8 xl = here - SHIFT_UP(ROW(x, n[WADI_ROW_X_MIN]), here);
    F8 xh = here - SHIFT_DOWN(here, ROW(x, n[WADI_ROW_X_MAX]));
    F8 yl = here - ROW(x, n[WADI_ROW_Y_MIN]), yh = here - ROW(x, n[WADI_ROW_Y_MAX]);
    F8 zl = here - ROW(x, n[WADI_ROW_Z_MIN]), zh = here - ROW(x, n[WADI_ROW_Z_MAX]);
    if (f->is_plain[row] != 0) {
        *ax = f->plain_coupling * ((xl + xh) + (yl + yh) + (zl + zh));
        *inverse = (F8){ 0 } + f->plain_inverse;
        return;
    }
    F8 cx = ROW(f->cx, row), cx_up = SHIFT_DOWN(cx, ROW(f->cx, n[WADI_ROW_X_MAX]));
    *ax = ROW(f->excess, row) * here + (cx * xl + cx_up * xh) +
          (ROW(f->cy, row) * yl + ROW(f->cy, n[WADI_ROW_Y_MAX]) * yh) +
          (ROW(f->cz, row) * zl + ROW(f->cz, n[WADI_ROW_Z_MAX]) * zh);
    *inverse = ROW(f->inverse, row);
}

static inline double sum_of(const D4 *v)
{
    return ((*v)[0] + (*v)[1]) + ((*v)[2] + (*v)[3]);
}

static inline double largest_of(const F8 *v)
{
    float m = 0.0f;
    for (int l = 0; l < 8; ++l) {
        m = (*v)[l] > m ? (*v)[l] : m;
    }
    return (double)m;
}

static void start_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        ROW_OUT(p->out, row) = p->weight * ROW(p->fine->inverse, row) * ROW(p->b, row);
    }
}

static void sweep_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        F8 ax, inverse;
        stencil(p->fine, row, p->x, &ax, &inverse);
        ROW_OUT(p->out, row) = ROW(p->x, row) + p->weight * inverse * (ROW(p->b, row) - ax);
    }
}

static double last_sweep_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    D4 sum = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        F8 ax, inverse;
        stencil(p->fine, row, p->x, &ax, &inverse);
        F8 b = ROW(p->b, row);
        F8 z = ROW(p->x, row) + p->weight * inverse * (b - ax);
        ROW_OUT(p->out, row) = z;
        sum += LOW_HALF(b) * LOW_HALF(z) + HIGH_HALF(b) * HIGH_HALF(z);
    }
    return sum_of(&sum);
}

static double multiply_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    D4 sum = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        F8 x = ROW(p->x, row), ax, inverse;
        stencil(p->fine, row, p->x, &ax, &inverse);
        ROW_OUT(p->out, row) = ax;
        sum += LOW_HALF(x) * LOW_HALF(ax) + HIGH_HALF(x) * HIGH_HALF(ax);
    }
    return sum_of(&sum);
}

static void direction_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        ROW_OUT(p->out, row) = ROW(p->x, row) + p->weight * ROW(p->out, row);
    }
}

static double advance_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    F8 largest = { 0 };
    const I8 magnitude = { INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX,
                           INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        D4 *x = (D4 *)(p->out_double + 8 * (size_t)row);
        F8 step = ROW(p->x, row);
        x[0] += p->alpha * LOW_HALF(step);
        x[1] += p->alpha * HIGH_HALF(step);
        F8 r = ROW(p->r, row) - p->weight * ROW(p->b, row);
        ROW_OUT(p->r, row) = r;
        F8 size = (F8)((I8)r & magnitude);
        I8 is_larger = size > largest;
        largest = (F8)(((I8)size & is_larger) | ((I8)largest & ~is_larger));
    }
    return largest_of(&largest);
}

static inline __attribute__((always_inline)) void keep_largest(D4 *largest, const D4 *values)
{
    const L4 magnitude = { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX };
    D4 size = (D4)((L4)*values & magnitude);
    L4 is_larger = size > *largest;
    *largest = (D4)(((L4)size & is_larger) | ((L4)*largest & ~is_larger));
}

static double residual_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    const WadiPoissonFine *f = p->fine;
    const double *x = p->x_double;
    D4 largest = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const int32_t *n = f->rows->neighbour[row];
        F8 cx = ROW(f->cx, row), cx_up = SHIFT_DOWN(cx, ROW(f->cx, n[WADI_ROW_X_MAX]));
        F8 cy = ROW(f->cy, row), cy_up = ROW(f->cy, n[WADI_ROW_Y_MAX]);
        F8 cz = ROW(f->cz, row), cz_up = ROW(f->cz, n[WADI_ROW_Z_MAX]);
        F8 excess = ROW(f->excess, row);
        D4 low = HALF(x, row, 0), high = HALF(x, row, 4);
        D4 before = __builtin_shufflevector(HALF(x, n[WADI_ROW_X_MIN], 4), low, 3, 4, 5, 6);
        D4 after = __builtin_shufflevector(high, HALF(x, n[WADI_ROW_X_MAX], 0), 1, 2, 3, 4);
        D4 r0 = HALF(p->b_double, row, 0) - LOW_HALF(excess) * low;
        r0 -= LOW_HALF(cx) * (low - before);
        r0 -= LOW_HALF(cx_up) * (low - HALF(x, row, 1));
        r0 -= LOW_HALF(cy) * (low - HALF(x, n[WADI_ROW_Y_MIN], 0));
        r0 -= LOW_HALF(cy_up) * (low - HALF(x, n[WADI_ROW_Y_MAX], 0));
        r0 -= LOW_HALF(cz) * (low - HALF(x, n[WADI_ROW_Z_MIN], 0));
        r0 -= LOW_HALF(cz_up) * (low - HALF(x, n[WADI_ROW_Z_MAX], 0));
        D4 r1 = HALF(p->b_double, row, 4) - HIGH_HALF(excess) * high;
        r1 -= HIGH_HALF(cx) * (high - HALF(x, row, 3));
        r1 -= HIGH_HALF(cx_up) * (high - after);
        r1 -= HIGH_HALF(cy) * (high - HALF(x, n[WADI_ROW_Y_MIN], 4));
        r1 -= HIGH_HALF(cy_up) * (high - HALF(x, n[WADI_ROW_Y_MAX], 4));
        r1 -= HIGH_HALF(cz) * (high - HALF(x, n[WADI_ROW_Z_MIN], 4));
        r1 -= HIGH_HALF(cz_up) * (high - HALF(x, n[WADI_ROW_Z_MAX], 4));
        keep_largest(&largest, &r0);
        keep_largest(&largest, &r1);
        F4 *out = (F4 *)(p->r + 8 * (size_t)row);
        out[0] = __builtin_convertvector(r0, F4);
        out[1] = __builtin_convertvector(r1, F4);
    }
    double most = 0.0;
    for (int l = 0; l < 4; ++l) {
        most = largest[l] > most ? largest[l] : most;
    }
    return most;
}

/* Residual of a tile's rows, added to the coarse unknowns that the tile owns. */
static void restrict_tiles(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    const WadiPoissonFine *f = p->fine;
    for (int64_t tile = first; tile < end; ++tile) {
        for (int32_t c = f->tile_parent[tile]; c < f->tile_parent[tile] + f->tile_parents[tile]; ++c) {
            p->out[c] = 0.0f;
        }
        for (int32_t row = f->rows->first[tile]; row < f->rows->first[tile + 1]; ++row) {
            if (f->coupled[row] == 0) {
                continue;
            }
            F8 ax, inverse;
            stencil(f, row, p->x, &ax, &inverse);
            F8 r = ROW(p->b, row) - ax;
            const int32_t *parent = f->parent + 8 * (size_t)row;
            /* Two cells of a block mostly have one parent: one sum in memory instead of two. */
            for (int l = 0; l < 8; l += 2) {
                unsigned left = f->coupled[row] >> l & 3u;
                if (left == 3u && parent[l] == parent[l + 1]) {
                    p->out[parent[l]] = p->out[parent[l]] + r[l] + r[l + 1];
                    continue;
                }
                for (; left != 0; left &= left - 1) {
                    int m = l + __builtin_ctz(left);
                    p->out[parent[m]] += r[m];
                }
            }
        }
    }
}

static void prolong_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const int32_t *parent = p->fine->parent + 8 * (size_t)row;
        float *x = p->out + 8 * (size_t)row;
        if (p->fine->coupled[row] == 0xff) {
            for (int l = 0; l < 8; ++l) {
                x[l] += p->coarse[parent[l]];
            }
            continue;
        }
        for (unsigned left = p->fine->coupled[row]; left != 0; left &= left - 1) {
            int l = __builtin_ctz(left);
            x[l] += p->coarse[parent[l]];
        }
    }
}

static void over_rows(const WadiPoissonFine *fine, WadiBlockFn body, Pass *pass)
{
    pass->fine = fine;
    wadi_parallel_for(fine->rows->count, WADI_POISSON_ROW_BLOCK, body, pass);
}

void wadi_poisson_start(const WadiPoissonFine *fine, const float *b, float *x)
{
    over_rows(fine, start_rows, &(Pass){ .weight = WADI_POISSON_WEIGHT_FIRST, .b = b, .out = x });
}

void wadi_poisson_sweep(const WadiPoissonFine *fine, float weight, const float *b, const float *x, float *out)
{
    over_rows(fine, sweep_rows, &(Pass){ .weight = weight, .b = b, .x = x, .out = out });
}

double wadi_poisson_last_sweep(const WadiPoissonFine *fine, float weight, const float *b, const float *x,
                               float *out, double *partials)
{
    Pass pass = { .fine = fine, .weight = weight, .b = b, .x = x, .out = out };
    return wadi_parallel_sum(fine->rows->count, WADI_POISSON_ROW_BLOCK, last_sweep_rows, &pass, partials);
}

void wadi_poisson_restrict(const WadiPoissonFine *fine, const float *b, const float *x, float *coarse)
{
    Pass pass = { .fine = fine, .b = b, .x = x, .out = coarse };
    wadi_parallel_for(fine->rows->tiles->count, WADI_POISSON_TILE_BLOCK, restrict_tiles, &pass);
}

void wadi_poisson_prolong(const WadiPoissonFine *fine, const float *coarse, float *x)
{
    over_rows(fine, prolong_rows, &(Pass){ .coarse = coarse, .out = x });
}

double wadi_poisson_multiply(const WadiPoissonFine *fine, const float *p, float *q, double *partials)
{
    Pass pass = { .fine = fine, .x = p, .out = q };
    return wadi_parallel_sum(fine->rows->count, WADI_POISSON_ROW_BLOCK, multiply_rows, &pass, partials);
}

void wadi_poisson_direction(const WadiPoissonFine *fine, float beta, const float *z, float *p)
{
    over_rows(fine, direction_rows, &(Pass){ .weight = beta, .x = z, .out = p });
}

double wadi_poisson_advance(const WadiPoissonFine *fine, double alpha, const float *p, const float *q,
                            double *x, float *r, double *partials)
{
    Pass pass = {
        .fine = fine, .alpha = alpha, .weight = (float)alpha, .x = p, .b = q, .r = r, .out_double = x
    };
    return wadi_parallel_max(fine->rows->count, WADI_POISSON_ROW_BLOCK, advance_rows, &pass, partials);
}

double wadi_poisson_residual(const WadiPoissonFine *fine, const double *b, const double *x, float *r,
                             double *partials)
{
    Pass pass = { .fine = fine, .b_double = b, .x_double = x, .r = r };
    return wadi_parallel_max(fine->rows->count, WADI_POISSON_ROW_BLOCK, residual_rows, &pass, partials);
}
