#include "sph/pairs/sph_pairs.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/pairs/sph_mirrors.h"
#include "sph/pairs/sph_weigh.h"

typedef uint8_t WadiSphBytes __attribute__((vector_size(8), aligned(1), may_alias));

/* BUFFER: neighbours of a particle that are collected before their kernels are computed. */
enum { PARTICLE_BLOCK = 4096, LANES = WADI_SPH_LANES, BUFFER = 128 };
/* Cells within which neighbours lie: of particles of one size, and at most. */
enum { ONE_SIZE_REACH = 1, REACH_MAX = 4 };
enum { RANGE_MAX = 2 * (2 * REACH_MAX + 1) * (2 * REACH_MAX + 1) };

/* Water with less than this has vanished for its neighbours: its slopes are below one unit. */
static const float LEAST_VOLUME = 1e-6f;

typedef struct Range {
    int32_t first, end;
} Range;

typedef struct Search {
    const WadiSphPairsIn *in;
    WadiSphPairs *pairs;
    int32_t *axis[3]; /* places by axis, padded by LANES */
    /* Where sizes differ, else NULL: those of particles, in places, padded by LANES; the largest in each cell
     * and in each row of cells, spacings. */
    float *reach, *largest, *row_largest;
    int cells; /* within which neighbours lie */
    float *density;
    bool has_both;   /* sand and water */
    bool is_filling; /* second pass: the lists are written; first: they are counted */
    /* For each set of eight bits the numbers of those that are 1, in order. */
    uint8_t lanes_of[1 << LANES][LANES];
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
    }
}

/* Particles in the cells l0 .. l1 of a row of a tile. */
static int add_range(const WadiTileSort *sort, int32_t tile, int bit, int l0, int l1, Range *out)
{
    if (tile < 0 || (sort->row_mask[tile] >> bit & 1) == 0) {
        return 0;
    }
    const uint64_t before = sort->row_mask[tile] & ((UINT64_C(1) << bit) - 1);
    const int32_t *start = sort->cell_start + 8 * (sort->row_first[tile] + __builtin_popcountll(before));
    *out = (Range){ start[l0] - sort->first, start[l1 + 1] - sort->first };
    return out->end > out->first;
}

/* The cells around a cell, which are one support wide, as ranges of particles. */
static int find_ranges(const WadiTileSort *sort, int32_t tile, int row, int lane, Range out[RANGE_MAX])
{
    const int32_t *neighbours = sort->tiles.neighbours[tile];
    int count = 0;
    for (int dk = -1; dk <= 1; ++dk) {
        const int k = (row >> 3) + dk, tz = k < 0 ? 0 : k > 7 ? 2 : 1;
        for (int dj = -1; dj <= 1; ++dj) {
            const int j = (row & 7) + dj, ty = j < 0 ? 0 : j > 7 ? 2 : 1;
            const int bit = (j & 7) + 8 * (k & 7), at = 9 * tz + 3 * ty + 1;
            if (lane == 0) {
                count += add_range(sort, neighbours[at - 1], bit, 7, 7, out + count);
            }
            count += add_range(sort, neighbours[at], bit, lane > 0 ? lane - 1 : 0, lane < 7 ? lane + 1 : 7,
                               out + count);
            if (lane == 7) {
                count += add_range(sort, neighbours[at + 1], bit, 0, 0, out + count);
            }
        }
    }
    return count;
}

/* Squared distance between cells so many cells apart, spacings^2. */
static float square_between(int cells)
{
    const int apart = cells < 0 ? -cells : cells, gap = apart > 1 ? 2 * (apart - 1) : 0;
    return (float)(gap * gap);
}

/* The particles of a row of a tile, `square` away, that may be neighbours of a cell in lane `from` with the
 * largest size `own`. */
static int add_mixed_range(const Search *s, int32_t tile, int bit, int from, float square, float own,
                           Range *out)
{
    const WadiTileSort *sort = s->in->sort;
    if (tile < 0 || (sort->row_mask[tile] >> bit & 1) == 0) {
        return 0;
    }
    const uint64_t before = sort->row_mask[tile] & ((UINT64_C(1) << bit) - 1);
    const int64_t row = sort->row_first[tile] + __builtin_popcountll(before);
    const float reach = own + s->row_largest[row], left = reach * reach - square;
    int cells = 1;
    while (square_between(cells + 1) < left) {
        ++cells;
    }
    const int l0 = from - cells > 0 ? from - cells : 0, l1 = from + cells < 7 ? from + cells : 7;
    if (!(left > 0.0f) || l0 > l1) {
        return 0;
    }
    const int32_t *start = sort->cell_start + 8 * row;
    *out = (Range){ start[l0] - sort->first, start[l1 + 1] - sort->first };
    return out->end > out->first;
}

