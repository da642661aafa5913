/* Where particles, pressures and stresses go when tiles fall asleep or wake. Plain: a permutation of the store from the first
 * particle concerned on and a pass over the memories of all who sleep for each change, of which there is one in five to ten
 * steps while sand is poured on a heap. */
#include <string.h>

#include "core/array.h"
#include "core/check.h"
#include "flip/sleep/flip_sleep.h"

void wadi_flip_sleep_box(const WadiFlipSort *sort, int32_t tile, int32_t low[3], int32_t high[3])
{
    unsigned x = 0, y = 0, z = 0; /* bits of the cells along each axis */
    int32_t row = sort->row_first[tile];
    for (uint64_t left = sort->row_mask[tile]; left != 0; left &= left - 1, ++row) {
        int place = __builtin_ctzll(left);
        x |= sort->lanes[row];
        y |= 1u << (place & 7);
        z |= 1u << (place >> 3);
    }
    WadiTile at = sort->tiles.tiles[tile];
    const int32_t corner[3] = { 8 * at.x, 8 * at.y, 8 * at.z };
    const unsigned bits[3] = { x, y, z };
    for (int a = 0; a < 3; ++a) {
        low[a] = corner[a] + __builtin_ctz(bits[a]);
        high[a] = corner[a] + 31 - __builtin_clz(bits[a]);
    }
}

/* Per tile of a memory: 1 where it or a tile beside it is in the map and flagged (NULL: all are). Cells cut by a solid have
 * pressure and lie outside the tiles of the particles. */
static WadiStatus flag_near(const WadiTileMemory *memory, const WadiTileMap *map, const uint8_t *flags,
                            uint8_t **is_near, WadiArena *arena, WadiError *error)
{
    WADI_TRY(WADI_ARENA_NEW(arena, is_near, memory->tile_count, "tiles of a memory", error));
    for (size_t t = 0; t < memory->tile_count; ++t) {
        const WadiTile tile = memory->tile[t];
        (*is_near)[t] = 0;
        for (int n = 0; n < 27 && (*is_near)[t] == 0; ++n) {
            int32_t at = wadi_tile_map_find(
                map, (WadiTile){ tile.x + n % 3 - 1, tile.y + n / 3 % 3 - 1, tile.z + n / 9 - 1 });
            (*is_near)[t] = at >= 0 && (flags == NULL || flags[at] != 0);
        }
    }
    return WADI_OK;
}

static WadiStatus join_pressure(WadiTileMemory *to, const WadiTileMemory *first, const uint8_t *flags_first,
                                const WadiTileMemory *second, const uint8_t *flags_second, WadiError *error)
{
    return wadi_tile_memory_join(to, &wadi_flip_pressure_kind, first, flags_first, second, flags_second, NULL,
                                 NULL, error);
}

/* The stresses of the tiles that fall asleep are stored with those of the sleeping tiles. */
static WadiStatus store_stresses(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, const WadiFlipSort *sort,
                                 const uint8_t *falls, WadiError *error)
{
    WadiArena *arena = in->context->scratch;
    uint8_t *is_near = NULL;
    WADI_TRY(flag_near(in->pressure, &sort->tiles, falls, &is_near, arena, error));
    WADI_TRY(join_pressure(&sleep->pressure, in->pressure, is_near, &sleep->pressure, NULL, error));
    WADI_TRY(flag_near(&in->friction->stress, &sort->tiles, falls, &is_near, arena, error));
    return wadi_friction_memory_join(&sleep->friction, in->friction, is_near, &sleep->friction, NULL, error);
}

/* Merge the falling tiles into the list, from its end; their particles stand behind the present sleepers, in their order. */
static void add_tiles(WadiFlipSleep *sleep, const WadiFlipSort *sort, const uint8_t *falls, size_t falling,
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
        WadiFlipSleepTile tile = { .tile = sort->tiles.tiles[t], .first = particle_end, .count = count };
        wadi_flip_sleep_box(sort, t, tile.low, tile.high);
        int32_t row = sort->row_first[t];
        for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++row) {
            tile.lanes[__builtin_ctzll(left)] = sort->lanes[row];
        }
        sleep->tile[--to] = tile;
    }
}

