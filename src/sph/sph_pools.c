/* Which pools (sleep/sleep_pools.h) are slow. [theory 11.8] */
#include <math.h>

#include "core/parallel.h"
#include "sph/sph.h"

enum { TILE_BLOCK = 2 };

/* Bounds of the largest and the mean speed in a tile of a pool at rest, in sqrt(g dx). A wave with this mean
 * is lower than a tenth of a spacing. */
static const double LARGEST = 0.5, MEAN = 0.03;
/* Spacings of head: below it both grow with the root. The pressure there shakes particles by as much as it
 * is stiff: they move faster, and no farther. */
static const double DEEP = 8.0;
/* So many particles more at rest count in the mean of a tile: in one with few of them a single move is not a
 * wave. */
static const double MORE = 16.0;

typedef struct Pools {
    const WadiSphStep *step;
    double largest, mean; /* m/s */
    double per_head;      /* P of a spacing of head, m/s */
    uint8_t *flags;       /* per tile of the awake */
} Pools;

static void survey_tiles(void *context, int64_t first, int64_t end)
{
    const Pools *pools = context;
    const WadiSphStep *step = pools->step;
    for (int64_t t = first; t < end; ++t) {
        const int32_t at = wadi_tile_map_find(&step->sort.tiles, step->awake_sort.tiles.tiles[t]);
        const int32_t from = step->sort.tile_start[at], to = step->sort.tile_start[at + 1];
        double largest = 0.0, sum = 0.0, pressure = 0.0;
        uint8_t flags = 0;
        for (int32_t i = from - step->sort.first; i < to - step->sort.first; ++i) {
            const WadiF4 v = step->velocity[i];
            const double speed = sqrt((double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
            largest = fmax(largest, speed);
            sum += speed;
            pressure += (double)step->pressure[i];
            flags |= step->is_sand[i] ? WADI_POOL_OTHERS : WADI_POOL_WATER;
        }
        const double head = pressure / (pools->per_head * fmax(1.0, to - from));
        const double share = sqrt(fmax(1.0, head / DEEP));
        const bool is_fast =
            largest > pools->largest * share || sum > pools->mean * share * (MORE + to - from);
        pools->flags[t] = (uint8_t)(flags | (is_fast ? WADI_POOL_FAST : 0));
    }
}

/* Tiles of bodies with water are slow where the whole body is water and slow; then they count as still. */
WadiStatus wadi_sph_watch_pools(const WadiSph *sph, const WadiSphStep *step, uint8_t *is_slow, double *push,
                                WadiError *error)
{
    const WadiTileMap *tiles = &step->awake_sort.tiles;
    WadiArena *arena = sph->context.scratch;
    const double unit = sph->spacing / sph->unit_time;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Pools pools = { .step = step,
                    .largest = LARGEST * unit,
                    .mean = MEAN * unit,
                    .per_head = step->dt * unit / sph->unit_time };
    if (!sph->materials.has_water) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &pools.flags, (size_t)tiles->count, "pools", error));
    wadi_parallel_for(tiles->count, TILE_BLOCK, survey_tiles, &pools);
    WADI_TRY(wadi_pools_join(tiles, pools.flags, arena, error));
    for (int32_t t = 0; t < tiles->count; ++t) {
        const uint8_t flags = pools.flags[t];
        if ((flags & WADI_POOL_WATER) != 0) {
            is_slow[t] = flags == WADI_POOL_WATER;
            push[t] = flags == WADI_POOL_WATER ? 0.0 : push[t];
        }
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

WadiPools wadi_sph_pools(const WadiSph *sph)
{
    return (WadiPools){ .sleep = &sph->sleep,
                        .particles = sph->context.particles,
                        .has_water = sph->materials.has_water,
                        .is_sand = sph->materials.is_sand,
                        .scratch = sph->context.scratch };
}
