/* Sleeping grains around those that are awake. They are kept in the order of their cells, with positions as
 * whole numbers, from one change of the set to the next; a table of those near the grains of a cell is made
 * for each cell that is awake. */
#ifndef WADI_DEM_SLEEPERS_H
#define WADI_DEM_SLEEPERS_H

#include <math.h>

#include "core/arena.h"
#include "dem/contact/dem_vectors.h"
#include "math/vec3.h"
#include "particles/cells.h"

enum { WADI_DEM_SLEEPERS_MAX = 512 };

/* 1/m, of fixed-point positions modulo 2^32, for grains up to a radius. */
static inline double wadi_dem_fixed_point_scale(double largest_radius)
{
    return 65536.0 / largest_radius;
}

static inline int32_t wadi_dem_fixed_point(double x, double scale)
{
    return (int32_t)(uint32_t)(uint64_t)(int64_t)floor(x * scale);
}

/* Sleeping grains, the first of the store. */
typedef struct WadiDemAsleep {
    WadiCells cells;
    double largest_radius; /* m */
    /* In the order of the cells, and WADI_DEM_LANES more: fixed-point position, radius (m). */
    int32_t *axis[3];
    float *radius;
} WadiDemAsleep;

/* radius: m, per particle. Memory is the arena's. */
WadiStatus wadi_dem_asleep_build(WadiDemAsleep *asleep, const WadiParticles *particles, int32_t count,
                                 const float *radius, double largest_radius, WadiArena *arena,
                                 WadiError *error);

/* Those near some grains. */
typedef struct WadiDemSleepers {
    int32_t count;     /* followed by WADI_DEM_LANES that nothing reaches */
    int32_t origin[3]; /* fixed-point */
    int32_t grain[WADI_DEM_SLEEPERS_MAX];
    float x[3][WADI_DEM_SLEEPERS_MAX]; /* units of them, from the origin */
    float radius[WADI_DEM_SLEEPERS_MAX];
} WadiDemSleepers;

/* Grains whose centres are within `far` of a box; false: there are too many. */
bool wadi_dem_sleepers_find(WadiDemSleepers *sleepers, const WadiDemAsleep *asleep, const WadiBox *box,
                            double far);

#endif
