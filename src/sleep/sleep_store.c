/* Moves the particles of tiles that fall asleep or wake within the store: a permutation from the first
 * affected particle on. It is rare, once in five to ten steps while sand is poured on a heap. */
#include <math.h>

#include "core/array.h"
#include "core/check.h"
#include "sleep/sleep.h"

/* Fraction of the window at which woken tiles start. */
static const double HEAD_START = 0.75;

void wadi_sleep_box(const WadiTileSort *sort, int32_t tile, int32_t low[3], int32_t high[3])
{
    unsigned x = 0, y = 0, z = 0; /* bits of the cells along each axis */
    int32_t row = sort->row_first[tile];
    for (uint64_t left = sort->row_mask[tile]; left != 0; left &= left - 1, ++row) {
        int index = __builtin_ctzll(left);
        x |= sort->lanes[row];
        y |= 1u << (index & 7);
        z |= 1u << (index >> 3);
    }
    WadiTile at = sort->tiles.tiles[tile];
    const int32_t corner[3] = { 8 * at.x, 8 * at.y, 8 * at.z };
    const unsigned bits[3] = { x, y, z };
    for (int a = 0; a < 3; ++a) {
        low[a] = corner[a] + __builtin_ctz(bits[a]);
        high[a] = corner[a] + 31 - __builtin_clz(bits[a]);
    }
}

/* Merge the tiles that fall asleep into the sorted list, from its end; their particles follow the sleeping
 * ones, in the same order. */
static void add_tiles(WadiSleep *sleep, const WadiTileSort *sort, const uint8_t *falls, size_t falling,
                      int32_t particle_end)
{
    size_t to = sleep->tile_count + falling, from = sleep->tile_count;
    sleep->tile_count = to;
    for (int32_t t = sort->tiles.count - 1; t >= 0; --t) {
        if (falls[t] == 0) {
            continue;
        }
        while (from > 0 && wadi_tile_is_before(sort->tiles.tiles[t], sleep->tile[from - 1].tile)) {
            sleep->tile[--to] = sleep->tile[--from];
        }
        int32_t count = sort->tile_start[t + 1] - sort->tile_start[t];
        particle_end -= count;
        WadiSleepTile tile = { .tile = sort->tiles.tiles[t], .first = particle_end, .count = count };
        wadi_sleep_box(sort, t, tile.low, tile.high);
        int32_t row = sort->row_first[t];
        for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++row) {
            tile.lanes[__builtin_ctzll(left)] = sort->lanes[row];
        }
        sleep->tile[--to] = tile;
    }
}

/* Remove tiles that fall asleep from the list of awake ones. */
static void remove_awake(WadiSleep *sleep, const WadiTileSort *sort, const uint8_t *falls)
{
    size_t kept = 0;
    for (size_t q = 0; q < sleep->awake_count; ++q) {
        int32_t t = wadi_tile_map_find(&sort->tiles, sleep->awake[q].tile);
        if (t < 0 || falls[t] == 0) {
            sleep->awake[kept++] = sleep->awake[q];
        }
    }
    sleep->awake_count = kept;
}

WadiStatus wadi_sleep_fall_asleep(WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                                  const uint8_t *falls, WadiError *error)
{
    WadiParticles *particles = step->context->particles;
    int32_t first = sleep->count, falling = 0, n = 0;
    WADI_ASSERT(sort->first == first);
    size_t tiles = 0;
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        tiles += falls[t] != 0;
        falling += falls[t] != 0 ? sort->tile_start[t + 1] - sort->tile_start[t] : 0;
    }
    int32_t *order = NULL;
    WADI_TRY(WADI_ARENA_NEW(step->context->scratch, &order, (size_t)(particles->count - first),
                            "order of particles", error));
    WADI_TRY(wadi_array_reserve((void **)&sleep->tile, &sleep->tile_capacity, sleep->tile_count + tiles,
                                sizeof *sleep->tile, "sleeping tiles", error));
    for (int pass = 1; pass >= 0; --pass) {
        for (int32_t t = 0; t < sort->tiles.count; ++t) {
            for (int32_t i = sort->tile_start[t]; (falls[t] != 0) == pass && i < sort->tile_start[t + 1];
                 ++i) {
                order[n++] = i - first;
            }
        }
    }
    WADI_TRY(wadi_particles_permute_from(particles, first, order, error));
    uint8_t *asleep = wadi_particles_column(particles, sleep->column);
    for (int32_t i = first; i < first + falling; ++i) {
        particles->vx[i] = particles->vy[i] = particles->vz[i] = 0.0f;
        asleep[i] = 1;
    }
    add_tiles(sleep, sort, falls, tiles, first + falling);
    sleep->count = first + falling;
    remove_awake(sleep, sort, falls);
    return WADI_OK;
}

