/* The sleeping tiles in checkpoints: a resumed run wakes and falls asleep at the steps of the unbroken
 * one. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/alloc.h"
#include "core/array.h"
#include "sleep/sleep.h"

WadiStatus wadi_sleep_init(WadiSleep *sleep, bool is_wanted, int32_t radius, WadiParticles *particles,
                           WadiError *error)
{
    sleep->radius = radius;
    sleep->is_on = is_wanted && radius <= WADI_TILE_SIDE;
    if (!sleep->is_on) {
        return WADI_OK;
    }
    WADI_TRY(wadi_particles_add_column(particles, WADI_SLEEP_COLUMN, WADI_TYPE_U8, &sleep->column, error));
    wadi_particles_skip_in_sort(particles, sleep->column, true);
    return WADI_OK;
}

void wadi_sleep_free(WadiSleep *sleep)
{
    WADI_DELETE(sleep->tile, sleep->tile_capacity);
    WADI_DELETE(sleep->awake, sleep->awake_capacity);
    *sleep = (WadiSleep){ 0 };
}

/* Members of a tile before its loads, as 32-bit numbers. */
enum { TILE_NUMBERS = 28 };

_Static_assert(offsetof(WadiSleepTile, load) == TILE_NUMBERS * sizeof(int32_t), "saved as numbers");

static WadiStatus save_tiles(const WadiSleep *sleep, WadiState *state, WadiError *error)
{
    int32_t *numbers = NULL;
    float *loads = NULL;
    WADI_TRY(wadi_state_add(state, "sleep_tile", WADI_TYPE_I32, TILE_NUMBERS, sleep->tile_count,
                            (void **)&numbers, error));
    WADI_TRY(wadi_state_add(state, "sleep_load", WADI_TYPE_F32, 64, 6 * sleep->tile_count, (void **)&loads,
                            error));
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        memcpy(numbers + TILE_NUMBERS * t, &sleep->tile[t], TILE_NUMBERS * sizeof *numbers);
        memcpy(loads + 384 * t, sleep->tile[t].load, sizeof sleep->tile[t].load);
    }
    return WADI_OK;
}

static WadiStatus load_tiles(WadiSleep *sleep, const WadiState *state, WadiError *error)
{
    const WadiStateArray *tile, *load;
    WADI_TRY(wadi_state_expect(state, "sleep_tile", WADI_TYPE_I32, TILE_NUMBERS, SIZE_MAX, &tile, error));
    WADI_TRY(wadi_state_expect(state, "sleep_load", WADI_TYPE_F32, 64, 6 * tile->count, &load, error));
    WADI_TRY(wadi_array_reserve((void **)&sleep->tile, &sleep->tile_capacity, tile->count,
                                sizeof *sleep->tile, "sleeping tiles", error));
    for (size_t t = 0; t < tile->count; ++t) {
        memcpy(&sleep->tile[t], (const int32_t *)tile->data + TILE_NUMBERS * t,
               TILE_NUMBERS * sizeof(int32_t));
        memcpy(sleep->tile[t].load, (const float *)load->data + 384 * t, sizeof sleep->tile[t].load);
    }
    sleep->tile_count = tile->count;
    return WADI_OK;
}

WadiStatus wadi_sleep_save(const WadiSleep *sleep, WadiState *state, WadiError *error)
{
    if (!sleep->is_on) {
        return WADI_OK;
    }
    uint32_t counts[2] = { (uint32_t)sleep->store_count, sleep->next_id };
    WADI_TRY(wadi_state_put(state, "sleep_counts", WADI_TYPE_U32, 1, 2, counts, error));
    WADI_TRY(save_tiles(sleep, state, error));
    int32_t *awake = NULL;
    double *since = NULL;
    WADI_TRY(
        wadi_state_add(state, "sleep_awake", WADI_TYPE_I32, 3, sleep->awake_count, (void **)&awake, error));
    WADI_TRY(
        wadi_state_add(state, "sleep_since", WADI_TYPE_F64, 5, sleep->awake_count, (void **)&since, error));
    for (size_t t = 0; t < sleep->awake_count; ++t) {
        memcpy(awake + 3 * t, &sleep->awake[t].tile, sizeof(WadiTile));
        since[5 * t] = sleep->awake[t].since;
        since[5 * t + 1] = sleep->awake[t].is_slow;
        since[5 * t + 2] = sleep->awake[t].speed;
        since[5 * t + 3] = sleep->awake[t].current_speed;
        since[5 * t + 4] = sleep->awake[t].is_weak;
    }
    return WADI_OK;
}

