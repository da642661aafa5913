/* Choose the particles that take part in a step, and keep the stresses of those that sleep. [theory 8.1] */
#include <string.h>

#include "flip/flip.h"
#include "flip/flip_stage.h"

WadiSleepStep wadi_flip_sleep_now(const WadiFlip *flip, const WadiFlipStep *step)
{
    return (WadiSleepStep){ .context = &flip->context, .time = step->time, .dt = step->dt };
}

/* Per tile of a memory: 1 where it or a tile beside it is in the map and flagged (NULL: all are). Cells cut
 * by a solid have pressure and lie outside the tiles of the particles. */
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
static WadiStatus store_stresses(WadiFlip *flip, const WadiTileMap *tiles, const uint8_t *falls,
                                 WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    WadiFlipSleepStresses *asleep = &flip->sleep_stresses;
    uint8_t *is_near = NULL;
    WADI_TRY(flag_near(&flip->pressure_memory, tiles, falls, &is_near, arena, error));
    WADI_TRY(
        join_pressure(&asleep->pressure, &flip->pressure_memory, is_near, &asleep->pressure, NULL, error));
    WADI_TRY(flag_near(&flip->friction_memory.stress, tiles, falls, &is_near, arena, error));
    return wadi_friction_memory_join(&asleep->friction, &flip->friction_memory, is_near, &asleep->friction,
                                     NULL, error);
}

/* Loads on the sides of the tiles that fell asleep, those with particles from `first` on. Their surroundings
 * are stored. */
