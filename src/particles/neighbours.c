/* Neighbour lists of one radius from a cell table: the cells around a particle. */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "particles/cells.h"

enum {
    QUERY_BLOCK = 512,
    REACH_MAX = 2, /* cells on each side that a search touches: 1, and one for rounding at a cell's edge */
    SIDE_MAX = 2 * REACH_MAX + 1,
    TESTED_MAX = 64, /* candidates tested in one go */
    KEPT_EACH = 16,  /* neighbours of a particle, in the mean of a block, that counting keeps for writing */
};

/* A cell table with its particles' positions in cell order. */
typedef struct Table {
    WadiCells cells;
    double *x, *y, *z;
} Table;

/* The rows of cells around one cell, as ranges of a table's order. Consecutive searches mostly begin in the
 * same cell, so the last one is kept. */
typedef struct Window {
    const Table *table;
    int32_t center[3];
    int reach;
    /* Cells of one row are consecutive in the order: where each begins, and where the last one ends. */
    int32_t bound[SIDE_MAX][SIDE_MAX][SIDE_MAX + 1];
} Window;

/* A search box: the rows of a window, and the cells of each row, that it touches. */
typedef struct Box {
    int low[3], high[3]; /* from 0 */
} Box;

static void find_row(const WadiCells *cells, const int32_t first[3], int side, int32_t *bound)
{
    int32_t end = -1; /* of the cells found so far */
    for (int n = 0; n < side; ++n) {
        const int32_t cell = wadi_cells_find(cells, first[0] + n, first[1], first[2]);
        for (int before = 0; before <= n && cell >= 0 && end < 0; ++before) {
            bound[before] = cells->start[cell];
        }
        bound[n] = cell >= 0 ? cells->start[cell] : end >= 0 ? end : 0;
        end = cell >= 0 ? cells->start[cell + 1] : end;
    }
    bound[side] = end >= 0 ? end : 0;
}

static void move_window(Window *window, const Table *table, const int32_t center[3], int reach)
{
    if (window->table == table && reach <= window->reach &&
        memcmp(center, window->center, sizeof window->center) == 0) {
        return;
    }
    window->table = table;
    window->reach = reach;
    memcpy(window->center, center, sizeof window->center);
    for (int k = 0; k <= 2 * reach; ++k) {
        for (int j = 0; j <= 2 * reach; ++j) {
            const int32_t first[3] = { center[0] - reach, center[1] - reach + j, center[2] - reach + k };
            find_row(&table->cells, first, 2 * reach + 1, window->bound[k][j]);
        }
    }
}

static Box search_box(Window *window, const Table *table, const double x[3], double search_radius)
{
    const double size = table->cells.cell_size;
    int32_t low[3], high[3], center[3], reach = 1;
    for (int a = 0; a < 3; ++a) {
        const double q = x[a] / size;
        /* Exceeds the rounding of q, of the other particle's q and of the distance together. */
        const double half = search_radius / size + 1e-15 * (fabs(q) + 4.0);
        low[a] = (int32_t)floor(q - half);
        high[a] = (int32_t)floor(q + half);
        center[a] = (int32_t)floor(q);
        reach = center[a] - low[a] > reach || high[a] - center[a] > reach ? REACH_MAX : reach;
    }
    move_window(window, table, center, reach);
    Box box;
    for (int a = 0; a < 3; ++a) {
        box.low[a] = low[a] - center[a] + window->reach;
        box.high[a] = high[a] - center[a] + window->reach;
        WADI_ASSERT(box.low[a] >= 0 && box.high[a] <= 2 * window->reach);
    }
    return box;
}

/* Particles of the box within the radius of x. */
static int64_t count_box(const Window *window, const Box *box, const double x[3], double radius)
{
    const Table *table = window->table;
    int64_t count = 0;
    for (int k = box->low[2]; k <= box->high[2]; ++k) {
        for (int j = box->low[1]; j <= box->high[1]; ++j) {
            const int32_t *bound = window->bound[k][j];
            int32_t found = 0;
            for (int32_t n = bound[box->low[0]]; n < bound[box->high[0] + 1]; ++n) {
                double dx = x[0] - table->x[n], dy = x[1] - table->y[n], dz = x[2] - table->z[n];
                found += dx * dx + dy * dy + dz * dz <= radius * radius;
            }
            count += found;
        }
    }
    return count;
}

