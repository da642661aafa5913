#include "sph/pairs/sph_search.h"

#include <string.h>

#include "sph/pairs/sph_candidates.h"
#include "sph/pairs/sph_list.h"

typedef WadiSphSearch Search;

enum { SLABS = WADI_SPH_SLABS, LANES = WADI_SPH_LANES, GROUP = WADI_SPH_SIMD_GROUP };

/* The reach of pairs of this kind, places; of particles of one size. */
static inline float reach_of(const Search *s, bool is_sand)
{
    return s->in->kernel->of[is_sand].reach * (float)WADI_SPH_PLACES;
}

/* The same over that of sand, which half supports have. */
static inline float wider_of(const Search *s, bool is_sand)
{
    return is_sand ? 1.0f : s->in->kernel->of[0].reach / (float)WADI_SPH_REACH;
}

/* The particle i as the centre of a search for pairs with the kernel of a kind. */
static void set_centre(const Search *s, int32_t i, bool is_sand, WadiSphCentre *c)
{
    c->has_sizes = s->reach.has_sizes;
    c->half = s->reach.of;
    c->reach = s->reach.has_sizes ? s->reach.of[i] : reach_of(s, is_sand);
    c->wider = wider_of(s, is_sand);
    for (int a = 0; a < 3; ++a) {
        c->axis[a] = s->axis[a];
        c->at[a] = (uint32_t)s->axis[a][i];
    }
}

/* Whether a wall stands between two particles. */
static bool is_hidden(const Search *s, int32_t i, int32_t j)
{
    const WadiSphWalls *walls = s->in->walls;
    const int32_t near_i = wadi_sph_near(walls, i), near_j = wadi_sph_near(walls, j);
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
    WadiSphCentre centre, of_sand;
    const uint8_t *sand = s->sand;
    const bool has_two = s->has_both_kinds && !s->in->is_sand[i]; /* water near sand */
    const bool may_be_hidden = s->in->walls->has_solids && wadi_sph_near(s->in->walls, i) >= 0;
    int32_t all = 0, all_sand = 0;
    set_centre(s, i, s->in->is_sand[i], &centre);
    set_centre(s, i, true, &of_sand);
    for (int r = 0; r < range_count; ++r) {
        const int32_t end = ranges[r].end;
        for (int32_t j = ranges[r].first; j < end; j += GROUP) {
            unsigned bits = wadi_sph_within(&centre, j);
            bits &= has_two ? ~find_sand(sand, j) | wadi_sph_within(&of_sand, j) : 0xffffu;
            bits &= end - j < GROUP ? (1u << (end - j)) - 1 : 0xffffu;
            bits &= ~((uint32_t)i - (uint32_t)j < GROUP ? 1u << (i - j) : 0u);
            if (may_be_hidden) {
                bits = remove_hidden(s, i, j, bits);
            }
            *found++ = (uint16_t)bits;
            all += __builtin_popcount(bits);
            all_sand += s->has_both_kinds ? __builtin_popcount(bits & find_sand(sand, j)) : 0;
        }
    }
    s->pairs->start[i + 1] = (uint32_t)all;
    s->pairs->same[i] = !s->has_both_kinds ? all : s->in->is_sand[i] ? all_sand : all - all_sand;
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
                                                                   int own, uint16_t *found, bool is_mixed,
                                                                   bool has_both)
{
    const bool is_sand = s->in->is_sand[i];
    const float reach = is_mixed ? s->reach.of[i] : reach_of(s, is_sand), wider = wider_of(s, is_sand);
    const float of_sand = is_mixed ? reach : reach_of(s, true);
    const float at[3] = { c->axis[0][own], c->axis[1][own], c->axis[2][own] };
    const bool may_be_hidden = s->in->walls->has_solids && wadi_sph_near(s->in->walls, i) >= 0;
    const int count = c->count;
    int32_t all = 0, all_sand = 0;
    for (int n = 0; n < count; n += GROUP) {
        unsigned bits = wadi_sph_candidates_within(c, n, at, reach, wider, is_mixed);
        if (has_both && !is_sand && (bits & c->sand[n / GROUP]) != 0) {
            bits &=
                ~(unsigned)c->sand[n / GROUP] | wadi_sph_candidates_within(c, n, at, of_sand, 1.0f, is_mixed);
        }
        if (may_be_hidden) {
            bits = remove_hidden_candidates(s, c, i, n, bits);
        }
        found[n / GROUP] = (uint16_t)bits;
        all += __builtin_popcount(bits);
        all_sand += has_both ? __builtin_popcount(bits & c->sand[n / GROUP]) : 0;
    }
    const unsigned self = found[own / GROUP] & 1u << own % GROUP;
    found[own / GROUP] ^= (uint16_t)self;
    all -= self != 0;
    all_sand -= has_both && (self & c->sand[own / GROUP]) != 0;
    s->pairs->start[i + 1] = (uint32_t)all;
    s->pairs->same[i] = !has_both ? all : s->in->is_sand[i] ? all_sand : all - all_sand;
}

