/* Passes over the rows of the finest level: a row of eight cells is one 256-bit vector, its x-neighbours are
 * shuffles with the adjacent rows, and the null row replaces missing ones. */
#include "core/parallel.h"
#include "grid/row_vectors.h"
#include "linsys/poisson_internal.h"

typedef struct Pass {
    const WadiPoissonFine *fine;
    float weight;
    double alpha;
    const float *b, *x, *coarse;
    const double *b_double, *x_double;
    float *out, *r;
    double *out_double;
} Pass;

/* A x of one row, and the inverse of its diagonal. */
static inline __attribute__((always_inline)) void stencil(const WadiPoissonFine *f, int32_t row,
                                                          const float *x, WadiF8 *ax, WadiF8 *inverse)
{
    const int32_t *n = f->rows->neighbour[row];
    WadiF8 centre = WADI_ROW(x, row);
    WadiF8 xl = centre - WADI_ROW_SHIFT_UP(WADI_ROW(x, n[WADI_ROW_X_MIN]), centre);
    WadiF8 xh = centre - WADI_ROW_SHIFT_DOWN(centre, WADI_ROW(x, n[WADI_ROW_X_MAX]));
    WadiF8 yl = centre - WADI_ROW(x, n[WADI_ROW_Y_MIN]), yh = centre - WADI_ROW(x, n[WADI_ROW_Y_MAX]);
    WadiF8 zl = centre - WADI_ROW(x, n[WADI_ROW_Z_MIN]), zh = centre - WADI_ROW(x, n[WADI_ROW_Z_MAX]);
    if (f->is_plain[row] != 0) {
        *ax = f->plain_coupling * ((xl + xh) + (yl + yh) + (zl + zh));
        *inverse = (WadiF8){ 0 } + f->plain_inverse;
        return;
    }
    WadiF8 cx = WADI_ROW(f->cx, row), cx_up = WADI_ROW_SHIFT_DOWN(cx, WADI_ROW(f->cx, n[WADI_ROW_X_MAX]));
    *ax = WADI_ROW(f->excess, row) * centre + (cx * xl + cx_up * xh) +
          (WADI_ROW(f->cy, row) * yl + WADI_ROW(f->cy, n[WADI_ROW_Y_MAX]) * yh) +
          (WADI_ROW(f->cz, row) * zl + WADI_ROW(f->cz, n[WADI_ROW_Z_MAX]) * zh);
    *inverse = WADI_ROW(f->inverse, row);
}

static inline double sum_of(const WadiD4 *v)
{
    return ((*v)[0] + (*v)[1]) + ((*v)[2] + (*v)[3]);
}

static inline double largest_of(const WadiF8 *v)
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
        WADI_ROW_OUT(p->out, row) = p->weight * WADI_ROW(p->fine->inverse, row) * WADI_ROW(p->b, row);
    }
}

static void sweep_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        WadiF8 ax, inverse;
        stencil(p->fine, row, p->x, &ax, &inverse);
        WADI_ROW_OUT(p->out, row) = WADI_ROW(p->x, row) + p->weight * inverse * (WADI_ROW(p->b, row) - ax);
    }
}

static double last_sweep_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    WadiD4 sum = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        WadiF8 ax, inverse;
        stencil(p->fine, row, p->x, &ax, &inverse);
        WadiF8 b = WADI_ROW(p->b, row);
        WadiF8 z = WADI_ROW(p->x, row) + p->weight * inverse * (b - ax);
        WADI_ROW_OUT(p->out, row) = z;
        sum += WADI_ROW_LOW_DOUBLE(b) * WADI_ROW_LOW_DOUBLE(z) +
               WADI_ROW_HIGH_DOUBLE(b) * WADI_ROW_HIGH_DOUBLE(z);
    }
    return sum_of(&sum);
}

static double multiply_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    WadiD4 sum = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        WadiF8 x = WADI_ROW(p->x, row), ax, inverse;
        stencil(p->fine, row, p->x, &ax, &inverse);
        WADI_ROW_OUT(p->out, row) = ax;
        sum += WADI_ROW_LOW_DOUBLE(x) * WADI_ROW_LOW_DOUBLE(ax) +
               WADI_ROW_HIGH_DOUBLE(x) * WADI_ROW_HIGH_DOUBLE(ax);
    }
    return sum_of(&sum);
}

static void direction_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        WADI_ROW_OUT(p->out, row) = WADI_ROW(p->x, row) + p->weight * WADI_ROW(p->out, row);
    }
}

static double advance_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    WadiF8 largest = { 0 };
    const WadiI8 magnitude = { INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX,
                               INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        WadiD4 *x = (WadiD4 *)(p->out_double + 8 * (size_t)row);
        WadiF8 step = WADI_ROW(p->x, row);
        x[0] += p->alpha * WADI_ROW_LOW_DOUBLE(step);
        x[1] += p->alpha * WADI_ROW_HIGH_DOUBLE(step);
        WadiF8 r = WADI_ROW(p->r, row) - p->weight * WADI_ROW(p->b, row);
        WADI_ROW_OUT(p->r, row) = r;
        WadiF8 size = (WadiF8)((WadiI8)r & magnitude);
        WadiI8 is_larger = size > largest;
        largest = (WadiF8)(((WadiI8)size & is_larger) | ((WadiI8)largest & ~is_larger));
    }
    return largest_of(&largest);
}

