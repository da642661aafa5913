/* Sort particles by cell and index the occupied cells. Cell coordinates, relative to their bounding box,
 * are packed into one key, (z, y, x) from high to low bits, and sorted by a stable radix sort with fixed
 * blocks. The result depends neither on the threads nor on the position in space. */
#include "particles/cells.h"

#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/hash.h"
#include "core/parallel.h"

enum {
    SORT_BLOCK = 32768, /* particles a block: the histograms of a block stay in L1 */
    DIGIT_BITS_MAX = 11,
};

/* Leaves a margin for small offsets to any coordinate without overflow. */
static const double COORDINATE_LIMIT = 2147483640.0;

typedef struct CellSort {
    const double *x, *y, *z;
    const int32_t *subset; /* NULL: all */
    double cell_size;
    int64_t count;
    int64_t block_count;
    int32_t (*low)[3], (*high)[3]; /* bounds of each block's coordinates */
    int32_t *bad;                  /* per block: first particle without a cell, or -1 */
    int32_t min[3];
    int bits[3];   /* bits that the coordinates need above min */
    bool does_fit; /* all three axes in one key */
    int round;     /* 0: the whole key, or x alone; 1: (z, y) of particles already sorted by x */
    uint64_t *key[2];
    int32_t *index[2];
    int from; /* which of the two buffers holds the present order */
    int shift, digit_bits;
    int32_t *histogram; /* [block][digit], then the output index of the next item */
} CellSort;

static inline double cell_coordinate(double position, double cell_size)
{
    return floor(position / cell_size);
}

static void bound_block(void *context, int64_t first, int64_t end)
{
    CellSort *sort = context;
    int64_t block = first / SORT_BLOCK;
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    sort->bad[block] = -1;
    for (int64_t n = first; n < end; ++n) {
        int64_t i = sort->subset != NULL ? sort->subset[n] : n;
        double c[3] = { cell_coordinate(sort->x[i], sort->cell_size),
                        cell_coordinate(sort->y[i], sort->cell_size),
                        cell_coordinate(sort->z[i], sort->cell_size) };
        bool is_good = true;
        for (int a = 0; a < 3; ++a) {
            is_good = is_good && fabs(c[a]) <= COORDINATE_LIMIT;
            low[a] = c[a] < low[a] ? c[a] : low[a];
            high[a] = c[a] > high[a] ? c[a] : high[a];
        }
        if (!is_good) {
            sort->bad[block] = (int32_t)i;
            return;
        }
    }
    for (int a = 0; a < 3; ++a) {
        sort->low[block][a] = (int32_t)low[a];
        sort->high[block][a] = (int32_t)high[a];
    }
}

static int bit_width(uint64_t value)
{
    return value == 0 ? 0 : 64 - __builtin_clzll(value);
}

static WadiStatus find_bounds(CellSort *sort, const WadiParticles *particles, WadiArena *arena,
                              WadiError *error)
{
    size_t blocks = (size_t)sort->block_count;
    WADI_TRY(WADI_ARENA_NEW(arena, &sort->low, blocks, "cell bounds", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &sort->high, blocks, "cell bounds", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &sort->bad, blocks, "cell bounds", error));
    wadi_parallel_for(sort->count, SORT_BLOCK, bound_block, sort);
    int32_t max[3] = { INT32_MIN, INT32_MIN, INT32_MIN };
    sort->min[0] = sort->min[1] = sort->min[2] = INT32_MAX;
    for (size_t b = 0; b < blocks; ++b) {
        int32_t i = sort->bad[b];
        if (i >= 0) {
            return wadi_fail(error, WADI_ERR_NUMERIC,
                             "particle %u is at (%g, %g, %g), where there is no cell of %g m; "
                             "a smaller time step may keep it from being thrown there",
                             particles->id[i], sort->x[i], sort->y[i], sort->z[i], sort->cell_size);
        }
        for (int a = 0; a < 3; ++a) {
            sort->min[a] = sort->low[b][a] < sort->min[a] ? sort->low[b][a] : sort->min[a];
            max[a] = sort->high[b][a] > max[a] ? sort->high[b][a] : max[a];
        }
    }
    for (int a = 0; a < 3; ++a) {
        sort->bits[a] = bit_width((uint64_t)((int64_t)max[a] - sort->min[a]));
    }
    sort->does_fit = sort->bits[0] + sort->bits[1] + sort->bits[2] <= 64;
    return WADI_OK;
}

