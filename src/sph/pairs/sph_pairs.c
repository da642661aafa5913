#include "sph/pairs/sph_pairs.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/pairs/sph_mirrors.h"
#include "sph/pairs/sph_weigh.h"

typedef uint32_t WadiU8 __attribute__((vector_size(32), aligned(4), may_alias));

enum { PARTICLE_BLOCK = 4096, RANGE_MAX = 27, LANES = WADI_SPH_LANES };

typedef struct Range {
    int32_t first, end;
} Range;

typedef struct Search {
    const WadiSphPairsIn *in;
    WadiSphPairs *pairs;
    int32_t *axis[3]; /* places by axis, padded by LANES */
    float *density;
    bool is_filling; /* second pass: the lists are written; first: they are counted */
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

/* Bits of the particles j .. j + 7 that are within the support of i, and their squared distances. */
static inline __attribute__((always_inline)) unsigned find_within(const Search *s, int32_t i, int32_t j,
                                                                  WadiF8 *square)
{
    WadiF8 sum = { 0 };
    for (int a = 0; a < 3; ++a) {
        const WadiU8 from = *(const WadiU8 *)(s->axis[a] + j) - (uint32_t)s->axis[a][i];
        const WadiF8 d = __builtin_convertvector((WadiI8)from, WadiF8);
        sum += d * d;
    }
    const float reach = (float)(WADI_SPH_SUPPORT * WADI_SPH_PLACES);
    const WadiI8 is_within = sum < reach * reach;
    *square = sum;
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

/* Visits the neighbours of i in a fixed order; writes index and squared distance to the lists when
 * filling. */
static void visit(const Search *s, int32_t i, const Range *ranges, int range_count)
{
    const uint8_t *is_sand = s->in->is_sand;
    const bool has_solids = s->in->walls->has_solids;
    WadiSphPairs *pairs = s->pairs;
    int32_t same = 0, other = 0;
    int64_t to_same = s->is_filling ? pairs->start[i] : 0, to_other = to_same + pairs->same[i];
    for (int r = 0; r < range_count; ++r) {
        for (int32_t j0 = ranges[r].first; j0 < ranges[r].end; j0 += LANES) {
            WadiF8 square;
            unsigned bits = find_within(s, i, j0, &square);
            const int left = ranges[r].end - j0;
            bits &= left < LANES ? (1u << left) - 1 : 0xffu;
            for (; bits != 0; bits &= bits - 1) {
                const int lane = __builtin_ctz(bits);
                const int32_t j = j0 + lane;
                if (j == i || (has_solids && is_hidden(s, i, j))) {
                    continue;
                }
                const bool is_same = is_sand[i] == is_sand[j];
                if (s->is_filling) {
                    int64_t *to = is_same ? &to_same : &to_other;
                    pairs->index[*to] = j;
                    pairs->slope[*to] = square[lane];
                    *to += 1;
                } else {
                    same += is_same;
                    other += !is_same;
                }
            }
        }
    }
    if (!s->is_filling) {
        pairs->start[i + 1] = same + other;
        pairs->same[i] = same;
    }
}

/* Turns the squared distances of a part of a list into slopes; returns the sum of V_j W_ij. */
static float finish_list(const Search *s, int64_t first, int64_t end)
{
    const WadiSphPairsIn *in = s->in;
    const WadiSphPairs *pairs = s->pairs;
    WadiF8 sum = { 0 };
    for (int64_t n0 = first; n0 < end; n0 += LANES) {
        const int count = end - n0 < LANES ? (int)(end - n0) : LANES;
        float square[LANES], w[LANES], slope[LANES];
        const float none = (float)(WADI_SPH_SUPPORT * WADI_SPH_PLACES);
        for (int l = 0; l < LANES; ++l) {
            square[l] = l < count ? pairs->slope[n0 + l] : none * none;
        }
        wadi_sph_weigh(square, in->kernel->scale, w, slope);
        for (int l = 0; l < count; ++l) {
            const int32_t j = pairs->index[n0 + l];
            float part = in->volume != NULL ? in->volume[j] : 1.0f;
            pairs->slope[n0 + l] = part * slope[l];
            w[l] *= part;
        }
        for (int l = count; l < LANES; ++l) {
            w[l] = 0.0f;
        }
        sum += *(const WadiF8 *)w;
    }
    const WadiF4 four = WADI_ROW_LOW(sum) + WADI_ROW_HIGH(sum);
    return (four[0] + four[2]) + (four[1] + four[3]);
}

static void finish(const Search *s, int32_t i)
{
    const WadiSphPairsIn *in = s->in;
    const int64_t first = s->pairs->start[i], other = first + s->pairs->same[i];
    const int64_t end = s->pairs->start[i + 1];
    const float own = in->kernel->scale * (in->volume != NULL ? in->volume[i] : 1.0f);
    float density = own + finish_list(s, first, other);
    const float others = finish_list(s, other, end);
    density += others;
    const int32_t near = in->walls->of[i];
    s->density[i] = density + (near >= 0 ? in->walls->cover[near] : 0.0f);
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
                const int count =
                    from < to ? find_ranges(sort, (int32_t)t, __builtin_ctzll(rows), lane, ranges) : 0;
                for (int32_t i = from; i < to; ++i) {
                    if (s->in->fixed != NULL && s->in->fixed[i] != 0) {
                        skip(s, i);
                        continue;
                    }
                    visit(s, i, ranges, count);
                    if (s->is_filling) {
                        finish(s, i);
                    }
                }
            }
        }
    }
}

WadiStatus wadi_sph_pairs_find(WadiSphPairs *pairs, float *density, const WadiSphPairsIn *in,
                               WadiArena *arena, WadiError *error)
{
    const WadiTileSort *sort = in->sort;
    const int32_t count = sort->tile_start[sort->tiles.count] - sort->first;
    Search s = { .in = in, .pairs = pairs, .density = density };
    *pairs = (WadiSphPairs){ .count = count };
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->place, (size_t)count, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->start, (size_t)count + 1, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->same, (size_t)count, "neighbours", error));
    const WadiArenaMark mark = wadi_arena_mark(arena);
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s.axis[a], (size_t)count + LANES, "neighbours", error));
        memset(s.axis[a] + count, 0, LANES * sizeof(int32_t));
    }
    wadi_parallel_for(count, PARTICLE_BLOCK, set_places, &s);
    wadi_parallel_for(sort->tiles.count, 1, search_tiles, &s);
    pairs->start[0] = 0;
    for (int32_t i = 0; i < count; ++i) {
        pairs->start[i + 1] += pairs->start[i];
    }
    const size_t total = (size_t)pairs->start[count] + LANES;
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->index, total, "neighbours", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pairs->slope, total, "neighbours", error));
    s.is_filling = true;
    wadi_parallel_for(sort->tiles.count, 1, search_tiles, &s);
    wadi_arena_release_temporaries(arena, mark);
    return wadi_sph_mirrors_find(pairs, in, arena, error);
}
