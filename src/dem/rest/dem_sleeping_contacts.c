#include "dem/rest/dem_sleeping_contacts.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/parallel.h"

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

/* Contacts of the earlier list in the order of their rows: those that slept, then those of the list. */
typedef struct Earlier {
    const WadiDemSprings *asleep;
    int32_t row, next; /* of `asleep` */
    WadiDemContacts awake;
    int32_t i, other;
    const WadiDemSpring *spring;
} Earlier;

static Earlier begin_earlier(const WadiDemSprings *asleep, const WadiDemPairs *pairs)
{
    Earlier at = { .asleep = asleep };
    wadi_dem_contacts_begin(&at.awake, pairs);
    return at;
}

static bool next_earlier(Earlier *at)
{
    const WadiDemSprings *asleep = at->asleep;
    while (at->row < asleep->count && at->next >= asleep->start[at->row + 1]) {
        at->row += 1;
    }
    if (at->row < asleep->count) {
        at->i = at->row;
        at->other = asleep->other[at->next];
        at->spring = &asleep->spring[at->next++];
        return true;
    }
    if (!wadi_dem_contacts_next(&at->awake)) {
        return false;
    }
    at->i = at->awake.owner;
    at->other = at->awake.pairs->other[at->awake.pair];
    at->spring = at->awake.spring;
    return true;
}

WadiStatus wadi_dem_sleeping_join_walls(WadiDemWalls *walls, WadiDemSleepingContacts *sleeping,
                                        WadiArena *scratch, WadiError *error)
{
    const size_t total = walls->count + sleeping->wall_count;
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    WadiDemWall *joined = NULL;
    if (sleeping->wall_count == 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(scratch, &joined, total, "walls", error));
    memcpy(joined, sleeping->wall, sleeping->wall_count * sizeof *joined);
    if (walls->count > 0) {
        memcpy(joined + sleeping->wall_count, walls->wall, walls->count * sizeof *joined);
    }
    WADI_TRY(wadi_array_renew((void **)&walls->wall, &walls->capacity, total, sizeof *walls->wall, "walls",
                              error));
    memcpy(walls->wall, joined, total * sizeof *joined);
    wadi_arena_release_temporaries(scratch, mark);
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
    /* They are counted, then copied. */
    for (int pass = 0; pass < 2; ++pass) {
        if (pass == 1) {
            WADI_TRY(RENEW(sleeping->wall, sleeping->wall_capacity, count));
        }
        count = 0;
        for (size_t n = 0; n < walls->count; ++n) {
            const int32_t grain = new_list_index[walls->wall[n].grain];
            if (walls->wall[n].touches != 0 && grain >= 0 && grain < asleep) {
                if (pass == 1) {
                    sleeping->wall[count] = walls->wall[n];
                    sleeping->wall[count].grain = grain;
                }
                count += 1;
            }
        }
    }
    sleeping->wall_count = count;
    if (count > 0) {
        qsort(sleeping->wall, count, sizeof *sleeping->wall, compare_walls);
    }
    return WADI_OK;
}

/* Where contacts of the earlier list go. */
typedef struct Keeping {
    const int32_t *new_list_index;
    int32_t asleep;
    WadiDemSprings *kept, *left; /* of those that sleep now, by new numbers; of the others, by earlier ones */
} Keeping;

static void count_rows(const Keeping *k, Earlier at)
{
    while (next_earlier(&at)) {
        const int32_t a = k->new_list_index[at.i], b = k->new_list_index[at.other];
        if (a >= 0 && a < k->asleep && b >= 0 && b < k->asleep) {
            k->kept->start[a + 2] += 1;
        } else {
            k->left->start[at.i] += 1;
        }
    }
}

/* In the order of the earlier list. */
static void fill_rows(const Keeping *k, Earlier at)
{
    WadiDemSprings *kept = k->kept, *left = k->left;
    for (int32_t to = 0; next_earlier(&at);) {
        const int32_t a = k->new_list_index[at.i], b = k->new_list_index[at.other];
        if (a >= 0 && a < k->asleep && b >= 0 && b < k->asleep) {
            kept->other[kept->start[a + 1]] = b;
            kept->spring[kept->start[a + 1]++] = *at.spring;
        } else {
            left->other[to] = at.other;
            left->spring[to++] = *at.spring;
        }
    }
}

/* Memory for the rows of both, and their contents. */
static WadiStatus divide(const Keeping *k, Earlier earlier, WadiDemSleepingContacts *to, WadiArena *scratch,
                         WadiError *error)
{
    WadiDemSprings *kept = k->kept, *left = k->left;
    const size_t rows = (size_t)left->count + 1;
    WADI_TRY(WADI_ARENA_NEW(scratch, &left->start, rows, "springs", error));
    WADI_TRY(RENEW(kept->start, to->start_capacity, k->asleep + 2));
    memset(left->start, 0, rows * sizeof *left->start);
    memset(kept->start, 0, ((size_t)k->asleep + 2) * sizeof *kept->start);
    kept->count = k->asleep;
    count_rows(k, earlier);
    for (int32_t i = 2; i <= k->asleep + 1; ++i) {
        kept->start[i] += kept->start[i - 1];
    }
    const size_t total = (size_t)wadi_prefix_sum(left->start, left->count);
    const int32_t kept_total = kept->start[k->asleep + 1];
    WADI_TRY(WADI_ARENA_NEW(scratch, &left->other, total, "springs", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &left->spring, total, "springs", error));
    WADI_TRY(RENEW(kept->other, to->other_capacity, kept_total));
    WADI_TRY(RENEW(kept->spring, to->spring_capacity, kept_total));
    fill_rows(k, earlier);
    return WADI_OK;
}

WadiStatus wadi_dem_sleeping_keep(WadiDemSleepingContacts *sleeping, WadiDemSprings *left,
                                  const WadiDemPairs *pairs, const WadiDemWalls *walls,
                                  const int32_t *new_list_index, int32_t asleep, WadiArena *scratch,
                                  WadiError *error)
{
    /* The new table grows beside the old one, which is freed then: scratch would keep the memory of both. */
    WadiDemSleepingContacts old = *sleeping, *to = sleeping;
    *to = (WadiDemSleepingContacts){ .wall = old.wall, .wall_capacity = old.wall_capacity };
    old.wall = NULL;
    old.wall_capacity = 0;
    const Earlier earlier = begin_earlier(&old.springs, pairs);
    const Keeping k = { new_list_index, asleep, &to->springs, left };
    *left = (WadiDemSprings){ .count = pairs->count };
    const WadiStatus status = divide(&k, earlier, to, scratch, error);
    wadi_dem_sleeping_free(&old);
    WADI_TRY(status);
    return keep_walls(sleeping, walls, new_list_index, asleep, error);
}
