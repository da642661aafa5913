/* Sand at rest sleeps: it is left out of every stage until something reaches it.
 *
 * The unit is a tile of the grid. It falls asleep when for a window of 10 sqrt(dx / g) it and the tiles beside it were slow:
 * in no step was a particle moved faster than 0.5 sqrt(g dx), nor the mean of a tile faster than 0.03. The running mean over
 * 5 sqrt(dx / g) of its speeds, summed over its particles and divided by the number that a full tile has, is below 0.0007
 * sqrt(g dx) by then, and its surroundings are at rest. A sheet of one cell that accelerates at more than 0.001 g, the excess
 * of a slope 0.06 degrees too steep, breaks that bound within the window: a slope that is about to slide, and a ball at the top
 * of its flight, do not sleep. Friction does not depend on the speed, so that sand which neither stops nor speeds up for so long
 * is held by its stresses, and what is left of its motion is the solver's error: grains that cross from cell to cell at the
 * surface, now and then.
 *
 * Sand whose surface is steeper than its friction holds (flip_sleep_slope.c) is another matter: it stands by stresses that its
 * history left, or creeps. It is weakened until it has slid to its angle, or has stood weak for a window (flip_sleep_weak.c).
 *
 * To the awake sand beside it a sleeping tile is sand that does not move and keeps its stresses (flip_sleeping_cells.c). Sleep
 * grows upwards: a tile sleeps only on sleeping tiles, or awake sand under it would not bear its weight, and when one wakes all
 * above it do. So every awake column ends at the surface, and no awake pocket has a pressure without a level.
 *
 * A tile wakes, with the pressure and stress it slept with, in the step that finds
 *  - sand that is not slow, or new, in a tile beside it and within reach: two cells of the grid's margin and the way of a step.
 *    Between sand that moves and sand that sleeps there is thus always a tile of sand that is awake and hardly moves;
 *  - an awake particle inside it;
 *  - that what it bears has changed (wadi_flip_check_sleeping);
 *  - a solid within reach that moves, one of its particles taken away, gravity, a force or a friction that changes.
 *
 * Sleeping particles are the first of the store, tile by tile, with velocity 0; awake ones follow. */
#ifndef WADI_FLIP_SLEEP_H
#define WADI_FLIP_SLEEP_H

#include "flip/friction/flip_friction.h"
#include "flip/pressure/flip_pressure_memory.h"
#include "flip/transfer/flip_grid.h"
#include "flip/transfer/flip_transfer.h"
#include "world/solver.h"

/* A tile of sleeping particles. */
typedef struct WadiFlipSleepTile {
    WadiTile tile;
    int32_t first, count;    /* its particles */
    int32_t low[3], high[3]; /* box of the cells that hold them, inclusive; coordinates of the grid */
    float change;            /* of what it bears since it fell asleep, 1: enough to wake in the next step */
    uint8_t lanes[64];       /* per row of the tile: cells that hold particles */
    /* P / dt, m/s^2, that it bore when it fell asleep: per side in the order of WadiRows.neighbour, in the cells beyond it, the
     * lower of the other two axes fastest. */
    float load[6][64];
} WadiFlipSleepTile;

/* A tile of awake particles in the last step. */
typedef struct WadiFlipAwakeTile {
    WadiTile tile;
    bool is_slow;
    bool is_weak;   /* it was found slow for a window and steep, and is steep since */
    uint64_t steep; /* its steep columns while it is weak, found in each step */
    double since;   /* s: it and all tiles beside it are slow; INFINITY: not all are */
    double push;    /* sqrt(g dx): sum of the speeds of its particles over the number that a full tile has */
    double speed;   /* sqrt(g dx): running mean of it in time */
} WadiFlipAwakeTile;

/* Tiles of both lists are in the order of tile maps. A zeroed struct is valid: nobody sleeps. Invariant after a step: particles
 * [0, count) of the store sleep, and are those of `tile`. */
typedef struct WadiFlipSleep {
    bool is_on;
    int32_t reach; /* cells; at most a tile, so that only tiles beside each other are within it */
    /* "asleep": 1 for sleeping particles, for finding out which were removed. Permutations leave it: sorts are among equals, and
     * who changes sides writes it. */
    int column;
    int32_t count;       /* sleeping particles */
    int32_t store_count; /* particles and ids given out as the last step left them: what changed since */
    uint32_t next_id;
    WadiFlipSleepTile *tile;
    size_t tile_count, tile_capacity;
    WadiFlipAwakeTile *awake;
    size_t awake_count, awake_capacity;
    WadiTileMemory pressure; /* of the sleeping tiles and, as it was then, beside them */
    WadiFrictionMemory friction;
} WadiFlipSleep;

/* Adds a column to the store, which is empty. Off where it is not wanted, and with steps of more than six cells (`cfl`). */
WadiStatus wadi_flip_sleep_init(WadiFlipSleep *sleep, bool is_wanted, double cfl, WadiParticles *particles,
                                WadiError *error);
void wadi_flip_sleep_free(WadiFlipSleep *sleep);
WadiStatus wadi_flip_sleep_save(const WadiFlipSleep *sleep, WadiState *state, WadiError *error);
WadiStatus wadi_flip_sleep_load(WadiFlipSleep *sleep, const WadiParticles *particles, double cell_size,
                                const WadiState *state, WadiError *error);

/* What the functions below work on. Memories are those of the solver, from which stresses go to sleep and to which they come
 * back. */
typedef struct WadiFlipSleepIn {
    const WadiSolverContext *context;
    WadiTileMemory *pressure;
    WadiFrictionMemory *friction;
    double time, dt; /* of the step that begins */
} WadiFlipSleepIn;