/* Woken tiles count as slow until they move: otherwise they would wake all their neighbours at once. */
static WadiStatus add_awake(WadiSleep *sleep, const uint8_t *wakes, double since, WadiError *error)
{
    size_t waking = 0, q = 0;
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        q = wadi_sleep_find_awake(sleep, sleep->tile[t].tile, q);
        bool is_there =
            q < sleep->awake_count && wadi_tile_is_same(sleep->awake[q].tile, sleep->tile[t].tile);
        waking += wakes[t] != 0 && !is_there;
    }
    size_t from = sleep->awake_count, to = from + waking;
    WADI_TRY(wadi_array_reserve((void **)&sleep->awake, &sleep->awake_capacity, to, sizeof *sleep->awake,
                                "awake tiles", error));
    sleep->awake_count = to;
    for (size_t t = sleep->tile_count; t-- > 0;) {
        WadiTile tile = sleep->tile[t].tile;
        if (wakes[t] == 0) {
            continue;
        }
        while (from > 0 && !wadi_tile_is_before(sleep->awake[from - 1].tile, tile)) {
            sleep->awake[--to] = sleep->awake[--from];
        }
        if (to == sleep->awake_count || !wadi_tile_is_same(sleep->awake[to].tile, tile)) {
            sleep->awake[--to] = (WadiAwakeTile){ .tile = tile, .is_slow = true, .since = since };
        }
    }
    return WADI_OK;
}

WadiStatus wadi_sleep_wake(WadiSleep *sleep, const WadiSleepStep *step, const uint8_t *wakes,
                           WadiError *error)
{
    const double window = wadi_sleep_window(step);
    const double since = isfinite(window) ? step->time - HEAD_START * window : step->time;
    WadiParticles *particles = step->context->particles;
    WadiArena *arena = step->context->scratch;
    uint8_t *asleep = wadi_particles_column(particles, sleep->column);
    /* Tiles that have slept longest lie first and mostly stay. */
    int32_t first = sleep->count, n = 0;
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        first = wakes[t] != 0 && sleep->tile[t].first < first ? sleep->tile[t].first : first;
    }
    int32_t *order = NULL, *new_index = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &order, (size_t)(particles->count - first), "order of particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &new_index, (size_t)(sleep->count - first), "order of particles", error));
    WADI_TRY(add_awake(sleep, wakes, since, error));
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        for (int32_t i = 0; i < sleep->tile[t].count && wakes[t] != 0; ++i) {
            asleep[sleep->tile[t].first + i] = 0;
        }
    }
    int32_t staying = 0;
    for (int pass = 1; pass >= 0; --pass) {
        for (int32_t i = first; i < particles->count; ++i) {
            if (asleep[i] == pass) {
                if (pass == 1) {
                    new_index[i - first] = first + n;
                }
                order[n++] = i - first;
            }
        }
        staying = pass == 1 ? first + n : staying;
    }
    WADI_TRY(wadi_particles_permute_from(particles, first, order, error));
    for (int32_t i = first; i < particles->count; ++i) {
        asleep[i] = i < staying;
    }
    size_t kept = 0;
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        if (wakes[t] == 0) {
            int32_t old = sleep->tile[t].first;
            sleep->tile[kept] = sleep->tile[t];
            sleep->tile[kept].first = old < first ? old : new_index[old - first];
            kept += 1;
        }
    }
    sleep->tile_count = kept;
    sleep->count = staying;
    return WADI_OK;
}
