/* Sand that rests steeper than its friction angle is weakened until it slides.
 *
 * A deviatoric stress along the slope lets sand at rest stand up to asin k, while sand that shears stops at
 * atan k: in between its history decides. So the steep columns of a tile that was slow for the window of
 * sleep get k' = sin(atan k), asin k' = atan k, until the tile is no longer steep. If it is still slow after
 * another window something else supports it (a wall, or [theory 6.11]), and it may sleep.
 * Source: own [theory 8.3]; the limit slopes by Mohr's circle in plane strain. */
#include <math.h>

#include "core/parallel.h"
#include "flip/sleep/flip_sleep.h"

enum { TILE_BLOCK = 4 };

typedef struct Weak {
    WadiSleep *sleep;
    const WadiSleepStep *step;
    const WadiTileSort *sort;
    double window;
} Weak;

/* A tile that was slow for the window holds sand alone or water alone. */
static bool is_sand(const WadiSleepStep *step, const WadiTileSort *sort, int32_t tile)
{
    const WadiParticles *p = step->context->particles;
    const WadiScene *scene = step->context->world->scene;
    return scene->materials[p->material[sort->tile_start[tile]]].kind == WADI_MATERIAL_SAND;
}

static void update_tiles(void *context, int64_t first, int64_t end)
{
    const Weak *weak = context;
    WadiSleep *sleep = weak->sleep;
    size_t q = 0;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        const WadiTile at = weak->sort->tiles.tiles[t];
        q = wadi_sleep_find_awake(sleep, at, q);
        if (q == sleep->awake_count || !wadi_tile_is_same(sleep->awake[q].tile, at)) {
            continue;
        }
        WadiAwakeTile *tile = &sleep->awake[q];
        const bool was_weak = tile->is_weak;
        if ((was_weak || weak->step->time - tile->since >= weak->window) &&
            is_sand(weak->step, weak->sort, t)) {
            tile->steep = wadi_flip_sleep_steep(sleep, weak->step, weak->sort, t);
            tile->is_weak = tile->steep != 0;
            tile->since = tile->is_weak && !was_weak ? weak->step->time : tile->since;
        }
    }
}

void wadi_flip_sleep_find_weak(WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                               double window)
{
    wadi_parallel_for(sort->tiles.count, TILE_BLOCK, update_tiles, &(Weak){ sleep, step, sort, window });
}

static void weaken_row(float *k, int index, int up, uint64_t steep)
{
    for (int lane = 0; lane < WADI_ROW_CELLS; ++lane) {
        const int at[3] = { lane, index & 7, index >> 3 };
        if (steep >> (at[(up + 1) % 3] + WADI_TILE_SIDE * at[(up + 2) % 3]) & 1) {
            k[lane] /= sqrtf(1.0f + k[lane] * k[lane]); /* sin(atan k) */
        }
    }
}

void wadi_flip_sleep_weaken(const WadiSleep *sleep, WadiVec3 gravity, const WadiRows *rows, float *k)
{
    const int up = wadi_flip_sleep_up(gravity);
    for (size_t q = 0; q < sleep->awake_count; ++q) {
        const WadiAwakeTile *tile = &sleep->awake[q];
        int32_t t = tile->is_weak ? wadi_tile_map_find(rows->tiles, tile->tile) : -1;
        for (int32_t r = t >= 0 ? rows->first[t] : 0; t >= 0 && r < rows->first[t + 1]; ++r) {
            weaken_row(k + WADI_ROW_CELLS * (size_t)r, rows->index_in_tile[r], up, tile->steep);
        }
    }
}
