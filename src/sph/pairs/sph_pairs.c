#include "sph/pairs/sph_pairs.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/pairs/sph_mirrors.h"
#include "sph/pairs/sph_search.h"
#include "sph/pairs/sph_weigh.h"

enum { PARTICLE_BLOCK = 4096, LANES = WADI_SPH_LANES, GROUP = WADI_SPH_SIXTEEN };

/* Water with less than this has vanished for its neighbours: its slopes are below one unit. */
static const float LEAST_VOLUME = 1e-6f;

typedef WadiSphSearch Search;

static int32_t place_of(double x, double places_per_metre)
{
    /* Through 64 bits, so that it wraps. */
    return (int32_t)(uint32_t)(uint64_t)(int64_t)floor(x * places_per_metre);
}

static void set_places(void *context, int64_t first, int64_t end)
{
    const Search *s = context;
    const WadiParticles *p = s->in->particles;
    const int32_t base = s->in->sort->first;
    const double scale = WADI_SPH_PLACES / s->in->spacing;
    for (int64_t i = first; i < end; ++i) {
        const int32_t x = place_of(p->x[base + i], scale), y = place_of(p->y[base + i], scale);
        const int32_t z = place_of(p->z[base + i], scale);
        s->axis[0][i] = x, s->axis[1][i] = y, s->axis[2][i] = z;
        s->pairs->place[i] = (WadiI4){ x, y, z, 0 };
        wadi_sph_set_number(s->pairs, (int32_t)i, s->in->volume != NULL ? s->in->volume[i] : 1.0f);
    }
}

/* The largest factor that volumes and sizes give a slope: V_i V_j / size^5, size the mean one. That is at
 * most the size where V = size^3, and grows with the square of how full the particles are. */
static float largest_factor(const WadiSphPairsIn *in, int32_t count)
{
    float full = in->volume != NULL ? 0.0f : 1.0f, size = 1.0f;
    for (int32_t i = 0; i < count && in->volume != NULL; ++i) {
        const float s = in->size != NULL ? in->size[i] : 1.0f, part = in->volume[i] / (s * s * s);
        full = part > full ? part : full;
        size = s > size ? s : size;
    }
    return full * full * size;
}

/* What all passes read. */
static void prepare(Search *s)
{
    const WadiSphPairsIn *in = s->in;
    const int32_t count = s->pairs->count;
    s->pairs->steepest = wadi_sph_steepest(in->kernel->scale);
    s->pairs->slope_unit = s->pairs->steepest * largest_factor(in, count) * (1.0f / UINT16_MAX);
    wadi_sph_lane_table(&s->table);
    wadi_parallel_for(count, PARTICLE_BLOCK, set_places, s);
}

static bool has_both_kinds(const uint8_t *is_sand, int32_t count)
{
    bool has_both = false;
    for (int32_t i = 0; i < count; ++i) {
        has_both = has_both || is_sand[i] != is_sand[0];
    }
    return has_both;
}

/* Bits of the kinds, where there are both. */
static WadiStatus prepare_kinds(Search *s, WadiArena *arena, WadiError *error)
{
    const uint8_t *is_sand = s->in->is_sand;
    const int32_t count = s->pairs->count;
    if (s->pairs->sum == s->pairs->same_sum) {
        return WADI_OK;
    }
    const size_t bytes = (size_t)count / 8 + 1 + sizeof(uint64_t);
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->sand, bytes, "neighbours", error));
    memset(s->sand, 0, bytes);
    for (int32_t i = 0; i < count; ++i) {
        s->sand[i >> 3] |= (uint8_t)(is_sand[i] << (i & 7));
    }
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
    return WADI_ARENA_NEW_TEMPORARY(arena, &s->found, (size_t)s->found_start[slabs], "neighbours", error);
}

static WadiStatus invert_volumes(WadiSphPairs *pairs, const WadiSphPairsIn *in, WadiArena *arena,
                                 WadiError *error)
{
    float *inverse = NULL;
    if (in->volume == NULL) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &inverse, (size_t)pairs->count, "neighbours", error));
    for (int32_t i = 0; i < pairs->count; ++i) {
        inverse[i] = in->volume[i] > LEAST_VOLUME ? 1.0f / in->volume[i] : 0.0f;
    }
    pairs->inverse_volume = inverse;
    return WADI_OK;
}

WadiStatus wadi_sph_pairs_find(WadiSphPairs *pairs, float *density, const WadiSphPairsIn *in,
                               WadiArena *arena, WadiError *error)
{
    const WadiTileSort *sort = in->sort;
    const int32_t count = sort->tile_start[sort->tiles.count] - sort->first;
    Search s = { .in = in, .pairs = pairs, .density = density };
    *pairs = (WadiSphPairs){ .count = count, .size = in->size };
    if (count > WADI_SPH_PARTICLES_MAX) {
        return wadi_fail(error, WADI_ERR_MEMORY, "%d particles are more than the solver sph can hold, %d",
                         (int)count, (int)WADI_SPH_PARTICLES_MAX);
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->place, (size_t)count, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->start, (size_t)count + 1, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->same, (size_t)count, "neighbours", error));
    WADI_TRY(invert_volumes(pairs, in, arena, error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &pairs->same_sum, (size_t)count, "neighbours", error));
    pairs->sum = pairs->same_sum;
    if (has_both_kinds(in->is_sand, count)) {
        WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &pairs->sum, (size_t)count, "neighbours", error));
    }
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(wadi_sph_reach_find(&s.reach, sort, in->size, count, arena, error));
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s.axis[a], (size_t)count + GROUP, "neighbours", error));
        memset(s.axis[a] + count, 0, GROUP * sizeof(int32_t));
    }
    WADI_TRY(prepare_kinds(&s, arena, error));
    prepare(&s);
    WADI_TRY(prepare_found(&s, arena, error));
    s.pass = WADI_SPH_COUNT;
    wadi_parallel_for(WADI_SPH_SLABS * (int64_t)sort->tiles.count, 1, wadi_sph_search, &s);
    pairs->start[0] = 0;
    for (int32_t i = 0; i < count; ++i) {
        pairs->start[i + 1] += pairs->start[i];
    }
    const size_t total = (size_t)pairs->start[count];
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->offset, total + LANES, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->slope, total + LANES, "neighbours", error));
    memset(pairs->offset + total, 0, LANES * sizeof *pairs->offset);
    memset(pairs->slope + total, 0, LANES * sizeof *pairs->slope);
    s.pass = WADI_SPH_FILL;
    wadi_parallel_for(WADI_SPH_SLABS * (int64_t)sort->tiles.count, 1, wadi_sph_search, &s);
    wadi_arena_release_temporaries(arena, mark);
    return wadi_sph_mirrors_find(pairs, in, arena, error);
}

void wadi_sph_pairs_end_forces(WadiSphPairs *pairs, WadiArena *arena, WadiArenaMark mark)
{
    wadi_arena_release_temporaries(arena, mark);
    pairs->same_sum = pairs->sum = NULL;
    pairs->mirror_start = NULL;
    pairs->mirror = NULL;
}
