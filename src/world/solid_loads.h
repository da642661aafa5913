/* Forces of the material on solids: impulses of the steps, and their means over a frame.
 *
 * By Newton's third law the impulse on a solid is that on the material with the opposite sign. A solver adds
 * those of a step; the frame loop adds up the steps and divides by their time. Torques are about the solid's
 * pivot, where it is at the beginning of the step; those of the sides of the domain about the origin. */
#ifndef WADI_WORLD_SOLID_LOADS_H
#define WADI_WORLD_SOLID_LOADS_H

#include "core/arena.h"
#include "core/state.h"
#include "world/world.h"

/* The six sides of the domain in the order of WADI_SIDE_…, then the colliders of the scene. */
enum { WADI_LOAD_SIDES = 6 };

/* Newtons and newton metres, or these times seconds. */
typedef struct WadiSolidLoad {
    WadiVec3 pressure, friction;               /* along the normal of the surface, and across it */
    WadiVec3 pressure_torque, friction_torque; /* about the pivot */
} WadiSolidLoad;
enum { WADI_LOAD_REALS = 12 };

/* Zeroed: no solids. */
typedef struct WadiSolidLoads {
    bool is_reported;  /* set by solvers that add to `step` */
    bool is_repeated;  /* all material sleeps in this step */
    double step_time;  /* s: for which the impulses of this step act; `dt` unless the solver sets it */
    double frame_time; /* s, since the last frame */
    int count;
    WadiVec3 *pivot;      /* m, in this step */
    WadiSolidLoad *step;  /* impulses of this step; summed by the solver */
    WadiSolidLoad *frame; /* of the steps since the last frame */
    WadiSolidLoad *last;  /* forces, over the last step in which something moved */
    WadiSolidLoad *mean;  /* forces, over the last complete frame */
} WadiSolidLoads;

/* Room for the solids of a world. The loads of those that were there remain. */
WadiStatus wadi_solid_loads_resize(WadiSolidLoads *loads, const WadiWorld *world, WadiError *error);
void wadi_solid_loads_free(WadiSolidLoads *loads);

/* m: the point that torques are about; `load`: index in the arrays. */
WadiVec3 wadi_solid_pivot(const WadiScene *scene, int load, double time);
/* Before and after a step of `dt`, s. */
void wadi_solid_loads_begin(WadiSolidLoads *loads, const WadiWorld *world, double time, double dt);
/* Instead of impulses, by a solver whose material sleeps: it weighs as in the last step in which it did
 * not. NULL is allowed. */
void wadi_solid_loads_repeat(WadiSolidLoads *loads);
void wadi_solid_loads_end(WadiSolidLoads *loads, bool ends_frame);

/* Index of a collider, or of a side (bit number of WADI_SIDE_…), in the arrays. */
static inline int wadi_load_of_collider(int collider)
{
    return WADI_LOAD_SIDES + collider;
}

static inline int wadi_load_of_side(int side)
{
    return side;
}

/* sum += s part */
void wadi_solid_load_add(WadiSolidLoad *sum, const WadiSolidLoad *part, double s);
/* Adds forces at x, in either part. */
void wadi_solid_load_press(WadiSolidLoad *sum, WadiVec3 arm, WadiVec3 force);
void wadi_solid_load_rub(WadiSolidLoad *sum, WadiVec3 arm, WadiVec3 force);

/* Adds the loads of items [first, end) to `sum`, which has `count` entries. */
typedef void (*WadiLoadBlockFn)(const void *context, int64_t first, int64_t end, WadiSolidLoad *sum);
/* Adds those of all items to `sum`, in an order that depends on `items` only. */
WadiStatus wadi_solid_loads_sum(int64_t items, WadiLoadBlockFn body, const void *context, int count,
                                WadiSolidLoad *sum, WadiArena *scratch, WadiError *error);

/* In checkpoints; nothing where no solver reports. A state without them leaves the loads 0. */
WadiStatus wadi_solid_loads_save(const WadiSolidLoads *loads, WadiState *state, WadiError *error);
WadiStatus wadi_solid_loads_load(WadiSolidLoads *loads, const WadiState *state, WadiError *error);

#endif
