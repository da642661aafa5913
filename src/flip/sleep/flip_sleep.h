/* Sleep (sleep/sleep.h) in flip: which tiles of sand are slow, and which are too steep to sleep; which pools
 * are at rest. Source: [theory 8.1 to 8.4].
 *
 * A tile of sand is slow in a step if the largest displacement of its particles is below 0.5 sqrt(g dx) dt
 * and their mean below 0.03 sqrt(g dx) dt.
 *
 * A pool is slow if in each of its tiles the largest is below 0.3 sqrt(g dx) dt and the mean below
 * 0.01 sqrt(g dx) dt. It falls asleep when it was slow for 30 sqrt(dx / g) and for a period of its slowest
 * wave (flip_sleep_pools.c).
 *
 * Sand with a surface steeper than its friction angle (flip_sleep_slope.c) is weakened until it has slid to
 * that angle, or has stood weak for a window (flip_sleep_weak.c).
 *
 * A sleeping tile acts on awake neighbours as sand with velocity 0 and constant stress
 * (flip_sleeping_cells.c). Its load is P / dt, m/s^2; it wakes with the pressure and stress it had when it
 * fell asleep (flip_sleep_step.c). */
#ifndef WADI_FLIP_SLEEP_H
#define WADI_FLIP_SLEEP_H

#include "flip/transfer/flip_transfer.h"
#include "grid/rows.h"
#include "matter/materials.h"
#include "sleep/sleep_pools.h"

/* Which water is at rest (flip_sleep_pools.c). */
typedef struct WadiFlipPools {
    double slow_square; /* m^2, of the displacement in the step */
    double slow_mean;   /* m */
    /* WADI_POOL_WATER: water, with a flag for its density; WADI_POOL_OTHERS: sand; both: a liquid that never
     * sleeps. */
    uint8_t of_material[WADI_MATERIALS_MAX];
    uint8_t *flags; /* per tile: wadi_flip_pools_flags */
} WadiFlipPools;

/* The displacements of a step, recorded by the mover: parts of a tile before they move, from several threads,
 * then the whole tile. */
typedef struct WadiFlipWatch {
    const WadiTileSort *sort;
    const WadiParticles *particles;
    const WadiScene *scene;
    double slow_square; /* m^2, of the displacement in the step */
    double slow_mean;   /* m */
    double layer;       /* number of particles of a full layer of cells of a tile */
    bool is_water_only; /* tiles that have been found fast are not measured to the end */
    WadiFlipPools pools;
    uint8_t *is_slow; /* per tile */
    /* m, per tile: sum of the displacements over the number of particles of a full tile. */
    double *mean_displacement;
} WadiFlipWatch;

/* Sums over the parts of one tile; begin with zeros. */
typedef struct WadiFlipDisplacements {
    double largest, sum; /* largest square, m^2; sum of lengths, m */
    uint8_t flags;       /* WadiFlipPools.of_material of all */
} WadiFlipDisplacements;

WadiStatus wadi_flip_watch_begin(WadiFlipWatch *watch, const WadiSleepStep *step, const WadiTileSort *sort,
                                 const WadiMaterials *materials, WadiError *error);
/* Particles first .. end, in the order of the sort. */
void wadi_flip_watch_part(const WadiFlipWatch *watch, const WadiFlipPath *path, int32_t first, int32_t end,
                          WadiFlipDisplacements *displacements);
void wadi_flip_watch_tile(const WadiFlipWatch *watch, int32_t tile,
                          const WadiFlipDisplacements *displacements);
/* Both for all tiles, if `path` holds all particles. */
void wadi_flip_watch_paths(const WadiFlipWatch *watch, const WadiFlipPath *path);

/* flip_sleep_pools.c: bounds and flags of the materials in a step; flags of a tile with `count` particles,
 * `layer` being those of a full layer of its cells; after all tiles were watched: the tiles of pools are slow
 * where all of them are; of the tiles that may fall asleep (NULL: none) those of pools do only if they have
 * been slow for long enough. */
void wadi_flip_pools_begin(WadiFlipPools *pools, const WadiSleepStep *step);
uint8_t wadi_flip_pools_flags(const WadiFlipPools *pools, const WadiFlipDisplacements *displacements,
                              double count, double layer);
WadiStatus wadi_flip_pools_watch(const WadiFlipWatch *watch, WadiArena *scratch, WadiError *error);
WadiStatus wadi_flip_pools_hold(const WadiPools *pools, const WadiSleepStep *step, const WadiTileSort *sort,
                                uint8_t **falls, WadiError *error);

/* flip_sleep_slope.c: columns of tile t of the sort whose free surface is steeper than the friction of its
 * sand allows; 0 if fewer than a third are, or with cohesion. Columns run along the axis nearest to gravity;
 * bit a + 8 b is the column at a along the next axis (z: x) and b along the one after it. */
uint64_t wadi_flip_sleep_steep(const WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                               int32_t t);
/* The axis nearest to gravity. */
int wadi_flip_sleep_up(WadiVec3 gravity);

/* flip_sleep_weak.c: mark the tiles that are weak in this step, `window` being the time after which slow
 * tiles may sleep; and reduce the yield slopes k, one a cell, of their steep columns. */
void wadi_flip_sleep_find_weak(WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                               double window);
void wadi_flip_sleep_weaken(const WadiSleep *sleep, WadiVec3 gravity, const WadiRows *rows, float *k);

#endif
