/* Which tiles move too little to be seen. What counts is the way that the grid moves the particles, not their velocities: these
 * carry noise that FLIP keeps for a while and that moves nothing (in a settled pile of 90,000 particles the fastest has three
 * times the speed at which any of them moves). */
#include <math.h>
#include <string.h>

#include "core/array.h"
#include "core/parallel.h"
#include "flip/flip_sleep.h"

static const double SLOW = 0.1; /* sqrt(g dx) */

enum { TILE_BLOCK = 4 };

typedef struct Watch {
    const WadiFlipSort *sort;
    const WadiParticles *particles;
    const WadiFlipPath *path;
    const WadiScene *scene;
    double slow_square; /* m^2, of the way in the step */
    uint8_t *is_slow;   /* per tile */
    double *way;        /* m, sum over its particles */
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
        watch->is_slow[t] = is_sand && largest < watch->slow_square;
        watch->way[t] = sum;
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

size_t wadi_flip_sleep_find_slow(const WadiFlipSleep *sleep, WadiTile tile, size_t from)
{
    while (from < sleep->slow_count && wadi_tile_is_before(sleep->slow[from].tile, tile)) {
        ++from;
    }
    return from;
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
    double slow_way = SLOW * sqrt(g * world->cell_size) * in->dt;
    size_t tiles = (size_t)sort->tiles.count, count = 0;
    Watch watch = { .sort = sort,
                    .particles = in->context->particles,
                    .path = path,
                    .scene = world->scene,
                    .slow_square = slow_way * slow_way };
    WadiFlipSlowTile *slow = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &watch.is_slow, tiles, "slow tiles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &watch.way, tiles, "slow tiles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &slow, tiles, "slow tiles", error));
    wadi_parallel_for(sort->tiles.count, TILE_BLOCK, watch_tiles, &watch);
    size_t old = 0;
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        WadiTile tile = sort->tiles.tiles[t];
        if (watch.is_slow[t] == 0) {
            continue;
        }
        old = wadi_flip_sleep_find_slow(sleep, tile, old);
        bool was_slow = old < sleep->slow_count && wadi_tile_is_same(sleep->slow[old].tile, tile);
        double since = was_slow ? fmin(sleep->slow[old].since, in->time) : in->time;
        slow[count++] = (WadiFlipSlowTile){ .tile = tile,
                                            .since = is_quiet(&watch, t) ? since : (double)INFINITY,
                                            .speed = watch.way[t] / in->dt };
    }
    WADI_TRY(wadi_array_reserve((void **)&sleep->slow, &sleep->slow_capacity, tiles, sizeof *sleep->slow,
                                "slow tiles", error));
    if (count > 0) {
        memcpy(sleep->slow, slow, count * sizeof *slow);
    }
    sleep->slow_count = count;
    return WADI_OK;
}