/* Writes those of table->order[first..end) but `self` to `out`; end - first is at most TESTED_MAX. */
static int32_t write_range(const Table *table, int32_t first, int32_t end, const double x[3], double radius,
                           int32_t self, int32_t *out)
{
    const int32_t *order = table->cells.order;
    int32_t found[TESTED_MAX], count = 0;
    /* No branch on a hit, which is hard to predict: `found` has room for all. */
    for (int32_t n = first; n < end; ++n) {
        double dx = x[0] - table->x[n], dy = x[1] - table->y[n], dz = x[2] - table->z[n];
        found[count] = order[n];
        count += (dx * dx + dy * dy + dz * dz <= radius * radius) & (order[n] != self);
    }
    memcpy(out, found, (size_t)count * sizeof *found);
    return count;
}

/* Particles in the cells of the box. */
static int64_t candidates_of(const Window *window, const Box *box)
{
    int64_t count = 0;
    for (int k = box->low[2]; k <= box->high[2]; ++k) {
        for (int j = box->low[1]; j <= box->high[1]; ++j) {
            count += window->bound[k][j][box->high[0] + 1] - window->bound[k][j][box->low[0]];
        }
    }
    return count;
}

static int64_t write_box(const Window *window, const Box *box, const double x[3], double radius, int32_t self,
                         int32_t *out)
{
    int64_t count = 0;
    for (int k = box->low[2]; k <= box->high[2]; ++k) {
        for (int j = box->low[1]; j <= box->high[1]; ++j) {
            const int32_t *bound = window->bound[k][j], end = bound[box->high[0] + 1];
            for (int32_t n = bound[box->low[0]]; n < end; n += TESTED_MAX) {
                const int32_t last = end - n < TESTED_MAX ? end : n + TESTED_MAX;
                count += write_range(window->table, n, last, x, radius, self, out + count);
            }
        }
    }
    return count;
}

static void sift_down(int32_t *heap, int64_t root, int64_t count)
{
    int32_t value = heap[root];
    for (int64_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        child += child + 1 < count && heap[child + 1] > heap[child];
        if (heap[child] <= value) {
            break;
        }
        heap[root] = heap[child];
        root = child;
    }
    heap[root] = value;
}

/* Lists of particles that lie sorted by cell are ascending already. */
static void sort_list(int32_t *list, int64_t count)
{
    int64_t sorted = 1;
    while (sorted < count && list[sorted - 1] < list[sorted]) {
        ++sorted;
    }
    if (sorted >= count) {
        return;
    }
    if (count <= 64) {
        for (int64_t i = sorted; i < count; ++i) {
            int32_t value = list[i];
            int64_t j = i;
            for (; j > 0 && list[j - 1] > value; --j) {
                list[j] = list[j - 1];
            }
            list[j] = value;
        }
        return;
    }
    for (int64_t i = count / 2 - 1; i >= 0; --i) {
        sift_down(list, i, count);
    }
    for (int64_t i = count - 1; i > 0; --i) {
        int32_t largest = list[0];
        list[0] = list[i];
        list[i] = largest;
        sift_down(list, 0, i);
    }
}

/* Lists that counting found, block by block of the particles in cell order, for writing them. */
typedef struct Kept {
    int32_t *index; /* KEPT_EACH * QUERY_BLOCK of each block */
    bool *is_whole; /* all lists of the block had room */
} Kept;

typedef struct Search {
    const Table *table;
    double radius;
    WadiNeighbours *neighbours;
    Kept kept;
    bool is_counting;
} Search;

static void search_block(void *context, int64_t first, int64_t end)
{
    const Search *search = context;
    const Table *table = search->table;
    WadiNeighbours *neighbours = search->neighbours;
    Window window = { 0 };
    for (int64_t n = first; n < end; ++n) {
        const int32_t self = table->cells.order[n];
        const double x[3] = { table->x[n], table->y[n], table->z[n] };
        const Box box = search_box(&window, table, x, search->radius);
        if (search->is_counting) {
            neighbours->start[self] = count_box(&window, &box, x, search->radius) - 1; /* without itself */
        } else {
            int32_t *list = neighbours->index + neighbours->start[self];
            sort_list(list, write_box(&window, &box, x, search->radius, self, list));
        }
    }
}

