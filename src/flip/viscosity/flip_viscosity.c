/* Solve for the velocity after viscosity: conjugate gradients on the change of velocity, in float.
 * Source: [BB08; theory 5.6].
 * Differs: the preconditioner. For a small coefficient it is the diagonal; for a large one a multigrid
 * V-cycle of the pressure solver for each component alone, since its block is a seven-point operator on
 * its faces. The conjugate gradients handle the coupling between components, in a few more iterations by
 * Korn's inequality. */
#include <math.h>

#include "core/check.h"
#include "core/parallel.h"
#include "flip/transfer/flip_row_table.h"
#include "flip/viscosity/flip_viscosity_passes.h"
#include "linsys/poisson_internal.h"

enum { LANES = WADI_ROW_CELLS };

/* Above this coefficient the set-up of the multigrid pays: the diagonal alone needs some 30 iterations
 * there. */
static const float multigrid_above = 4.0f;

typedef struct Solve {
    const WadiFlipViscosityIn *in;
    WadiFlipViscous viscous;
    WadiViscousPasses passes;
    float *const *velocity;
    float *u[3]; /* initial velocities of the unknowns, and velocities of the solids */
    float *x[3], *r[3], *z[3], *p[3], *q[3];
    bool has_trees;
    WadiPoisson block[3];
    WadiPoissonTree tree[3];
} Solve;

static void load_rows(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int a = 0; a < 3; ++a) {
        for (int64_t at = LANES * (first + (first == 0)); at < LANES * end; ++at) {
            const size_t solid = wadi_table_cell(s->in->solid_row, (size_t)at);
            float prescribed = s->in->open[a][solid] > 0.0f || s->in->solid_velocity[a] == NULL
                                   ? 0.0f
                                   : s->in->solid_velocity[a][solid];
            s->u[a][at] = s->viscous.mass[a][at] > 0.0f ? s->velocity[a][at] : prescribed;
        }
    }
}

static void store_rows(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    for (int a = 0; a < 3; ++a) {
        for (int64_t at = LANES * first; at < LANES * end; ++at) {
            s->velocity[a][at] += s->x[a][at];
        }
    }
}

/* Adds the impulses to r, and returns the largest. */
static double push_rows(void *context, int64_t first, int64_t end)
{
    const Solve *s = context;
    float largest = 0.0f;
    for (int a = 0; a < 3; ++a) {
        for (int64_t at = LANES * first; at < LANES * end; ++at) {
            s->r[a][at] += s->viscous.mass[a][at] > 0.0f ? s->in->impulse[a][at] : 0.0f;
            largest = fmaxf(largest, fabsf(s->r[a][at]));
        }
    }
    return (double)largest;
}

static double count_unknowns(void *context, int64_t first, int64_t end)
{
    const WadiFlipViscous *viscous = context;
    int count = 0;
    for (int64_t row = first; row < end; ++row) {
        for (int a = 0; a < 3; ++a) {
            count += __builtin_popcount(viscous->unknown[a][row]);
        }
    }
    return count;
}

typedef struct Block {
    const Solve *solve;
    int component;
    float *diagonal, *coupling[3];
} Block;

static void block_rows(void *user, int64_t first, int64_t end)
{
    const Block *block = user;
    const WadiFlipViscous *v = &block->solve->viscous;
    const WadiRows *rows = v->rows;
    static const int edge_of[3][3] = { { -1, WADI_VISCOUS_XY, WADI_VISCOUS_XZ },
                                       { WADI_VISCOUS_XY, -1, WADI_VISCOUS_YZ },
                                       { WADI_VISCOUS_XZ, WADI_VISCOUS_YZ, -1 } };
    const int a = block->component;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const size_t at = (size_t)LANES * (size_t)row;
        for (int b = 0; b < 3; ++b) {
            unsigned both = v->unknown[a][row] & wadi_row_neighbour_bits(rows, v->unknown[a], row, 2 * b);
            float value[LANES];
            if (a == b) {
                wadi_row_neighbours(rows, v->normal, row, 2 * b, value);
            } else {
                memcpy(value, v->edge[edge_of[a][b]] + at, sizeof value);
            }
            for (int l = 0; l < LANES; ++l) {
                block->coupling[b][at + (size_t)l] = both >> l & 1 ? value[l] : 0.0f;
            }
        }
        for (size_t l = 0; l < LANES; ++l) {
            float inverse = block->solve->passes.inverse[a][at + l];
            block->diagonal[at + l] = inverse > 0.0f ? 1.0f / inverse : 0.0f;
        }
    }
}

/* The block of one component as a seven-point system: coupling of a face with its low neighbour along each
 * axis. */
static WadiStatus make_block(Solve *s, int a, WadiArena *scratch, WadiError *error)
{
    const WadiRows *rows = s->viscous.rows;
    Block block = { .solve = s, .component = a };
    WADI_TRY(WADI_ARENA_NEW(scratch, &block.diagonal, wadi_rows_floats(rows), "viscosity", error));
    for (int b = 0; b < 3; ++b) {
        WADI_TRY(WADI_ARENA_NEW(scratch, &block.coupling[b], wadi_rows_floats(rows), "viscosity", error));
    }
    wadi_parallel_for(rows->count, WADI_VISCOUS_BLOCK, block_rows, &block);
    s->block[a] = (WadiPoisson){ .rows = rows,
                                 .active = s->viscous.unknown[a],
                                 .diagonal = block.diagonal,
                                 .cx = block.coupling[0],
                                 .cy = block.coupling[1],
                                 .cz = block.coupling[2] };
    return wadi_poisson_tree_build(&s->tree[a], &s->block[a], scratch, error);
}

