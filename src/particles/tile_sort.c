/* Two-level stable counting sort of particles by tile and cell.
 *   1. Fixed blocks of particles list their tiles, with counts: one entry for each (block, tile).
 *   2. Entries are radix-sorted by tile; equal tiles stay in block order. A running sum over them gives the
 *      position of each block's particles within each tile, and the list of tiles.
 *   3. Blocks write their particle indices to those positions; each tile then sorts its own by cell.
 * The result is that of a stable sort, hence the same bytes for any thread count. No table covers the
 * space between the particles: the cost depends on their number only. */
#include "particles/tile_sort.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "grid/row_vectors.h"

enum {
    SORT_BLOCK = 8192, /* particles; entry indices in a block fit 16 bits, its table fits the L1 cache */
    SLOT_COUNT = 2 * SORT_BLOCK,
    CELL_BLOCK = 512, /* particles whose cells are computed together */
    DIGIT_BITS = 11,
    TILE_BLOCK = 8,
    FEW = 24, /* particles a tile: up to this number insertion is faster than a histogram of 512 */
};

/* A tile's width and margins can be added to any cell coordinate without overflow. */
static const double CELL_LIMIT = 2147483584.0;

/* The particles of one block that lie in one tile. */
typedef struct Entry {
    WadiTile tile;
    int32_t count; /* later: position of the first of them, then of the next one to be written */
    uint64_t row_mask;
} Entry;

typedef struct Keyed {
    int32_t axis[3]; /* coordinates of the tile */
    int32_t entry;
} Keyed;

typedef struct TileSort {
    const double *x, *y, *z;
    double per_metre; /* cells */
    int32_t count;
    uint16_t *entry_of;                 /* per particle: index of its entry in its block */
    uint16_t *cell_of;                  /* per particle: i + 8 j + 64 k inside its tile */
    Entry *entries;                     /* of all blocks, each block's together */
    atomic_int used;                    /* of them */
    int32_t *entry_first, *entry_count; /* per block; the order of blocks may differ from run to run */
    int32_t *bad;                       /* per block: first particle without a cell, or -1 */
    int32_t *index;                     /* particles by tile */
    uint16_t *cell;                     /* their cells */
    int32_t *order;                     /* particles by tile and cell */
    WadiTileSort *out;
} TileSort;

/* Cell coordinates along one axis, split into tile and lane; false if a particle has no valid cell. */
static bool find_cells(const double *restrict x, int64_t count, double per_metre, int32_t *restrict tile,
                       int32_t *restrict lane)
{
    double bad = 0.0; /* a count in doubles, so that the mask need not be converted to integers */
#pragma omp simd reduction(+ : bad)
    for (int64_t i = 0; i < count; ++i) {
        double c = wadi_cell_at(x[i], per_metre);
        bad += fabs(c) <= CELL_LIMIT ? 0.0 : 1.0;
        int32_t cell = (int32_t)(fabs(c) <= CELL_LIMIT ? c : 0.0);
        tile[i] = cell >> 3;
        lane[i] = cell & 7;
    }
    return bad == 0.0;
}

static int32_t find_bad(const TileSort *sort, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; ++i) {
        double far = fmax(fabs(wadi_cell_at(sort->x[i], sort->per_metre)),
                          fmax(fabs(wadi_cell_at(sort->y[i], sort->per_metre)),
                               fabs(wadi_cell_at(sort->z[i], sort->per_metre))));
        if (!(far <= CELL_LIMIT) || isnan(sort->x[i]) || isnan(sort->y[i]) || isnan(sort->z[i])) {
            return (int32_t)i;
        }
    }
    WADI_ASSERT(false);
    return -1;
}

/* The entry of a tile in a block's list, added if it is new. */
static int32_t find_entry(Entry *entries, uint16_t *slots, WadiTile tile, int32_t *entry_count)
{
    uint32_t hash = (uint32_t)tile.x * UINT32_C(0x9e3779b1) ^ (uint32_t)tile.y * UINT32_C(0x85ebca6b) ^
                    (uint32_t)tile.z * UINT32_C(0xc2b2ae35);
    uint32_t slot = (hash ^ hash >> 15) & (SLOT_COUNT - 1);
    while (slots[slot] != 0 && !wadi_tile_is_same(entries[slots[slot] - 1].tile, tile)) {
        slot = (slot + 1) & (SLOT_COUNT - 1);
    }
    if (slots[slot] == 0) {
        entries[*entry_count] = (Entry){ .tile = tile };
        slots[slot] = (uint16_t)(++*entry_count);
    }
    return slots[slot] - 1;
}