static void count_of(const Search *s, const WadiSphCandidates *c, int32_t i, int own, uint16_t *found)
{
    if (s->reach.has_sizes) {
        count_candidates(s, c, i, own, found, true, s->has_both_kinds);
    } else if (s->has_both_kinds) {
        count_candidates(s, c, i, own, found, false, true);
    } else {
        count_candidates(s, c, i, own, found, false, false);
    }
}

static inline __attribute__((always_inline)) void add_to_list(const Search *s, int32_t i, WadiSphList *list,
                                                              int32_t j, unsigned bits)
{
    list->count += wadi_sph_append(&s->table, list->offset + list->count, j, bits);
    if (list->count > WADI_SPH_LIST_BUFFER) {
        wadi_sph_list_write(s->in, s->pairs, i, list);
    }
}

/* Writes what is left of the list of its own kind and, where there is one, of the other kind, and the sums
 * over them. */
static void end_lists(const Search *s, int32_t i, WadiSphList *same, WadiSphList *other, bool has_other)
{
    const WadiSphPairsIn *in = s->in;
    const float size = wadi_sph_size(s->pairs, i);
    const float own = in->kernel->of[in->is_sand[i]].own * in->volume[i] / (size * size * size);
    WadiF4 sum, others = { 0 };
    float density = own + wadi_sph_list_end(in, s->pairs, i, same, &sum);
    if (has_other) {
        density += wadi_sph_list_end(in, s->pairs, i, other, &others);
        others[3] = 0.0f;
    }
    s->pairs->sum[i] = sum + others;
    const int32_t near = wadi_sph_near(in->walls, i);
    const bool has_cover = near >= 0 && in->is_sand[i]; /* water has images instead */
    s->density[i] = density + (has_cover ? in->walls->cover[near] : 0.0f);
}

static void fill(const Search *s, int32_t i, const WadiSphRange *ranges, int range_count,
                 const uint16_t *found)
{
    const unsigned flip = s->in->is_sand[i] ? 0u : 0xffffu;
    WadiSphList same, other;
    wadi_sph_list_begin(&same, s->pairs->start[i], &s->in->kernel->of[s->in->is_sand[i]]);
    wadi_sph_list_begin(&other, s->pairs->start[i] + s->pairs->same[i], &s->in->kernel->of[1]);
    for (int r = 0; r < range_count; ++r) {
        for (int32_t j = ranges[r].first; j < ranges[r].end; j += GROUP) {
            const unsigned bits = *found++, kind = s->has_both_kinds ? find_sand(s->sand, j) ^ flip : 0xffffu;
            add_to_list(s, i, &same, j, bits & kind); /* often none: a branch would be mispredicted */
            if ((bits & ~kind) != 0) {
                add_to_list(s, i, &other, j, bits & ~kind);
            }
        }
    }
    end_lists(s, i, &same, &other, s->has_both_kinds);
}

