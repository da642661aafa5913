#include "dem/list/dem_list.h"

#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "dem/contact/dem_near.h"
#include "dem/list/dem_search.h"

enum { TILE_BLOCK = 1, GRAIN_BLOCK = 4096, ROOM = WADI_DEM_FOUND };

static const float SLACK = 4.0f; /* units of fixed-point positions, for their rounding */

typedef struct Builder {
    const WadiDemListIn *in;
    WadiDemPairs *pairs;
    double scale;           /* of fixed-point positions, 1/m */
    int32_t *axis[3];       /* from `first` on: fixed-point positions, modulo 2^32; padded by LANES */
    int32_t (*found)[ROOM]; /* per grain from `first` on: the first others that it owns a pair with */
    bool is_filling; /* second pass, of the grains with more: pairs are written; first: found and counted */
} Builder;

static void add_pair(const Builder *b, int32_t i, int32_t j, int32_t at)
{
    const WadiDemListIn *in = b->in;
    const WadiParticles *p = in->particles;
    WadiDemPairs *pairs = b->pairs;
    pairs->other[at] = j;
    float *offset = pairs->offset + 3 * (size_t)at;
    offset[0] = (float)(p->x[j] - p->x[i]);
    offset[1] = (float)(p->y[j] - p->y[i]);
    offset[2] = (float)(p->z[j] - p->z[i]);
    pairs->touches[at] = 0;
}

static void set_fixed_points(void *context, int64_t from, int64_t to)
{
    const Builder *b = context;
    const int64_t first = from + b->in->sort->first, end = to + b->in->sort->first;
    const WadiParticles *p = b->in->particles;
    const double *x[3] = { p->x, p->y, p->z };
    for (int a = 0; a < 3; ++a) {
        for (int64_t i = first; i < end; ++i) {
            b->axis[a][i - b->in->sort->first] = wadi_dem_fixed_point(x[a][i], b->scale);
        }
    }
}

typedef struct Visit {
    const Builder *builder;
    int32_t i, count;
    double reach; /* m: R_i + m_i */
    double x, y, z;
} Visit;

/* Bits of the grains j .. j + 7 whose pair with i is listed and owned by i. */
static inline __attribute__((always_inline)) unsigned find_owned(const Builder *b, int32_t i, int32_t j)
{
    const int32_t first = b->in->sort->first;
    WadiF8 square = { 0 };
    for (int a = 0; a < 3; ++a) {
        const WadiU8 from = *(const WadiU8 *)(b->axis[a] + (j - first)) - (uint32_t)b->axis[a][i - first];
        const WadiF8 d = __builtin_convertvector((WadiI8)from, WadiF8);
        square += d * d;
    }
    const float own = b->in->skin[i];
    const WadiF8 skin = *(const WadiF8 *)(b->in->skin + j);
    const WadiF8 apart = *(const WadiF8 *)(b->in->radius + j) + skin + (b->in->radius[i] + own);
    const WadiF8 limit = apart * (float)b->scale + SLACK;
    const WadiI8 index = j + (WadiI8){ 0, 1, 2, 3, 4, 5, 6, 7 };
    const WadiI8 is_owned = (square < limit * limit) & ((skin < own) | ((skin == own) & (index > i)));
    return wadi_row_bits(&is_owned);
}

/* `bits` without those of spheres of the same grain. */
static unsigned drop_own(const WadiDemListIn *in, int32_t i, int32_t j0, unsigned bits)
{
    unsigned others = bits;
    for (; bits != 0; bits &= bits - 1) {
        const int lane = __builtin_ctz(bits);
        others &= in->grain[j0 + lane] == in->grain[i] ? ~(1u << lane) : ~0u;
    }
    return others;
}

static inline void take(Visit *v, int32_t j)
{
    const Builder *b = v->builder;
    if (b->is_filling) {
        add_pair(b, v->i, j, b->pairs->start[v->i] + v->count);
    } else if (v->count < ROOM) {
        b->found[v->i - b->pairs->first][v->count] = j;
    }
    v->count += 1;
}

/* Pairs of i that it owns among the grains of a range. */
static void visit_range(Visit *v, int32_t first, int32_t end)
{
    for (int32_t j0 = first; j0 < end; j0 += WADI_DEM_LANES) {
        unsigned bits = find_owned(v->builder, v->i, j0);
        bits &= end - j0 < WADI_DEM_LANES ? (1u << (end - j0)) - 1 : 0xffu;
        bits = v->builder->in->grain != NULL ? drop_own(v->builder->in, v->i, j0, bits) : bits;
        for (; bits != 0; bits &= bits - 1) {
            take(v, j0 + __builtin_ctz(bits));
        }
    }
}

