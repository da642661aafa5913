#include "sph/pairs/sph_pairs.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/pairs/sph_candidates.h"
#include "sph/pairs/sph_list.h"
#include "sph/pairs/sph_mirrors.h"
#include "sph/pairs/sph_ranges.h"
#include "sph/pairs/sph_sixteen.h"
#include "sph/pairs/sph_weigh.h"

/* A tile is searched in slabs, so that few tiles keep all threads busy. */
enum { PARTICLE_BLOCK = 4096, SLABS = 4, LANES = WADI_SPH_LANES, GROUP = WADI_SPH_SIXTEEN };

/* Water with less than this has vanished for its neighbours: its slopes are below one unit. */
static const float LEAST_VOLUME = 1e-6f;

/* The passes of the search: room for `found`; distances, and so the lengths of the lists; the lists. */
typedef enum SearchPass {
    PASS_MEASURE,
    PASS_COUNT,
    PASS_FILL,
} SearchPass;

typedef struct Search {
    const WadiSphPairsIn *in;
    WadiSphPairs *pairs;
    int32_t *axis[3]; /* places by axis, padded by GROUP */
    WadiSphReach reach;
    float *density;
    /* Bit i: particle i is sand. NULL: all are of one kind. */
    uint8_t *sand;
    SearchPass pass;
    /* Of the groups of sixteen that a particle is compared with, in the order of the search: those within its
     * support as bits. Slab n begins at found_start[n]. */
    uint16_t *found;
    int64_t *found_start;
    WadiSphLaneTable table;
} Search;

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

/* The particle i as the centre of a search. */
static void set_centre(const Search *s, int32_t i, WadiSphCentre *c)
{
    c->half = s->reach.of;
    c->reach = s->reach.of != NULL ? s->reach.of[i] : (float)(WADI_SPH_REACH * WADI_SPH_PLACES);
    for (int a = 0; a < 3; ++a) {
        c->axis[a] = s->axis[a];
        c->at[a] = (uint32_t)s->axis[a][i];
    }
}

/* Whether a wall stands between two particles. */
static bool is_hidden(const Search *s, int32_t i, int32_t j)
{
    const WadiSphWalls *walls = s->in->walls;
    const int32_t near_i = walls->of[i], near_j = walls->of[j];
    if (near_i < 0 || near_j < 0) {
        return false;
    }
    float offset[3];
    for (int a = 0; a < 3; ++a) {
        offset[a] = (float)(int32_t)((uint32_t)s->axis[a][j] - (uint32_t)s->axis[a][i]) *
                    (float)(1.0 / WADI_SPH_PLACES);
    }
    return wadi_sph_walls_hide(walls, near_i, near_j, offset);
}

/* Those of the particles j .. j + 15 whose bits are set that no wall hides from i, as bits. */
static unsigned remove_hidden(const Search *s, int32_t i, int32_t j, unsigned bits)
{
    unsigned seen = bits;
    for (unsigned left = bits; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        seen &= ~(is_hidden(s, i, j + lane) ? 1u << lane : 0u);
    }
    return seen;
}

/* Those of the particles j .. j + 15 that are sand, as bits; `sand` is that of a search. */
static inline __attribute__((always_inline)) unsigned find_sand(const uint8_t *sand, int32_t j)
{
    uint32_t bits;
    memcpy(&bits, sand + (j >> 3), sizeof bits);
    return bits >> (j & 7) & 0xffffu;
}

static int64_t count_groups(const WadiSphRange *ranges, int range_count)
{
    int64_t groups = 0;
    for (int r = 0; r < range_count; ++r) {
        groups += (ranges[r].end - ranges[r].first + GROUP - 1) / GROUP;
    }
    return groups;
}

