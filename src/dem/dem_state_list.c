/* The list in a checkpoint: pairs of grains and walls with their springs, by the numbers of the list. Those
 * of sleeping grains come first: their rows are empty in the list. */
#include <math.h>
#include <string.h>

#include "core/array.h"
#include "dem/dem_stage.h"
#include "dem/list/dem_list_state.h"

enum { WALL_VALUES = 18 }; /* spring, normal and distance, sampled displacement, velocity */

/* Contacts of sleeping grains. */
static void save_sleeping(const WadiDemSprings *sleeping, WadiDemSavedPairs *to)
{
    for (int32_t i = 0; i < sleeping->count; ++i) {
        for (int32_t n = sleeping->start[i]; n < sleeping->start[i + 1];
             ++n, ++to->count, ++to->contact_count) {
            if (to->grains != NULL) {
                to->grains[2 * to->count] = (uint32_t)i;
                to->grains[2 * to->count + 1] = (uint32_t)sleeping->other[n];
                to->state[to->count] = WADI_DEM_PAIR_NEAR | WADI_DEM_PAIR_TOUCHES;
                memcpy(to->spring + WADI_DEM_SPRING_VALUES * to->contact_count, &sleeping->spring[n],
                       sizeof sleeping->spring[n]);
                if (to->offset != NULL) {
                    memset(to->offset + 3 * to->count, 0, 3 * sizeof *to->offset);
                }
            }
        }
    }
}

static WadiStatus save_pairs(const WadiDem *dem, bool has_all, WadiState *state, WadiError *error)
{
    WadiDemSavedPairs all = { 0 }, to = { 0 };
    save_sleeping(&dem->sleeping.springs, &all);
    wadi_dem_list_save(&dem->list.pairs, has_all, &all);
    WADI_TRY(wadi_state_add(state, "dem_pairs", WADI_TYPE_U32, 2, all.count, (void **)&to.grains, error));
    WADI_TRY(wadi_state_add(state, "dem_pair_state", WADI_TYPE_U8, 1, all.count, (void **)&to.state, error));
    WADI_TRY(wadi_state_add(state, "dem_springs", WADI_TYPE_F32, WADI_DEM_SPRING_VALUES, all.contact_count,
                            (void **)&to.spring, error));
    if (has_all) {
        WADI_TRY(
            wadi_state_add(state, "dem_offsets", WADI_TYPE_F32, 3, all.count, (void **)&to.offset, error));
    }
    if (all.count > 0) {
        save_sleeping(&dem->sleeping.springs, &to);
        wadi_dem_list_save(&dem->list.pairs, has_all, &to);
    }
    return WADI_OK;
}

static size_t put_walls(const WadiDemWall *walls, size_t count, bool has_all, int32_t *of, float *value)
{
    size_t n = 0;
    for (size_t w = 0; w < count; ++w) {
        const WadiDemWall *wall = &walls[w];
        if (wall->touches == 0 && !has_all) {
            continue;
        }
        if (of != NULL) {
            float *to = value + WALL_VALUES * n;
            of[3 * n] = wall->grain, of[3 * n + 1] = wall->solid, of[3 * n + 2] = wall->touches;
            memcpy(to, &wall->spring, 8 * sizeof *to);
            memcpy(to + 8, &wall->normal, 4 * sizeof *to);
            memcpy(to + 12, &wall->sampled, 3 * sizeof *to);
            memcpy(to + 15, wall->velocity, 3 * sizeof *to);
        }
        ++n;
    }
    return n;
}

static WadiStatus save_walls(const WadiDem *dem, bool has_all, WadiState *state, WadiError *error)
{
    const WadiDemSleepingContacts *sleeping = &dem->sleeping;
    const WadiDemWalls *walls = &dem->walls;
    const size_t asleep = put_walls(sleeping->wall, sleeping->wall_count, false, NULL, NULL);
    const size_t count = asleep + put_walls(walls->wall, walls->count, has_all, NULL, NULL);
    int32_t *of = NULL;
    float *value = NULL;
    WADI_TRY(wadi_state_add(state, "dem_walls", WADI_TYPE_I32, 3, count, (void **)&of, error));
    WADI_TRY(
        wadi_state_add(state, "dem_wall_values", WADI_TYPE_F32, WALL_VALUES, count, (void **)&value, error));
    if (count > 0) {
        put_walls(sleeping->wall, sleeping->wall_count, false, of, value);
        put_walls(walls->wall, walls->count, has_all, of + 3 * asleep, value + WALL_VALUES * asleep);
    }
    return WADI_OK;
}

WadiStatus wadi_dem_save_list(const WadiDem *dem, bool has_all, WadiState *state, WadiError *error)
{
    WADI_TRY(save_pairs(dem, has_all, state, error));
    return save_walls(dem, has_all, state, error);
}