/* Pairs of i with sleeping grains; it owns them. */
static void visit_sleepers(Visit *v, const WadiDemSleepers *s)
{
    const WadiDemListIn *in = v->builder->in;
    const Builder *b = v->builder;
    float x[3];
    for (int a = 0; a < 3; ++a) {
        x[a] = (float)(int32_t)((uint32_t)b->axis[a][v->i - in->sort->first] - (uint32_t)s->origin[a]);
    }
    for (int32_t n = 0; n < s->count; n += WADI_DEM_LANES) {
        WadiF8 square = { 0 };
        for (int a = 0; a < 3; ++a) {
            const WadiF8 d = *(const WadiF8 *)(s->x[a] + n) - x[a];
            square += d * d;
        }
        const WadiF8 limit = (*(const WadiF8 *)(s->radius + n) + (float)v->reach) * (float)b->scale + SLACK;
        const WadiI8 is_near = (square < limit * limit) & (limit > 0.0f);
        for (unsigned bits = wadi_row_bits(&is_near); bits != 0; bits &= bits - 1) {
            const int32_t j = s->grain[n + __builtin_ctz(bits)];
            if (in->grain == NULL || in->grain[j] != in->grain[v->i]) {
                take(v, j);
            }
        }
    }
}

/* As visit_sleepers, without a table. */
static void visit_asleep(Visit *v)
{
    const WadiDemListIn *in = v->builder->in;
    const WadiParticles *p = in->particles;
    const WadiVec3 x = { v->x, v->y, v->z };
    WadiDemCellWalk walk;
    wadi_dem_cell_walk_begin(&walk, &in->asleep->cells, x, v->reach + in->largest_radius);
    for (int32_t j; (j = wadi_dem_cell_walk_next(&walk)) >= 0;) {
        const WadiVec3 d = wadi_sub((WadiVec3){ p->x[j], p->y[j], p->z[j] }, x);
        const double limit = v->reach + (double)in->radius[j];
        const bool is_own = in->grain != NULL && in->grain[j] == in->grain[v->i];
        if (wadi_dot(d, d) < limit * limit && !is_own) {
            take(v, j);
        }
    }
}

/* Whether the first pass found more pairs of a grain than it could keep. */
static bool has_more(const Builder *b, int32_t i)
{
    return b->pairs->start[i + 1] - b->pairs->start[i] > ROOM;
}

static void fill_grains(void *context, int64_t first, int64_t end)
{
    const Builder *b = context;
    for (int64_t n = first; n < end; ++n) {
        const int32_t i = (int32_t)n + b->pairs->first;
        const int32_t start = b->pairs->start[i], count = b->pairs->start[i + 1] - start;
        for (int32_t k = 0; k < count && count <= ROOM; ++k) {
            add_pair(b, i, b->found[n][k], start + k);
        }
    }
}

/* Sleeping grains that those of a cell may meet; false: there are too many. */
static bool find_sleepers(const WadiDemListIn *in, int32_t first, int32_t end, WadiDemSleepers *out)
{
    const WadiParticles *p = in->particles;
    WadiBox box = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    float reach = 0.0f;
    for (int32_t i = first; i < end; ++i) {
        box.min.x = fmin(box.min.x, p->x[i]), box.max.x = fmax(box.max.x, p->x[i]);
        box.min.y = fmin(box.min.y, p->y[i]), box.max.y = fmax(box.max.y, p->y[i]);
        box.min.z = fmin(box.min.z, p->z[i]), box.max.z = fmax(box.max.z, p->z[i]);
        reach = fmaxf(reach, in->radius[i] + in->skin[i]);
    }
    return wadi_dem_sleepers_find(out, in->asleep, &box, (double)reach + in->largest_radius);
}

/* Grains of one cell; `near` are the ranges of the cells around it. */
static void visit_cell(const Builder *b, const WadiDemRanges *near, int32_t first, int32_t end)
{
    const WadiDemListIn *in = b->in;
    const WadiParticles *p = in->particles;
    WadiDemSleepers sleepers;
    const bool has_table = in->asleep != NULL && find_sleepers(in, first, end, &sleepers);
    for (int32_t i = first; i < end; ++i) {
        if (b->is_filling && !has_more(b, i)) {
            continue;
        }
        Visit v = { .builder = b,
                    .i = i,
                    .reach = (double)in->radius[i] + (double)in->skin[i],
                    .x = p->x[i],
                    .y = p->y[i],
                    .z = p->z[i] };
        if (!((double)in->skin[i] > in->smallest_skin)) {
            /* All others have its skin or a larger one: it owns those behind it. */
            for (int r = 0; r < near->count; ++r) {
                visit_range(&v, near->first[r] > i ? near->first[r] : i + 1, near->end[r]);
            }
        } else {
            const double reach = v.reach + in->largest_radius + (double)in->skin[i];
            WadiDemWalk walk;
            wadi_dem_walk_begin(&walk, in->sort, (WadiVec3){ v.x, v.y, v.z }, reach);
            for (int32_t from, to; wadi_dem_walk_next(&walk, &from, &to);) {
                visit_range(&v, from, to);
            }
        }
        if (has_table) {
            visit_sleepers(&v, &sleepers);
        } else if (in->asleep != NULL) {
            visit_asleep(&v);
        }
        if (!b->is_filling) {
            b->pairs->start[i] = v.count;
        }
    }
}