/* Keys of the particles in their present order; the first round begins with the order given. */
static void make_keys(void *context, int64_t first, int64_t end)
{
    CellSort *sort = context;
    uint64_t *key = sort->key[sort->from];
    int32_t *index = sort->index[sort->from];
    for (int64_t n = first; n < end; ++n) {
        if (sort->round == 0) {
            index[n] = sort->subset != NULL ? sort->subset[n] : (int32_t)n;
        }
        int32_t i = index[n];
        uint64_t c[3];
        c[0] = (uint64_t)((int64_t)cell_coordinate(sort->x[i], sort->cell_size) - sort->min[0]);
        c[1] = (uint64_t)((int64_t)cell_coordinate(sort->y[i], sort->cell_size) - sort->min[1]);
        c[2] = (uint64_t)((int64_t)cell_coordinate(sort->z[i], sort->cell_size) - sort->min[2]);
        uint64_t high = (c[2] << sort->bits[1]) | c[1];
        key[n] = sort->does_fit ? (high << sort->bits[0]) | c[0] : sort->round == 0 ? c[0] : high;
    }
}

static void count_digits(void *context, int64_t first, int64_t end)
{
    CellSort *sort = context;
    int64_t digits = INT64_C(1) << sort->digit_bits;
    int32_t *histogram = sort->histogram + first / SORT_BLOCK * digits;
    memset(histogram, 0, (size_t)digits * sizeof *histogram);
    const uint64_t *key = sort->key[sort->from];
    uint64_t mask = (uint64_t)digits - 1;
    for (int64_t n = first; n < end; ++n) {
        histogram[(key[n] >> sort->shift) & mask] += 1;
    }
}

static void scatter_block(void *context, int64_t first, int64_t end)
{
    CellSort *sort = context;
    int64_t digits = INT64_C(1) << sort->digit_bits;
    int32_t *next = sort->histogram + first / SORT_BLOCK * digits;
    const uint64_t *key = sort->key[sort->from];
    const int32_t *index = sort->index[sort->from];
    uint64_t *to_key = sort->key[!sort->from];
    int32_t *to_index = sort->index[!sort->from];
    uint64_t mask = (uint64_t)digits - 1;
    for (int64_t n = first; n < end; ++n) {
        int32_t to = next[(key[n] >> sort->shift) & mask]++;
        to_key[to] = key[n];
        to_index[to] = index[n];
    }
}

/* Least significant digit first, the fewest passes of equal width. */
static void radix_sort(CellSort *sort, int bits)
{
    int passes = (bits + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX;
    for (int pass = 0; pass < passes; ++pass) {
        sort->digit_bits = (bits + passes - 1) / passes;
        sort->shift = pass * sort->digit_bits;
        wadi_parallel_for(sort->count, SORT_BLOCK, count_digits, sort);
        int64_t digits = INT64_C(1) << sort->digit_bits;
        int32_t next = 0;
        for (int64_t digit = 0; digit < digits; ++digit) {
            for (int64_t b = 0; b < sort->block_count; ++b) {
                int32_t count = sort->histogram[b * digits + digit];
                sort->histogram[b * digits + digit] = next;
                next += count;
            }
        }
        wadi_parallel_for(sort->count, SORT_BLOCK, scatter_block, sort);
        sort->from = !sort->from;
    }
}

static WadiStatus sort_particles(CellSort *sort, WadiArena *arena, WadiError *error)
{
    size_t count = (size_t)sort->count;
    for (int i = 0; i < 2; ++i) {
        WADI_TRY(WADI_ARENA_NEW(arena, &sort->key[i], count, "sort keys", error));
        WADI_TRY(WADI_ARENA_NEW(arena, &sort->index[i], count, "sort order", error));
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &sort->histogram, (size_t)sort->block_count << DIGIT_BITS_MAX,
                            "sort histograms", error));
    wadi_parallel_for(sort->count, SORT_BLOCK, make_keys, sort);
    if (sort->does_fit) {
        radix_sort(sort, sort->bits[0] + sort->bits[1] + sort->bits[2]);
    } else {
        radix_sort(sort, sort->bits[0]);
        sort->round = 1;
        wadi_parallel_for(sort->count, SORT_BLOCK, make_keys, sort);
        radix_sort(sort, sort->bits[1] + sort->bits[2]);
    }
    return WADI_OK;
}

typedef struct CellMark {
    const CellSort *sort;
    WadiCells *cells;
    int32_t *cells_before; /* of each block */
} CellMark;

static void coordinates_of(const CellSort *sort, int32_t i, int32_t c[3])
{
    c[0] = (int32_t)cell_coordinate(sort->x[i], sort->cell_size);
    c[1] = (int32_t)cell_coordinate(sort->y[i], sort->cell_size);
    c[2] = (int32_t)cell_coordinate(sort->z[i], sort->cell_size);
}