static inline __attribute__((always_inline)) void update_largest(WadiD4 *largest, const WadiD4 *values)
{
    const WadiL4 magnitude = { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX };
    WadiD4 size = (WadiD4)((WadiL4)*values & magnitude);
    WadiL4 is_larger = size > *largest;
    *largest = (WadiD4)(((WadiL4)size & is_larger) | ((WadiL4)*largest & ~is_larger));
}

static double residual_rows(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    const WadiPoissonFine *f = p->fine;
    const double *x = p->x_double;
    WadiD4 largest = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const int32_t *n = f->rows->neighbour[row];
        WadiF8 cx = WADI_ROW(f->cx, row), cx_up = WADI_ROW_SHIFT_DOWN(cx, WADI_ROW(f->cx, n[WADI_ROW_X_MAX]));
        WadiF8 cy = WADI_ROW(f->cy, row), cy_up = WADI_ROW(f->cy, n[WADI_ROW_Y_MAX]);
        WadiF8 cz = WADI_ROW(f->cz, row), cz_up = WADI_ROW(f->cz, n[WADI_ROW_Z_MAX]);
        WadiF8 excess = WADI_ROW(f->excess, row);
        WadiD4 low = WADI_HALF(x, row, 0), high = WADI_HALF(x, row, 4);
        WadiD4 before = __builtin_shufflevector(WADI_HALF(x, n[WADI_ROW_X_MIN], 4), low, 3, 4, 5, 6);
        WadiD4 after = __builtin_shufflevector(high, WADI_HALF(x, n[WADI_ROW_X_MAX], 0), 1, 2, 3, 4);
        WadiD4 r0 = WADI_HALF(p->b_double, row, 0) - WADI_ROW_LOW_DOUBLE(excess) * low;
        r0 -= WADI_ROW_LOW_DOUBLE(cx) * (low - before);
        r0 -= WADI_ROW_LOW_DOUBLE(cx_up) * (low - WADI_HALF(x, row, 1));
        r0 -= WADI_ROW_LOW_DOUBLE(cy) * (low - WADI_HALF(x, n[WADI_ROW_Y_MIN], 0));
        r0 -= WADI_ROW_LOW_DOUBLE(cy_up) * (low - WADI_HALF(x, n[WADI_ROW_Y_MAX], 0));
        r0 -= WADI_ROW_LOW_DOUBLE(cz) * (low - WADI_HALF(x, n[WADI_ROW_Z_MIN], 0));
        r0 -= WADI_ROW_LOW_DOUBLE(cz_up) * (low - WADI_HALF(x, n[WADI_ROW_Z_MAX], 0));
        WadiD4 r1 = WADI_HALF(p->b_double, row, 4) - WADI_ROW_HIGH_DOUBLE(excess) * high;
        r1 -= WADI_ROW_HIGH_DOUBLE(cx) * (high - WADI_HALF(x, row, 3));
        r1 -= WADI_ROW_HIGH_DOUBLE(cx_up) * (high - after);
        r1 -= WADI_ROW_HIGH_DOUBLE(cy) * (high - WADI_HALF(x, n[WADI_ROW_Y_MIN], 4));
        r1 -= WADI_ROW_HIGH_DOUBLE(cy_up) * (high - WADI_HALF(x, n[WADI_ROW_Y_MAX], 4));
        r1 -= WADI_ROW_HIGH_DOUBLE(cz) * (high - WADI_HALF(x, n[WADI_ROW_Z_MIN], 4));
        r1 -= WADI_ROW_HIGH_DOUBLE(cz_up) * (high - WADI_HALF(x, n[WADI_ROW_Z_MAX], 4));
        update_largest(&largest, &r0);
        update_largest(&largest, &r1);
        WadiF4 *out = (WadiF4 *)(p->r + 8 * (size_t)row);
        out[0] = __builtin_convertvector(r0, WadiF4);
        out[1] = __builtin_convertvector(r1, WadiF4);
    }
    double maximum = 0.0;
    for (int l = 0; l < 4; ++l) {
        maximum = largest[l] > maximum ? largest[l] : maximum;
    }
    return maximum;
}

/* Adds the residual of a tile's rows to the tile's coarse unknowns. */
static void restrict_tiles(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    const WadiPoissonFine *f = p->fine;
    for (int64_t tile = first; tile < end; ++tile) {
        for (int32_t c = f->tile_parent_first[tile];
             c < f->tile_parent_first[tile] + f->tile_parent_count[tile]; ++c) {
            p->out[c] = 0.0f;
        }
        for (int32_t row = f->rows->first[tile]; row < f->rows->first[tile + 1]; ++row) {
            if (f->coupled[row] == 0) {
                continue;
            }
            WadiF8 ax, inverse;
            stencil(f, row, p->x, &ax, &inverse);
            WadiF8 r = WADI_ROW(p->b, row) - ax;
            const int32_t *parent = f->parent + 8 * (size_t)row;
            /* Two cells of a block mostly share a parent: one memory update instead of two. */
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