/* What the tiles that fell asleep, those with particles from `first` on, bear on their sides: from the memory that has just
 * got their surroundings. */
static void find_loads(WadiFlipSleep *sleep, int32_t first)
{
    const WadiTileMemory *memory = &sleep->pressure;
    const double *value = memory->value;
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        WadiFlipSleepTile *tile = &sleep->tile[t];
        for (int side = 0; side < 6 && tile->first >= first; ++side) {
            int axis = side >> 1, way = side & 1 ? 1 : -1, border = side & 1 ? 0 : 7;
            WadiTile beyond = { tile->tile.x + (axis == 0) * way, tile->tile.y + (axis == 1) * way,
                                tile->tile.z + (axis == 2) * way };
            const int64_t m = wadi_tile_memory_tile(memory, beyond);
            for (int n = 0; n < 64; ++n) {
                int lane = axis == 0 ? border : n & 7;
                int place = axis == 0 ? n : axis == 1 ? border + 8 * (n >> 3) : (n >> 3) + 8 * border;
                const int32_t row = wadi_tile_memory_row(memory, m, place);
                tile->load[side][n] = row >= 0 ? (float)(value[8 * row + lane] / memory->dt) : 0.0f;
            }
        }
    }
}

WadiStatus wadi_flip_sleep_fall(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, const WadiFlipSort *sort,
                                const uint8_t *falls, WadiError *error)
{
    WadiParticles *particles = in->context->particles;
    int32_t first = sleep->count, falling = 0, n = 0;
    WADI_ASSERT(sort->first == first);
    size_t tiles = 0;
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        tiles += falls[t] != 0;
        falling += falls[t] != 0 ? sort->tile_start[t + 1] - sort->tile_start[t] : 0;
    }
    int32_t *order = NULL;
    WADI_TRY(WADI_ARENA_NEW(in->context->scratch, &order, (size_t)(particles->count - first),
                            "order of particles", error));
    WADI_TRY(wadi_array_reserve((void **)&sleep->tile, &sleep->tile_capacity, sleep->tile_count + tiles,
                                sizeof *sleep->tile, "sleeping tiles", error));
    WADI_TRY(store_stresses(sleep, in, sort, falls, error));
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
    find_loads(sleep, first);
    return WADI_OK;
}

/* Maps of the sleeping tiles with this flag. */
static WadiStatus map_tiles(const WadiFlipSleep *sleep, const uint8_t *rises, bool of_rising,
                            WadiTileMap *map, WadiArena *arena, WadiError *error)
{
    WadiTile *tiles = NULL;
    size_t count = 0;
    WADI_TRY(WADI_ARENA_NEW(arena, &tiles, sleep->tile_count, "sleeping tiles", error));
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        if ((rises[t] != 0) == of_rising) {
            tiles[count++] = sleep->tile[t].tile;
        }
    }
    return wadi_tile_map_create_in_arena(map, tiles, count, arena, error);
}