typedef uint16_t CellFour __attribute__((vector_size(8), aligned(2), may_alias));
typedef uint64_t RowFour __attribute__((vector_size(32)));

/* Add consecutive particles of one tile to its entry. */
static void add_run(Entry *entry, const uint16_t *restrict cell, int count)
{
    RowFour four = { 0 }, one = four + 1;
    int n = 0;
    for (; n + 4 <= count; n += 4) {
        four |= one << (__builtin_convertvector(*(const CellFour *)(cell + n), RowFour) >> 3);
    }
    uint64_t rows = four[0] | four[1] | four[2] | four[3];
    for (; n < count; ++n) {
        rows |= UINT64_C(1) << (cell[n] >> 3);
    }
    entry->count += count;
    entry->row_mask |= rows;
}

/* Indices among `count` particles where the tile changes: tile[a][n] is the tile of the particle before n.
 * Returns their number. */
static int find_runs(int32_t tile[3][CELL_BLOCK + 8], int count, int32_t *restrict start)
{
    int runs = 0;
    for (int n = 0; n < count; n += 8) {
        WadiI8 change = { 0 };
        for (int a = 0; a < 3; ++a) {
            change |= *(const WadiI8 *)(tile[a] + n) ^ *(const WadiI8 *)(tile[a] + n + 1);
        }
        const WadiI8 is_new = change != 0;
        const unsigned valid = count - n < 8 ? (1u << (count - n)) - 1 : 0xff;
        for (unsigned left = wadi_row_bits(&is_new) & valid; left != 0; left &= left - 1) {
            start[runs++] = n + __builtin_ctz(left);
        }
    }
    return runs;
}

static void list_tiles(void *context, int64_t first, int64_t end)
{
    TileSort *sort = context;
    int64_t block = first / SORT_BLOCK;
    sort->bad[block] = -1;
    sort->entry_count[block] = 0;
    uint16_t slots[SLOT_COUNT]; /* entry + 1; 0: free */
    memset(slots, 0, sizeof slots);
    Entry entries[SORT_BLOCK];
    WadiTile before = { INT32_MAX, 0, 0 }; /* tile of the last particle; initially none */
    int32_t entry_count = 0, entry = 0;
    for (int64_t begin = first; begin < end; begin += CELL_BLOCK) {
        int count = end - begin < CELL_BLOCK ? (int)(end - begin) : CELL_BLOCK;
        int32_t tile[3][CELL_BLOCK + 8], lane[3][CELL_BLOCK];
        tile[0][0] = before.x, tile[1][0] = before.y, tile[2][0] = before.z;
        bool is_good = find_cells(sort->x + begin, count, sort->per_metre, tile[0] + 1, lane[0]);
        is_good = find_cells(sort->y + begin, count, sort->per_metre, tile[1] + 1, lane[1]) && is_good;
        is_good = find_cells(sort->z + begin, count, sort->per_metre, tile[2] + 1, lane[2]) && is_good;
        if (!is_good) {
            sort->bad[block] = find_bad(sort, begin, end);
            return;
        }
        uint16_t *restrict cell = sort->cell_of + begin, *restrict entry_of = sort->entry_of + begin;
#pragma omp simd
        for (int n = 0; n < count; ++n) {
            cell[n] = (uint16_t)(lane[0][n] + 8 * lane[1][n] + 64 * lane[2][n]);
        }
        int32_t start[CELL_BLOCK + 1];
        const int runs = find_runs(tile, count, start);
        start[runs] = count;
        for (int r = -1; r < runs; ++r) {
            const int from = r < 0 ? 0 : start[r], to = start[r + 1];
            if (r >= 0) {
                before = (WadiTile){ tile[0][from + 1], tile[1][from + 1], tile[2][from + 1] };
                entry = find_entry(entries, slots, before, &entry_count);
            }
            if (to > from) {
                add_run(&entries[entry], cell + from, to - from);
            }
            for (int n = from; n < to; ++n) {
                entry_of[n] = (uint16_t)entry;
            }
        }
    }
    int32_t position = atomic_fetch_add(&sort->used, entry_count);
    memcpy(sort->entries + position, entries, (size_t)entry_count * sizeof *entries);
    sort->entry_first[block] = position;
    sort->entry_count[block] = entry_count;
}

