#include "world/solid_loads.h"

#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"

enum { BLOCK = 2048 };

_Static_assert(sizeof(WadiSolidLoad) == WADI_LOAD_REALS * sizeof(double), "loads are saved as reals");

static WadiStatus make(WadiSolidLoads *loads, WadiError *error)
{
    const size_t count = (size_t)loads->count;
    WADI_TRY(WADI_NEW(&loads->pivot, count, "forces on solids", error));
    WADI_TRY(WADI_NEW(&loads->step, count, "forces on solids", error));
    WADI_TRY(WADI_NEW(&loads->frame, count, "forces on solids", error));
    WADI_TRY(WADI_NEW(&loads->last, count, "forces on solids", error));
    return WADI_NEW(&loads->mean, count, "forces on solids", error);
}

WadiStatus wadi_solid_loads_resize(WadiSolidLoads *loads, const WadiWorld *world, WadiError *error)
{
    const int count = WADI_LOAD_SIDES + world->scene->collider_count;
    loads->is_reported = false;
    if (count == loads->count) {
        return WADI_OK;
    }
    WadiSolidLoads made = { .count = count };
    const int kept = loads->count < count ? loads->count : count;
    const WadiStatus status = make(&made, error);
    if (status != WADI_OK) {
        wadi_solid_loads_free(&made);
        return status;
    }
    if (kept > 0) {
        memcpy(made.frame, loads->frame, (size_t)kept * sizeof *made.frame);
        memcpy(made.last, loads->last, (size_t)kept * sizeof *made.last);
        memcpy(made.mean, loads->mean, (size_t)kept * sizeof *made.mean);
    }
    made.frame_time = loads->frame_time;
    wadi_solid_loads_free(loads);
    *loads = made;
    return WADI_OK;
}

void wadi_solid_loads_free(WadiSolidLoads *loads)
{
    WADI_DELETE(loads->pivot, (size_t)loads->count);
    WADI_DELETE(loads->step, (size_t)loads->count);
    WADI_DELETE(loads->frame, (size_t)loads->count);
    WADI_DELETE(loads->last, (size_t)loads->count);
    WADI_DELETE(loads->mean, (size_t)loads->count);
    *loads = (WadiSolidLoads){ 0 };
}

WadiVec3 wadi_solid_pivot(const WadiScene *scene, int load, double time)
{
    if (load < WADI_LOAD_SIDES) {
        return wadi_vec3(0, 0, 0);
    }
    const WadiShapeDef *shape = &scene->colliders[load - WADI_LOAD_SIDES].shape;
    return wadi_add(wadi_curve_value3(&shape->translate, time), wadi_curve_value3(&shape->pivot, time));
}

void wadi_solid_loads_begin(WadiSolidLoads *loads, const WadiWorld *world, double time, double dt)
{
    loads->is_repeated = false;
    loads->step_time = dt;
    for (int i = 0; i < loads->count && loads->is_reported; ++i) {
        loads->step[i] = (WadiSolidLoad){ 0 };
        loads->pivot[i] = wadi_solid_pivot(world->scene, i, time);
    }
}

void wadi_solid_load_add(WadiSolidLoad *sum, const WadiSolidLoad *part, double s)
{
    sum->pressure = wadi_add_scaled(sum->pressure, part->pressure, s);
    sum->friction = wadi_add_scaled(sum->friction, part->friction, s);
    sum->pressure_torque = wadi_add_scaled(sum->pressure_torque, part->pressure_torque, s);
    sum->friction_torque = wadi_add_scaled(sum->friction_torque, part->friction_torque, s);
}

void wadi_solid_load_press(WadiSolidLoad *sum, WadiVec3 arm, WadiVec3 force)
{
    sum->pressure = wadi_add(sum->pressure, force);
    sum->pressure_torque = wadi_add(sum->pressure_torque, wadi_cross(arm, force));
}

void wadi_solid_load_rub(WadiSolidLoad *sum, WadiVec3 arm, WadiVec3 force)
{
    sum->friction = wadi_add(sum->friction, force);
    sum->friction_torque = wadi_add(sum->friction_torque, wadi_cross(arm, force));
}

void wadi_solid_loads_repeat(WadiSolidLoads *loads)
{
    if (loads != NULL) {
        loads->is_repeated = true;
    }
}

