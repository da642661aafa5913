/* Neighbour lists from cell tables. Fixed radius: the cells
 * around a particle. Mixed radii: levels of cell size, each twice the one below, with two tables each: of
 * its own particles, and of those and all finer ones. A particle finds finer and equal ones in the second
 * table of its level, where its own radius decides, and coarser ones in the first tables of the levels
 * above. */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "particles/cells.h"

enum {
    QUERY_BLOCK = 512,
    LEVEL_MAX = 32,
    REACH_MAX = 2, /* cells on each side that a search touches: 1, and one for rounding at a cell's edge */
    SIDE_MAX = 2 * REACH_MAX + 1,
    TESTED_MAX = 64, /* candidates tested in one go */
    KEPT_EACH = 16,  /* neighbours of a particle, in the mean of a block, that counting keeps for writing */
};

/* A cell table with its particles' positions, and radii where they differ, in cell order. */
typedef struct Table {
    WadiCells cells;
    double *x, *y, *z;
    double *radius; /* NULL: one for all */
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

/* Particles of the box within the radius of x, or within their own if the table has radii and it is
 * larger. */
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
                double r = table->radius != NULL && table->radius[n] > radius ? table->radius[n] : radius;
                found += dx * dx + dy * dy + dz * dz <= r * r;
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
        double r = table->radius != NULL && table->radius[n] > radius ? table->radius[n] : radius;
        found[count] = order[n];
        count += (dx * dx + dy * dy + dz * dz <= r * r) & (order[n] != self);
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

/* One search: the particles of `own` (in cell order) against own_and_finer and the levels above. */
typedef struct Search {
    const Table *own;
    const Table *own_and_finer;
    double search_radius; /* the largest radius in `own` */
    const Table *coarser[LEVEL_MAX];
    double coarser_radius[LEVEL_MAX];
    int coarser_count;
    double radius; /* where the tables have none */
    WadiNeighbours *neighbours;
    Kept kept; /* NULL: none */
    bool is_counting;
} Search;

static void search_block(void *context, int64_t first, int64_t end)
{
    const Search *search = context;
    WadiNeighbours *neighbours = search->neighbours;
    Window windows[LEVEL_MAX + 1];
    for (int w = 0; w <= search->coarser_count; ++w) {
        windows[w].table = NULL;
    }
    for (int64_t n = first; n < end; ++n) {
        int32_t self = search->own->cells.order[n];
        double x[3] = { search->own->x[n], search->own->y[n], search->own->z[n] };
        double radius = search->own->radius != NULL ? search->own->radius[n] : search->radius;
        int32_t *list = search->is_counting ? NULL : neighbours->index + neighbours->start[self];
        int64_t count = 0;
        for (int w = 0; w <= search->coarser_count; ++w) {
            const Table *table = w == 0 ? search->own_and_finer : search->coarser[w - 1];
            double search_radius = w == 0 ? search->search_radius : search->coarser_radius[w - 1];
            const Box box = search_box(&windows[w], table, x, search_radius);
            count += search->is_counting ? count_box(&windows[w], &box, x, radius)
                                         : write_box(&windows[w], &box, x, radius, self, list + count);
        }
        if (search->is_counting) {
            neighbours->start[self] = count - 1; /* without itself */
        } else {
            sort_list(list, count);
        }
    }
}

/* Counts the neighbours of a block and keeps their lists while there is room. */
static void count_and_keep(void *context, int64_t first, int64_t end)
{
    const Search *search = context;
    const Table *table = search->own;
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
        const int32_t self = search->own->cells.order[n];
        const int64_t count = start[self + 1] - start[self];
        int32_t *out = search->neighbours->index + start[self];
        memcpy(out, list, (size_t)count * sizeof *out);
        sort_list(out, count);
        list += count;
    }
}

