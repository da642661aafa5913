/* Material at rest sleeps: every stage of a solver skips it until it is disturbed.
 * Source: [theory 8.1, 8.2].
 *
 * The unit is a tile of 8^3 cells. It falls asleep when the tile and its neighbours were slow, as measured by
 * the solver, for a window of 10 sqrt(dx / g), and the running mean of its speeds over 5 sqrt(dx / g) is
 * below 0.0007 sqrt(g dx). A tile sleeps only on sleeping tiles, and when one wakes all above it wake.
 *
 * A tile wakes in the step that finds one of
 *  - material that is new or not slow, in a neighbouring tile and within `radius`. So between moving and
 *    sleeping tiles there is always a slow awake one;
 *  - an awake particle inside it;
 *  - a changed load (WadiSleepTile.change, set by the solver);
 *  - a moving solid within `radius`, a removed particle, or a change of gravity, a force or a friction.
 *
 * Sleeping particles are the first of the store, tile by tile, with velocity 0; awake ones follow.
 *
 * One step of a solver:
 *   wadi_sleep_find_disturbed, wadi_sleep_wake    before the sort
 *   the sort of the awake particles               from sleep.count on
 *   wadi_sleep_classify, wadi_sleep_find_reached, wadi_sleep_wake    repeat from the sort on if tiles woke
 *   wadi_sleep_find_candidates, wadi_sleep_fall_asleep           repeat from the sort on if tiles fell asleep
 *   wadi_sleep_end
 *   wadi_sleep_watch                              after the particles were moved
 * Between a decision and its effect the solver moves its data per tile. */
#ifndef WADI_SLEEP_SLEEP_H
#define WADI_SLEEP_SLEEP_H

#include "particles/tile_sort.h"
#include "world/solver.h"

/* A tile of sleeping particles. */
typedef struct WadiSleepTile {
    WadiTile tile;
    int32_t first, count;    /* its particles */
    int32_t low[3], high[3]; /* box of the cells that hold them, inclusive; coordinates of the grid */
    /* Set by the solver: change of its load since it fell asleep over the tolerance; above 1 it wakes in the
     * next step. */
    float change;
    uint8_t lanes[64]; /* per row of the tile: cells that hold particles */
    /* Set by the solver, 0 before: load when it fell asleep, per side in the order of WadiRows.neighbour, in
     * the cells beyond that side, the lower of the other two axes fastest. */
    float load[6][64];
} WadiSleepTile;

/* A tile of awake particles in the last step. */
typedef struct WadiAwakeTile {
    WadiTile tile;
    bool is_slow;
    double since; /* s: time from which it and all its neighbours are slow; INFINITY: not all are */
    /* sqrt(g dx): sum of the speeds of its particles over the number of particles of a full tile. */
    double current_speed;
    double speed; /* sqrt(g dx): running mean of `current_speed` in time */
    /* Set by the solver: tiles that it weakens before they may sleep. */
    bool is_weak;
    uint64_t steep; /* columns of a weak tile, found in each step */
} WadiAwakeTile;

/* Tiles of both lists are in the order of tile maps. A zeroed struct is valid: nothing sleeps. Invariant
 * after a step: particles [0, count) of the store sleep, and are those of `tile`. */
#define WADI_SLEEP_COLUMN "asleep"
typedef struct WadiSleep {
    bool is_on;
    double cell_size; /* m; 0: that of the world */
    /* Distance, in cells, at which awake particles act; at most a tile, so only neighbouring tiles
     * interact. */
    int32_t radius;
    /* Column "asleep": 1 for sleeping particles, to find removed ones. Not permuted by sorts, which never mix
     * sleeping and awake particles. */
    int column;
    int32_t count; /* sleeping particles */
    /* Number of particles and next id at the end of the last step, to find removed and new particles. */
    int32_t store_count;
    uint32_t next_id;
    WadiSleepTile *tile;
    size_t tile_count, tile_capacity;
    WadiAwakeTile *awake;
    size_t awake_count, awake_capacity;
} WadiSleep;

/* Adds a column to the empty store. Sleep is off if it is not wanted, or if awake particles act on cells
 * farther than a tile in a step (`radius`, cells). */
WadiStatus wadi_sleep_init(WadiSleep *sleep, bool is_wanted, int32_t radius, WadiParticles *particles,
                           WadiError *error);
