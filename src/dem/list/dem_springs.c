/* Springs of contacts from one list to the next. */
#include <string.h>

#include "core/parallel.h"
#include "dem/list/dem_list.h"

bool wadi_dem_spring_find(const WadiDemSprings *springs, uint32_t a, uint32_t b, WadiDemSpring *spring)
{
    if (a == 0 || b == 0) {
        return false;
    }
    for (int turn = 0; turn < 2; ++turn) {
        const int32_t row = (int32_t)(turn == 0 ? a : b) - 1, other = (int32_t)(turn == 0 ? b : a) - 1;
        for (int32_t n = springs->start[row]; n < springs->start[row + 1]; ++n) {
            if (springs->other[n] == other) {
                /* Both springs are differences of the two: they change sign. */
                for (int k = 0; k < 6; ++k) {
                    const float value = springs->spring[n].value[k];
                    spring->value[k] = turn == 0 ? value : -value;
                }
                spring->bond = springs->spring[n].bond;
                return true;
            }
        }
    }
    return false;
}

void wadi_dem_contacts_begin(WadiDemContacts *at, const WadiDemPairs *pairs)
{
    *at = (WadiDemContacts){ .pairs = pairs, .from = pairs->first, .near = -1 };
}

bool wadi_dem_contacts_next(WadiDemContacts *at)
{
    const WadiDemPairs *pairs = at->pairs;
    const int32_t chunks = wadi_dem_chunk_count(pairs);
    for (at->near += 1; at->chunk < chunks; at->near = 0) {
        for (; at->near < pairs->near_count[at->chunk]; ++at->near) {
            const WadiDemNear near = pairs->near[pairs->start[at->from] + at->near];
            at->pair = wadi_dem_near_pair(pairs, at->from, near);
            if (pairs->touches[at->pair] != 0) {
                at->owner = wadi_dem_near_owner(at->from, near);
                at->spring = &pairs->spring[pairs->spring_start[at->chunk] + at->near];
                return true;
            }
        }
        at->chunk += 1;
        at->from += WADI_DEM_CHUNK;
    }
    return false;
}

WadiStatus wadi_dem_springs_of(WadiDemSprings *springs, const WadiDemPairs *pairs, WadiArena *scratch,
                               WadiError *error)
{
    WadiDemContacts at;
    springs->count = pairs->count;
    WADI_TRY(WADI_ARENA_NEW(scratch, &springs->start, (size_t)pairs->count + 1, "springs", error));
    memset(springs->start, 0, ((size_t)pairs->count + 1) * sizeof *springs->start);
    for (wadi_dem_contacts_begin(&at, pairs); wadi_dem_contacts_next(&at);) {
        springs->start[at.owner] += 1;
    }
    const int64_t total = wadi_prefix_sum(springs->start, pairs->count);
    WADI_TRY(WADI_ARENA_NEW(scratch, &springs->other, (size_t)total, "springs", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &springs->spring, (size_t)total, "springs", error));
    int32_t to = 0;
    for (wadi_dem_contacts_begin(&at, pairs); wadi_dem_contacts_next(&at);) {
        springs->other[to] = pairs->other[at.pair];
        springs->spring[to++] = *at.spring;
    }
    return WADI_OK;
}

typedef struct Taking {
    WadiDemPairs *pairs;
    const WadiDemSprings *springs;
    const uint32_t *list_index;
} Taking;

static void take_springs(void *context, int64_t first, int64_t end)
{
    (void)end;
    const Taking *t = context;
    WadiDemPairs *pairs = t->pairs;
    const int64_t chunk = first / WADI_DEM_CHUNK;
    const int32_t from = pairs->first + (int32_t)first;
    for (int32_t n = 0; n < pairs->near_count[chunk]; ++n) {
        const WadiDemNear near = pairs->near[pairs->start[from] + n];
        const int32_t p = wadi_dem_near_pair(pairs, from, near), i = wadi_dem_near_owner(from, near);
        pairs->touches[p] = wadi_dem_spring_find(t->springs, t->list_index[i], t->list_index[pairs->other[p]],
                                                 &pairs->spring[pairs->spring_start[chunk] + n])
                                ? 1
                                : 0;
    }
}

void wadi_dem_list_take_springs(WadiDemList *list, const WadiDemSprings *springs, const uint32_t *list_index)
{
    Taking t = { &list->pairs, springs, list_index };
    wadi_parallel_for(list->pairs.count - list->pairs.first, WADI_DEM_CHUNK, take_springs, &t);
}
