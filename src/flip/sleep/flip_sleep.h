/* Sleep (sleep/sleep.h) of sand in flip: which tiles are slow, and which are too steep to sleep.
 * Source: [theory 8.1, 8.2, 8.3].
 *
 * A tile is slow in a step if the largest displacement of its particles is below 0.5 sqrt(g dx) dt and their
 * mean below 0.03 sqrt(g dx) dt.
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
#include "sleep/sleep.h"

/* The displacements of a step, recorded by the mover: parts of a tile before they move, from several threads,
 * then the whole tile. */
typedef struct WadiFlipWatch {
    const WadiTileSort *sort;
    const WadiParticles *particles;
    const WadiScene *scene;
    double slow_square; /* m^2, of the displacement in the step */
    double slow_mean;   /* m */
    double layer;       /* number of particles of a full layer of cells of a tile */
    uint8_t *is_slow;   /* per tile */
    /* m, per tile: sum of the displacements over the number of particles of a full tile. */
    double *mean_displacement;
} WadiFlipWatch;

/* Sums over the parts of one tile; begin with zeros. */
typedef struct WadiFlipDisplacements {
    double largest, sum; /* largest square, m^2; sum of lengths, m */
    bool has_others;     /* particles other than sand */
} WadiFlipDisplacements;

WadiStatus wadi_flip_watch_begin(WadiFlipWatch *watch, const WadiSleepStep *step, const WadiTileSort *sort,
                                 WadiError *error);
/* Particles first .. end, in the order of the sort. */
void wadi_flip_watch_part(const WadiFlipWatch *watch, const WadiFlipPath *path, int32_t first, int32_t end,
                          WadiFlipDisplacements *displacements);
void wadi_flip_watch_tile(const WadiFlipWatch *watch, int32_t tile,
                          const WadiFlipDisplacements *displacements);
/* Both for all tiles, if `path` holds all particles. */
void wadi_flip_watch_paths(const WadiFlipWatch *watch, const WadiFlipPath *path);

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
