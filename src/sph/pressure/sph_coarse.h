/* A coarse grid for the long waves of the pressure. A cell is one support wide and holds about eight
 * particles; on it the operator of the pressure is close to a Laplacian of seven points with a term for
 * uneven particles, which multigrid solves at once. What is wrong over many spacings is so found in one
 * correction, where an iteration moves it by a support. [theory 11.4] */
#ifndef WADI_SPH_COARSE_H
#define WADI_SPH_COARSE_H

#include "linsys/poisson.h"
#include "sph/pairs/sph_pairs.h"

typedef struct WadiSphCoarse {
    const WadiTileSort *sort;
    /* Particles of different sizes have cells twice as wide, so that none between them is empty. */
    int blocks;   /* cells of the sort along one of these: 1 or 2 */
    double width; /* of a cell, spacings */
    bool has_sizes;
    const float *volume;  /* per particle; counts where sizes differ */
    const int32_t *start; /* by cell, from row 1 on: its particles in `order` */
    const int32_t *order; /* with sizes; else particles are in the order of the cells, from `first` on */
    int32_t first;
    WadiTileMap tiles;
    WadiRows rows; /* row r of the sort is r + 1 here */
    /* Per cell: couplings with the lower neighbours, and the sum over all sides, those to air included, with
     * what uneven particles add. */
    float *low[3], *diagonal;
    uint8_t *has_air; /* per row: bit l set where lane l has air at a side */
} WadiSphCoarse;

typedef struct WadiSphCoarseIn {
    const WadiTileSort *sort;
    double spacing; /* m */
    const WadiSphWalls *walls;
    const WadiSphPairs *pairs;
    const WadiSolids *solids;
    const float *inverse_density; /* per particle */
    bool has_sizes;               /* not all sizes are 1 */
    const float *volume;          /* per particle */
    double time;                  /* s */
} WadiSphCoarseIn;

/* Of one step; in the arena. */
WadiStatus wadi_sph_coarse_begin(WadiSphCoarse *coarse, const WadiSphCoarseIn *in, WadiArena *arena,
                                 WadiError *error);
/* The correction `change` of the numbers for the residual R, per particle; 0 where `is_free` is. `place`: as
 * WadiSphPairs has them. */
WadiStatus wadi_sph_coarse_solve(const WadiSphCoarse *coarse, const WadiI4 *place, const float *residual,
                                 const uint8_t *is_free, float *change, WadiArena *arena, WadiError *error);

#endif
