/* Which tiles are slow and since when, from the displacements measured by the solver. */
#include <math.h>
#include <string.h>

#include "core/array.h"
#include "math/exp.h"
#include "sleep/sleep.h"

static const double WINDOW = 10.0;   /* sqrt(dx / g) */
static const double MEAN_TIME = 5.0; /* sqrt(dx / g), of the running mean of speeds */

static double gravity_at(const WadiSleepStep *step)
{
    return wadi_norm(wadi_curve_value3(&step->context->world->scene->gravity, step->time));
}

double wadi_sleep_unit_time(const WadiSleepStep *step)
{
    return sqrt(step->context->world->cell_size / gravity_at(step));
}

double wadi_sleep_window(const WadiSleepStep *step)
{
    return WINDOW * wadi_sleep_unit_time(step);
}

double wadi_sleep_unit(const WadiSleepStep *step)
{
    return sqrt(gravity_at(step) * step->context->world->cell_size) * step->dt;
}

/* Whether a tile and its neighbours are slow: a particle that leaves a tile enters a neighbour. */
static bool are_neighbours_slow(const WadiTileMap *map, const uint8_t *is_slow, int32_t tile)
{
    const int32_t *neighbour = map->neighbours[tile];
    for (int n = 0; n < 27; ++n) {
        if (neighbour[n] >= 0 && is_slow[neighbour[n]] == 0) {
            return false;
        }
    }
    return true;
}

/* The latest time since when the awake tiles around a new one are slow. */
static double since_around(const WadiSleep *sleep, WadiTile tile, double time)
{
    double since = -(double)INFINITY;
    for (int n = 0; n < 27; ++n) {
        const WadiTile other = { tile.x + n % 3 - 1, tile.y + n / 3 % 3 - 1, tile.z + n / 9 - 1 };
        const size_t at = wadi_sleep_find_awake(sleep, other, 0);
        if (at < sleep->awake_count && wadi_tile_is_same(sleep->awake[at].tile, other)) {
            since = fmax(since, sleep->awake[at].since);
        }
    }
    return isfinite(since) ? since : time;
}

WadiStatus wadi_sleep_watch(WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                            const uint8_t *is_slow, const double *mean_displacement, WadiError *error)
{
    const WadiTileMap *map = &sort->tiles;
    const double unit = wadi_sleep_unit(step);
    const double weight = 1.0 - wadi_exp(-step->dt / (MEAN_TIME * wadi_sleep_unit_time(step)));
    size_t tiles = (size_t)map->count, old = 0;
    WadiAwakeTile *awake = NULL;
    WADI_TRY(WADI_ARENA_NEW(step->context->scratch, &awake, tiles, "awake tiles", error));
    for (int32_t t = 0; t < map->count; ++t) {
        WadiTile tile = map->tiles[t];
        old = wadi_sleep_find_awake(sleep, tile, old);
        bool was_there = old < sleep->awake_count && wadi_tile_is_same(sleep->awake[old].tile, tile);
        double since = was_there                      ? fmin(sleep->awake[old].since, step->time)
                       : is_slow[t] == WADI_SLOW_POOL ? since_around(sleep, tile, step->time)
                                                      : step->time;
        double now = unit > 0.0 ? mean_displacement[t] / unit : 0.0;
        double speed = was_there ? sleep->awake[old].speed : now;
        awake[t] =
            (WadiAwakeTile){ .tile = tile,
                             .speed = speed + weight * (now - speed),
                             .current_speed = now,
                             .is_slow = is_slow[t] != 0,
                             .is_weak = was_there && sleep->awake[old].is_weak,
                             .since = are_neighbours_slow(map, is_slow, t) ? since : (double)INFINITY };
    }
    WADI_TRY(wadi_array_reserve((void **)&sleep->awake, &sleep->awake_capacity, tiles, sizeof *sleep->awake,
                                "awake tiles", error));
    if (tiles > 0) {
        memcpy(sleep->awake, awake, tiles * sizeof *awake);
    }
    sleep->awake_count = tiles;
    return WADI_OK;
}