static WadiStatus fill_table(Table *table, const WadiParticles *particles, const float *radius,
                             WadiArena *arena, WadiError *error)
{
    size_t count = (size_t)table->cells.particle_count;
    WADI_TRY(WADI_ARENA_NEW(arena, &table->x, count, "neighbour search", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &table->y, count, "neighbour search", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &table->z, count, "neighbour search", error));
    table->radius = NULL;
    if (radius != NULL) {
        WADI_TRY(WADI_ARENA_NEW(arena, &table->radius, count, "neighbour search", error));
    }
    for (size_t n = 0; n < count; ++n) {
        int32_t i = table->cells.order[n];
        table->x[n] = particles->x[i];
        table->y[n] = particles->y[i];
        table->z[n] = particles->z[i];
        if (radius != NULL) {
            table->radius[n] = (double)radius[i];
        }
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
    WADI_TRY(fill_table(&table, particles, NULL, arena, error));
    Search search = { .own = &table,
                      .own_and_finer = &table,
                      .search_radius = radius,
                      .radius = radius,
                      .neighbours = &made,
                      .is_counting = true };
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

typedef struct Level {
    int32_t count;
    double search_radius; /* the largest radius */
    Table own, own_and_finer;
} Level;

/* The largest radius, and the smallest cell whose coordinate at the farthest particle is an int32_t. */
static WadiStatus check_radii(const WadiParticles *particles, const float *radius, float *largest,
                              double *smallest_cell, WadiError *error)
{
    double farthest = 0.0;
    *largest = 0.0f;
    for (int32_t i = 0; i < particles->count; ++i) {
        if (!(radius[i] > 0.0f && isfinite(radius[i]))) {
            return wadi_fail(error, WADI_ERR_NUMERIC, "particle %u has a search radius of %g m",
                             particles->id[i], (double)radius[i]);
        }
        *largest = radius[i] > *largest ? radius[i] : *largest;
        farthest =
            fmax(farthest, fmax(fmax(fabs(particles->x[i]), fabs(particles->y[i])), fabs(particles->z[i])));
    }
    *smallest_cell = isfinite(farthest) ? farthest / 2e9 : 0.0;
    return WADI_OK;
}

/* Level l, counted from the coarsest, holds radii in (largest / 2^(l+1), largest / 2^l]; the last also all
 * smaller. */
static int level_of(float radius, float largest)
{
    int level = 0;
    for (float limit = largest / 2.0f; radius <= limit && level < LEVEL_MAX - 1; limit /= 2.0f) {
        ++level;
    }
    return level;
}

static WadiStatus make_levels(Level *levels, const WadiParticles *particles, const float *radius,
                              float largest, double smallest_cell, WadiArena *arena, WadiError *error)
{
    uint8_t *level = NULL;
    int32_t *subset = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &level, (size_t)particles->count, "radius levels", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &subset, (size_t)particles->count + 1, "radius levels", error));
    for (int32_t i = 0; i < particles->count; ++i) {
        level[i] = (uint8_t)level_of(radius[i], largest);
        levels[level[i]].count += 1;
        levels[level[i]].search_radius = fmax(levels[level[i]].search_radius, (double)radius[i]);
    }
    for (int l = 0; l < LEVEL_MAX; ++l) {
        double cell_size = fmax(levels[l].search_radius, smallest_cell);
        for (int with_finer = 0; with_finer < 2 && levels[l].count > 0; ++with_finer) {
            int32_t count = 0;
            for (int32_t i = 0; i < particles->count; ++i) {
                subset[count] = i;
                count += level[i] == l || (with_finer == 1 && level[i] > l);
            }
            Table *table = with_finer == 1 ? &levels[l].own_and_finer : &levels[l].own;
            WADI_TRY(
                wadi_cells_build_subset(&table->cells, particles, subset, count, cell_size, arena, error));
            WADI_TRY(fill_table(table, particles, radius, arena, error));
        }
    }
    return WADI_OK;
}

static void search_levels(const Level *levels, WadiNeighbours *neighbours, bool is_counting)
{
    Search search = { .neighbours = neighbours, .is_counting = is_counting };
    for (int l = 0; l < LEVEL_MAX; ++l) {
        if (levels[l].count > 0) {
            search.own = &levels[l].own;
            search.own_and_finer = &levels[l].own_and_finer;
            search.search_radius = levels[l].search_radius;
            wadi_parallel_for(levels[l].count, QUERY_BLOCK, search_block, &search);
            search.coarser[search.coarser_count] = &levels[l].own;
            search.coarser_radius[search.coarser_count++] = levels[l].search_radius;
        }
    }
}

WadiStatus wadi_neighbours_mixed(WadiNeighbours *neighbours, const WadiParticles *particles,
                                 const float *radius, WadiArena *arena, WadiError *error)
{
    *neighbours = (WadiNeighbours){ 0 };
    WadiNeighbours made = { .count = particles->count };
    float largest = 0.0f;
    double smallest_cell = 0.0;
    WADI_TRY(check_radii(particles, radius, &largest, &smallest_cell, error));
    Level *levels = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &levels, LEVEL_MAX, "radius levels", error));
    memset(levels, 0, LEVEL_MAX * sizeof *levels);
    WADI_TRY(WADI_ARENA_NEW(arena, &made.start, (size_t)made.count + 1, "neighbour lists", error));
    WADI_TRY(make_levels(levels, particles, radius, largest, smallest_cell, arena, error));
    search_levels(levels, &made, true);
    WADI_TRY(allocate_lists(&made, arena, error));
    search_levels(levels, &made, false);
    *neighbours = made;
    return WADI_OK;
}
