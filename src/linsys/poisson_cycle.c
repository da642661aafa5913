/* One V-cycle: two Chebyshev-weighted Jacobi sweeps down, two up, on every level [theory 5.3]. Restriction is
 * a sum, prolongation a copy, and both smoothers are the same polynomial of D^-1 A, so that the cycle is
 * symmetric. */
#include "core/parallel.h"
#include "linsys/poisson_internal.h"

typedef struct Pass {
    const WadiPoissonLevel *level, *coarse;
    float weight;
    const float *x;
    float *out;
} Pass;

static inline float residual_at(const WadiPoissonLevel *level, const float *x, int32_t i)
{
    const float *c = level->coupling + level->first[i];
    const int32_t *to = level->to + level->first[i];
    int32_t edges = level->first[i + 1] - level->first[i];
    float centre = x[i], r = level->b[i] - level->excess[i] * centre;
    if (edges == 6) {
        /* The common case, without a loop whose end is mispredicted. */
        return r - ((c[0] * (centre - x[to[0]]) + c[1] * (centre - x[to[1]])) +
                    (c[2] * (centre - x[to[2]]) + c[3] * (centre - x[to[3]])) +
                    (c[4] * (centre - x[to[4]]) + c[5] * (centre - x[to[5]])));
    }
    for (int32_t e = 0; e < edges; ++e) {
        r -= c[e] * (centre - x[to[e]]);
    }
    return r;
}

static void start_cells(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    for (int64_t i = first; i < end; ++i) {
        p->out[i] = WADI_POISSON_WEIGHT_FIRST * p->level->inverse[i] * p->level->b[i];
    }
}

static void sweep_cells(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        p->out[i] = p->x[i] + p->weight * p->level->inverse[i] * residual_at(p->level, p->x, i);
    }
}

static void residual_cells(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        p->out[i] = residual_at(p->level, p->x, i);
    }
}

static void gather_cells(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    for (int64_t c = first; c < end; ++c) {
        float sum = 0.0f;
        for (int32_t m = p->level->member_first[c]; m < p->level->member_first[c + 1]; ++m) {
            sum += p->x[p->level->member[m]];
        }
        p->out[c] = sum;
    }
}

static void prolong_cells(void *context, int64_t first, int64_t end)
{
    const Pass *p = context;
    for (int64_t i = first; i < end; ++i) {
        if (p->level->parent[i] >= 0) {
            p->out[i] += p->x[p->level->parent[i]];
        }
    }
}

static void run(WadiBlockFn body, const WadiPoissonLevel *level, int32_t count, float weight, const float *x,
                float *out)
{
    Pass pass = { .level = level, .weight = weight, .x = x, .out = out };
    wadi_parallel_for(count, WADI_POISSON_CELL_BLOCK, body, &pass);
}

/* level->x = M level->b. */
static void cycle(const WadiPoissonLevel *level, int below)
{
    run(start_cells, level, level->count, 0.0f, NULL, level->t);
    run(sweep_cells, level, level->count, WADI_POISSON_WEIGHT_SECOND, level->t, level->x);
    if (below > 0) {
        const WadiPoissonLevel *coarse = level + 1;
        run(residual_cells, level, level->count, 0.0f, level->x, level->t);
        run(gather_cells, level, coarse->count, 0.0f, level->t, coarse->b);
        cycle(coarse, below - 1);
        run(prolong_cells, level, level->count, 0.0f, coarse->x, level->x);
    }
    run(sweep_cells, level, level->count, WADI_POISSON_WEIGHT_SECOND, level->x, level->t);
    run(sweep_cells, level, level->count, WADI_POISSON_WEIGHT_FIRST, level->t, level->x);
}

double wadi_poisson_cycle(const WadiPoissonTree *tree, const float *r, float *z, float *t, double *partials)
{
    const WadiPoissonFine *fine = &tree->fine;
    wadi_poisson_start(fine, r, t);
    wadi_poisson_sweep(fine, WADI_POISSON_WEIGHT_SECOND, r, t, z);
    wadi_poisson_restrict(fine, r, z, tree->level[0].b);
    cycle(&tree->level[0], tree->level_count - 1);
    wadi_poisson_prolong(fine, tree->level[0].x, z);
    wadi_poisson_sweep(fine, WADI_POISSON_WEIGHT_SECOND, r, z, t);
    return wadi_poisson_last_sweep(fine, WADI_POISSON_WEIGHT_FIRST, r, t, z, partials);
}