/* Stable radix sort by (z, y, x), with as many digits as the coordinates span. Returns the array with the
 * result. */
static Keyed *sort_keyed(Keyed *from, Keyed *to, int32_t count)
{
    for (int axis = 0; axis < 3; ++axis) {
        int32_t low = INT32_MAX, high = INT32_MIN;
        for (int32_t e = 0; e < count; ++e) {
            low = from[e].axis[axis] < low ? from[e].axis[axis] : low;
            high = from[e].axis[axis] > high ? from[e].axis[axis] : high;
        }
        uint32_t span = (uint32_t)high - (uint32_t)low;
        for (int shift = 0; shift < 32 && span >> shift != 0; shift += DIGIT_BITS) {
            int32_t start[(1 << DIGIT_BITS) + 1] = { 0 };
            uint32_t mask = (1 << DIGIT_BITS) - 1;
            for (int32_t e = 0; e < count; ++e) {
                start[((uint32_t)from[e].axis[axis] - (uint32_t)low) >> shift & mask] += 1;
            }
            wadi_prefix_sum(start, 1 << DIGIT_BITS);
            for (int32_t e = 0; e < count; ++e) {
                to[start[((uint32_t)from[e].axis[axis] - (uint32_t)low) >> shift & mask]++] = from[e];
            }
            Keyed *swap = from;
            from = to;
            to = swap;
        }
    }
    return from;
}

/* From the entries: the tile map, the first particle and row mask of each tile, and the position of each
 * entry. */
static WadiStatus make_tiles(TileSort *sort, WadiArena *arena, WadiError *error)
{
    WadiTileSort *out = sort->out;
    int64_t blocks = wadi_parallel_block_count(sort->count, SORT_BLOCK);
    const int32_t total = sort->used;
    Keyed *keyed[2];
    WadiTile *tiles;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &keyed[0], (size_t)total, "tiles of particles", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &keyed[1], (size_t)total, "tiles of particles", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &tiles, (size_t)total, "tiles of particles", error));
    int32_t n = 0;
    for (int64_t b = 0; b < blocks; ++b) {
        for (int32_t e = 0; e < sort->entry_count[b]; ++e) {
            int32_t entry = sort->entry_first[b] + e;
            WadiTile tile = sort->entries[entry].tile;
            keyed[0][n++] = (Keyed){ { tile.x, tile.y, tile.z }, entry };
        }
    }
    const Keyed *sorted = sort_keyed(keyed[0], keyed[1], total);
    int32_t tile_count = 0;
    for (int32_t e = 0; e < total; ++e) {
        tile_count += e == 0 || memcmp(sorted[e].axis, sorted[e - 1].axis, sizeof sorted[e].axis) != 0;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &out->tile_start, (size_t)tile_count + 1, "tiles of particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &out->row_first, (size_t)tile_count + 1, "tiles of particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &out->row_mask, (size_t)tile_count, "tiles of particles", error));
    int32_t position = 0, tile = -1;
    for (int32_t e = 0; e < total; ++e) {
        Entry *entry = &sort->entries[sorted[e].entry];
        if (e == 0 || memcmp(sorted[e].axis, sorted[e - 1].axis, sizeof sorted[e].axis) != 0) {
            tiles[++tile] = entry->tile;
            out->tile_start[tile] = position;
            out->row_mask[tile] = 0;
        }
        out->row_mask[tile] |= entry->row_mask;
        int32_t count = entry->count;
        entry->count = position;
        position += count;
    }
    out->tile_start[tile_count] = position;
    int32_t rows = 0;
    for (int32_t t = 0; t < tile_count; ++t) {
        out->row_first[t] = rows;
        rows += __builtin_popcountll(out->row_mask[t]);
    }
    out->row_first[tile_count] = rows;
    if (rows > INT32_MAX / 16) {
        return wadi_fail(error, WADI_ERR_MEMORY, "particles occupy %d rows of cells, at most %d are possible",
                         rows, INT32_MAX / 16);
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &out->lanes, (size_t)rows, "rows of particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &out->cell_start, 8 * (size_t)rows + 1, "cells of particles", error));
    out->cell_start[8 * (size_t)rows] = position;
    return wadi_tile_map_create_in_arena(&out->tiles, tiles, (size_t)tile_count, arena, error);
}

