#include "dem/list/dem_list_state.h"

#include <string.h>

#include "core/parallel.h"
#include "dem/contact/dem_near.h"

static void save_pair(const WadiDemPairs *pairs, int32_t i, int32_t p, const WadiDemSpring *spring,
                      WadiDemSavedPairs *to)
{
    const bool touches = spring != NULL && pairs->touches[p] != 0;
    if (to->grains != NULL) {
        to->grains[2 * to->count] = (uint32_t)i;
        to->grains[2 * to->count + 1] = (uint32_t)pairs->other[p];
        to->state[to->count] =
            (uint8_t)((spring != NULL ? WADI_DEM_PAIR_NEAR : 0) | (touches ? WADI_DEM_PAIR_TOUCHES : 0));
        if (to->offset != NULL) {
            memcpy(to->offset + 3 * to->count, pairs->offset + 3 * (size_t)p, 3 * sizeof(float));
        }
        if (touches) {
            memcpy(to->spring + WADI_DEM_SPRING_VALUES * to->contact_count, spring, sizeof *spring);
        }
    }
    to->count += 1;
    to->contact_count += touches;
}

void wadi_dem_list_save(const WadiDemPairs *pairs, bool has_all, WadiDemSavedPairs *to)
{
    const int32_t chunks = wadi_dem_chunk_count(pairs);
    for (int32_t c = 0; c < chunks; ++c) {
        const int32_t from = pairs->first + c * WADI_DEM_CHUNK;
        const int32_t end = from + WADI_DEM_CHUNK < pairs->count ? from + WADI_DEM_CHUNK : pairs->count;
        int32_t near = 0;
        for (int32_t i = from; i < end; ++i) {
            for (int32_t p = pairs->start[i]; p < pairs->start[i + 1]; ++p) {
                const WadiDemSpring *spring = NULL;
                if (near < pairs->near_count[c] &&
                    wadi_dem_near_pair(pairs, from, pairs->near[pairs->start[from] + near]) == p) {
                    spring = &pairs->spring[pairs->spring_start[c] + near++];
                }
                if (has_all || (spring != NULL && pairs->touches[p] != 0)) {
                    save_pair(pairs, i, p, spring, to);
                }
            }
        }
    }
}

/* Rows of the list, without near pairs. */
static WadiStatus restore_pairs(WadiDemList *list, const WadiDemSavedPairs *from, uint8_t needed,
                                WadiError *error)
{
    WadiDemPairs *pairs = &list->pairs;
    memset(pairs->start, 0, ((size_t)pairs->count + 1) * sizeof *pairs->start);
    for (size_t n = 0; n < from->count; ++n) {
        pairs->start[from->grains[2 * n]] += (from->state[n] & needed) == needed;
    }
    WADI_TRY(wadi_dem_list_renew_pairs(list, wadi_prefix_sum(pairs->start, pairs->count), error));
    int32_t p = 0;
    for (size_t n = 0; n < from->count; ++n) {
        if ((from->state[n] & needed) != needed) {
            continue;
        }
        pairs->other[p] = (int32_t)from->grains[2 * n + 1];
        pairs->touches[p] = (from->state[n] & WADI_DEM_PAIR_TOUCHES) != 0;
        for (int a = 0; a < 3; ++a) {
            pairs->offset[3 * (size_t)p + (size_t)a] =
                from->offset != NULL ? from->offset[3 * n + (size_t)a] : 0.0f;
        }
        p += 1;
    }
    return WADI_OK;
}

/* Near pairs with their springs: each chunk those with the bit, in the order of its pairs. */
static WadiStatus restore_near(WadiDemPairs *pairs, const WadiDemSavedPairs *from, uint8_t needed,
                               WadiError *error)
{
    const int32_t chunks = wadi_dem_chunk_count(pairs);
    memset(pairs->near_count, 0, ((size_t)chunks + 1) * sizeof *pairs->near_count);
    for (size_t n = 0, p = 0; n < from->count; ++n) {
        if ((from->state[n] & needed) == needed) {
            const int32_t i = (int32_t)from->grains[2 * n], chunk = (i - pairs->first) / WADI_DEM_CHUNK;
            const int32_t begin = pairs->first + chunk * WADI_DEM_CHUNK, row = pairs->start[begin];
            pairs->near[row + pairs->near_count[chunk]] =
                ((uint32_t)p - (uint32_t)row) * WADI_DEM_CHUNK + (uint32_t)(i - begin);
            pairs->near_count[chunk] += (from->state[n] & WADI_DEM_PAIR_NEAR) != 0;
            p += 1;
        }
    }
    WADI_TRY(wadi_dem_near_make_room(pairs, error));
    const WadiDemSpring *spring = (const WadiDemSpring *)(const void *)from->spring;
    for (int32_t c = 0; c < chunks; ++c) {
        const int32_t row = pairs->first + c * WADI_DEM_CHUNK;
        for (int32_t k = 0; k < pairs->near_count[c]; ++k) {
            const int32_t p = wadi_dem_near_pair(pairs, row, pairs->near[pairs->start[row] + k]);
            pairs->spring[pairs->spring_start[c] + k] =
                pairs->touches[p] != 0 ? *spring++ : (WadiDemSpring){ 0 };
        }
    }
    return WADI_OK;
}

WadiStatus wadi_dem_list_restore(WadiDemList *list, int32_t first, int32_t count,
                                 const WadiDemSavedPairs *from, bool has_all, WadiArena *scratch,
                                 WadiError *error)
{
    const uint8_t needed = has_all ? 0 : WADI_DEM_PAIR_NEAR | WADI_DEM_PAIR_TOUCHES;
    WADI_TRY(wadi_dem_list_renew_grains(list, first, count, error));
    WADI_TRY(restore_pairs(list, from, needed, error));
    WADI_TRY(wadi_dem_list_make_slots(list, scratch, error));
    return restore_near(&list->pairs, from, needed, error);
}