/* The lengths of the lists of i. */
static void count(const Search *s, int32_t i, const WadiSphRange *ranges, int range_count, uint16_t *found)
{
    WadiSphCentre centre;
    const uint8_t *sand = s->sand;
    const bool may_be_hidden = s->in->walls->has_solids && s->in->walls->of[i] >= 0;
    int32_t all = 0, all_sand = 0;
    set_centre(s, i, &centre);
    for (int r = 0; r < range_count; ++r) {
        const int32_t end = ranges[r].end;
        for (int32_t j = ranges[r].first; j < end; j += GROUP) {
            unsigned bits = wadi_sph_within(&centre, j);
            bits &= end - j < GROUP ? (1u << (end - j)) - 1 : 0xffffu;
            bits &= ~((uint32_t)i - (uint32_t)j < GROUP ? 1u << (i - j) : 0u);
            if (may_be_hidden) {
                bits = remove_hidden(s, i, j, bits);
            }
            *found++ = (uint16_t)bits;
            all += __builtin_popcount(bits);
            all_sand += sand != NULL ? __builtin_popcount(bits & find_sand(sand, j)) : 0;
        }
    }
    s->pairs->start[i + 1] = all;
    s->pairs->same[i] = sand == NULL ? all : s->in->is_sand[i] ? all_sand : all - all_sand;
}

/* Those of the candidates n .. n + 15 whose bits are set that no wall hides from i, as bits. */
static unsigned remove_hidden_candidates(const Search *s, const WadiSphCandidates *c, int32_t i, int n,
                                         unsigned bits)
{
    unsigned seen = bits;
    for (unsigned left = bits; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        seen &= ~(is_hidden(s, i, (int32_t)(c->offset[n + lane] >> 4)) ? 1u << lane : 0u);
    }
    return seen;
}

/* The lengths of the lists of i, the particle `own` of the candidates. */
static inline __attribute__((always_inline)) void count_candidates(const Search *s,
                                                                   const WadiSphCandidates *c, int32_t i,
                                                                   int own, uint16_t *found, bool is_mixed)
{
    const float reach = is_mixed ? s->reach.of[i] : (float)(WADI_SPH_REACH * WADI_SPH_PLACES);
    const float at[3] = { c->axis[0][own], c->axis[1][own], c->axis[2][own] };
    const bool may_be_hidden = s->in->walls->has_solids && s->in->walls->of[i] >= 0;
    const bool has_both = s->sand != NULL;
    int32_t all = 0, all_sand = 0;
    for (int n = 0; n < c->count; n += GROUP) {
        unsigned bits = wadi_sph_candidates_within(c, n, at, reach, is_mixed);
        bits &= ~((unsigned)(own - n) < GROUP ? 1u << (own - n) : 0u);
        if (may_be_hidden) {
            bits = remove_hidden_candidates(s, c, i, n, bits);
        }
        found[n / GROUP] = (uint16_t)bits;
        all += __builtin_popcount(bits);
        all_sand += has_both ? __builtin_popcount(bits & c->sand[n / GROUP]) : 0;
    }
    s->pairs->start[i + 1] = all;
    s->pairs->same[i] = !has_both ? all : s->in->is_sand[i] ? all_sand : all - all_sand;
}

static inline __attribute__((always_inline)) void add_to_list(const Search *s, int32_t i, WadiSphList *list,
                                                              int32_t j, unsigned bits)
{
    list->count += wadi_sph_append(&s->table, list->offset + list->count, j, bits);
    if (list->count > WADI_SPH_LIST_BUFFER) {
        wadi_sph_list_write(s->in, s->pairs, i, list);
    }
}

/* Writes what is left of both lists, and the sums over them. */
static void end_lists(const Search *s, int32_t i, WadiSphList *same, WadiSphList *other)
{
    const WadiSphPairsIn *in = s->in;
    wadi_sph_list_write(s->in, s->pairs, i, same);
    WadiF4 sum;
    wadi_sph_sum_four(&same->sums.x, &same->sums.y, &same->sums.z, &same->sums.slope, &sum);
    s->pairs->same_sum[i] = sum;
    const float size = wadi_sph_size(s->pairs, i);
    const float own = in->kernel->own * (in->volume != NULL ? in->volume[i] : 1.0f) / (size * size * size);
    float density = own + wadi_sph_sum_lanes(&same->sums.density);
    if (s->sand != NULL) {
        WadiF4 others;
        wadi_sph_list_write(s->in, s->pairs, i, other);
        wadi_sph_sum_four(&other->sums.x, &other->sums.y, &other->sums.z, &other->sums.slope, &others);
        s->pairs->sum[i] = sum + others;
        density += wadi_sph_sum_lanes(&other->sums.density);
    }
    const int32_t near = in->walls->of[i];
    s->density[i] = density + (near >= 0 ? in->walls->cover[near] : 0.0f);
}