/* Particles from this one on may be awake; 0 when some were removed since the last step. */
int32_t wadi_flip_sleep_first(const WadiFlipSleep *sleep, const WadiParticles *particles);

/* Before the sort: wake what was robbed of particles, what bears another load, what a moving solid reaches, or everything when
 * the world changes during the step. */
WadiStatus wadi_flip_sleep_wake(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, WadiError *error);
/* After the sort of the awake particles: wake what they disturb, and let fall asleep what has been slow for long enough.
 * *is_changed: particles changed places, sort again. */
WadiStatus wadi_flip_sleep_update(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, const WadiFlipSort *sort,
                                  bool *is_changed, WadiError *error);

/* The displacements of a step, seen by who moves the particles: every part of a tile before it moves, from several threads, and then the
 * tile. */
typedef struct WadiFlipWatch {
    const WadiFlipSort *sort;
    const WadiParticles *particles;
    const WadiScene *scene;
    double slow_square; /* m^2, of the way in the step */
    double slow_mean;   /* m */
    double layer;       /* particles of a layer of cells of a tile */
    uint8_t *is_slow;   /* per tile */
    double *push;       /* m: sum of their displacements over the particles of a full tile */
} WadiFlipWatch;

/* Of the parts of one tile, from zero on. */
typedef struct WadiFlipDisplacements {
    double largest, sum; /* m^2, m */
    bool has_others;     /* than sand */
} WadiFlipDisplacements;

WadiStatus wadi_flip_watch_begin(WadiFlipWatch *watch, const WadiFlipSleepIn *in, const WadiFlipSort *sort,
                                 WadiError *error);
/* Particles first .. end, in the order of the sort. */
void wadi_flip_watch_part(const WadiFlipWatch *watch, const WadiFlipPath *path, int32_t first, int32_t end,
                          WadiFlipDisplacements *displacements);
void wadi_flip_watch_tile(const WadiFlipWatch *watch, int32_t tile,
                          const WadiFlipDisplacements *displacements);
/* Both for all tiles, where the paths of all particles are known. */
void wadi_flip_watch_paths(const WadiFlipWatch *watch, const WadiFlipPath *path);
/* When all tiles were seen: which are slow, and since when. */
WadiStatus wadi_flip_sleep_watch(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, const WadiFlipWatch *watch,
                                 WadiError *error);
/* First awake tile, from a place in the list on, that is not before `tile`. */
size_t wadi_flip_sleep_find_awake(const WadiFlipSleep *sleep, WadiTile tile, size_t from);
/* Number of a sleeping tile, or -1. */
int32_t wadi_flip_sleep_find(const WadiFlipSleep *sleep, WadiTile tile);
/* Flag the tiles of the sort whose particles may fall asleep in the next step. */
void wadi_flip_sleep_flag_candidates(const WadiFlipSleep *sleep, const WadiFlipSleepIn *in,
                                     const WadiFlipSort *sort, uint8_t *may_fall, bool *has_any);
/* After the last change of the store in a step. */
void wadi_flip_sleep_end(WadiFlipSleep *sleep, const WadiParticles *particles);

/* Whether all particles sleep and nothing can wake them or join them during [t0, t1]. */
bool wadi_flip_sleep_is_sound(const WadiFlipSleep *sleep, const WadiSolverContext *context, double t0,
                              double t1);

/* flip_sleep_world.c: gravity, forces and frictions are the same at all times of [t0, t1]. */
bool wadi_flip_world_is_steady(const WadiWorld *world, double t0, double t1);
/* A solid that comes within `radius` of x during [t0, t1] moves. */
bool wadi_flip_world_disturbs(const WadiWorld *world, WadiVec3 x, double radius, double t0, double t1);
/* No emitter or drain can act during [t0, t1]. */
bool wadi_flip_world_is_closed(const WadiWorld *world, double t0, double t1);

/* flip_sleep_slope.c: columns of tile t of the sort whose free surface is steeper than the friction of its sand holds; 0: fewer
 * than a third are. Not for sand with cohesion. Columns are along the axis nearest to gravity, and bit a + 8 b is that at a along
 * the next axis (z: x) and b along the one after it. */
uint64_t wadi_flip_sleep_steep(const WadiFlipSleep *sleep, const WadiFlipSleepIn *in,
                               const WadiFlipSort *sort, int32_t t);
/* The axis nearest to gravity. */
int wadi_flip_sleep_up(WadiVec3 gravity);

/* flip_sleep_weak.c: which tiles are weak in this step, `window` being the time after which slow tiles may sleep; and the yield
 * slopes, one a cell, that their steep columns have then. */
void wadi_flip_sleep_find_weak(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, const WadiFlipSort *sort,
                               double window);
void wadi_flip_sleep_weaken(const WadiFlipSleep *sleep, WadiVec3 gravity, const WadiRows *rows, float *k);

/* flip_sleep_store.c: where particles and stresses go. Flags are per tile of the sort, or per sleeping tile; scratch for the new
 * order. */
WadiStatus wadi_flip_sleep_fall(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, const WadiFlipSort *sort,
                                const uint8_t *falls, WadiError *error);
/* Those who rise count as slow since `since`, until they are seen to move. */
WadiStatus wadi_flip_sleep_rise(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, const uint8_t *rises,
                                double since, WadiError *error);
/* Box of the cells of a sorted tile that hold particles. */
void wadi_flip_sleep_box(const WadiFlipSort *sort, int32_t tile, int32_t low[3], int32_t high[3]);

#endif