static bool is_first_of_cell(const CellSort *sort, int64_t n)
{
    const uint64_t *key = sort->key[sort->from];
    if (n == 0 || key[n] != key[n - 1]) {
        return true;
    }
    if (sort->does_fit) {
        return false;
    }
    int32_t a[3], b[3];
    coordinates_of(sort, sort->index[sort->from][n - 1], a);
    coordinates_of(sort, sort->index[sort->from][n], b);
    return a[0] != b[0];
}

static void count_cells(void *context, int64_t first, int64_t end)
{
    CellMark *mark = context;
    int32_t count = 0;
    for (int64_t n = first; n < end; ++n) {
        count += is_first_of_cell(mark->sort, n);
    }
    mark->cells_before[first / SORT_BLOCK] = count;
}

static void write_cells(void *context, int64_t first, int64_t end)
{
    CellMark *mark = context;
    int32_t cell = mark->cells_before[first / SORT_BLOCK];
    for (int64_t n = first; n < end; ++n) {
        if (is_first_of_cell(mark->sort, n)) {
            coordinates_of(mark->sort, mark->cells->order[n], mark->cells->coordinate[cell]);
            mark->cells->start[cell++] = (int32_t)n;
        }
    }
}

static inline uint64_t hash_cell(int32_t i, int32_t j, int32_t k)
{
    uint64_t low = (uint32_t)i | (uint64_t)(uint32_t)j << 32;
    return wadi_hash_mix(low ^ ((uint64_t)(uint32_t)k * UINT64_C(0x9e3779b97f4a7c15)));
}

/* The bit of a hash in `filter`. */
static inline uint64_t filter_bit(const WadiCells *cells, uint64_t hash, size_t *word)
{
    uint64_t bit = (hash >> 30) & (4 * (uint64_t)cells->slot_mask + 3);
    *word = (size_t)(bit >> 6);
    return UINT64_C(1) << (bit & 63);
}

static WadiStatus make_table(WadiCells *cells, WadiArena *arena, WadiError *error)
{
    uint32_t slots = 16;
    while (slots < 2 * (uint64_t)cells->cell_count && slots < UINT32_C(1) << 31) {
        slots *= 2;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &cells->slot, slots, "cell table", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &cells->filter, slots / 16, "cell table", error));
    memset(cells->slot, -1, slots * sizeof *cells->slot);
    memset(cells->filter, 0, slots / 16 * sizeof *cells->filter);
    cells->slot_mask = slots - 1;
    for (int32_t c = 0; c < cells->cell_count; ++c) {
        const int32_t *at = cells->coordinate[c];
        uint64_t hash = hash_cell(at[0], at[1], at[2]);
        size_t word;
        uint64_t bit = filter_bit(cells, hash, &word);
        cells->filter[word] |= bit;
        uint32_t slot = (uint32_t)hash & cells->slot_mask;
        while (cells->slot[slot] >= 0) {
            slot = (slot + 1) & cells->slot_mask;
        }
        cells->slot[slot] = c;
    }
    return WADI_OK;
}

static WadiStatus build(WadiCells *cells, const WadiParticles *particles, CellSort *sort, WadiArena *arena,
                        WadiError *error)
{
    sort->block_count = wadi_parallel_block_count(sort->count, SORT_BLOCK);
    WADI_TRY(find_bounds(sort, particles, arena, error));
    WADI_TRY(sort_particles(sort, arena, error));
    cells->order = sort->index[sort->from];

    CellMark mark = { sort, cells, NULL };
    WADI_TRY(WADI_ARENA_NEW(arena, &mark.cells_before, (size_t)sort->block_count + 1, "cell counts", error));
    wadi_parallel_for(sort->count, SORT_BLOCK, count_cells, &mark);
    int32_t cell_count = (int32_t)wadi_prefix_sum(mark.cells_before, sort->block_count);
    WADI_TRY(WADI_ARENA_NEW(arena, &cells->coordinate, (size_t)cell_count, "cells", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &cells->start, (size_t)cell_count + 1, "cells", error));
    wadi_parallel_for(sort->count, SORT_BLOCK, write_cells, &mark);
    cells->start[cell_count] = (int32_t)sort->count;
    cells->cell_count = cell_count;
    cells->particle_count = (int32_t)sort->count;
    return make_table(cells, arena, error);
}

WadiStatus wadi_cells_build_subset(WadiCells *cells, const WadiParticles *particles, const int32_t *subset,
                                   int32_t count, double cell_size, WadiArena *arena, WadiError *error)
{
    WADI_ASSERT_TRY(cell_size > 0.0 && isfinite(cell_size), error);
    *cells = (WadiCells){ .cell_size = cell_size };
    CellSort sort = { .x = particles->x,
                      .y = particles->y,
                      .z = particles->z,
                      .subset = subset,
                      .cell_size = cell_size,
                      .count = count };
    WadiStatus status = build(cells, particles, &sort, arena, error);
    if (status != WADI_OK) {
        *cells = (WadiCells){ .cell_size = cell_size };
    }
    return status;
}