static void fill(const Search *s, int32_t i, const WadiSphRange *ranges, int range_count,
                 const uint16_t *found)
{
    const unsigned flip = s->in->is_sand[i] ? 0u : 0xffffu;
    WadiSphList same, other;
    wadi_sph_list_begin(&same, s->pairs->start[i]);
    wadi_sph_list_begin(&other, s->pairs->start[i] + s->pairs->same[i]);
    for (int r = 0; r < range_count; ++r) {
        for (int32_t j = ranges[r].first; j < ranges[r].end; j += GROUP) {
            const unsigned bits = *found++, kind = s->sand == NULL ? 0xffffu : find_sand(s->sand, j) ^ flip;
            add_to_list(s, i, &same, j, bits & kind); /* often none: a branch would be mispredicted */
            if ((bits & ~kind) != 0) {
                add_to_list(s, i, &other, j, bits & ~kind);
            }
        }
    }
    end_lists(s, i, &same, &other);
}

/* The same of the candidates of a cell. */
static void fill_from_candidates(const Search *s, const WadiSphCandidates *c, int32_t i,
                                 const uint16_t *found)
{
    const bool has_both = s->sand != NULL;
    const unsigned flip = s->in->is_sand[i] ? 0u : 0xffffu;
    WadiSphList same, other;
    wadi_sph_list_begin(&same, s->pairs->start[i]);
    wadi_sph_list_begin(&other, s->pairs->start[i] + s->pairs->same[i]);
    for (int n = 0; n < c->count; n += GROUP) {
        const unsigned bits = found[n / GROUP], kind = has_both ? c->sand[n / GROUP] ^ flip : 0xffffu;
        same.count +=
            wadi_sph_candidates_append(c, &s->table, same.offset + same.count, n, bits & kind & 0xffffu);
        if (same.count > WADI_SPH_LIST_BUFFER) {
            wadi_sph_list_write(s->in, s->pairs, i, &same);
        }
        if ((bits & ~kind) != 0) {
            other.count +=
                wadi_sph_candidates_append(c, &s->table, other.offset + other.count, n, bits & ~kind);
            if (other.count > WADI_SPH_LIST_BUFFER) {
                wadi_sph_list_write(s->in, s->pairs, i, &other);
            }
        }
    }
    end_lists(s, i, &same, &other);
}

static int32_t count_particles(const WadiSphRange *ranges, int range_count)
{
    int32_t count = 0;
    for (int r = 0; r < range_count; ++r) {
        count += ranges[r].end - ranges[r].first;
    }
    return count;
}

/* One pass over particles of a cell or block, the first of which is candidate `own`; `found` has an entry for
 * each sixteen candidates. */
static void search_flat_cell(const Search *s, const WadiSphCandidates *c, int32_t from, int32_t to, int own,
                             uint16_t *found)
{
    const int groups = (c->count + GROUP - 1) / GROUP;
    for (int32_t i = from; i < to; ++i, ++own, found += groups) {
        const bool is_fixed = s->in->fixed != NULL && s->in->fixed[i] != 0;
        if (s->pass == PASS_COUNT && is_fixed) {
            s->pairs->start[i + 1] = s->pairs->same[i] = 0;
        } else if (s->pass == PASS_COUNT && s->reach.of != NULL) {
            count_candidates(s, c, i, own, found, true);
        } else if (s->pass == PASS_COUNT) {
            count_candidates(s, c, i, own, found, false);
        } else if (is_fixed) {
            s->density[i] = 1.0f;
            s->pairs->same_sum[i] = s->pairs->sum[i] = (WadiF4){ 0 };
        } else {
            fill_from_candidates(s, c, i, found);
        }
    }
}

/* One pass over the particles of a cell, of which `found` has `groups` entries each. */
static void search_cell(const Search *s, int32_t from, int32_t to, const WadiSphRange *ranges,
                        int range_count, uint16_t *found, int64_t groups)
{
    for (int32_t i = from; i < to; ++i, found += groups) {
        const bool is_fixed = s->in->fixed != NULL && s->in->fixed[i] != 0;
        if (s->pass == PASS_COUNT) {
            count(s, i, ranges, is_fixed ? 0 : range_count, found);
        } else if (is_fixed) {
            s->density[i] = 1.0f;
            s->pairs->same_sum[i] = s->pairs->sum[i] = (WadiF4){ 0 };
        } else {
            fill(s, i, ranges, range_count, found);
        }
    }
}