static void write_by_tile(void *context, int64_t first, int64_t end)
{
    TileSort *sort = context;
    Entry *entries = sort->entries + sort->entry_first[first / SORT_BLOCK];
    for (int64_t from = first, to; from < end; from = to) {
        const uint16_t entry = sort->entry_of[from];
        for (to = from + 1; to < end && sort->entry_of[to] == entry; ++to) {
        }
        const int32_t count = (int32_t)(to - from), position = entries[entry].count;
        entries[entry].count += count;
        for (int32_t n = 0; n < count; ++n) {
            sort->index[position + n] = (int32_t)from + n;
            sort->cell[position + n] = sort->cell_of[from + n];
        }
    }
}

/* For few particles: stable insertion by cell, then one pass over the rows. */
static void sort_few(const TileSort *sort, int32_t tile, int32_t begin, int32_t count)
{
    uint16_t *cell = sort->cell + begin;
    int32_t *order = sort->order + begin;
    for (int32_t n = 0; n < count; ++n) {
        uint16_t c = cell[n];
        int32_t m = n;
        for (; m > 0 && cell[m - 1] > c; --m) {
            cell[m] = cell[m - 1];
            order[m] = order[m - 1];
        }
        cell[m] = c;
        order[m] = sort->index[begin + n];
    }
    WadiTileSort *out = sort->out;
    int32_t row = out->row_first[tile], n = 0;
    for (uint64_t left = out->row_mask[tile]; left != 0; left &= left - 1, ++row) {
        int bit = __builtin_ctzll(left);
        unsigned lanes = 0;
        for (int l = 0; l < 8; ++l) {
            out->cell_start[8 * (int64_t)row + l] = begin + n;
            while (n < count && cell[n] == 8 * bit + l) {
                lanes |= 1u << l;
                ++n;
            }
        }
        out->lanes[row] = (uint8_t)lanes;
    }
}

static void sort_many(const TileSort *sort, int32_t tile, int32_t begin, int32_t count)
{
    int32_t start[WADI_TILE_CELLS] = { 0 };
    for (int32_t n = 0; n < count; ++n) {
        start[sort->cell[begin + n]] += 1;
    }
    WadiTileSort *out = sort->out;
    int32_t row = out->row_first[tile], next = begin;
    for (uint64_t left = out->row_mask[tile]; left != 0; left &= left - 1, ++row) {
        int bit = __builtin_ctzll(left);
        unsigned lanes = 0;
        for (int l = 0; l < 8; ++l) {
            int32_t here = start[8 * bit + l];
            lanes |= (unsigned)(here > 0) << l;
            start[8 * bit + l] = next;
            out->cell_start[8 * (int64_t)row + l] = next;
            next += here;
        }
        out->lanes[row] = (uint8_t)lanes;
    }
    for (int32_t n = 0; n < count; ++n) {
        sort->order[start[sort->cell[begin + n]]++] = sort->index[begin + n];
    }
}

static void sort_tiles(void *context, int64_t first, int64_t end)
{
    const TileSort *sort = context;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        int32_t begin = sort->out->tile_start[t], count = sort->out->tile_start[t + 1] - begin;
        if (count <= FEW) {
            sort_few(sort, t, begin, count);
        } else {
            sort_many(sort, t, begin, count);
        }
    }
}

static WadiStatus check_blocks(const TileSort *sort, const WadiParticles *particles, WadiError *error)
{
    for (int64_t b = 0; b < wadi_parallel_block_count(sort->count, SORT_BLOCK); ++b) {
        int32_t i = sort->bad[b];
        if (i >= 0) {
            return wadi_fail(error, WADI_ERR_NUMERIC,
                             "particle %u is at (%g, %g, %g), where there is no cell of %g m; "
                             "a smaller time step may keep it from being thrown there",
                             particles->id[sort->out->first + i], sort->x[i], sort->y[i], sort->z[i],
                             sort->out->cell_size);
        }
    }
    return WADI_OK;
}

/* Until here indices start at the first sorted particle; the result counts from the first particle of the
 * store. */