static void visit_tiles(void *context, int64_t first, int64_t end)
{
    const Builder *b = context;
    const WadiTileSort *sort = b->in->sort;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        WadiTileCell cell;
        for (wadi_tile_cells_begin(&cell, sort, t); wadi_tile_cells_next(&cell, sort);) {
            bool is_due = !b->is_filling;
            for (int32_t i = cell.first; i < cell.end && !is_due; ++i) {
                is_due = has_more(b, i);
            }
            if (is_due) {
                WadiDemRanges near;
                wadi_dem_ranges_around(sort, t, cell.row, cell.lane, &near);
                visit_cell(b, &near, cell.first, cell.end);
            }
        }
    }
}

#define RENEW(list, member, capacity, count)                                                                 \
    wadi_array_renew((void **)&(list)->pairs.member, &(list)->capacity, (size_t)(count),                     \
                     sizeof(*(list)->pairs.member), "pairs of grains", error)

WadiStatus wadi_dem_list_renew_grains(WadiDemList *list, int32_t first, int32_t count, WadiError *error)
{
    list->pairs.first = first;
    list->pairs.count = count;
    return RENEW(list, start, start_capacity, count + 1);
}

WadiStatus wadi_dem_list_renew_pairs(WadiDemList *list, int64_t count, WadiError *error)
{
    if (count > INT32_MAX / 2) {
        return wadi_fail(error, WADI_ERR_MEMORY, "%lld pairs of grains are too many; use larger grains",
                         (long long)count);
    }
    WADI_TRY(RENEW(list, other, other_capacity, count));
    WADI_TRY(RENEW(list, target, target_capacity, count));
    WADI_TRY(RENEW(list, offset, offset_capacity, 3 * count + 1));
    return RENEW(list, touches, touches_capacity, count);
}

static WadiStatus renew_near(WadiDemList *list, WadiError *error)
{
    const int32_t chunks = wadi_dem_chunk_count(&list->pairs);
    WADI_TRY(RENEW(list, near, near_capacity, list->pairs.start[list->pairs.count] + 1));
    WADI_TRY(RENEW(list, near_count, near_count_capacity, chunks + 1));
    return RENEW(list, spring_start, spring_start_capacity, chunks + 1);
}

/* Numbers the halo slots of each chunk: one for each foreign grain, in the order of its pairs. grain: that of
 * each slot, as many as there are pairs. A hash table finds the slots of a chunk that exist. */
static WadiStatus number_slots(WadiDemPairs *pairs, WadiArena *scratch, int32_t *grain, WadiError *error)
{
    const int32_t chunks = wadi_dem_chunk_count(pairs);
    int32_t most = 1, slots = 0;
    for (int32_t c = 0; c < chunks; ++c) {
        const int32_t from = pairs->first + c * WADI_DEM_CHUNK;
        const int32_t to = from + WADI_DEM_CHUNK < pairs->count ? from + WADI_DEM_CHUNK : pairs->count;
        const int32_t size = pairs->start[to] - pairs->start[from];
        most = size > most ? size : most;
    }
    if (most >= WADI_DEM_CHUNK_PAIRS) {
        return wadi_fail(error, WADI_ERR_MEMORY, "%d pairs of %d grains are too many: they lie on each other",
                         most, WADI_DEM_CHUNK);
    }
    uint32_t mask = 1;
    while (mask < 2 * (uint32_t)most) {
        mask = 2 * mask + 1;
    }
    int32_t *key = NULL, *value = NULL;
    WADI_TRY(WADI_ARENA_NEW(scratch, &key, (size_t)mask + 1, "halo of grains", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &value, (size_t)mask + 1, "halo of grains", error));
    for (uint32_t n = 0; n <= mask; ++n) {
        key[n] = -1;
    }
    for (int32_t c = 0; c < chunks; ++c) {
        const int32_t from = pairs->first + c * WADI_DEM_CHUNK;
        const int32_t to = from + WADI_DEM_CHUNK < pairs->count ? from + WADI_DEM_CHUNK : pairs->count;
        pairs->chunk_slot[c] = slots;
        for (int32_t p = pairs->start[from]; p < pairs->start[to]; ++p) {
            const int32_t j = pairs->other[p];
            if (j >= from && j < to) {
                pairs->target[p] = j - pairs->first;
                continue;
            }
            uint32_t n = (uint32_t)j * 2654435761u & mask;
            while (key[n] >= 0 && key[n] != j) {
                n = (n + 1) & mask;
            }
            if (key[n] < 0) {
                key[n] = j;
                value[n] = slots;
                grain[slots++] = j;
            }
            pairs->target[p] = pairs->count - pairs->first + value[n];
        }
        /* The table is for one chunk; emptied by its own entries. */
        for (int32_t s = pairs->chunk_slot[c]; s < slots; ++s) {
            uint32_t n = (uint32_t)grain[s] * 2654435761u & mask;
            for (; key[n] >= 0; n = (n + 1) & mask) {
                key[n] = -1;
            }
        }
    }
    pairs->chunk_slot[chunks] = slots;
    return WADI_OK;
}

