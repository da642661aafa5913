#include "sph/pairs/sph_pairs.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/pairs/sph_mirrors.h"
#include "sph/pairs/sph_search.h"
#include "sph/pairs/sph_weigh.h"

enum { PARTICLE_BLOCK = 4096, LANES = WADI_SPH_LANES, GROUP = WADI_SPH_SIMD_GROUP };

typedef WadiSphSearch Search;

static int32_t place_of(double x, double places_per_metre)
{
    /* Through 64 bits, so that it wraps. */
    return (int32_t)(uint32_t)(uint64_t)(int64_t)floor(x * places_per_metre);
}

static void set_places(const Search *s, int64_t first, int64_t end)
{
    const WadiParticles *p = s->in->particles;
    const int32_t base = s->in->sort->first;
    const double scale = WADI_SPH_PLACES / s->in->spacing;
    for (int64_t i = first; i < end; ++i) {
        const int32_t x = place_of(p->x[base + i], scale), y = place_of(p->y[base + i], scale);
        const int32_t z = place_of(p->z[base + i], scale);
        s->axis[0][i] = x, s->axis[1][i] = y, s->axis[2][i] = z;
        s->pairs->place[i] = (WadiI4){ x, y, z, 0 };
        const float volume = s->in->volume[i];
        wadi_sph_set_number(s->pairs, (int32_t)i, volume);
        s->pairs->unit[i] = volume > WADI_SPH_LEAST_VOLUME ? s->pairs->slope_unit * (1.0f / volume) : 0.0f;
    }
}

/* Bits of the kinds; `first` is a multiple of eight. */
static void set_kinds(const Search *s, int64_t first, int64_t end)
{
    const uint8_t *is_sand = s->in->is_sand;
    for (int64_t i = first; i < end; i += 8) {
        unsigned bits = 0;
        for (int l = 0; l < 8 && i + l < end; ++l) {
            bits |= (unsigned)is_sand[i + l] << l;
        }
        s->sand[i >> 3] = (uint8_t)bits;
    }
}

/* What all passes read. */
static void prepare_block(void *context, int64_t first, int64_t end)
{
    const Search *s = context;
    set_places(s, first, end);
    if (s->has_both_kinds) {
        set_kinds(s, first, end);
    }
}

/* How full the fullest of some particles is. */
static double full_block(void *context, int64_t first, int64_t end)
{
    const WadiSphPairsIn *in = context;
    float full = 0.0f;
    for (int64_t i = first; i < end; ++i) {
        const float size = in->size[i], part = in->volume[i] / (size * size * size);
        full = part > full ? part : full;
    }
    return (double)full;
}

/* The largest factor that volumes and sizes give a slope: V_i V_j / size^5, size the mean one. That is at
 * most the size where V = size^3, and grows with the square of how full the particles are. */
static WadiStatus find_largest_factor(const WadiSphPairsIn *in, int32_t count, float *factor,
                                      WadiArena *arena, WadiError *error)
{
    double *partials = NULL;
    float size = 1.0f;
    const size_t blocks = (size_t)wadi_parallel_block_count(count, PARTICLE_BLOCK);
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &partials, blocks, "neighbours", error));
    const float full = (float)wadi_parallel_max(count, PARTICLE_BLOCK, full_block, (void *)in, partials);
    for (int32_t i = 0; i < count; ++i) {
        size = in->size[i] > size ? in->size[i] : size;
    }
    *factor = full * full * size;
    return WADI_OK;
}

static bool has_both_kinds(const uint8_t *is_sand, int32_t count)
{
    return count > 1 && memcmp(is_sand, is_sand + 1, (size_t)count - 1) != 0;
}

/* What all passes read. */
static WadiStatus prepare(Search *s, WadiArena *arena, WadiError *error)
{
    const WadiSphPairsIn *in = s->in;
    const int32_t count = s->pairs->count;
    float factor = 1.0f;
    WADI_TRY(wadi_sph_reach_find(&s->reach, in, count, arena, error));
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->axis[a], (size_t)count + GROUP, "neighbours", error));
        memset(s->axis[a] + count, 0, GROUP * sizeof(int32_t));
    }
    s->has_both_kinds = has_both_kinds(in->is_sand, count);
    if (s->has_both_kinds) {
        const size_t bytes = ((size_t)count + 7) / 8;
        WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->sand, bytes + sizeof(uint64_t), "neighbours", error));
        memset(s->sand + bytes, 0, sizeof(uint64_t));
    }
    WADI_TRY(find_largest_factor(in, count, &factor, arena, error));
    const bool has_sand = count > 0 && (s->has_both_kinds || in->is_sand[0]);
    s->pairs->steepest = wadi_sph_steepest(&in->kernel->of[has_sand]);
    s->pairs->slope_unit = s->pairs->steepest * factor * (1.0f / UINT16_MAX);
    wadi_sph_lane_table(&s->table);
    wadi_parallel_for(count, PARTICLE_BLOCK, prepare_block, s);
    return WADI_OK;
}