static void find_loads(WadiFlip *flip, int32_t first)
{
    WadiSleep *sleep = &flip->sleep;
    const WadiTileMemory *memory = &flip->sleep_stresses.pressure;
    const double *value = memory->value;
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        WadiSleepTile *tile = &sleep->tile[t];
        for (int side = 0; side < 6 && tile->first >= first; ++side) {
            int axis = side >> 1, direction = side & 1 ? 1 : -1, border = side & 1 ? 0 : 7;
            WadiTile beyond = { tile->tile.x + (axis == 0) * direction,
                                tile->tile.y + (axis == 1) * direction,
                                tile->tile.z + (axis == 2) * direction };
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

/* Maps of the sleeping tiles with this flag. */
static WadiStatus map_tiles(const WadiSleep *sleep, const uint8_t *wakes, bool of_waking, WadiTileMap *map,
                            WadiArena *arena, WadiError *error)
{
    WadiTile *tiles = NULL;
    size_t count = 0;
    WADI_TRY(WADI_ARENA_NEW(arena, &tiles, sleep->tile_count, "sleeping tiles", error));
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        if ((wakes[t] != 0) == of_waking) {
            tiles[count++] = sleep->tile[t].tile;
        }
    }
    return wadi_tile_map_create_in_arena(map, tiles, count, arena, error);
}

/* The stresses of the tiles that wake return to the solver; those that belong to no sleeping tile any more
 * are dropped. */
static WadiStatus return_stresses(WadiFlip *flip, const uint8_t *wakes, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    WadiFlipSleepStresses *asleep = &flip->sleep_stresses;
    WadiTileMemory *pressure = &flip->pressure_memory;
    WadiFrictionMemory *friction = &flip->friction_memory;
    const WadiFlipSleepStresses none = { 0 };
    WadiTileMap waking, staying;
    uint8_t *is_near = NULL;
    WADI_TRY(map_tiles(&flip->sleep, wakes, true, &waking, arena, error));
    WADI_TRY(map_tiles(&flip->sleep, wakes, false, &staying, arena, error));

    WADI_TRY(flag_near(&asleep->pressure, &waking, NULL, &is_near, arena, error));
    WADI_TRY(join_pressure(pressure, pressure, NULL, &asleep->pressure, is_near, error));
    WADI_TRY(flag_near(&asleep->pressure, &staying, NULL, &is_near, arena, error));
    WADI_TRY(join_pressure(&asleep->pressure, &asleep->pressure, is_near, &none.pressure, NULL, error));

    WADI_TRY(flag_near(&asleep->friction.stress, &waking, NULL, &is_near, arena, error));
    WADI_TRY(wadi_friction_memory_join(friction, friction, NULL, &asleep->friction, is_near, error));
    WADI_TRY(flag_near(&asleep->friction.stress, &staying, NULL, &is_near, arena, error));
    return wadi_friction_memory_join(&asleep->friction, &asleep->friction, is_near, &none.friction, NULL,
                                     error);
}

static WadiStatus wake(WadiFlip *flip, const WadiSleepStep *now, const uint8_t *wakes, WadiError *error)
{
    WADI_TRY(return_stresses(flip, wakes, error));
    return wadi_sleep_wake(&flip->sleep, now, wakes, error);
}

/* Particles at rest have no gradient of velocity. */
static void clear_affine(const WadiFlip *flip, int32_t first)
{
    for (int n = 0; n < 9 && flip->has_affine; ++n) {
        float *c = wadi_particles_column(flip->context.particles, flip->affine.column[n]);
        memset(c + first, 0, (size_t)(flip->sleep.count - first) * sizeof *c);
    }
}

static WadiStatus fall_asleep(WadiFlip *flip, const WadiSleepStep *now, const WadiTileSort *sort,
                              const uint8_t *falls, WadiError *error)
{
    const int32_t first = flip->sleep.count;
    WADI_TRY(store_stresses(flip, &sort->tiles, falls, error));
    WADI_TRY(wadi_sleep_fall_asleep(&flip->sleep, now, sort, falls, error));
    clear_affine(flip, first);
    find_loads(flip, first);
    return WADI_OK;
}

static WadiPools pools_of(const WadiFlip *flip)
{
    return (WadiPools){ .sleep = &flip->sleep,
                        .particles = flip->context.particles,
                        .has_water = flip->materials.has_water,
                        .is_sand = flip->materials.is_sand,
                        .scratch = flip->context.scratch };
}

/* Before the sort. */
static WadiStatus wake_disturbed(WadiFlip *flip, const WadiSleepStep *now, WadiError *error)
{
    const WadiPools pools = pools_of(flip);
    uint8_t *wakes = NULL;
    WADI_TRY(wadi_sleep_find_disturbed(&flip->sleep, now, &wakes, error));
    WADI_TRY(wadi_pools_wake(&pools, NULL, &wakes, error));
    return wakes != NULL ? wake(flip, now, wakes, error) : WADI_OK;
}

/* After the sort. *is_changed: particles changed places, sort again. */
static WadiStatus wake_or_fall_asleep(WadiFlip *flip, const WadiSleepStep *now, const WadiTileSort *sort,
                                      bool *is_changed, WadiError *error)
{
    const WadiPools pools = pools_of(flip);
    WadiSleepClasses classes;
    uint8_t *wakes = NULL, *falls = NULL;
    *is_changed = false;
    if (!flip->sleep.is_on) {
        return WADI_OK;
    }
    WADI_TRY(wadi_sleep_classify(&flip->sleep, now, sort, &classes, error));
    WADI_TRY(wadi_sleep_find_reached(&flip->sleep, now, &classes, &wakes, error));
    WADI_TRY(wadi_pools_wake(&pools, &sort->tiles, &wakes, error));
    if (wakes != NULL) {
        *is_changed = true;
        return wake(flip, now, wakes, error);
    }
    wadi_flip_sleep_find_weak(&flip->sleep, now, sort, wadi_sleep_window(now));
    WADI_TRY(wadi_sleep_find_candidates(&flip->sleep, now, &classes, &falls, error));
    WADI_TRY(wadi_flip_pools_hold(&pools, now, sort, &falls, error));
    *is_changed = falls != NULL;
    return falls != NULL ? fall_asleep(flip, now, sort, falls, error) : WADI_OK;
}

/* Repeats: sorting can change which tiles are awake. */
WadiStatus wadi_flip_sort_awake(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiSolverContext *context = &flip->context;
    const WadiSleepStep now = wadi_flip_sleep_now(flip, step);
    RUN("sleep", wake_disturbed(flip, &now, error));
    wadi_flip_compressed_skip_in_sort(flip, true);
    for (bool is_changed = true; is_changed && flip->sleep.count < context->particles->count;) {
        /* This sort permutes awake particles only; tiles that wake or fall asleep move all columns. */
        wadi_flip_attributes_skip_in_sort(flip, !flip->sleep.is_on || flip->are_attributes_old);
        RUN("sort", wadi_tile_sort_from(&step->sort, context->particles, flip->sleep.count,
                                        context->world->cell_size, context->scratch, error));
        wadi_flip_attributes_skip_in_sort(flip, !flip->sleep.is_on);
        RUN("sleep", wake_or_fall_asleep(flip, &now, &step->sort, &is_changed, error));
    }
    wadi_flip_compressed_skip_in_sort(flip, false);
    wadi_sleep_end(&flip->sleep, context->particles);
    return WADI_OK;
}