/* Both lists of i from the candidates of a cell. */
static void divide_candidates(const Search *s, const WadiSphCandidates *c, int32_t i, const uint16_t *found)
{
    const bool has_both = s->has_both_kinds;
    const unsigned flip = s->in->is_sand[i] ? 0u : 0xffffu;
    WadiSphList same, other;
    wadi_sph_list_begin(&same, s->pairs->start[i], &s->in->kernel->of[s->in->is_sand[i]]);
    wadi_sph_list_begin(&other, s->pairs->start[i] + s->pairs->same[i], &s->in->kernel->of[1]);
    for (int n = 0; n < c->count; n += GROUP) {
        const unsigned bits = found[n / GROUP], kind = has_both ? c->sand[n / GROUP] ^ flip : 0xffffu;
        same.count += wadi_sph_candidates_append(c, &s->table, same.offset + same.count, n, bits & kind);
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
    end_lists(s, i, &same, &other, has_both);
}

static void fill_from_candidates(const Search *s, const WadiSphCandidates *c, int32_t i,
                                 const uint16_t *found)
{
    const int64_t start = s->pairs->start[i], all = s->pairs->start[i + 1] - start;
    if (all != s->pairs->same[i] || all > WADI_SPH_LIST_BUFFER) {
        divide_candidates(s, c, i, found);
        return;
    }
    WadiSphList list;
    wadi_sph_list_begin(&list, start, &s->in->kernel->of[s->in->is_sand[i]]);
    list.count = wadi_sph_candidates_collect(c, &s->table, found, list.offset);
    end_lists(s, i, &list, &list, false);
}

static int32_t count_particles(const WadiSphRange *ranges, int range_count)
{
    int32_t count = 0;
    for (int r = 0; r < range_count; ++r) {
        count += ranges[r].end - ranges[r].first;
    }
    return count;
}

/* One pass over a particle that gets no list. */
static void pass_over(const Search *s, int32_t i)
{
    if (s->pass == WADI_SPH_COUNT) {
        s->pairs->start[i + 1] = 0;
        s->pairs->same[i] = 0;
    } else {
        s->density[i] = 1.0f;
        s->pairs->sum[i] = (WadiF4){ 0 };
    }
}

static bool has_list(const Search *s, int32_t i)
{
    return s->in->role[i] == WADI_SPH_ACTIVE;
}

/* One pass over particles of a cell or block, the first of which is candidate `own`; `found` has `groups`
 * entries a particle, one for each sixteen candidates. */
static void search_flat_cell(const Search *s, const WadiSphCandidates *c, int32_t from, int32_t to, int own,
                             uint16_t *found, int64_t groups)
{
    for (int32_t i = from; i < to; ++i, ++own, found += groups) {
        if (!has_list(s, i)) {
            pass_over(s, i);
        } else if (s->pass == WADI_SPH_COUNT) {
            count_of(s, c, i, own, found);
        } else {
            fill_from_candidates(s, c, i, found);
        }
    }
}

/* The same where there are too many candidates for that; `found` has `groups` entries a particle. */
static void search_cell(const Search *s, int32_t from, int32_t to, const WadiSphRange *ranges,
                        int range_count, uint16_t *found, int64_t groups)
{
    for (int32_t i = from; i < to; ++i, found += groups) {
        if (!has_list(s, i)) {
            pass_over(s, i);
        } else if (s->pass == WADI_SPH_COUNT) {
            count(s, i, ranges, range_count, found);
        } else {
            fill(s, i, ranges, range_count, found);
        }
    }
}

/* The candidates of the ranges, what a pass needs of them. */
static void find_candidates(const Search *s, WadiSphCandidates *c, const WadiSphRange *ranges,
                            int range_count, int32_t from)
{
    const WadiSphCandidatesIn in = { s->axis, s->reach.of, s->has_both_kinds, s->sand };
    if (s->pass == WADI_SPH_FILL) {
        wadi_sph_candidates_find(c, ranges, range_count, from, &in, false, false);
    } else if (s->reach.has_sizes) {
        wadi_sph_candidates_find(c, ranges, range_count, from, &in, true, true);
    } else {
        wadi_sph_candidates_find(c, ranges, range_count, from, &in, true, false);
    }
}

static bool is_flat(int32_t candidates)
{
    return candidates <= WADI_SPH_CANDIDATES_MAX; /* they are compared side by side */
}

/* The entries of `found` of a particle with candidates in the ranges. */
static int64_t entries_of(const WadiSphRange *ranges, int range_count)
{
    const int32_t candidates = count_particles(ranges, range_count);
    return is_flat(candidates) ? (candidates + GROUP - 1) / GROUP : count_groups(ranges, range_count);
}

/* One pass over particles, `rows` ranges of them, that have their neighbours in the ranges; returns how many
 * entries of `found` they have. */
static int64_t search_ranges(const Search *s, const WadiSphRange *members, int rows,
                             const WadiSphRange *ranges, int range_count, uint16_t *found)
{
    const int64_t groups = entries_of(ranges, range_count);
    const bool may_copy = is_flat(count_particles(ranges, range_count));
    WadiSphCandidates c;
    if (may_copy) {
        int row = 0;
        while (row + 1 < rows && members[row].end == members[row].first) {
            ++row;
        }
        find_candidates(s, &c, ranges, range_count, members[row].first);
    }
    int64_t at = 0;
    for (int n = 0; n < rows; ++n) {
        const int32_t from = members[n].first, to = members[n].end;
        if (may_copy && from < to) {
            const int own = wadi_sph_candidates_number(ranges, range_count, from);
            search_flat_cell(s, &c, from, to, own, found + at, groups);
        } else {
            search_cell(s, from, to, ranges, range_count, found + at, groups);
        }
        at += (to - from) * groups;
    }
    return at;
}

/* Whether one of some particles gets a list. */
static bool has_lists(const Search *s, const WadiSphRange *of)
{
    int32_t i = of->first;
    while (i < of->end && !has_list(s, i)) {
        ++i;
    }
    return i < of->end;
}

/* The entries of `found` of the cells of a row. */
static int64_t measure_row(const Search *s, const WadiSphRows *rows)
{
    const int32_t first = s->in->sort->first, *start = rows->here[4];
    int32_t candidates[8];
    int64_t all = 0;
    wadi_sph_count_even_ranges(rows, candidates);
    for (int lane = 0; lane < 8; ++lane) {
        int64_t groups = (candidates[lane] + GROUP - 1) / GROUP;
        if (!is_flat(candidates[lane])) {
            WadiSphRange ranges[WADI_SPH_RANGE_MAX];
            groups = count_groups(ranges, wadi_sph_find_even_ranges(rows, first, lane, ranges));
        }
        const WadiSphRange member = { start[lane] - first, start[lane + 1] - first };
        all += has_lists(s, &member) ? groups * (member.end - member.first) : 0;
    }
    return all;
}

/* One pass over the cells of a row; returns how many entries of `found` it has. */
static int64_t search_row(const Search *s, const WadiSphRows *rows, uint16_t *found)
{
    const int32_t first = s->in->sort->first, *start = rows->here[4];
    int64_t at = 0;
    for (int lane = 0; lane < 8; ++lane) {
        WadiSphRange ranges[WADI_SPH_RANGE_MAX];
        const WadiSphRange member = { start[lane] - first, start[lane + 1] - first };
        if (has_lists(s, &member)) {
            const int range_count = wadi_sph_find_even_ranges(rows, first, lane, ranges);
            at += search_ranges(s, &member, 1, ranges, range_count, found + at);
        } else {
            for (int32_t i = member.first; i < member.end; ++i) {
                pass_over(s, i);
            }
        }
    }
    return at;
}

/* One pass over a slab, the entries of which begin at `found`; returns how many it has. */
static int64_t search_even_slab(const Search *s, int64_t slab, uint16_t *found)
{
    enum { ROWS = 64 / SLABS };
    const WadiTileSort *sort = s->in->sort;
    const int32_t tile = (int32_t)(slab / SLABS);
    const int first = (int)(slab % SLABS) * ROWS;
    int64_t at = 0;
    for (int bit = first; bit < first + ROWS; ++bit) {
        if ((sort->row_mask[tile] >> bit & 1) != 0) {
            WadiSphRows rows;
            wadi_sph_find_rows(sort, tile, bit, &rows);
            at += s->pass == WADI_SPH_MEASURE ? measure_row(s, &rows) : search_row(s, &rows, found + at);
        }
    }
    return at;
}

/* The same in blocks of cells, where sizes differ, since few coarse particles lie in a cell. */
static int64_t search_mixed_slab(const Search *s, int64_t slab, uint16_t *found)
{
    enum { WIDTH = 2, SIDE = 8 / WIDTH, BLOCKS = SIDE * SIDE * SIDE / SLABS };
    const int from = (int)(slab % SLABS) * BLOCKS;
    int64_t at = 0;
    for (int b = from; b < from + BLOCKS; ++b) {
        WadiSphRange members[4], ranges[WADI_SPH_RANGE_MAX];
        const int bit = WIDTH * (b / SIDE % SIDE) + 8 * WIDTH * (b / (SIDE * SIDE));
        const WadiSphCell cell = { (int32_t)(slab / SLABS), bit, WIDTH * (b % SIDE), WIDTH };
        const int32_t count = wadi_sph_find_members(s->in->sort, &cell, members);
        if (count > 0) {
            const int range_count = wadi_sph_find_ranges(&s->reach, &cell, ranges);
            at += s->pass == WADI_SPH_MEASURE
                      ? count * entries_of(ranges, range_count)
                      : search_ranges(s, members, WIDTH * WIDTH, ranges, range_count, found + at);
        }
    }
    return at;
}

void wadi_sph_search(void *search, int64_t first, int64_t end)
{
    const Search *s = search;
    for (int64_t slab = first; slab < end; ++slab) {
        const bool is_measured = s->pass == WADI_SPH_MEASURE;
        uint16_t *found = is_measured ? s->found : s->found + s->found_start[slab];
        const int64_t count =
            s->reach.has_sizes ? search_mixed_slab(s, slab, found) : search_even_slab(s, slab, found);
        if (is_measured) {
            s->found_start[slab + 1] = count;
        }
    }
}
