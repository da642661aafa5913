/* Which tiles are slow, by the displacements that the grid gives the particles: FLIP velocities carry noise
 * that moves nothing [theory 8.1]. */
#include <math.h>

#include "core/parallel.h"
#include "flip/sleep/flip_sleep.h"

/* Bounds of the largest and the mean speed in a slow tile, in sqrt(g dx). The mean is over a full layer of
 * cells at least, so that a few grains at the toe of a heap do not prevent its sleep. */
static const double SLOW = 0.5, SLOW_MEAN = 0.03;

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
    double count = watch->sort->tile_start[tile + 1] - watch->sort->tile_start[tile];
    watch->is_slow[tile] = !displacements->has_others && displacements->largest < watch->slow_square &&
                           displacements->sum < watch->slow_mean * fmax(count, watch->layer);
    watch->mean_displacement[tile] = displacements->sum / (8.0 * watch->layer);
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

WadiStatus wadi_flip_watch_begin(WadiFlipWatch *watch, const WadiSleepStep *step, const WadiTileSort *sort,
                                 WadiError *error)
{
    WadiArena *arena = step->context->scratch;
    const WadiScene *scene = step->context->world->scene;
    double unit = wadi_sleep_unit(step), per_axis = scene->particles_per_axis;
    size_t tiles = (size_t)sort->tiles.count;
    *watch = (WadiFlipWatch){ .sort = sort,
                              .particles = step->context->particles,
                              .scene = scene,
                              .slow_square = SLOW * SLOW * unit * unit,
                              .slow_mean = SLOW_MEAN * unit,
                              .layer = 64.0 * per_axis * per_axis * per_axis };
    WADI_TRY(WADI_ARENA_NEW(arena, &watch->is_slow, tiles, "awake tiles", error));
    return WADI_ARENA_NEW(arena, &watch->mean_displacement, tiles, "awake tiles", error);
}