/* Counts the neighbours of a block and keeps their lists while there is room. */
static void count_and_keep(void *context, int64_t first, int64_t end)
{
    const Search *search = context;
    const Table *table = search->table;
    int32_t *list = search->kept.index + first * KEPT_EACH;
    int64_t room = (int64_t)QUERY_BLOCK * KEPT_EACH;
    Window window = { 0 };
    bool *is_whole = &search->kept.is_whole[first / QUERY_BLOCK];
    *is_whole = true;
    for (int64_t n = first; n < end && *is_whole; ++n) {
        const double x[3] = { table->x[n], table->y[n], table->z[n] };
        const Box box = search_box(&window, table, x, search->radius);
        *is_whole = room >= candidates_of(&window, &box);
        if (*is_whole) {
            const int32_t self = table->cells.order[n];
            const int64_t count = write_box(&window, &box, x, search->radius, self, list);
            search->neighbours->start[self] = count;
            list += count;
            room -= count;
        }
    }
    if (!*is_whole) {
        search_block(context, first, end);
    }
}

static void write_kept(void *context, int64_t first, int64_t end)
{
    const Search *search = context;
    const int64_t *start = search->neighbours->start;
    const int32_t *list = search->kept.index + first * KEPT_EACH;
    if (!search->kept.is_whole[first / QUERY_BLOCK]) {
        search_block(context, first, end);
        return;
    }
    for (int64_t n = first; n < end; ++n) {
        const int32_t self = search->table->cells.order[n];
        const int64_t count = start[self + 1] - start[self];
        int32_t *out = search->neighbours->index + start[self];
        memcpy(out, list, (size_t)count * sizeof *out);
        sort_list(out, count);
        list += count;
    }
}

static WadiStatus fill_table(Table *table, const WadiParticles *particles, WadiArena *arena, WadiError *error)
{
    size_t count = (size_t)table->cells.particle_count;
    WADI_TRY(WADI_ARENA_NEW(arena, &table->x, count, "neighbour search", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &table->y, count, "neighbour search", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &table->z, count, "neighbour search", error));
    for (size_t n = 0; n < count; ++n) {
        int32_t i = table->cells.order[n];
        table->x[n] = particles->x[i];
        table->y[n] = particles->y[i];
        table->z[n] = particles->z[i];
    }
    return WADI_OK;
}

/* Counts become starts, and the lists are allocated. */
static WadiStatus allocate_lists(WadiNeighbours *neighbours, WadiArena *arena, WadiError *error)
{
    int64_t total = 0;
    for (int32_t i = 0; i < neighbours->count; ++i) {
        int64_t count = neighbours->start[i];
        neighbours->start[i] = total;
        total += count;
    }
    neighbours->start[neighbours->count] = total;
    if (WADI_ARENA_NEW(arena, &neighbours->index, (size_t)total, "neighbour lists", NULL) != WADI_OK) {
        return wadi_fail(error, WADI_ERR_MEMORY,
                         "out of memory: %d particles have %lld neighbours, %.0f each on average, which take "
                         "%.1f GB; the particles are crowded or the radius is too large",
                         neighbours->count, (long long)total, (double)total / neighbours->count,
                         4e-9 * (double)total);
    }
    return WADI_OK;
}

WadiStatus wadi_neighbours_fixed(WadiNeighbours *neighbours, const WadiCells *cells,
                                 const WadiParticles *particles, double radius, WadiArena *arena,
                                 WadiError *error)
{
    WADI_ASSERT_TRY(radius > 0.0 && radius <= cells->cell_size && cells->particle_count == particles->count,
                    error);
    *neighbours = (WadiNeighbours){ 0 };
    WadiNeighbours made = { .count = particles->count };
    WADI_TRY(WADI_ARENA_NEW(arena, &made.start, (size_t)made.count + 1, "neighbour lists", error));
    Table table = { .cells = *cells };
    WADI_TRY(fill_table(&table, particles, arena, error));
    Search search = { .table = &table, .radius = radius, .neighbours = &made, .is_counting = true };
    const int64_t blocks = wadi_parallel_block_count(made.count, QUERY_BLOCK);
    WADI_TRY(WADI_ARENA_NEW(arena, &search.kept.is_whole, (size_t)blocks, "neighbour search", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &search.kept.index, (size_t)blocks * QUERY_BLOCK * KEPT_EACH,
                            "neighbour search", error));
    wadi_parallel_for(made.count, QUERY_BLOCK, count_and_keep, &search);
    WADI_TRY(allocate_lists(&made, arena, error));
    search.is_counting = false;
    wadi_parallel_for(made.count, QUERY_BLOCK, write_kept, &search);
    *neighbours = made;
    return WADI_OK;
}