void wadi_solid_loads_end(WadiSolidLoads *loads, bool ends_frame)
{
    loads->frame_time += loads->step_time;
    for (int i = 0; i < loads->count && loads->is_reported; ++i) {
        if (loads->is_repeated) {
            wadi_solid_load_add(&loads->frame[i], &loads->last[i], loads->step_time);
        } else {
            wadi_solid_load_add(&loads->frame[i], &loads->step[i], 1.0);
            loads->last[i] = (WadiSolidLoad){ 0 };
            wadi_solid_load_add(&loads->last[i], &loads->step[i], 1.0 / loads->step_time);
        }
        if (ends_frame) {
            loads->mean[i] = (WadiSolidLoad){ 0 };
            wadi_solid_load_add(&loads->mean[i], &loads->frame[i], 1.0 / loads->frame_time);
            loads->frame[i] = (WadiSolidLoad){ 0 };
        }
    }
    loads->frame_time = ends_frame ? 0.0 : loads->frame_time;
}

typedef struct Blocks {
    WadiLoadBlockFn body;
    const void *context;
    int count;
    int64_t items;
    WadiSolidLoad *sum; /* `count` of each block */
} Blocks;

static void sum_blocks(void *context, int64_t first, int64_t end)
{
    const Blocks *b = context;
    for (int64_t n = first; n < end; ++n) {
        const int64_t stop = (n + 1) * BLOCK < b->items ? (n + 1) * BLOCK : b->items;
        b->body(b->context, n * BLOCK, stop, b->sum + n * b->count);
    }
}

WadiStatus wadi_solid_loads_sum(int64_t items, WadiLoadBlockFn body, const void *context, int count,
                                WadiSolidLoad *sum, WadiArena *scratch, WadiError *error)
{
    const int64_t blocks = (items + BLOCK - 1) / BLOCK;
    Blocks b = { body, context, count, items, NULL };
    if (items == 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(scratch, &b.sum, (size_t)(blocks * count), "forces on solids", error));
    memset(b.sum, 0, (size_t)(blocks * count) * sizeof *b.sum);
    wadi_parallel_for(blocks, 1, sum_blocks, &b);
    for (int64_t n = 0; n < blocks; ++n) {
        for (int i = 0; i < count; ++i) {
            wadi_solid_load_add(&sum[i], &b.sum[n * count + i], 1.0);
        }
    }
    return WADI_OK;
}

static const char *const NAME = "sim.loads";
static const char *const TIME_NAME = "sim.load_time";

WadiStatus wadi_solid_loads_save(const WadiSolidLoads *loads, WadiState *state, WadiError *error)
{
    WadiSolidLoad *to = NULL;
    if (!loads->is_reported) {
        return WADI_OK;
    }
    WADI_TRY(wadi_state_put(state, TIME_NAME, WADI_TYPE_F64, 1, 1, &loads->frame_time, error));
    WADI_TRY(wadi_state_add(state, NAME, WADI_TYPE_F64, 3 * WADI_LOAD_REALS, (size_t)loads->count,
                            (void **)&to, error));
    for (int i = 0; i < loads->count; ++i) {
        to[3 * i] = loads->frame[i];
        to[3 * i + 1] = loads->last[i];
        to[3 * i + 2] = loads->mean[i];
    }
    return WADI_OK;
}

WadiStatus wadi_solid_loads_load(WadiSolidLoads *loads, const WadiState *state, WadiError *error)
{
    const WadiStateArray *array = NULL, *time = NULL;
    loads->frame_time = 0.0;
    memset(loads->frame, 0, (size_t)loads->count * sizeof *loads->frame);
    memset(loads->last, 0, (size_t)loads->count * sizeof *loads->last);
    memset(loads->mean, 0, (size_t)loads->count * sizeof *loads->mean);
    if (!loads->is_reported || wadi_state_find(state, NAME) == NULL) {
        return WADI_OK;
    }
    WADI_TRY(wadi_state_expect_reals(state, NAME, WADI_TYPE_F64, 3 * WADI_LOAD_REALS, SIZE_MAX,
                                     -WADI_STATE_REAL_MAX, WADI_STATE_REAL_MAX, &array, error));
    WADI_TRY(wadi_state_expect_reals(state, TIME_NAME, WADI_TYPE_F64, 1, 1, 0.0, WADI_STATE_REAL_MAX, &time,
                                     error));
    loads->frame_time = *(const double *)time->data;
    /* A scene with more or fewer colliders: the first ones are the same. */
    const size_t count = (size_t)loads->count < array->count ? (size_t)loads->count : array->count;
    const WadiSolidLoad *from = array->data;
    for (size_t i = 0; i < count; ++i) {
        loads->frame[i] = from[3 * i];
        loads->last[i] = from[3 * i + 1];
        loads->mean[i] = from[3 * i + 2];
    }
    return WADI_OK;
}
