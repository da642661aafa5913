/* Which tiles move too little to be seen. What counts is the way that the grid moves the particles, not their velocities: these
 * carry noise that FLIP keeps for a while and that moves nothing (in a settled pile of 90,000 particles the fastest has three
 * times the speed at which any of them moves). */
#include <math.h>
#include <string.h>

#include "core/array.h"
#include "core/parallel.h"
#include "flip/sleep/flip_sleep.h"

/* Of sqrt(g dx): what nobody in a slow tile exceeds, and the mean of its particles in a step. A tile that holds less than a
 * layer of cells counts as one: a few grains at the toe of a heap do not keep the heap awake. */
static const double SLOW = 0.5, SLOW_ON_AVERAGE = 0.03;
/* Time of the running mean, sqrt(dx / g). */
static const double MEMORY = 5.0;

static bool are_all_sand(const WadiFlipWatch *watch, int32_t first, int32_t end)
{
    const WadiScene *scene = watch->scene;
    for (int32_t i = first; i < end && scene->material_count > 1; ++i) {
        if (scene->materials[watch->particles->material[i]].kind != WADI_MATERIAL_SAND) {
            return false;
        }
    }
    return true;
}

void wadi_flip_watch_part(const WadiFlipWatch *watch, const WadiFlipPath *path, int32_t first, int32_t end,
                          WadiFlipDisplacements *displacements)
{
    const WadiParticles *p = watch->particles;
    double largest = displacements->largest, sum = displacements->sum;
    for (int32_t i = first; i < end; ++i) {
        int32_t n = i - path->first;
        double dx = path->x[n] - p->x[i], dy = path->y[n] - p->y[i], dz = path->z[n] - p->z[i];
        double square = dx * dx + dy * dy + dz * dz;
        largest = square > largest ? square : largest;
        sum += sqrt(square);
    }
    displacements->largest = largest;
    displacements->sum = sum;
    displacements->has_others = displacements->has_others || !are_all_sand(watch, first, end);
}

void wadi_flip_watch_tile(const WadiFlipWatch *watch, int32_t tile,
                          const WadiFlipDisplacements *displacements)
{
    double number = watch->sort->tile_start[tile + 1] - watch->sort->tile_start[tile];
    watch->is_slow[tile] = !displacements->has_others && displacements->largest < watch->slow_square &&
                           displacements->sum < watch->slow_mean * fmax(number, watch->layer);
    watch->push[tile] = displacements->sum / (8.0 * watch->layer);
}

typedef struct WatchPaths {
    const WadiFlipWatch *watch;
    const WadiFlipPath *path;
} WatchPaths;

static void watch_tiles(void *user, int64_t first, int64_t end)
{
    const WatchPaths *all = user;
    const int32_t *start = all->watch->sort->tile_start;
    for (int32_t tile = (int32_t)first; tile < end; ++tile) {
        WadiFlipDisplacements displacements = { 0 };
        wadi_flip_watch_part(all->watch, all->path, start[tile], start[tile + 1], &displacements);
        wadi_flip_watch_tile(all->watch, tile, &displacements);
    }
}

void wadi_flip_watch_paths(const WadiFlipWatch *watch, const WadiFlipPath *path)
{
    WatchPaths all = { watch, path };
    wadi_parallel_for(watch->sort->tiles.count, 2, watch_tiles, &all);
}

/* A particle that leaves a tile goes to one beside it, where it may be before the next look. */
static bool is_quiet(const WadiFlipWatch *watch, int32_t tile)
{
    const int32_t *beside = watch->sort->tiles.neighbours[tile];
    for (int n = 0; n < 27; ++n) {
        if (beside[n] >= 0 && watch->is_slow[beside[n]] == 0) {
            return false;
        }
    }
    return true;
}

size_t wadi_flip_sleep_find_awake(const WadiFlipSleep *sleep, WadiTile tile, size_t from)
{
    return wadi_tile_search(sleep->awake, sizeof *sleep->awake, from, sleep->awake_count, tile);
}

/* What a particle goes in the step at sqrt(g dx), m. */
static double unit_of(const WadiFlipSleepIn *in)
{
    const WadiWorld *world = in->context->world;
    double g = wadi_norm(wadi_curve_value3(&world->scene->gravity, in->time));
    return sqrt(g * world->cell_size) * in->dt;
}

WadiStatus wadi_flip_watch_begin(WadiFlipWatch *watch, const WadiFlipSleepIn *in, const WadiFlipSort *sort,
                                 WadiError *error)
{
    WadiArena *arena = in->context->scratch;
    const WadiScene *scene = in->context->world->scene;
    double unit = unit_of(in), per_axis = scene->particles_per_axis;
    size_t tiles = (size_t)sort->tiles.count;
    *watch = (WadiFlipWatch){ .sort = sort,
                              .particles = in->context->particles,
                              .scene = scene,
                              .slow_square = SLOW * SLOW * unit * unit,
                              .slow_mean = SLOW_ON_AVERAGE * unit,
                              .layer = 64.0 * per_axis * per_axis * per_axis };
    WADI_TRY(WADI_ARENA_NEW(arena, &watch->is_slow, tiles, "awake tiles", error));
    return WADI_ARENA_NEW(arena, &watch->push, tiles, "awake tiles", error);
}

WadiStatus wadi_flip_sleep_watch(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, const WadiFlipWatch *watch,
                                 WadiError *error)
{
    const WadiWorld *world = in->context->world;
    const WadiTileMap *map = &watch->sort->tiles;
    double g = wadi_norm(wadi_curve_value3(&world->scene->gravity, in->time)), unit = unit_of(in);
    double share = 1.0 - exp(-in->dt / (MEMORY * sqrt(world->cell_size / g)));
    size_t tiles = (size_t)map->count, old = 0;
    WadiFlipAwakeTile *awake = NULL;
    WADI_TRY(WADI_ARENA_NEW(in->context->scratch, &awake, tiles, "awake tiles", error));
    for (int32_t t = 0; t < map->count; ++t) {
        WadiTile tile = map->tiles[t];
        old = wadi_flip_sleep_find_awake(sleep, tile, old);
        bool was_there = old < sleep->awake_count && wadi_tile_is_same(sleep->awake[old].tile, tile);
        double since = was_there ? fmin(sleep->awake[old].since, in->time) : in->time;
        double push = unit > 0.0 ? watch->push[t] / unit : 0.0;
        double speed = was_there ? sleep->awake[old].speed : push;
        awake[t] = (WadiFlipAwakeTile){ .tile = tile,
                                        .speed = speed + share * (push - speed),
                                        .push = push,
                                        .is_slow = watch->is_slow[t] != 0,
                                        .is_weak = was_there && sleep->awake[old].is_weak,
                                        .since = is_quiet(watch, t) ? since : (double)INFINITY };
    }
    WADI_TRY(wadi_array_reserve((void **)&sleep->awake, &sleep->awake_capacity, tiles, sizeof *sleep->awake,
                                "awake tiles", error));
    if (tiles > 0) {
        memcpy(sleep->awake, awake, tiles * sizeof *awake);
    }
    sleep->awake_count = tiles;
    return WADI_OK;
}