static void count_from_first(WadiTileSort *sort)
{
    if (sort->first == 0) {
        return;
    }
    for (int32_t t = 0; t <= sort->tiles.count; ++t) {
        sort->tile_start[t] += sort->first;
    }
    for (int64_t c = 0; c <= 8 * (int64_t)sort->row_first[sort->tiles.count]; ++c) {
        sort->cell_start[c] += sort->first;
    }
}

static WadiStatus sort_particles(TileSort *sort, WadiParticles *particles, WadiArena *arena, WadiError *error)
{
    size_t count = (size_t)sort->count;
    size_t blocks = (size_t)wadi_parallel_block_count(sort->count, SORT_BLOCK);
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &sort->entry_of, count, "tiles of particles", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &sort->cell_of, count, "cells of particles", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &sort->entries, count, "tiles of particles", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &sort->entry_first, blocks, "tiles of particles", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &sort->entry_count, blocks, "tiles of particles", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &sort->bad, blocks, "tiles of particles", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &sort->index, count, "order of particles", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &sort->cell, count, "cells of particles", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &sort->order, count, "order of particles", error));
    wadi_parallel_for(sort->count, SORT_BLOCK, list_tiles, sort);
    WADI_TRY(check_blocks(sort, particles, error));
    WADI_TRY(make_tiles(sort, arena, error));
    wadi_parallel_for(sort->count, SORT_BLOCK, write_by_tile, sort);
    wadi_parallel_for(sort->out->tiles.count, TILE_BLOCK, sort_tiles, sort);
    WADI_TRY(wadi_particles_permute_from(particles, sort->out->first, sort->order, error));
    wadi_arena_release_temporaries(arena, mark);
    count_from_first(sort->out);
    return WADI_OK;
}

WadiStatus wadi_tile_sort(WadiTileSort *sort, WadiParticles *particles, double cell_size, WadiArena *arena,
                          WadiError *error)
{
    return wadi_tile_sort_from(sort, particles, 0, cell_size, arena, error);
}

WadiStatus wadi_tile_sort_from(WadiTileSort *sort, WadiParticles *particles, int32_t first, double cell_size,
                               WadiArena *arena, WadiError *error)
{
    WADI_ASSERT(cell_size > 0.0 && first >= 0 && first <= particles->count);
    *sort = (WadiTileSort){ .cell_size = cell_size, .first = first };
    bool has_any = particles->count > first; /* an empty store has no columns to point into */
    TileSort work = { .x = has_any ? particles->x + first : NULL,
                      .y = has_any ? particles->y + first : NULL,
                      .z = has_any ? particles->z + first : NULL,
                      .per_metre = 1.0 / cell_size,
                      .count = particles->count - first,
                      .out = sort };
    WadiStatus status = sort_particles(&work, particles, arena, error);
    if (status != WADI_OK) {
        *sort = (WadiTileSort){ .cell_size = cell_size };
    }
    return status;
}

static bool is_in_cell(const WadiTileSort *sort, const WadiParticles *particles, int32_t i,
                       const int32_t cell[3])
{
    const double per_metre = 1.0 / sort->cell_size;
    return wadi_cell_at(particles->x[i], per_metre) == cell[0] &&
           wadi_cell_at(particles->y[i], per_metre) == cell[1] &&
           wadi_cell_at(particles->z[i], per_metre) == cell[2];
}

bool wadi_tile_sort_validate(const WadiTileSort *sort, const WadiParticles *particles)
{
    int32_t next = sort->first, row = 0;
    if (!wadi_tile_map_validate(&sort->tiles)) {
        return false;
    }
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        WadiTile tile = sort->tiles.tiles[t];
        if (sort->tile_start[t] != next || sort->row_first[t] != row) {
            return false;
        }
        for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++row) {
            int bit = __builtin_ctzll(left);
            for (int l = 0; l < 8; ++l) {
                int32_t cell[3] = { 8 * tile.x + l, 8 * tile.y + (bit & 7), 8 * tile.z + (bit >> 3) };
                int32_t begin = sort->cell_start[8 * row + l], end = sort->cell_start[8 * row + l + 1];
                if (begin != next || (sort->lanes[row] >> l & 1) != (end > begin)) {
                    return false;
                }
                for (; next < end; ++next) {
                    if (!is_in_cell(sort, particles, next, cell)) {
                        return false;
                    }
                }
            }
        }
    }
    return next == particles->count;
}