/* The cells around a cell in which its particles may have neighbours, where sizes differ: fine particles
 * look one cell far among fine ones, and farther for coarse ones alone. */
static int find_mixed_ranges(const Search *s, int32_t tile, int row, int lane, float own,
                             Range out[RANGE_MAX])
{
    const int32_t *neighbours = s->in->sort->tiles.neighbours[tile];
    const int first = lane < s->cells ? 0 : 1, last = lane + s->cells > 7 ? 2 : 1;
    int count = 0;
    for (int dk = -s->cells; dk <= s->cells; ++dk) {
        const int k = (row >> 3) + dk, tz = k < 0 ? 0 : k > 7 ? 2 : 1;
        for (int dj = -s->cells; dj <= s->cells; ++dj) {
            const int j = (row & 7) + dj, ty = j < 0 ? 0 : j > 7 ? 2 : 1;
            const int bit = (j & 7) + 8 * (k & 7), at = 9 * tz + 3 * ty;
            const float square = square_between(dj) + square_between(dk);
            for (int tx = first; tx <= last; ++tx) {
                count += add_mixed_range(s, neighbours[at + tx], bit, lane - 8 * (tx - 1), square, own,
                                         out + count);
            }
        }
    }
    return count;
}

/* Bits of the particles j .. j + 7 that are within the support of i. */
static inline __attribute__((always_inline)) unsigned find_within(const Search *s, int32_t i, int32_t j)
{
    WadiF8 sum = { 0 };
    for (int a = 0; a < 3; ++a) {
        const WadiU8 from = *(const WadiU8 *)(s->axis[a] + j) - (uint32_t)s->axis[a][i];
        const WadiF8 d = __builtin_convertvector((WadiI8)from, WadiF8);
        sum += d * d;
    }
    WadiI8 is_within;
    if (s->reach != NULL) {
        const WadiF8 reach = *(const WadiF8 *)(s->reach + j) + s->reach[i];
        is_within = sum < reach * reach;
    } else {
        const float reach = (float)(WADI_SPH_SUPPORT * WADI_SPH_PLACES);
        is_within = sum < reach * reach;
    }
    return wadi_row_bits(&is_within);
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

/* The neighbours of i among j .. j + 7 as bits, those before `end` alone. */
static inline __attribute__((always_inline)) unsigned find_neighbours(const Search *s, int32_t i, int32_t j,
                                                                      int32_t end)
{
    unsigned bits = find_within(s, i, j);
    bits &= end - j < LANES ? (1u << (end - j)) - 1 : 0xffu;
    bits &= ~((uint32_t)i - (uint32_t)j < LANES ? 1u << (i - j) : 0u);
    if (s->in->walls->has_solids && s->in->walls->of[i] >= 0) {
        for (unsigned left = bits; left != 0; left &= left - 1) {
            const int lane = __builtin_ctz(left);
            bits &= ~(is_hidden(s, i, j + lane) ? 1u << lane : 0u);
        }
    }
    return bits;
}

/* Those of the particles j .. j + 7 that are of the kind of i, as bits. */
static inline __attribute__((always_inline)) unsigned find_same(const Search *s, int32_t i, int32_t j)
{
    unsigned bits = 0;
    for (int lane = 0; lane < LANES; ++lane) {
        const int32_t at = j + lane < s->pairs->count ? j + lane : i;
        bits |= (unsigned)(s->in->is_sand[at] == s->in->is_sand[i]) << lane;
    }
    return bits;
}

static void count(const Search *s, int32_t i, const Range *ranges, int range_count)
{
    int32_t same = 0, other = 0;
    for (int r = 0; r < range_count; ++r) {
        for (int32_t j = ranges[r].first; j < ranges[r].end; j += LANES) {
            const unsigned bits = find_neighbours(s, i, j, ranges[r].end);
            const unsigned kind = s->has_both && bits != 0 ? find_same(s, i, j) : 0xffu;
            same += __builtin_popcount(bits & kind);
            other += __builtin_popcount(bits & ~kind);
        }
    }
    s->pairs->start[i + 1] = same + other;
    s->pairs->same[i] = same;
}

/* A part of the list of i that is being written. */
typedef struct List {
    int32_t index[BUFFER + LANES];
    int count;  /* of index */
    int64_t to; /* entry of index[0] in the lists */
    WadiF8 density;
} List;

/* Writes the first neighbours of a list, at most eight, and their slopes. */
static void write_eight(const Search *s, int32_t i, List *list, int32_t *index, int count)
{
    const WadiSphPairsIn *in = s->in;
    WadiSphPairs *pairs = s->pairs;
    WadiSphEight eight;
    for (int l = count; l < LANES; ++l) {
        index[l] = i;
    }
    wadi_sph_load_eight(pairs, &pairs->place[i], index, &eight);
    const WadiF8 square = eight.x * eight.x + eight.y * eight.y + eight.z * eight.z;
    float w[LANES], slope[LANES], volume[LANES];
    if (in->size != NULL) {
        float inverse[LANES];
        for (int l = 0; l < LANES; ++l) {
            inverse[l] = 2.0f / (in->size[i] + in->size[index[l]]);
        }
        wadi_sph_weigh_sizes((const float *)&square, in->kernel->scale, inverse, w, slope);
    } else {
        wadi_sph_weigh((const float *)&square, in->kernel->scale, w, slope);
    }
    for (int l = 0; l < LANES; ++l) {
        volume[l] = l >= count ? 0.0f : in->volume != NULL ? in->volume[index[l]] : 1.0f;
    }
    const WadiF8 part = *(const WadiF8 *)volume;
    const float own = in->volume != NULL ? in->volume[i] : 1.0f;
    list->density += *(const WadiF8 *)w * part;
    const WadiF8 units = *(const WadiF8 *)slope * (part * own) * (1.0f / pairs->slope_unit) + 0.5f;
    const WadiSphShorts shorts =
        __builtin_convertvector(__builtin_convertvector(units, WadiI8), WadiSphShorts);
    memcpy(pairs->index + list->to, index, (size_t)count * sizeof *index);
    memcpy(pairs->slope + list->to, &shorts, (size_t)count * sizeof *pairs->slope);
    list->to += count;
}

static void write_list(const Search *s, int32_t i, List *list)
{
    for (int n = 0; n < list->count; n += LANES) {
        const int left = list->count - n;
        write_eight(s, i, list, list->index + n, left < LANES ? left : LANES);
    }
    list->count = 0;
}

static inline __attribute__((always_inline)) void add_to_list(const Search *s, int32_t i, List *list,
                                                              int32_t j, unsigned bits)
{
    const WadiSphBytes lanes = *(const WadiSphBytes *)s->lanes_of[bits];
    *(WadiI8 *)(list->index + list->count) = __builtin_convertvector(lanes, WadiI8) + j;
    list->count += __builtin_popcount(bits);
    if (list->count > BUFFER) {
        write_list(s, i, list);
    }
}

static void fill(const Search *s, int32_t i, const Range *ranges, int range_count)
{
    const WadiSphPairsIn *in = s->in;
    const int64_t first = s->pairs->start[i];
    List same = { .to = first }, other = { .to = first + s->pairs->same[i] };
    for (int r = 0; r < range_count; ++r) {
        for (int32_t j = ranges[r].first; j < ranges[r].end; j += LANES) {
            const unsigned bits = find_neighbours(s, i, j, ranges[r].end);
            const unsigned kind = s->has_both && bits != 0 ? find_same(s, i, j) : 0xffu;
            add_to_list(s, i, &same, j, bits & kind);
            if ((bits & ~kind) != 0) {
                add_to_list(s, i, &other, j, bits & ~kind);
            }
        }
    }
    write_list(s, i, &same);
    write_list(s, i, &other);
    const float size = wadi_sph_size(s->pairs, i);
    const float own = in->kernel->scale * (in->volume != NULL ? in->volume[i] : 1.0f) / (size * size * size);
    const int32_t near = in->walls->of[i];
    s->density[i] = own + wadi_sph_sum_lanes(&same.density) + wadi_sph_sum_lanes(&other.density) +
                    (near >= 0 ? in->walls->cover[near] : 0.0f);
}

static void skip(const Search *s, int32_t i)
{
    if (!s->is_filling) {
        s->pairs->start[i + 1] = 0;
        s->pairs->same[i] = 0;
    }
    s->density[i] = 1.0f;
}

static void search_tiles(void *context, int64_t first, int64_t end)
{
    const Search *s = context;
    const WadiTileSort *sort = s->in->sort;
    for (int64_t t = first; t < end; ++t) {
        int32_t row = sort->row_first[t];
        for (uint64_t rows = sort->row_mask[t]; rows != 0; rows &= rows - 1, ++row) {
            for (int lane = 0; lane < 8; ++lane) {
                const int32_t from = sort->cell_start[8 * row + lane] - sort->first;
                const int32_t to = sort->cell_start[8 * row + lane + 1] - sort->first;
                Range ranges[RANGE_MAX];
                const int range_count =
                    from >= to           ? 0
                    : s->largest == NULL ? find_ranges(sort, (int32_t)t, __builtin_ctzll(rows), lane, ranges)
                                         : find_mixed_ranges(s, (int32_t)t, __builtin_ctzll(rows), lane,
                                                             s->largest[8 * row + lane], ranges);
                for (int32_t i = from; i < to; ++i) {
                    if (s->in->fixed != NULL && s->in->fixed[i] != 0) {
                        skip(s, i);
                    } else if (s->is_filling) {
                        fill(s, i, ranges, range_count);
                    } else {
                        count(s, i, ranges, range_count);
                    }
                }
            }
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

/* Sizes of particles and cells, where they differ. */
static WadiStatus prepare_sizes(Search *s, WadiArena *arena, WadiError *error)
{
    const WadiTileSort *sort = s->in->sort;
    const int32_t count = s->pairs->count;
    const size_t cells = 8 * (size_t)sort->row_first[sort->tiles.count];
    float largest = 1.0f;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->reach, (size_t)count + LANES, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->largest, cells, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->row_largest, cells / 8, "neighbours", error));
    memset(s->reach + count, 0, LANES * sizeof *s->reach);
    memset(s->row_largest, 0, cells / 8 * sizeof *s->row_largest);
    for (size_t c = 0; c < cells; ++c) {
        s->largest[c] = 0.0f;
        for (int32_t i = sort->cell_start[c] - sort->first; i < sort->cell_start[c + 1] - sort->first; ++i) {
            const float size = s->in->size[i];
            s->reach[i] = size * (float)(0.5 * WADI_SPH_SUPPORT * WADI_SPH_PLACES);
            s->largest[c] = size > s->largest[c] ? size : s->largest[c];
        }
        s->row_largest[c / 8] = fmaxf(s->row_largest[c / 8], s->largest[c]);
        largest = fmaxf(largest, s->largest[c]);
    }
    const int wanted = (int)ceilf(largest - 1e-3f);
    s->cells = wanted < REACH_MAX ? wanted : REACH_MAX;
    return WADI_OK;
}

/* What all passes read. */
static void prepare(Search *s)
{
    const WadiSphPairsIn *in = s->in;
    const int32_t count = s->pairs->count;
    for (int32_t i = 0; i < count; ++i) {
        s->has_both = s->has_both || in->is_sand[i] != in->is_sand[0];
    }
    s->pairs->steepest = wadi_sph_steepest(in->kernel->scale);
    s->pairs->slope_unit = s->pairs->steepest * largest_factor(in, count) * (1.0f / UINT16_MAX);
    for (unsigned bits = 0; bits < 1u << LANES; ++bits) {
        int n = 0;
        for (int lane = 0; lane < LANES; ++lane) {
            s->lanes_of[bits][n] = (uint8_t)lane;
            n += bits >> lane & 1;
        }
    }
    wadi_parallel_for(count, PARTICLE_BLOCK, set_places, s);
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
    Search s = { .in = in, .pairs = pairs, .density = density, .cells = ONE_SIZE_REACH };
    *pairs = (WadiSphPairs){ .count = count, .size = in->size };
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->place, (size_t)count, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->start, (size_t)count + 1, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->same, (size_t)count, "neighbours", error));
    WADI_TRY(invert_volumes(pairs, in, arena, error));
    const WadiArenaMark mark = wadi_arena_mark(arena);
    if (in->size != NULL) {
        WADI_TRY(prepare_sizes(&s, arena, error));
    }
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s.axis[a], (size_t)count + LANES, "neighbours", error));
        memset(s.axis[a] + count, 0, LANES * sizeof(int32_t));
    }
    prepare(&s);
    wadi_parallel_for(sort->tiles.count, 1, search_tiles, &s);
    pairs->start[0] = 0;
    for (int32_t i = 0; i < count; ++i) {
        pairs->start[i + 1] += pairs->start[i];
    }
    const size_t total = (size_t)pairs->start[count];
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->index, total + LANES, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->slope, total + LANES, "neighbours", error));
    memset(pairs->index + total, 0, LANES * sizeof *pairs->index);
    memset(pairs->slope + total, 0, LANES * sizeof *pairs->slope);
    s.is_filling = true;
    wadi_parallel_for(sort->tiles.count, 1, search_tiles, &s);
    wadi_arena_release_temporaries(arena, mark);
    return wadi_sph_mirrors_find(pairs, in, arena, error);
}