WadiStatus wadi_cells_build(WadiCells *cells, const WadiParticles *particles, double cell_size,
                            WadiArena *arena, WadiError *error)
{
    WADI_TRY(wadi_cells_build_subset(cells, particles, NULL, particles->count, cell_size, arena, error));
    WADI_VALIDATE(wadi_cells_validate(cells, particles));
    return WADI_OK;
}

int32_t wadi_cells_find(const WadiCells *cells, int32_t i, int32_t j, int32_t k)
{
    if (cells->cell_count == 0) {
        return -1;
    }
    uint64_t hash = hash_cell(i, j, k);
    size_t word;
    uint64_t bit = filter_bit(cells, hash, &word);
    if ((cells->filter[word] & bit) == 0) {
        return -1;
    }
    uint32_t slot = (uint32_t)hash & cells->slot_mask;
    for (int32_t c = cells->slot[slot]; c >= 0; c = cells->slot[slot]) {
        const int32_t *at = cells->coordinate[c];
        if (at[0] == i && at[1] == j && at[2] == k) {
            return c;
        }
        slot = (slot + 1) & cells->slot_mask;
    }
    return -1;
}

void wadi_cells_find_three(const WadiCells *cells, int32_t i, int32_t j, int32_t k, int32_t *first,
                           int32_t *end)
{
    int32_t cell = -1;
    for (int32_t d = -1; d <= 1 && cell < 0; ++d) {
        cell = wadi_cells_find(cells, i + d, j, k);
    }
    *first = *end = cell >= 0 ? cells->start[cell] : 0;
    for (; cell >= 0 && cell < cells->cell_count; ++cell) {
        const int32_t *at = cells->coordinate[cell];
        if (at[0] > i + 1 || at[1] != j || at[2] != k) {
            break;
        }
        *end = cells->start[cell + 1];
    }
}

/* -1, 0, 1 as cell a comes before, is, or comes after cell b. */
static int compare_cells(const int32_t a[3], const int32_t b[3])
{
    for (int axis = 2; axis >= 0; --axis) {
        if (a[axis] != b[axis]) {
            return a[axis] < b[axis] ? -1 : 1;
        }
    }
    return 0;
}

bool wadi_cells_validate(const WadiCells *cells, const WadiParticles *particles)
{
    if (cells->cell_count == 0) {
        return cells->particle_count == 0;
    }
    if (cells->start[0] != 0 || cells->start[cells->cell_count] != cells->particle_count) {
        return false;
    }
    for (int32_t c = 0; c < cells->cell_count; ++c) {
        const int32_t *at = cells->coordinate[c];
        if (cells->start[c] >= cells->start[c + 1] || wadi_cells_find(cells, at[0], at[1], at[2]) != c ||
            (c > 0 && compare_cells(cells->coordinate[c - 1], at) >= 0)) {
            return false;
        }
        for (int32_t n = cells->start[c]; n < cells->start[c + 1]; ++n) {
            int32_t i = cells->order[n];
            if (i < 0 || i >= particles->count || (n > cells->start[c] && i <= cells->order[n - 1]) ||
                cell_coordinate(particles->x[i], cells->cell_size) != at[0] ||
                cell_coordinate(particles->y[i], cells->cell_size) != at[1] ||
                cell_coordinate(particles->z[i], cells->cell_size) != at[2]) {
                return false;
            }
        }
    }
    return true;
}

WadiStatus wadi_particles_order_by_cell(WadiParticles *particles, int32_t first, double cell_size,
                                        WadiError *error)
{
    WadiArena arena = { 0 };
    WadiCells cells;
    int32_t *order = NULL, count = particles->count - first;
    WadiStatus status = WADI_ARENA_NEW(&arena, &order, (size_t)particles->count, "order of particles", error);
    if (status == WADI_OK) {
        for (int32_t i = 0; i < particles->count; ++i) {
            order[i] = i;
        }
        status = wadi_cells_build_subset(&cells, particles, order + first, count, cell_size, &arena, error);
    }
    if (status == WADI_OK) {
        for (int32_t i = 0; i < count; ++i) {
            order[first + i] = cells.order[i];
        }
        status = wadi_particles_permute(particles, order, error);
    }
    for (int32_t i = 0; status == WADI_OK && i < count; ++i) {
        particles->id[first + i] = particles->next_id - (uint32_t)(count - i);
    }
    wadi_arena_free(&arena);
    return status;
}