/* Owners rise; sleeping grains touch sleeping grains; only near pairs touch. *contacts: pairs that touch;
 * *asleep: pairs of sleeping grains. */
static WadiStatus check_pairs(const WadiStateArray *pairs, const WadiStateArray *state, int32_t first,
                              int32_t count, size_t *contacts, size_t *asleep, WadiError *error)
{
    const uint32_t *grain = pairs->data;
    const uint8_t *bits = state->data;
    const uint8_t both = WADI_DEM_PAIR_NEAR | WADI_DEM_PAIR_TOUCHES;
    *contacts = *asleep = 0;
    for (size_t n = 0; n < pairs->count; ++n) {
        const uint32_t a = grain[2 * n], b = grain[2 * n + 1];
        const bool is_asleep = a < (uint32_t)first;
        if (a >= (uint32_t)count || b >= (uint32_t)(is_asleep ? first : count) || a == b) {
            return wadi_state_fail(error, pairs, n, "%u and %u are no pair of %d grains, %d of them asleep",
                                   a, b, count, first);
        }
        if (n > 0 && a < grain[2 * n - 2]) {
            return wadi_state_fail(error, pairs, n, "grain %u comes after grain %u", a, grain[2 * n - 2]);
        }
        if ((is_asleep && bits[n] != both) || bits[n] > both || bits[n] == WADI_DEM_PAIR_TOUCHES) {
            return wadi_state_fail(error, state, n, "%d is no state of a pair", bits[n]);
        }
        *contacts += bits[n] == both;
        *asleep += is_asleep;
    }
    return WADI_OK;
}

#define RENEW(pointer, capacity, count)                                                                      \
    wadi_array_renew((void **)&(pointer), &(capacity), (size_t)(count), sizeof *(pointer),                   \
                     "contacts of sleeping grains", error)

static WadiStatus load_sleeping(WadiDemSleepingContacts *sleeping, int32_t first,
                                const WadiDemSavedPairs *from, WadiError *error)
{
    WadiDemSprings *to = &sleeping->springs;
    WADI_TRY(RENEW(to->start, sleeping->start_capacity, first + 2));
    WADI_TRY(RENEW(to->other, sleeping->other_capacity, from->count));
    WADI_TRY(RENEW(to->spring, sleeping->spring_capacity, from->count));
    to->count = first;
    int32_t n = 0;
    for (int32_t i = 0; i < first + 2; ++i) {
        to->start[i] = n;
        for (; i < first && (size_t)n < from->count && from->grains[2 * n] == (uint32_t)i; ++n) {
            to->other[n] = (int32_t)from->grains[2 * n + 1];
            memcpy(&to->spring[n], from->spring + WADI_DEM_SPRING_VALUES * (size_t)n, sizeof to->spring[n]);
        }
    }
    return WADI_OK;
}

static WadiStatus load_pairs(WadiDem *dem, int32_t first, int32_t count, bool has_all, const WadiState *state,
                             WadiError *error)
{
    const WadiStateArray *pairs, *bits, *springs, *offsets = NULL;
    size_t contacts = 0, asleep = 0;
    WADI_TRY(wadi_state_expect(state, "dem_pairs", WADI_TYPE_U32, 2, SIZE_MAX, &pairs, error));
    WADI_TRY(wadi_state_expect(state, "dem_pair_state", WADI_TYPE_U8, 1, pairs->count, &bits, error));
    if (pairs->count > INT32_MAX / 4) {
        return wadi_state_fail(error, pairs, pairs->count, "there are more pairs than grains have");
    }
    WADI_TRY(check_pairs(pairs, bits, first, count, &contacts, &asleep, error));
    WADI_TRY(wadi_state_expect_reals(state, "dem_springs", WADI_TYPE_F32, WADI_DEM_SPRING_VALUES, contacts,
                                     -WADI_STATE_REAL_MAX, WADI_STATE_REAL_MAX, &springs, error));
    if (has_all) {
        WADI_TRY(wadi_state_expect_reals(state, "dem_offsets", WADI_TYPE_F32, 3, pairs->count,
                                         -WADI_STATE_REAL_MAX, WADI_STATE_REAL_MAX, &offsets, error));
    }
    WadiDemSavedPairs sleeping = { asleep, asleep, pairs->data, bits->data, NULL, springs->data };
    WadiDemSavedPairs rest = { pairs->count, contacts, pairs->data, bits->data, NULL, springs->data };
    rest.offset = has_all ? offsets->data : NULL;
    if (asleep > 0) {
        rest.count -= asleep, rest.contact_count -= asleep;
        rest.grains += 2 * asleep, rest.state += asleep;
        rest.spring += WADI_DEM_SPRING_VALUES * asleep;
        rest.offset = has_all ? rest.offset + 3 * asleep : NULL;
    }
    WADI_TRY(load_sleeping(&dem->sleeping, first, &sleeping, error));
    return wadi_dem_list_restore(&dem->list, first, count, &rest, has_all && !dem->is_world_new,
                                 dem->context.scratch, error);
}

