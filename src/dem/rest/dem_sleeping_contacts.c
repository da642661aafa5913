#include "dem/rest/dem_sleeping_contacts.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"

#define RENEW(pointer, capacity, count)                                                                      \
    wadi_array_renew((void **)&(pointer), &(capacity), (size_t)(count), sizeof *(pointer),                   \
                     "contacts of sleeping grains", error)

void wadi_dem_sleeping_free(WadiDemSleepingContacts *sleeping)
{
    WADI_DELETE(sleeping->springs.start, sleeping->start_capacity);
    WADI_DELETE(sleeping->springs.other, sleeping->other_capacity);
    WADI_DELETE(sleeping->springs.spring, sleeping->spring_capacity);
    WADI_DELETE(sleeping->wall, sleeping->wall_capacity);
    *sleeping = (WadiDemSleepingContacts){ 0 };
}

WadiStatus wadi_dem_sleeping_join(WadiDemSprings *all, const WadiDemSleepingContacts *sleeping,
                                  const WadiDemPairs *pairs, WadiArena *scratch, WadiError *error)
{
    WadiDemSprings hot;
    WADI_TRY(wadi_dem_springs_of(&hot, pairs, scratch, error));
    const int32_t asleep = sleeping->springs.count;
    const int32_t before = asleep > 0 ? sleeping->springs.start[asleep] : 0;
    if (before == 0) {
        *all = hot;
        return WADI_OK;
    }
    const size_t total = (size_t)before + (size_t)hot.start[hot.count];
    *all = (WadiDemSprings){ .count = hot.count };
    WADI_TRY(WADI_ARENA_NEW(scratch, &all->start, (size_t)hot.count + 1, "springs", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &all->other, total, "springs", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &all->spring, total, "springs", error));
    /* Rows of sleeping grains are empty in the list. */
    for (int32_t i = 0; i <= hot.count; ++i) {
        all->start[i] = i < asleep ? sleeping->springs.start[i] : before + hot.start[i];
    }
    memcpy(all->other, sleeping->springs.other, (size_t)before * sizeof *all->other);
    memcpy(all->spring, sleeping->springs.spring, (size_t)before * sizeof *all->spring);
    memcpy(all->other + before, hot.other, (total - (size_t)before) * sizeof *all->other);
    memcpy(all->spring + before, hot.spring, (total - (size_t)before) * sizeof *all->spring);
    return WADI_OK;
}

WadiStatus wadi_dem_sleeping_join_walls(WadiDemWalls *walls, WadiDemSleepingContacts *sleeping,
                                        WadiArena *scratch, WadiError *error)
{
    const size_t total = walls->count + sleeping->wall_count;
    WadiDemWall *joined = NULL;
    if (sleeping->wall_count == 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(scratch, &joined, total, "walls", error));
    memcpy(joined, sleeping->wall, sleeping->wall_count * sizeof *joined);
    if (walls->count > 0) {
        memcpy(joined + sleeping->wall_count, walls->wall, walls->count * sizeof *joined);
    }
    WADI_TRY(wadi_array_renew((void **)&walls->wall, &walls->capacity, total, sizeof *walls->wall, "walls",
                              error));
    memcpy(walls->wall, joined, total * sizeof *joined);
    walls->count = total;
    sleeping->wall_count = 0;
    return WADI_OK;
}

static int compare_walls(const void *a, const void *b)
{
    const WadiDemWall *wa = a, *wb = b;
    return (wa->grain > wb->grain) - (wa->grain < wb->grain) != 0
               ? (wa->grain > wb->grain) - (wa->grain < wb->grain)
               : (wa->solid > wb->solid) - (wa->solid < wb->solid);
}

static WadiStatus keep_walls(WadiDemSleepingContacts *sleeping, const WadiDemWalls *walls,
                             const int32_t *new_list_index, int32_t asleep, WadiError *error)
{
    size_t count = 0;
    WADI_TRY(RENEW(sleeping->wall, sleeping->wall_capacity, walls->count));
    for (size_t n = 0; n < walls->count; ++n) {
        const int32_t grain = new_list_index[walls->wall[n].grain];
        if (walls->wall[n].touches != 0 && grain >= 0 && grain < asleep) {
            sleeping->wall[count] = walls->wall[n];
            sleeping->wall[count++].grain = grain;
        }
    }
    sleeping->wall_count = count;
    if (count > 0) {
        qsort(sleeping->wall, count, sizeof *sleeping->wall, compare_walls);
    }
    return WADI_OK;
}

WadiStatus wadi_dem_sleeping_keep(WadiDemSleepingContacts *sleeping, const WadiDemSprings *all,
                                  const WadiDemWalls *walls, const int32_t *new_list_index, int32_t asleep,
                                  WadiError *error)
{
    WadiDemSprings *to = &sleeping->springs;
    WADI_TRY(RENEW(to->start, sleeping->start_capacity, asleep + 2));
    to->count = asleep;
    memset(to->start, 0, ((size_t)asleep + 2) * sizeof *to->start);
    /* Two passes: rows are counted, then filled in the order of the earlier list. */
    for (int pass = 0; pass < 2; ++pass) {
        for (int32_t i = 0; i < all->count; ++i) {
            const int32_t a = new_list_index[i];
            for (int32_t n = all->start[i]; a >= 0 && a < asleep && n < all->start[i + 1]; ++n) {
                const int32_t b = new_list_index[all->other[n]];
                if (b < 0 || b >= asleep) {
                    continue;
                }
                if (pass == 0) {
                    to->start[a + 2] += 1;
                } else {
                    to->other[to->start[a + 1]] = b;
                    to->spring[to->start[a + 1]++] = all->spring[n];
                }
            }
        }
        if (pass == 0) {
            for (int32_t i = 2; i <= asleep + 1; ++i) {
                to->start[i] += to->start[i - 1];
            }
            WADI_TRY(RENEW(to->other, sleeping->other_capacity, to->start[asleep + 1]));
            WADI_TRY(RENEW(to->spring, sleeping->spring_capacity, to->start[asleep + 1]));
        }
    }
    return keep_walls(sleeping, walls, new_list_index, asleep, error);
}
