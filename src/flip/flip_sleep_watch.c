/* Which tiles move too little to be seen. What counts is the way that the grid moves the particles, not their velocities: these
 * carry noise that FLIP keeps for a while and that moves nothing (in a settled pile of 90,000 particles the fastest has three
 * times the speed at which any of them moves). */
#include <math.h>
#include <string.h>

#include "core/array.h"
#include "core/parallel.h"
#include "flip/flip_sleep.h"

/* Of sqrt(g dx): what nobody in a slow tile exceeds, and the mean of its particles in a step. A tile that holds less than a
 * layer of cells counts as one: a few grains at the toe of a heap do not keep the heap awake. */
static const double SLOW = 0.5, SLOW_ON_AVERAGE = 0.03;
/* Time of the running mean, sqrt(dx / g). */
static const double MEMORY = 5.0;

enum { TILE_BLOCK = 4 };

typedef struct Watch {
    const WadiFlipSort *sort;
    const WadiParticles *particles;
    const WadiFlipPath *path;
    const WadiScene *scene;
    double slow_square; /* m^2, of the way in the step */
    double slow_mean;   /* m */
    double layer;       /* particles of a layer of cells of a tile */
    uint8_t *is_slow;   /* per tile */
    double *push;       /* m: sum of their ways over the particles of a full tile */
} Watch;

static void watch_tiles(void *context, int64_t first, int64_t end)
{
    const Watch *watch = context;
    const WadiParticles *p = watch->particles;
    const WadiFlipPath *path = watch->path;
    for (int64_t t = first; t < end; ++t) {
        double largest = 0.0, sum = 0.0;
        bool is_sand = true;
        for (int32_t i = watch->sort->tile_start[t]; i < watch->sort->tile_start[t + 1]; ++i) {
            double dx = path->x[i] - p->x[i], dy = path->y[i] - p->y[i], dz = path->z[i] - p->z[i];
            double square = dx * dx + dy * dy + dz * dz;
            largest = square > largest ? square : largest;
            sum += sqrt(square);
            is_sand = is_sand && watch->scene->materials[p->material[i]].kind == WADI_MATERIAL_SAND;
        }
        double number = watch->sort->tile_start[t + 1] - watch->sort->tile_start[t];
        watch->is_slow[t] =
            is_sand && largest < watch->slow_square && sum < watch->slow_mean * fmax(number, watch->layer);
        watch->push[t] = sum / (8.0 * watch->layer);
    }
}

/* A particle that leaves a tile goes to one beside it, where it may be before the next look. */
static bool is_quiet(const Watch *watch, int32_t tile)
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
    size_t low = from, high = sleep->awake_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (wadi_tile_is_before(sleep->awake[middle].tile, tile)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

WadiStatus wadi_flip_sleep_watch(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, const WadiFlipSort *sort,
                                 const WadiFlipPath *path, WadiError *error)
{
    if (!sleep->is_on) {
        return WADI_OK;
    }
    WadiArena *arena = in->context->scratch;
    const WadiWorld *world = in->context->world;
    double g = wadi_norm(wadi_curve_value3(&world->scene->gravity, in->time));
    double unit = sqrt(g * world->cell_size) * in->dt, per_axis = world->scene->particles_per_axis;
    size_t tiles = (size_t)sort->tiles.count;
    Watch watch = { .sort = sort,
                    .particles = in->context->particles,
                    .path = path,
                    .scene = world->scene,
                    .slow_square = SLOW * SLOW * unit * unit,
                    .slow_mean = SLOW_ON_AVERAGE * unit,
                    .layer = 64.0 * per_axis * per_axis * per_axis };
    double share = 1.0 - exp(-in->dt / (MEMORY * sqrt(world->cell_size / g)));
    WadiFlipAwakeTile *awake = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &watch.is_slow, tiles, "awake tiles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &watch.push, tiles, "awake tiles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &awake, tiles, "awake tiles", error));
    wadi_parallel_for(sort->tiles.count, TILE_BLOCK, watch_tiles, &watch);
    size_t old = 0;
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        WadiTile tile = sort->tiles.tiles[t];
        old = wadi_flip_sleep_find_awake(sleep, tile, old);
        bool was_there = old < sleep->awake_count && wadi_tile_is_same(sleep->awake[old].tile, tile);
        double since = was_there ? fmin(sleep->awake[old].since, in->time) : in->time;
        double push = unit > 0.0 ? watch.push[t] / unit : 0.0;
        double speed = was_there ? sleep->awake[old].speed : push;
        awake[t] = (WadiFlipAwakeTile){ .tile = tile,
                                        .speed = speed + share * (push - speed),
                                        .push = push,
                                        .is_slow = watch.is_slow[t] != 0,
                                        .since = is_quiet(&watch, t) ? since : (double)INFINITY };
    }
    WADI_TRY(wadi_array_reserve((void **)&sleep->awake, &sleep->awake_capacity, tiles, sizeof *sleep->awake,
                                "awake tiles", error));
    if (tiles > 0) {
        memcpy(sleep->awake, awake, tiles * sizeof *awake);
    }
    sleep->awake_count = tiles;
    return WADI_OK;
}