static bool is_moving(const WadiDem *dem, int32_t solid)
{
    const WadiSolids *solids = &dem->context.world->solids;
    const int32_t sphere = solid - solids->count;
    const int32_t of = sphere >= 0 ? wadi_dem_cover_solid(&dem->cover, sphere) : solid;
    return of >= 0 && wadi_shape_is_moving(solids->solids[of].shape);
}

/* Grains rise. Solids of a list that is used are there; those of another one may be gone. */
static WadiStatus check_walls(const WadiDem *dem, const WadiStateArray *walls, int32_t first, int32_t count,
                              bool is_used, size_t *asleep, WadiError *error)
{
    const int32_t *of = walls->data;
    const int32_t covers = dem->cover.spheres.count;
    const int64_t solids = is_used ? (int64_t)dem->context.world->solids.count + covers : INT32_MAX;
    *asleep = 0;
    for (size_t n = 0; n < walls->count; ++n) {
        const int32_t *wall = of + 3 * n;
        if (wall[0] < 0 || wall[0] >= count || (n > 0 && wall[0] < wall[-3])) {
            return wadi_state_fail(error, walls, n, "grain %d is not in the order of %d grains", wall[0],
                                   count);
        }
        const bool is_asleep = wall[0] < first;
        if (wall[1] < -6 || (!is_asleep && wall[1] >= solids)) {
            return wadi_state_fail(error, walls, n, "there is no solid %d", wall[1]);
        }
        if (wall[2] < (is_asleep ? 1 : 0) || wall[2] > 1) {
            return wadi_state_fail(error, walls, n, "%d does not say whether it touches", wall[2]);
        }
        *asleep += is_asleep;
    }
    return WADI_OK;
}

static void take_walls(const WadiDem *dem, const int32_t *of, const float *value, size_t count, bool is_used,
                       WadiDemWall *walls)
{
    for (size_t n = 0; n < count; ++n) {
        const float *from = value + WALL_VALUES * n;
        WadiDemWall *wall = &walls[n];
        *wall = (WadiDemWall){ .grain = of[3 * n],
                               .solid = of[3 * n + 1],
                               .touches = (uint8_t)of[3 * n + 2],
                               .is_flat = of[3 * n + 1] < 0,
                               .is_moving = is_used && is_moving(dem, of[3 * n + 1]) };
        memcpy(&wall->spring, from, 8 * sizeof *from);
        memcpy(&wall->normal, from + 8, 4 * sizeof *from);
        memcpy(&wall->sampled, from + 12, 3 * sizeof *from);
        memcpy(wall->velocity, from + 15, 3 * sizeof *from);
    }
}

static WadiStatus load_walls(WadiDem *dem, int32_t first, int32_t count, bool is_used, const WadiState *state,
                             WadiError *error)
{
    const WadiStateArray *walls, *values;
    size_t asleep = 0;
    WADI_TRY(wadi_state_expect(state, "dem_walls", WADI_TYPE_I32, 3, SIZE_MAX, &walls, error));
    WADI_TRY(wadi_state_expect_reals(state, "dem_wall_values", WADI_TYPE_F32, WALL_VALUES, walls->count,
                                     -WADI_STATE_REAL_MAX, WADI_STATE_REAL_MAX, &values, error));
    WADI_TRY(check_walls(dem, walls, first, count, is_used, &asleep, error));
    const int32_t *of = walls->data;
    const float *value = values->data;
    const size_t awake = walls->count - asleep;
    dem->walls.count = dem->sleeping.wall_count = 0;
    WADI_TRY(RENEW(dem->sleeping.wall, dem->sleeping.wall_capacity, asleep));
    WADI_TRY(RENEW(dem->walls.wall, dem->walls.capacity, awake));
    take_walls(dem, of, value, asleep, false, dem->sleeping.wall);
    if (awake > 0) {
        take_walls(dem, of + 3 * asleep, value + WALL_VALUES * asleep, awake, is_used, dem->walls.wall);
    }
    dem->sleeping.wall_count = asleep;
    dem->walls.count = awake;
    return wadi_dem_walls_find_chunks(&dem->walls, first, count, error);
}

WadiStatus wadi_dem_load_list(WadiDem *dem, int32_t first, int32_t count, bool has_all,
                              const WadiState *state, WadiError *error)
{
    WADI_TRY(load_pairs(dem, first, count, has_all, state, error));
    return load_walls(dem, first, count, has_all && !dem->is_world_new, state, error);
}