/* Room for what the distances tell. */
static WadiStatus prepare_found(Search *s, WadiArena *arena, WadiError *error)
{
    const int64_t slabs = WADI_SPH_SLABS * (int64_t)s->in->sort->tiles.count;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->found_start, (size_t)slabs + 1, "neighbours", error));
    s->pass = WADI_SPH_MEASURE;
    wadi_parallel_for(slabs, 1, wadi_sph_search, s);
    s->found_start[0] = 0;
    for (int64_t n = 0; n < slabs; ++n) {
        s->found_start[n + 1] += s->found_start[n];
    }
    const size_t entries = (size_t)s->found_start[slabs];
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->found, entries + 3, "neighbours", error));
    memset(s->found + entries, 0, 3 * sizeof *s->found);
    return WADI_OK;
}

WadiStatus wadi_sph_pairs_find(WadiSphPairs *pairs, float *density, const WadiSphPairsIn *in,
                               WadiArena *arena, WadiError *error)
{
    const WadiTileSort *sort = in->sort;
    const int32_t count = sort->tile_start[sort->tiles.count] - sort->first;
    Search s = { .in = in, .pairs = pairs, .density = density };
    *pairs =
        (WadiSphPairs){ .count = count, .has_sizes = in->has_sizes, .volume = in->volume, .size = in->size };
    if (count > WADI_SPH_PARTICLES_MAX) {
        return wadi_fail(error, WADI_ERR_MEMORY, "%d particles are more than the solver sph can hold, %d",
                         (int)count, (int)WADI_SPH_PARTICLES_MAX);
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->place, (size_t)count, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->unit, (size_t)count, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->start, (size_t)count + 1, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->same, (size_t)count, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &pairs->sum, (size_t)count, "neighbours", error));
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(prepare(&s, arena, error));
    WADI_TRY(prepare_found(&s, arena, error));
    s.pass = WADI_SPH_COUNT;
    wadi_parallel_for(WADI_SPH_SLABS * (int64_t)sort->tiles.count, 1, wadi_sph_search, &s);
    size_t total = 0;
    pairs->start[0] = 0;
    for (int32_t i = 0; i < count; ++i) {
        total += pairs->start[i + 1];
        pairs->start[i + 1] = (uint32_t)total;
    }
    if (total > UINT32_MAX - LANES) {
        return wadi_fail(error, WADI_ERR_MEMORY,
                         "%zu neighbours of particles are more than the solver sph can hold", total);
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->offset, total + LANES, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->slope, total + LANES, "neighbours", error));
    memset(pairs->offset + total, 0, LANES * sizeof *pairs->offset);
    memset(pairs->slope + total, 0, LANES * sizeof *pairs->slope);
    s.pass = WADI_SPH_FILL;
    wadi_parallel_for(WADI_SPH_SLABS * (int64_t)sort->tiles.count, 1, wadi_sph_search, &s);
    wadi_arena_release_temporaries(arena, mark);
    return wadi_sph_mirrors_find(pairs, density, in, arena, error);
}

void wadi_sph_pairs_sum_same(const WadiSphPairs *pairs, int32_t i, WadiF4 *sum)
{
    const WadiI4 place = pairs->place[i];
    const int64_t end = pairs->start[i] + (int64_t)pairs->same[i];
    WadiF8 x = { 0 }, y = { 0 }, z = { 0 }, none = { 0 };
    for (int64_t n = pairs->start[i]; n < end; n += LANES) {
        WadiF8 slope;
        WadiSphEight eight;
        wadi_sph_load_slopes(pairs, n, end, &slope);
        wadi_sph_load_eight(pairs, &place, pairs->offset + n, &eight);
        x += slope * eight.x;
        y += slope * eight.y;
        z += slope * eight.z;
    }
    wadi_sph_sum_four(&x, &y, &z, &none, sum);
}