/* One pass over a cell or block; returns how many entries of `found` it has. */
static int64_t search_block(const Search *s, const WadiSphCell *cell, uint16_t *found)
{
    WadiSphRange members[4], ranges[WADI_SPH_RANGE_MAX];
    const int32_t count = wadi_sph_find_members(s->in->sort, cell, members);
    if (count == 0) {
        return 0;
    }
    const int range_count = wadi_sph_find_ranges(&s->reach, cell, ranges);
    const int32_t candidates = count_particles(ranges, range_count);
    const bool is_flat = candidates <= WADI_SPH_CANDIDATES_MAX; /* compared side by side */
    const int64_t groups = is_flat ? (candidates + GROUP - 1) / GROUP : count_groups(ranges, range_count);
    if (s->pass == PASS_MEASURE) {
        return count * groups;
    }
    WadiSphCandidates c;
    if (is_flat) {
        const bool is_count = s->pass == PASS_COUNT;
        int row = 0;
        while (members[row].end == members[row].first) {
            ++row;
        }
        wadi_sph_candidates_find(&c, ranges, range_count, members[row].first, is_count ? s->axis : NULL,
                                 is_count ? s->reach.of : NULL, s->sand != NULL ? s->in->is_sand : NULL);
    }
    for (int n = 0; n < cell->width * cell->width; ++n) {
        const int32_t from = members[n].first, to = members[n].end;
        if (is_flat && from < to) {
            const int own = wadi_sph_candidates_number(ranges, range_count, from);
            search_flat_cell(s, &c, from, to, own, found);
        } else {
            search_cell(s, from, to, ranges, range_count, found, groups);
        }
        found += (to - from) * groups;
    }
    return count * groups;
}

/* One pass over the cells of slabs. Where sizes differ they are taken in blocks, since few coarse particles
 * lie in a cell. */
static void search_slabs(void *context, int64_t first, int64_t end)
{
    const Search *s = context;
    const int width = s->reach.of != NULL ? 2 : 1, side = 8 / width, blocks = side * side * side / SLABS;
    for (int64_t slab = first; slab < end; ++slab) {
        const int from = (int)(slab % SLABS) * blocks;
        int64_t at = s->pass == PASS_MEASURE ? 0 : s->found_start[slab];
        for (int b = from; b < from + blocks; ++b) {
            const int bit = width * (b / side % side) + 8 * width * (b / (side * side));
            const WadiSphCell cell = { (int32_t)(slab / SLABS), bit, width * (b % side), width };
            at += search_block(s, &cell, s->pass == PASS_MEASURE ? NULL : s->found + at);
        }
        if (s->pass == PASS_MEASURE) {
            s->found_start[slab + 1] = at;
        }
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
    const size_t bytes = (size_t)count / 8 + sizeof(uint32_t) + 1; /* find_sand reads so far */
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
    const int64_t slabs = SLABS * (int64_t)s->in->sort->tiles.count;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->found_start, (size_t)slabs + 1, "neighbours", error));
    s->pass = PASS_MEASURE;
    wadi_parallel_for(slabs, 1, search_slabs, s);
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
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->same_sum, (size_t)count, "neighbours", error));
    pairs->sum = pairs->same_sum;
    if (has_both_kinds(in->is_sand, count)) {
        WADI_TRY(WADI_ARENA_NEW(arena, &pairs->sum, (size_t)count, "neighbours", error));
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
    s.pass = PASS_COUNT;
    wadi_parallel_for(SLABS * (int64_t)sort->tiles.count, 1, search_slabs, &s);
    pairs->start[0] = 0;
    for (int32_t i = 0; i < count; ++i) {
        pairs->start[i + 1] += pairs->start[i];
    }
    const size_t total = (size_t)pairs->start[count];
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->offset, total + LANES, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->slope, total + LANES, "neighbours", error));
    memset(pairs->offset + total, 0, LANES * sizeof *pairs->offset);
    memset(pairs->slope + total, 0, LANES * sizeof *pairs->slope);
    s.pass = PASS_FILL;
    wadi_parallel_for(SLABS * (int64_t)sort->tiles.count, 1, search_slabs, &s);
    wadi_arena_release_temporaries(arena, mark);
    return wadi_sph_mirrors_find(pairs, in, arena, error);
}