/* z of unknowns without neighbours, which the V-cycle leaves out. Returns their part of r . z. */
static double scale_isolated(const Solve *s, int a)
{
    double sum = 0.0;
    for (int32_t row = 1; row < s->viscous.rows->count; ++row) {
        unsigned isolated = s->viscous.unknown[a][row] & (unsigned)~s->tree[a].fine.coupled[row];
        for (; isolated != 0; isolated &= isolated - 1) {
            size_t at = (size_t)LANES * (size_t)row + (size_t)__builtin_ctz(isolated);
            s->z[a][at] = s->passes.inverse[a][at] * s->r[a][at];
            sum += (double)(s->z[a][at] * s->r[a][at]);
        }
    }
    return sum;
}

/* z = M r; returns r . z. q is used as scratch. */
static double precondition(const Solve *s)
{
    if (!s->has_trees) {
        return wadi_viscous_scale(&s->passes, s->r, s->z);
    }
    double rz = 0.0;
    for (int a = 0; a < 3; ++a) {
        rz += wadi_poisson_cycle(&s->tree[a], s->r[a], s->z[a], s->q[a], s->passes.partials);
        rz += scale_isolated(s, a);
    }
    return rz;
}

static void iterate(const Solve *s, double target, int max_iterations, WadiFlipViscosityReport *report)
{
    double last_rz = 0.0;
    while (report->residual > target && report->iterations < max_iterations) {
        double rz = precondition(s);
        wadi_viscous_direction(&s->passes, last_rz > 0.0 ? (float)(rz / last_rz) : 0.0f, s->z, s->p);
        double pq = wadi_viscous_multiply(&s->passes, s->p, s->q);
        if (!(rz > 0.0 && pq > 0.0 && isfinite(rz / pq))) {
            break;
        }
        report->residual = wadi_viscous_advance(&s->passes, (float)(rz / pq), s->p, s->q, s->x, s->r);
        last_rz = rz;
        ++report->iterations;
    }
}

static WadiStatus alloc_vectors(Solve *s, WadiArena *scratch, WadiError *error)
{
    const size_t floats = wadi_rows_floats(s->viscous.rows);
    float **vectors[6] = { s->u, s->x, s->r, s->z, s->p, s->q };
    for (int n = 0; n < 6; ++n) {
        for (int a = 0; a < 3; ++a) {
            WADI_TRY(WADI_ARENA_NEW(scratch, &vectors[n][a], floats, "viscosity", error));
            memset(vectors[n][a], 0, floats * sizeof(float));
        }
    }
    for (int n = 0; n < 6; ++n) {
        WADI_TRY(WADI_ARENA_NEW(scratch, &s->passes.stress[n], floats, "viscosity", error));
        memset(s->passes.stress[n], 0, floats * sizeof(float));
    }
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(scratch, &s->passes.inverse[a], floats, "viscosity", error));
    }
    int64_t blocks = wadi_parallel_block_count(s->viscous.rows->count, WADI_VISCOUS_BLOCK);
    return WADI_ARENA_NEW(scratch, &s->passes.partials, (size_t)blocks, "viscosity", error);
}

WadiStatus wadi_flip_viscosity(const WadiFlipViscosityIn *in, float *const velocity[3], WadiArena *scratch,
                               WadiFlipViscosityReport *report, WadiError *error)
{
    WADI_ASSERT(in->cell_size > 0.0 && in->fluid[0] == 0);
    *report = (WadiFlipViscosityReport){ .has_converged = true };
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    Solve s = { .in = in, .velocity = velocity };
    WADI_TRY(wadi_flip_viscosity_setup(in, &s.viscous, scratch, error));
    if (!(s.viscous.largest > 0.0f)) {
        return WADI_OK;
    }
    s.passes.viscous = &s.viscous;
    s.passes.strain_row = in->strain_row;
    memcpy(s.passes.strain, in->strain, sizeof s.passes.strain);
    WADI_TRY(alloc_vectors(&s, scratch, error));
    const int64_t rows = in->rows->count;
    report->unknowns =
        (int64_t)wadi_parallel_sum(rows, WADI_VISCOUS_BLOCK, count_unknowns, &s.viscous, s.passes.partials);
    wadi_parallel_for(rows, WADI_VISCOUS_BLOCK, load_rows, &s);
    wadi_viscous_diagonal(&s.passes);
    report->first_residual = report->residual = wadi_viscous_force(&s.passes, s.u, s.r);
    if (in->impulse[0] != NULL) {
        report->first_residual = report->residual =
            wadi_parallel_max(rows, WADI_VISCOUS_BLOCK, push_rows, &s, s.passes.partials);
    }
    if (!isfinite(report->residual)) {
        return wadi_fail(error, WADI_ERR_NUMERIC,
                         "viscosity: a velocity is not finite; the time step is too large or a force is");
    }
    s.has_trees = report->has_multigrid = s.viscous.largest > multigrid_above;
    for (int a = 0; a < 3 && s.has_trees; ++a) {
        WADI_TRY(make_block(&s, a, scratch, error));
    }
    double target = fmax(in->solver.tolerance * report->first_residual, in->solver.absolute);
    iterate(&s, target, in->solver.max_iterations, report);
    report->has_converged = report->residual <= target;
    wadi_parallel_for(rows, WADI_VISCOUS_BLOCK, store_rows, &s);
    wadi_arena_release(scratch, mark);
    return WADI_OK;
}
