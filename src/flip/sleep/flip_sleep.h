/* Sleep (sleep/sleep.h) of sand in flip: what is slow, and sand that is too steep to sleep.
 *
 * A tile is slow where in no step a particle was moved faster than 0.5 sqrt(g dx), nor the mean of a tile faster than 0.03.
 * A sheet of one cell that accelerates at more than 0.001 g, the excess of a slope 0.06 degrees too steep, breaks the bounds of
 * sleep within its window: a slope that is about to slide, and a ball at the top of its flight, do not sleep. Friction does
 * not depend on the speed, so that sand which neither stops nor speeds up for so long is held by its stresses, and what is left
 * of its motion is the solver's error.
 *
 * Sand whose surface is steeper than its friction holds (flip_sleep_slope.c) stands by stresses that its history left, or
 * creeps. It is weakened until it has slid to its angle, or has stood weak for a window (flip_sleep_weak.c).
 *
 * To the awake sand beside it a sleeping tile is sand that does not move and keeps its stresses (flip_sleeping_cells.c). Every
 * awake column ends at the surface, so that no awake pocket has a pressure without a level. Its load is P / dt, m/s^2; it
 * wakes with the pressure and stress that it fell asleep with (flip_sleep_step.c). */
#ifndef WADI_FLIP_SLEEP_H
#define WADI_FLIP_SLEEP_H

#include "flip/transfer/flip_transfer.h"
#include "grid/rows.h"
#include "sleep/sleep.h"

/* The displacements of a step, recorded by the mover: every part of a tile before it moves, from several threads, and then the
 * tile. */
typedef struct WadiFlipWatch {
    const WadiFlipSort *sort;
    const WadiParticles *particles;
    const WadiScene *scene;
    double slow_square; /* m^2, of the displacement in the step */
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

WadiStatus wadi_flip_watch_begin(WadiFlipWatch *watch, const WadiSleepStep *step, const WadiFlipSort *sort,
                                 WadiError *error);
/* Particles first .. end, in the order of the sort. */
void wadi_flip_watch_part(const WadiFlipWatch *watch, const WadiFlipPath *path, int32_t first, int32_t end,
                          WadiFlipDisplacements *displacements);
void wadi_flip_watch_tile(const WadiFlipWatch *watch, int32_t tile,
                          const WadiFlipDisplacements *displacements);
/* Both for all tiles, where the paths of all particles are known. */
void wadi_flip_watch_paths(const WadiFlipWatch *watch, const WadiFlipPath *path);

/* flip_sleep_slope.c: columns of tile t of the sort whose free surface is steeper than the friction of its sand holds; 0: fewer
 * than a third are. Not for sand with cohesion. Columns are along the axis nearest to gravity, and bit a + 8 b is that at a along
 * the next axis (z: x) and b along the one after it. */
uint64_t wadi_flip_sleep_steep(const WadiSleep *sleep, const WadiSleepStep *step, const WadiFlipSort *sort,
                               int32_t t);
/* The axis nearest to gravity. */
int wadi_flip_sleep_up(WadiVec3 gravity);

/* flip_sleep_weak.c: which tiles are weak in this step, `window` being the time after which slow tiles may sleep; and the yield
 * slopes, one a cell, that their steep columns have then. */
void wadi_flip_sleep_find_weak(WadiSleep *sleep, const WadiSleepStep *step, const WadiFlipSort *sort,
                               double window);
void wadi_flip_sleep_weaken(const WadiSleep *sleep, WadiVec3 gravity, const WadiRows *rows, float *k);

#endif