/* The solver gets back what the rising tiles slept with; what belongs to no sleeping tile any more is forgotten. */
static WadiStatus return_stresses(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, const uint8_t *rises,
                                  WadiError *error)
{
    WadiArena *arena = in->context->scratch;
    const WadiTileMemory no_pressure = { 0 };
    const WadiFrictionMemory no_friction = { 0 };
    WadiTileMap rising, staying;
    uint8_t *is_near = NULL;
    WADI_TRY(map_tiles(sleep, rises, true, &rising, arena, error));
    WADI_TRY(map_tiles(sleep, rises, false, &staying, arena, error));

    WADI_TRY(flag_near(&sleep->pressure, &rising, NULL, &is_near, arena, error));
    WADI_TRY(join_pressure(in->pressure, in->pressure, NULL, &sleep->pressure, is_near, error));
    WADI_TRY(flag_near(&sleep->pressure, &staying, NULL, &is_near, arena, error));
    WADI_TRY(join_pressure(&sleep->pressure, &sleep->pressure, is_near, &no_pressure, NULL, error));

    WADI_TRY(flag_near(&sleep->friction.stress, &rising, NULL, &is_near, arena, error));
    WADI_TRY(wadi_friction_memory_join(in->friction, in->friction, NULL, &sleep->friction, is_near, error));
    WADI_TRY(flag_near(&sleep->friction.stress, &staying, NULL, &is_near, arena, error));
    return wadi_friction_memory_join(&sleep->friction, &sleep->friction, is_near, &no_friction, NULL, error);
}

/* Those who wake count as slow until they were seen to move, or they would wake all beside them at once. */
static WadiStatus add_awake(WadiFlipSleep *sleep, const uint8_t *rises, double since, WadiError *error)
{
    size_t rising = 0, q = 0;
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        q = wadi_flip_sleep_find_awake(sleep, sleep->tile[t].tile, q);
        bool is_there =
            q < sleep->awake_count && wadi_tile_is_same(sleep->awake[q].tile, sleep->tile[t].tile);
        rising += rises[t] != 0 && !is_there;
    }
    size_t from = sleep->awake_count, to = from + rising;
    WADI_TRY(wadi_array_reserve((void **)&sleep->awake, &sleep->awake_capacity, to, sizeof *sleep->awake,
                                "awake tiles", error));
    sleep->awake_count = to;
    for (size_t t = sleep->tile_count; t-- > 0;) {
        WadiTile tile = sleep->tile[t].tile;
        if (rises[t] == 0) {
            continue;
        }
        while (from > 0 && !wadi_tile_is_before(sleep->awake[from - 1].tile, tile)) {
            sleep->awake[--to] = sleep->awake[--from];
        }
        if (to == sleep->awake_count || !wadi_tile_is_same(sleep->awake[to].tile, tile)) {
            sleep->awake[--to] = (WadiFlipAwakeTile){ .tile = tile, .is_slow = true, .since = since };
        }
    }
    return WADI_OK;
}

WadiStatus wadi_flip_sleep_rise(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, const uint8_t *rises,
                                double since, WadiError *error)
{
    WadiParticles *particles = in->context->particles;
    WadiArena *arena = in->context->scratch;
    uint8_t *asleep = wadi_particles_column(particles, sleep->column);
    /* Those who have slept longest lie first and mostly stay. */
    int32_t first = sleep->count, n = 0;
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        first = rises[t] != 0 && sleep->tile[t].first < first ? sleep->tile[t].first : first;
    }
    int32_t *order = NULL, *place = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &order, (size_t)(particles->count - first), "order of particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &place, (size_t)(sleep->count - first), "order of particles", error));
    WADI_TRY(return_stresses(sleep, in, rises, error));
    WADI_TRY(add_awake(sleep, rises, since, error));
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        for (int32_t i = 0; i < sleep->tile[t].count && rises[t] != 0; ++i) {
            asleep[sleep->tile[t].first + i] = 0;
        }
    }
    int32_t staying = 0;
    for (int pass = 1; pass >= 0; --pass) {
        for (int32_t i = first; i < particles->count; ++i) {
            if (asleep[i] == pass) {
                if (pass == 1) {
                    place[i - first] = first + n;
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
        if (rises[t] == 0) {
            int32_t old = sleep->tile[t].first;
            sleep->tile[kept] = sleep->tile[t];
            sleep->tile[kept].first = old < first ? old : place[old - first];
            kept += 1;
        }
    }
    sleep->tile_count = kept;
    sleep->count = staying;
    return WADI_OK;
}
