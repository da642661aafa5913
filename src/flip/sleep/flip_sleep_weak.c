/* Sand at rest does not stand steeper than its friction angle: where it does it is weakened until it slides.
 *
 * The yield law sigma_bar <= k p bounds the shear by the mean pressure, and p is not the pressure across the slope: with a
 * deviatoric stress s along the slope that is p - s, and the shear may be sqrt(k^2 p^2 - s^2). Sand that shears on a slope has
 * s = 0 and stops at atan k. Sand that was laid down may have any; s = k^2 p holds most, tan(slope) = k / sqrt(1 - k^2), a slope of
 * asin k: 21.3, 35.3, 44.4 and 57 degrees for 20, 30, 35 and 40. Between the two the history decides whether a flank stands, and
 * poured heaps of 40 degrees were left at 40 to 45, one side of a heap at 41 and another at 46.
 *
 * So where a tile has been slow for the window of sleep and is steep (flip_sleep_slope.c), the sand under its steep columns gets
 * the slope k' = sin(atan k), asin k' = atan k: no stress that it admits holds it above its friction angle. It has its strength
 * back when the tile is no longer steep. What is weak and yet slow for a window more is borne by something else, a wall or
 * the strength of stairs, and may sleep.
 * Source: own; the limit slopes by Mohr's circle in plane strain. */
#include <math.h>

#include "core/parallel.h"
#include "flip/sleep/flip_sleep.h"

enum { TILE_BLOCK = 4 };

typedef struct Weak {
    WadiSleep *sleep;
    const WadiSleepStep *step;
    const WadiFlipSort *sort;
    double window;
} Weak;

static void look_at_tiles(void *context, int64_t first, int64_t end)
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
        if (was_weak || weak->step->time - tile->since >= weak->window) {
            tile->steep = wadi_flip_sleep_steep(sleep, weak->step, weak->sort, t);
            tile->is_weak = tile->steep != 0;
            tile->since = tile->is_weak && !was_weak ? weak->step->time : tile->since;
        }
    }
}

void wadi_flip_sleep_find_weak(WadiSleep *sleep, const WadiSleepStep *step, const WadiFlipSort *sort,
                               double window)
{
    wadi_parallel_for(sort->tiles.count, TILE_BLOCK, look_at_tiles, &(Weak){ sleep, step, sort, window });
}

static void weaken_row(float *k, int place, int up, uint64_t steep)
{
    for (int lane = 0; lane < WADI_ROW_CELLS; ++lane) {
        const int at[3] = { lane, place & 7, place >> 3 };
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
