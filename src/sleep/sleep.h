/* Material at rest sleeps: it is left out of every stage of a solver until something reaches it.
 *
 * The unit is a tile of 8^3 cells. It falls asleep when for a window of 10 sqrt(dx / g) it and the tiles beside it were slow, as
 * the solver measures it, and the running mean of its speeds over 5 sqrt(dx / g) is below 0.0007 sqrt(g dx) by then. Sleep
 * grows upwards: a tile sleeps only on sleeping tiles, and when one wakes all above it do.
 *
 * A tile wakes in the step that finds
 *  - material that is not slow, or new, in a tile beside it and within reach. Between what moves and what sleeps there is
 *    thus always a tile that is awake and hardly moves;
 *  - an awake particle inside it;
 *  - that its load has changed (WadiSleepTile.change, set by the solver);
 *  - a solid within reach that moves, one of its particles removed, gravity, a force or a friction that changes.
 *
 * Sleeping particles are the first of the store, tile by tile, with velocity 0; awake ones follow.
 *
 * One step of a solver:
 *   wadi_sleep_find_disturbed, wadi_sleep_wake    before the sort
 *   the sort of the awake particles               from sleep.count on
 *   wadi_sleep_survey, wadi_sleep_find_reached, wadi_sleep_wake    and again from the sort on when some wake
 *   wadi_sleep_find_candidates, wadi_sleep_fall_asleep             and again from the sort on when some fall asleep
 *   wadi_sleep_end
 *   wadi_sleep_watch                              after the particles were moved
 * Between a decision and its effect the solver moves what it stores by tile. */
#ifndef WADI_SLEEP_SLEEP_H
#define WADI_SLEEP_SLEEP_H

#include "particles/tile_sort.h"
#include "world/solver.h"

/* A tile of sleeping particles. */
typedef struct WadiSleepTile {
    WadiTile tile;
    int32_t first, count;    /* its particles */
    int32_t low[3], high[3]; /* box of the cells that hold them, inclusive; coordinates of the grid */
    float change; /* by the solver: of its load since it fell asleep; above 1 it wakes in the next step */
    uint8_t lanes[64]; /* per row of the tile: cells that hold particles */
    /* By the solver, 0 until it writes it: its load when it fell asleep, per side in the order of WadiRows.neighbour, in the
     * cells beyond that side, the lower of the other two axes fastest. */
    float load[6][64];
} WadiSleepTile;

/* A tile of awake particles in the last step. */
typedef struct WadiAwakeTile {
    WadiTile tile;
    bool is_slow;
    double since; /* s: it and all tiles beside it are slow; INFINITY: not all are */
    double push;  /* sqrt(g dx): sum of the speeds of its particles over the number that a full tile has */
    double speed; /* sqrt(g dx): running mean of it in time */
    /* By the solver: tiles that it weakens before they may sleep. */
    bool is_weak;
    uint64_t steep; /* columns of a weak tile, found in each step */
} WadiAwakeTile;

/* Tiles of both lists are in the order of tile maps. A zeroed struct is valid: nothing sleeps. Invariant after a step: particles
 * [0, count) of the store sleep, and are those of `tile`. */
typedef struct WadiSleep {
    bool is_on;
    int32_t reach; /* cells; at most a tile, so that only tiles beside each other are within it */
    /* "asleep": 1 for sleeping particles, to find which were removed. Not permuted: sorting never mixes sleeping and awake
     * particles, and it is written when tiles wake or fall asleep. */
    int column;
    int32_t count; /* sleeping particles */
    int32_t
        store_count; /* particles and ids given out at the end of the last step, to find removals and births */
    uint32_t next_id;
    WadiSleepTile *tile;
    size_t tile_count, tile_capacity;
    WadiAwakeTile *awake;
    size_t awake_count, awake_capacity;
} WadiSleep;

/* Adds a column to the store, which is empty. Off where it is not wanted, and where awake particles act on cells farther than a
 * tile in a step (`reach`). */
WadiStatus wadi_sleep_init(WadiSleep *sleep, bool is_wanted, int32_t reach, WadiParticles *particles,
                           WadiError *error);
void wadi_sleep_free(WadiSleep *sleep);
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
} WadiSleepStep;

/* Time for which slow tiles stay awake, s. Infinite without gravity. */
double wadi_sleep_window(const WadiSleepStep *step);

/* Decisions. Flags are per sleeping tile, in scratch; NULL: no tile wakes.
 * Before the sort: tiles that lost particles, whose load changed, that a moving solid reaches, or all when the world changes
 * during the step. */
WadiStatus wadi_sleep_find_disturbed(WadiSleep *sleep, const WadiSleepStep *step, uint8_t **wakes,
                                     WadiError *error);

/* What is decided with of each tile of the sorted awake particles; in scratch. */
typedef struct WadiSleepSurvey {
    const WadiTileSort *sort;
    const WadiParticles *particles;
    uint32_t next_id; /* particles with this id and later ones are new */
    int32_t (*low)[3], (*high)[3];
    uint8_t *is_slow;
    uint8_t *rings; /* distance, in tiles, that its hits are passed on */
} WadiSleepSurvey;

WadiStatus wadi_sleep_survey(const WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                             WadiSleepSurvey *survey, WadiError *error);
/* Tiles that awake particles enter, or come near and are not slow. */
WadiStatus wadi_sleep_find_reached(const WadiSleep *sleep, const WadiSleepStep *step,
                                   const WadiSleepSurvey *survey, uint8_t **wakes, WadiError *error);
/* Per tile of the sort, NULL for none: slow for a window and on average, as are all that it rests on. */
WadiStatus wadi_sleep_find_candidates(const WadiSleep *sleep, const WadiSleepStep *step,
                                      const WadiSleepSurvey *survey, uint8_t **falls, WadiError *error);

/* Effects: the particles of flagged tiles change places. Those that wake count as slow until they are seen to move, and
 * have three quarters of the window behind them. */
WadiStatus wadi_sleep_wake(WadiSleep *sleep, const WadiSleepStep *step, const uint8_t *wakes,
                           WadiError *error);
WadiStatus wadi_sleep_fall_asleep(WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                                  const uint8_t *falls, WadiError *error);
/* After the last change of the store in a step. */
void wadi_sleep_end(WadiSleep *sleep, const WadiParticles *particles);

/* After the particles were moved, per tile of the sort: whether it is slow, and the sum of the displacements of its particles
 * over the number that a full tile has, m. */
WadiStatus wadi_sleep_watch(WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                            const uint8_t *is_slow, const double *push, WadiError *error);
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
