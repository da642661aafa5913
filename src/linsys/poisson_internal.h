/* Private parts of the Poisson solver: the finest level over rows, the coarse levels as graphs, and the
 * passes over them.
 *
 * Every operator is stored as couplings and an excess, A x = excess x + sum coupling (x - x_n): differences
 * of a smooth x are exact in float, and a closed component has excess 0 exactly [theory 5.4]. */
#ifndef WADI_LINSYS_POISSON_INTERNAL_H
#define WADI_LINSYS_POISSON_INTERNAL_H

#include "linsys/poisson.h"

/* Rows, tiles and coarse unknowns per parallel block. Transfers work on whole tiles. */
enum { WADI_POISSON_ROW_BLOCK = 512, WADI_POISSON_TILE_BLOCK = 4, WADI_POISSON_CELL_BLOCK = 512 };

/* Chebyshev polynomial of degree 2 of D^-1 A over [0.4, 2], as two Jacobi sweeps: one over the roots 1.2 -+
 * 0.8 / sqrt 2. */
#define WADI_POISSON_WEIGHT_FIRST 1.57650484f
#define WADI_POISSON_WEIGHT_SECOND 0.56635230f

/* Factor of a block's summed excess: air is farther from the centre of a larger cell. */
#define WADI_POISSON_COARSE_EXCESS 0.8f

/* An excess below this fraction of the diagonal is rounding of the float sum. */
#define WADI_POISSON_EXCESS_FLOOR 1e-6

typedef struct WadiPoissonFine {
    const WadiPoisson *system;
    const WadiRows *rows;
    const float *cx, *cy, *cz;
    /* per row: all couplings are plain_coupling and there is no excess, so that nothing is loaded */
    uint8_t *is_plain;
    float plain_coupling, plain_inverse;
    uint8_t *coupled;           /* per row: unknowns with a coupling; the others are solved directly */
    float *excess;              /* per cell; 0 where not coupled */
    float *inverse;             /* of the diagonal; 0 where not coupled */
    int32_t *parent;            /* per cell: unknown of the first coarse level; valid where coupled */
    int32_t *tile_parent_first; /* per tile: its first coarse unknown */
    int32_t *tile_parent_count; /* per tile: number of its coarse unknowns */
} WadiPoissonFine;

/* A coarse level: a graph with unknowns in Morton order, so that the children of one are adjacent in
 * memory. */
typedef struct WadiPoissonLevel {
    int32_t count;
    uint64_t *key;  /* Morton code of the position; shared by the unknowns of a block that a wall divides */
    int32_t *first; /* edges of unknown i: first[i] .. first[i + 1] */
    int32_t *to;
    float *coupling;
    float *excess, *inverse;
    int32_t *parent;       /* in the next level; -1 without an edge: the unknown is a whole component */
    int32_t *member_first; /* children by parent, count of the next level + 1 */
    int32_t *member;
    float *b, *x, *t;
} WadiPoissonLevel;

/* Coupling of two blocks from the sum over their common face and the couplings inside each, a third of which
 * lie along each axis. Half the sum for a fully open face, since the centres are twice as far apart; nearly
 * all of it for a narrow opening, which then dominates the resistance. */
static inline float wadi_poisson_coarse_coupling(float sum, float inside_a, float inside_b)
{
    float resistance =
        (inside_a > 0.0f ? 1.5f / inside_a : 0.0f) + (inside_b > 0.0f ? 1.5f / inside_b : 0.0f);
    float fraction = 1.0f / (1.0f + sum * resistance);
    return sum * (fraction > 0.5f ? fraction : 0.5f);
}

enum { WADI_POISSON_LEVELS = 32 };

typedef struct WadiPoissonTree {
    WadiPoissonFine fine;
    WadiPoissonLevel level[WADI_POISSON_LEVELS];
    int level_count;
} WadiPoissonTree;

/* poisson_fine.c: everything except the parents. */
WadiStatus wadi_poisson_fine_build(WadiPoissonFine *fine, const WadiPoisson *system, WadiArena *arena,
                                   WadiError *error);
/* Excess of one cell: diagonal minus couplings, 0 when that is rounding. *sum: of the couplings. */
double wadi_poisson_excess(const WadiPoisson *system, int32_t row, int lane, double *sum);

/* poisson_aggregate.c: the first coarse level, and the parents of the finest. */
WadiStatus wadi_poisson_aggregate(WadiPoissonFine *fine, WadiPoissonLevel *level, WadiArena *arena,
                                  WadiError *error);

/* poisson_levels.c: all coarse levels after the first. */
WadiStatus wadi_poisson_level_alloc(WadiPoissonLevel *level, int32_t count, WadiArena *arena,
                                    WadiError *error);
WadiStatus wadi_poisson_tree_build(WadiPoissonTree *tree, const WadiPoisson *system, WadiArena *arena,
                                   WadiError *error);

/* poisson_kernels.c: passes over the rows. All vectors are per cell and zero where not coupled. */
void wadi_poisson_start(const WadiPoissonFine *fine, const float *b, float *x); /* first sweep, from zero */
void wadi_poisson_sweep(const WadiPoissonFine *fine, float weight, const float *b, const float *x,
                        float *out);
double wadi_poisson_last_sweep(const WadiPoissonFine *fine, float weight, const float *b, const float *x,
                               float *out, double *partials); /* and returns b . out */
void wadi_poisson_restrict(const WadiPoissonFine *fine, const float *b, const float *x, float *coarse);
void wadi_poisson_prolong(const WadiPoissonFine *fine, const float *coarse, float *x);
double wadi_poisson_multiply(const WadiPoissonFine *fine, const float *p, float *q, double *partials);
void wadi_poisson_direction(const WadiPoissonFine *fine, float beta, const float *z, float *p);
/* x += alpha p, r -= alpha q; largest |r|. */
double wadi_poisson_advance(const WadiPoissonFine *fine, double alpha, const float *p, const float *q,
                            double *x, float *r, double *partials);
/* r = b - A x in double, rounded once; largest |r| before rounding. */
double wadi_poisson_residual(const WadiPoissonFine *fine, const double *b, const double *x, float *r,
                             double *partials);

/* poisson_solve.c: wadi_poisson_solve; is_lowest_zero: the lowest value of closed components becomes zero
 * instead of their mean. */
WadiStatus wadi_poisson_solve_from(const WadiPoisson *system, const float *b,
                                   const WadiPoissonSettings *settings, bool is_lowest_zero, double *x,
                                   WadiArena *scratch, WadiPoissonReport *report, WadiError *error);

/* poisson_cycle.c: z = M r by one V-cycle, z and t per cell; returns r . z. */
double wadi_poisson_cycle(const WadiPoissonTree *tree, const float *r, float *z, float *t, double *partials);

#endif
