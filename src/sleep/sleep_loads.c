#include "sleep/sleep_loads.h"

#include <string.h>

enum { PLACE = 5 }; /* tile, solid, whether it sleeps */

void wadi_sleep_loads_free(WadiSleepLoads *loads)
{
    WADI_ARRAY_FREE(&loads->awake);
    WADI_ARRAY_FREE(&loads->asleep);
}

WadiStatus wadi_sleep_loads_begin(WadiSleepLoads *loads, const WadiSleep *sleep, WadiError *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < loads->asleep.count; ++i) {
        if (wadi_sleep_find(sleep, loads->asleep.data[i].tile) >= 0) {
            loads->asleep.data[kept++] = loads->asleep.data[i];
        }
    }
    loads->asleep.count = kept;
    for (size_t i = 0; i < loads->awake.count; ++i) {
        if (wadi_sleep_find(sleep, loads->awake.data[i].tile) >= 0) {
            WADI_TRY(WADI_ARRAY_PUSH(&loads->asleep, loads->awake.data[i], "forces on solids", error));
        }
    }
    loads->awake.count = 0;
    return WADI_OK;
}

WadiStatus wadi_sleep_loads_of(WadiSleepLoads *loads, WadiTile tile, int32_t solid, WadiSolidLoad **force,
                               WadiError *error)
{
    for (size_t i = loads->awake.count; i-- > 0;) {
        WadiTileLoad *load = &loads->awake.data[i];
        if (load->tile.x != tile.x || load->tile.y != tile.y || load->tile.z != tile.z) {
            break;
        }
        if (load->solid == solid) {
            *force = &load->force;
            return WADI_OK;
        }
    }
    const WadiTileLoad added = { .tile = tile, .solid = solid };
    WADI_TRY(WADI_ARRAY_PUSH(&loads->awake, added, "forces on solids", error));
    *force = &loads->awake.data[loads->awake.count - 1].force;
    return WADI_OK;
}

void wadi_sleep_loads_sum(const WadiSleepLoads *loads, double time, WadiSolidLoads *out)
{
    for (size_t i = 0; i < loads->asleep.count; ++i) {
        wadi_solid_load_add(&out->step[loads->asleep.data[i].solid], &loads->asleep.data[i].force, time);
    }
    for (size_t i = 0; i < loads->awake.count; ++i) {
        wadi_solid_load_add(&out->step[loads->awake.data[i].solid], &loads->awake.data[i].force, time);
    }
}

static void put(const WadiTileLoad *from, size_t count, bool is_asleep, int32_t *place, WadiSolidLoad *force)
{
    for (size_t i = 0; i < count; ++i) {
        const int32_t values[PLACE] = { from[i].tile.x, from[i].tile.y, from[i].tile.z, from[i].solid,
                                        is_asleep };
        memcpy(place + PLACE * i, values, sizeof values);
        force[i] = from[i].force;
    }
}

WadiStatus wadi_sleep_loads_save(const WadiSleepLoads *loads, WadiState *state, WadiError *error)
{
    const size_t asleep = loads->asleep.count, awake = loads->awake.count;
    int32_t *place = NULL;
    WadiSolidLoad *force = NULL;
    if (asleep + awake == 0) {
        return WADI_OK;
    }
    WADI_TRY(wadi_state_add(state, "sleep_load_places", WADI_TYPE_I32, PLACE, asleep + awake, (void **)&place,
                            error));
    WADI_TRY(wadi_state_add(state, "sleep_load_forces", WADI_TYPE_F64, WADI_LOAD_REALS, asleep + awake,
                            (void **)&force, error));
    put(loads->asleep.data, asleep, true, place, force);
    put(loads->awake.data, awake, false, place + PLACE * asleep, force + asleep);
    return WADI_OK;
}

WadiStatus wadi_sleep_loads_load(WadiSleepLoads *loads, int count, const WadiState *state, WadiError *error)
{
    const WadiStateArray *places = NULL, *forces = NULL;
    loads->asleep.count = loads->awake.count = 0;
    if (wadi_state_find(state, "sleep_load_places") == NULL) {
        return WADI_OK;
    }
    WADI_TRY(wadi_state_expect(state, "sleep_load_places", WADI_TYPE_I32, PLACE, SIZE_MAX, &places, error));
    WADI_TRY(wadi_state_expect_reals(state, "sleep_load_forces", WADI_TYPE_F64, WADI_LOAD_REALS,
                                     places->count, -WADI_STATE_REAL_MAX, WADI_STATE_REAL_MAX, &forces,
                                     error));
    const int32_t *place = places->data;
    const WadiSolidLoad *force = forces->data;
    for (size_t i = 0; i < places->count; ++i, place += PLACE) {
        const WadiTileLoad load = { { place[0], place[1], place[2] }, place[3], force[i] };
        if (load.solid < 0 || load.solid >= count || place[4] < 0 || place[4] > 1) {
            return wadi_state_fail(error, places, i, "there is no solid %d", load.solid);
        }
        if (place[4] == 1) {
            WADI_TRY(WADI_ARRAY_PUSH(&loads->asleep, load, "forces on solids", error));
        } else {
            WADI_TRY(WADI_ARRAY_PUSH(&loads->awake, load, "forces on solids", error));
        }
    }
    return WADI_OK;
}
