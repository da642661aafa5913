/* Which tiles are slow, by the displacements that the grid gives the particles: FLIP velocities carry noise
 * that moves nothing [theory 8.1]. */
#include <math.h>

#include "core/parallel.h"
#include "flip/sleep/flip_sleep.h"

/* Bounds of the largest and the mean speed in a slow tile, in sqrt(g dx). The mean is over a full layer of
 * cells at least, so that a few grains at the toe of a heap do not prevent its sleep. */
static const double SLOW = 0.5, SLOW_MEAN = 0.03;

/* Particles after which a tile of a scene without sand is left when it has been found fast. */
enum { CHUNK = 64 };

static uint8_t flags_of(const WadiFlipWatch *watch, int32_t first, int32_t end)
{
    const uint8_t *material = watch->particles->material;
    uint8_t flags = first < end ? watch->pools.of_material[material[first]] : 0;
    for (int32_t i = first + 1; i < end && watch->scene->material_count > 1; ++i) {
        flags |= watch->pools.of_material[material[i]];
    }
    return flags;
}

void wadi_flip_watch_part(const WadiFlipWatch *watch, const WadiFlipPath *path, int32_t first, int32_t end,
                          WadiFlipDisplacements *displacements)
{
    const WadiParticles *p = watch->particles;
    double largest = displacements->largest, sum = displacements->sum;
    displacements->flags |= flags_of(watch, first, end);
    for (int32_t i = first; i < end && !(watch->is_water_only && largest >= watch->pools.slow_square);) {
        const int32_t next = end - i < CHUNK ? end : i + CHUNK;
        for (; i < next; ++i) {
            int32_t n = i - path->first;
            double dx = path->x[n] - p->x[i], dy = path->y[n] - p->y[i], dz = path->z[n] - p->z[i];
            double square = dx * dx + dy * dy + dz * dz;
            largest = square > largest ? square : largest;
            sum += sqrt(square);
        }
    }
    displacements->largest = largest;
    displacements->sum = sum;
}

void wadi_flip_watch_tile(const WadiFlipWatch *watch, int32_t tile,
                          const WadiFlipDisplacements *displacements)
{
    double count = watch->sort->tile_start[tile + 1] - watch->sort->tile_start[tile];
    const bool is_sand = (displacements->flags & WADI_POOL_WATER) == 0;
    watch->is_slow[tile] = is_sand && displacements->largest < watch->slow_square &&
                           displacements->sum < watch->slow_mean * fmax(count, watch->layer);
    watch->mean_displacement[tile] = displacements->sum / (8.0 * watch->layer);
    watch->pools.flags[tile] = wadi_flip_pools_flags(&watch->pools, displacements, count, watch->layer);
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
                                 const WadiMaterials *materials, WadiError *error)
{
    WadiArena *arena = step->context->scratch;
    const WadiScene *scene = step->context->world->scene;
    double unit = wadi_sleep_unit(step), per_axis = scene->particles_per_axis;
    size_t tiles = (size_t)sort->tiles.count;
    *watch = (WadiFlipWatch){ .sort = sort,
                              .particles = step->context->particles,
                              .scene = scene,
                              .is_water_only = !materials->has_sand,
                              .slow_square = SLOW * SLOW * unit * unit,
                              .slow_mean = SLOW_MEAN * unit,
                              .layer = 64.0 * per_axis * per_axis * per_axis };
    wadi_flip_pools_begin(&watch->pools, step);
    WADI_TRY(WADI_ARENA_NEW(arena, &watch->pools.flags, tiles, "awake tiles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &watch->is_slow, tiles, "awake tiles", error));
    return WADI_ARENA_NEW(arena, &watch->mean_displacement, tiles, "awake tiles", error);
}