void wadi_sleep_free(WadiSleep *sleep);
/* All sleeping tiles wake in the next step: the world was changed from outside. */
void wadi_sleep_wake_all(WadiSleep *sleep);
/* Checkpoints: arrays named "sleep_...". */
WadiStatus wadi_sleep_save(const WadiSleep *sleep, WadiState *state, WadiError *error);
WadiStatus wadi_sleep_load(WadiSleep *sleep, const WadiParticles *particles, double cell_size,
                           const WadiState *state, WadiError *error);

/* Number of a sleeping tile, or -1. */
int32_t wadi_sleep_find(const WadiSleep *sleep, WadiTile tile);
/* First awake tile, from an index in the list on, that is not before `tile`. */
size_t wadi_sleep_find_awake(const WadiSleep *sleep, WadiTile tile, size_t from);
/* Particles from this one on may be awake; 0 when some were removed since the last step. */
int32_t wadi_sleep_first(const WadiSleep *sleep, const WadiParticles *particles);

/* The step that begins. */
typedef struct WadiSleepStep {
    const WadiSolverContext *context;
    double time, dt;
    /* s: until the next decision, where that is later than a step; what changes in it wakes tiles now. */
    double ahead;
} WadiSleepStep;

/* sqrt(dx / g), s. Infinite without gravity. */
double wadi_sleep_unit_time(const WadiSleepStep *step);
/* Time after which slow tiles may sleep, s. Infinite without gravity. */
double wadi_sleep_window(const WadiSleepStep *step);

/* Decisions. Flags are per sleeping tile, in scratch; NULL: no tile wakes. Before the sort: tiles that lost
 * particles, whose load changed, with a moving solid within `radius`, or all when the world changes during
 * the step. */
WadiStatus wadi_sleep_find_disturbed(WadiSleep *sleep, const WadiSleepStep *step, uint8_t **wakes,
                                     WadiError *error);

/* Properties of each tile of the sorted awake particles, for the decisions; in scratch. */
typedef struct WadiSleepClasses {
    const WadiTileSort *sort;
    const WadiParticles *particles;
    uint32_t next_id; /* particles with this id and later ones are new */
    int32_t (*low)[3], (*high)[3];
    uint8_t *is_slow;
    uint8_t *rings; /* distance, in tiles, at which its impacts wake others [theory 8.2] */
} WadiSleepClasses;

WadiStatus wadi_sleep_classify(const WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                               WadiSleepClasses *classes, WadiError *error);
/* Tiles that contain awake particles or have fast ones within `radius`. */
WadiStatus wadi_sleep_find_reached(const WadiSleep *sleep, const WadiSleepStep *step,
                                   const WadiSleepClasses *classes, uint8_t **wakes, WadiError *error);
/* Flags per tile of the sort, NULL for none: slow for a window and on average, as are all tiles below it. */
WadiStatus wadi_sleep_find_candidates(const WadiSleep *sleep, const WadiSleepStep *step,
                                      const WadiSleepClasses *classes, uint8_t **falls, WadiError *error);

/* Effects: the particles of flagged tiles move within the store. Woken tiles count as slow until they move,
 * and start at 75 % of the window. */
WadiStatus wadi_sleep_wake(WadiSleep *sleep, const WadiSleepStep *step, const uint8_t *wakes,
                           WadiError *error);
WadiStatus wadi_sleep_fall_asleep(WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                                  const uint8_t *falls, WadiError *error);
/* After the last change of the store in a step. */
void wadi_sleep_end(WadiSleep *sleep, const WadiParticles *particles);

/* Values of is_slow. A tile of a slow pool that was empty counts as slow since the tiles around it are: pools
 * may have their surface between two tiles, and particles that pass through it now and then. */
enum { WADI_SLOW_NOT, WADI_SLOW, WADI_SLOW_POOL };
/* After the particles were moved, per tile of the sort: whether it is slow, and the sum of the displacements
 * of its particles over the number of particles of a full tile, m. */
WadiStatus wadi_sleep_watch(WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                            const uint8_t *is_slow, const double *mean_displacement, WadiError *error);
/* sqrt(g dx) dt, m: the unit of displacements. */
double wadi_sleep_unit(const WadiSleepStep *step);

/* Flag the tiles of the sort whose particles may fall asleep in the next step. */
void wadi_sleep_flag_next(const WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                          uint8_t *may_fall, bool *has_any);
/* Whether all particles sleep and nothing can wake or join them during [t0, t1]. */
bool wadi_sleep_is_undisturbed(const WadiSleep *sleep, const WadiSolverContext *context, double t0,
                               double t1);

/* Box of the cells of a sorted tile that hold particles, inclusive. */
void wadi_sleep_box(const WadiTileSort *sort, int32_t tile, int32_t low[3], int32_t high[3]);

#endif