WadiStatus wadi_dem_list_make_slots(WadiDemList *list, WadiArena *scratch, WadiError *error)
{
    WadiDemPairs *pairs = &list->pairs;
    WADI_TRY(renew_near(list, error));
    int32_t *grain = (int32_t *)pairs->near; /* near pairs are not chosen yet */
    WADI_TRY(RENEW(list, chunk_slot, chunk_capacity, wadi_dem_chunk_count(pairs) + 1));
    WADI_TRY(number_slots(pairs, scratch, grain, error));
    const int32_t slots = wadi_dem_slot_count(pairs);
    WADI_TRY(RENEW(list, slot_start, slot_start_capacity, pairs->count + 2));
    WADI_TRY(RENEW(list, slot, slot_capacity, slots + 1));
    int32_t *start = pairs->slot_start;
    for (int32_t i = 0; i <= pairs->count + 1; ++i) {
        start[i] = 0;
    }
    for (int32_t s = 0; s < slots; ++s) {
        start[grain[s] + 2] += 1;
    }
    for (int32_t i = 2; i <= pairs->count + 1; ++i) {
        start[i] += start[i - 1];
    }
    for (int32_t s = 0; s < slots; ++s) {
        pairs->slot[start[grain[s] + 1]++] = s;
    }
    return WADI_OK;
}

static void make_fixed_points(Builder *b)
{
    const int32_t count = b->in->particles->count - b->in->sort->first;
    const size_t padded = (size_t)count + WADI_DEM_LANES;
    b->scale = wadi_dem_fixed_point_scale(b->in->largest_radius);
    for (int a = 0; a < 3; ++a) {
        b->axis[a] = b->in->place_room + (size_t)a * padded;
        for (int l = 0; l < WADI_DEM_LANES; ++l) {
            b->axis[a][count + l] = 0;
        }
    }
    b->found = (int32_t(*)[ROOM])b->in->found_room;
    wadi_parallel_for(count, GRAIN_BLOCK, set_fixed_points, b);
}

WadiStatus wadi_dem_list_build(WadiDemList *list, const WadiDemListIn *in, WadiArena *scratch,
                               WadiError *error)
{
    WadiDemPairs *pairs = &list->pairs;
    Builder b = { .in = in, .pairs = pairs };
    WADI_TRY(wadi_dem_list_renew_grains(list, in->sort->first, in->particles->count, error));
    for (int32_t i = 0; i < pairs->first; ++i) {
        pairs->start[i] = 0;
    }
    make_fixed_points(&b);
    wadi_parallel_for(in->sort->tiles.count, TILE_BLOCK, visit_tiles, &b);
    const int64_t total = wadi_prefix_sum(pairs->start, pairs->count);
    WADI_TRY(wadi_dem_list_renew_pairs(list, total, error));
    wadi_parallel_for(pairs->count - pairs->first, GRAIN_BLOCK, fill_grains, &b);
    b.is_filling = true;
    wadi_parallel_for(in->sort->tiles.count, TILE_BLOCK, visit_tiles, &b);
    return wadi_dem_list_make_slots(list, scratch, error);
}

void wadi_dem_list_free(WadiDemList *list)
{
    WadiDemPairs *p = &list->pairs;
    WADI_DELETE(p->start, list->start_capacity);
    WADI_DELETE(p->other, list->other_capacity);
    WADI_DELETE(p->target, list->target_capacity);
    WADI_DELETE(p->offset, list->offset_capacity);
    WADI_DELETE(p->spring, p->spring_capacity);
    WADI_DELETE(p->spring_start, list->spring_start_capacity);
    WADI_DELETE(p->touches, list->touches_capacity);
    WADI_DELETE(p->near, list->near_capacity);
    WADI_DELETE(p->near_count, list->near_count_capacity);
    WADI_DELETE(p->chunk_slot, list->chunk_capacity);
    WADI_DELETE(p->slot_start, list->slot_start_capacity);
    WADI_DELETE(p->slot, list->slot_capacity);
    *list = (WadiDemList){ 0 };
}