static bool is_tile_sound(const WadiSleepTile *tile)
{
    const int32_t at[3] = { tile->tile.x, tile->tile.y, tile->tile.z };
    bool is_sound = tile->first >= 0 && tile->count > 0;
    for (int a = 0; a < 3; ++a) {
        is_sound = is_sound && tile->low[a] >= 8 * at[a] && tile->high[a] >= tile->low[a] &&
                   tile->high[a] <= 8 * at[a] + 7;
    }
    return is_sound;
}

/* Whether the tiles are in order and their particles are the first of the store, as flagged. Particles that
 * drains removed since the last step are found by the next one. */
static bool is_sound(const WadiSleep *sleep, const WadiParticles *particles, double cell_size)
{
    const uint8_t *asleep = wadi_particles_column(particles, sleep->column);
    int64_t count = 0, flagged = 0;
    for (int32_t i = 0; i < particles->count; ++i) {
        flagged += asleep[i] != 0;
        double far = fmax(fabs(particles->x[i]), fmax(fabs(particles->y[i]), fabs(particles->z[i])));
        if (asleep[i] > 1 || (asleep[i] != 0 && (flagged != i + 1 || far / cell_size > 2e9))) {
            return false;
        }
    }
    if (!wadi_tiles_are_sound(sleep->tile, sizeof *sleep->tile, sleep->tile_count) ||
        !wadi_tiles_are_sound(sleep->awake, sizeof *sleep->awake, sleep->awake_count)) {
        return false;
    }
    bool is_whole = wadi_sleep_first(sleep, particles) == sleep->count;
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        const WadiSleepTile *tile = &sleep->tile[t];
        count += tile->count;
        if (!is_tile_sound(tile) || (is_whole && count > flagged) ||
            (is_whole && (int64_t)tile->first + tile->count > flagged)) {
            return false;
        }
        for (int32_t i = tile->first; is_whole && i < tile->first + tile->count; ++i) {
            if (!wadi_tile_is_same(wadi_tile_of_particle(particles, i, 1.0 / cell_size), tile->tile)) {
                return false;
            }
        }
    }
    return count <= INT32_MAX && (is_whole ? flagged == count : flagged <= count);
}

WadiStatus wadi_sleep_load(WadiSleep *sleep, const WadiParticles *particles, double cell_size,
                           const WadiState *state, WadiError *error)
{
    if (!sleep->is_on) {
        return WADI_OK;
    }
    const WadiStateArray *counts, *awake, *since;
    WADI_TRY(wadi_state_expect(state, "sleep_counts", WADI_TYPE_U32, 1, 2, &counts, error));
    WADI_TRY(wadi_state_expect(state, "sleep_awake", WADI_TYPE_I32, 3, SIZE_MAX, &awake, error));
    WADI_TRY(wadi_state_expect(state, "sleep_since", WADI_TYPE_F64, 5, awake->count, &since, error));
    WADI_TRY(load_tiles(sleep, state, error));
    WADI_TRY(wadi_array_reserve((void **)&sleep->awake, &sleep->awake_capacity, awake->count,
                                sizeof *sleep->awake, "awake tiles", error));
    for (size_t t = 0; t < awake->count; ++t) {
        const double *numbers = (const double *)since->data + 5 * t;
        sleep->awake[t] = (WadiAwakeTile){ .since = numbers[0],
                                           .is_slow = numbers[1] != 0.0,
                                           .speed = numbers[2],
                                           .current_speed = numbers[3],
                                           .is_weak = numbers[4] != 0.0 };
        memcpy(&sleep->awake[t].tile, (const int32_t *)awake->data + 3 * t, sizeof(WadiTile));
    }
    sleep->awake_count = awake->count;
    sleep->store_count = (int32_t)((const uint32_t *)counts->data)[0];
    sleep->next_id = ((const uint32_t *)counts->data)[1];
    int64_t count = 0;
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        count += sleep->tile[t].count;
    }
    sleep->count = (int32_t)count;
    if (count < 0 || !is_sound(sleep, particles, cell_size)) {
        sleep->tile_count = sleep->awake_count = 0;
        sleep->count = 0;
        return wadi_fail(
            error, WADI_ERR_FORMAT,
            "the sleeping tiles of the checkpoint contradict its particles; resume from another one");
    }
    return WADI_OK;
}
