/* Springs are kept for near pairs alone, at their index among these in the chunk. When near pairs are chosen
 * anew they move within the room of the chunk: those of contacts to its front, then, from the last one on, to
 * the new ones, none of which is before the old one. */
#include "dem/contact/dem_near.h"

#include <string.h>

#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"

typedef struct Choice {
    WadiDemPairs *pairs;
    const WadiDemGrains *grains;
    float rupture;
} Choice;

static inline int is_near(const Choice *c, int32_t i, int32_t p)
{
    const WadiDemGrains *g = c->grains;
    const int32_t j = c->pairs->other[p];
    WadiF4 d;
    wadi_dem_offset_load(c->pairs, p, &d);
    d += g->shift[j] - g->shift[i];
    const float limit = g->grown_radius[i] + WADI_DEM_NEAR_PART * g->skin[i] + c->rupture +
                        g->grown_radius[j] + WADI_DEM_NEAR_PART * g->skin[j];
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < limit * limit;
}

/* Springs of the contacts of a chunk to the front of its room; pairs that parted lose theirs. */
static void gather_springs(const Choice *c, int64_t chunk, int32_t from)
{
    WadiDemPairs *pairs = c->pairs;
    const WadiDemNear *near = pairs->near + pairs->start[from];
    WadiDemSpring *spring = pairs->spring + pairs->spring_start[chunk];
    int32_t kept = 0;
    for (int32_t n = 0; n < pairs->near_count[chunk]; ++n) {
        const int32_t p = wadi_dem_near_pair(pairs, from, near[n]);
        if (pairs->touches[p] != 0) {
            pairs->touches[p] = (uint8_t)is_near(c, wadi_dem_near_owner(from, near[n]), p);
            spring[kept] = spring[n];
            kept += pairs->touches[p];
        }
    }
}

static void choose_chunk(const Choice *c, int64_t chunk, int32_t from, int32_t to)
{
    const WadiDemPairs *pairs = c->pairs;
    WadiDemNear *near = pairs->near + pairs->start[from];
    int32_t count = 0;
    for (int32_t i = from; i < to; ++i) {
        c->grains->mark[i - pairs->first] = c->grains->shift[i];
        for (int32_t p = pairs->start[i]; p < pairs->start[i + 1]; ++p) {
            near[count] = (uint32_t)(p - pairs->start[from]) * WADI_DEM_CHUNK + (uint32_t)(i - from);
            count += is_near(c, i, p);
        }
    }
    pairs->near_count[chunk] = count;
}

static void choose_chunks(void *context, int64_t first, int64_t end)
{
    const Choice *c = context;
    const int32_t from = c->pairs->first + (int32_t)first, to = c->pairs->first + (int32_t)end;
    choose_chunk(c, first / WADI_DEM_CHUNK, from, to);
}

static void choose_chunks_again(void *context, int64_t first, int64_t end)
{
    const Choice *c = context;
    gather_springs(c, first / WADI_DEM_CHUNK, c->pairs->first + (int32_t)first);
    choose_chunks(context, first, end);
}

/* Springs from the front of the room of a chunk to their near pairs. */
static void spread_springs(void *context, int64_t first, int64_t end)
{
    (void)end;
    const Choice *c = context;
    const WadiDemPairs *pairs = c->pairs;
    const int64_t chunk = first / WADI_DEM_CHUNK;
    const int32_t from = pairs->first + (int32_t)first;
    const WadiDemNear *near = pairs->near + pairs->start[from];
    WadiDemSpring *spring = pairs->spring + pairs->spring_start[chunk];
    int32_t left = 0;
    for (int32_t n = 0; n < pairs->near_count[chunk]; ++n) {
        left += pairs->touches[wadi_dem_near_pair(pairs, from, near[n])];
    }
    for (int32_t n = pairs->near_count[chunk] - 1; n >= 0; --n) {
        const bool touches = pairs->touches[wadi_dem_near_pair(pairs, from, near[n])] != 0;
        spring[n] = touches ? spring[--left] : (WadiDemSpring){ 0 };
    }
}

static int32_t room_for(int32_t near)
{
    return near + near / 16 + 16;
}

WadiStatus wadi_dem_near_make_room(WadiDemPairs *pairs, WadiError *error)
{
    const int32_t chunks = wadi_dem_chunk_count(pairs);
    int64_t total = 0;
    for (int32_t c = 0; c < chunks; ++c) {
        pairs->spring_start[c] = (int32_t)total;
        total += room_for(pairs->near_count[c]);
    }
    pairs->spring_start[chunks] = (int32_t)total;
    return wadi_array_renew((void **)&pairs->spring, &pairs->spring_capacity, (size_t)total,
                            sizeof *pairs->spring, "springs of grains", error);
}

/* More room for chunks that need it; the springs at its front stay. */
static WadiStatus grow(WadiDemPairs *pairs, WadiError *error)
{
    const int32_t chunks = wadi_dem_chunk_count(pairs);
    int64_t total = 0;
    bool is_enough = true;
    for (int32_t c = 0; c < chunks; ++c) {
        const int32_t room = pairs->spring_start[c + 1] - pairs->spring_start[c], need = pairs->near_count[c];
        is_enough = is_enough && need <= room;
        total += need <= room ? room : room_for(need);
    }
    if (is_enough) {
        return WADI_OK;
    }
    WadiDemSpring *grown = NULL;
    WADI_TRY(wadi_alloc_unset((void **)&grown, (size_t)total, sizeof *grown, "springs of grains", error));
    int32_t to = 0, from = 0;
    for (int32_t c = 0; c < chunks; ++c) {
        const int32_t room = pairs->spring_start[c + 1] - from, need = pairs->near_count[c];
        memcpy(grown + to, pairs->spring + from, (size_t)room * sizeof *grown);
        from = pairs->spring_start[c + 1];
        pairs->spring_start[c] = to;
        to += need <= room ? room : room_for(need);
    }
    pairs->spring_start[chunks] = to;
    wadi_free(pairs->spring, pairs->spring_capacity, sizeof *pairs->spring);
    pairs->spring = grown;
    pairs->spring_capacity = (size_t)total;
    return WADI_OK;
}

WadiStatus wadi_dem_near_choose(WadiDemPairs *pairs, const WadiDemGrains *grains, float rupture,
                                WadiError *error)
{
    Choice c = { pairs, grains, rupture };
    const int32_t awake = pairs->count - pairs->first;
    wadi_parallel_for(awake, WADI_DEM_CHUNK, choose_chunks_again, &c);
    WADI_TRY(grow(pairs, error));
    wadi_parallel_for(awake, WADI_DEM_CHUNK, spread_springs, &c);
    return WADI_OK;
}

WadiStatus wadi_dem_near_begin(WadiDemPairs *pairs, const WadiDemGrains *grains, float rupture,
                               WadiError *error)
{
    Choice c = { pairs, grains, rupture };
    wadi_parallel_for(pairs->count - pairs->first, WADI_DEM_CHUNK, choose_chunks, &c);
    WADI_TRY(wadi_dem_near_make_room(pairs, error));
    if (pairs->spring != NULL) {
        memset(pairs->spring, 0,
               (size_t)pairs->spring_start[wadi_dem_chunk_count(pairs)] * sizeof *pairs->spring);
    }
    return WADI_OK;
}
