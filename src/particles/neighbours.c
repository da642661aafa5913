/* Neighbour lists from cell tables, for the planned solvers `sph` and `dem`. Fixed radius: the cells
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
    ROWS_MAX = 16, /* at most 4 cells along an axis: 3, and one for rounding at the edge of a cell */
};

/* A cell table with its particles' positions, and radii where they differ, in cell order. */
typedef struct Table {
    WadiCells cells;
    double *x, *y, *z;
    double *radius; /* NULL: one for all */
} Table;

/* The particles in the cells that a search box touches, as ranges of a table's order. Consecutive searches
 * mostly have the same box, so the last one is cached. */
typedef struct Window {
    const Table *table;
    int32_t low[3], high[3];
    int row_count;
    int32_t first[ROWS_MAX], end[ROWS_MAX];
} Window;

static void move_window(Window *window, const Table *table, const double x[3], double search_radius)
{
    double size = table->cells.cell_size;
    int32_t low[3], high[3];
    for (int a = 0; a < 3; ++a) {
        double q = x[a] / size;
        /* Exceeds the rounding of q, of the other particle's q and of the distance together. */
        double half = search_radius / size + 1e-15 * (fabs(q) + 4.0);
        low[a] = (int32_t)floor(q - half);
        high[a] = (int32_t)floor(q + half);
    }
    if (window->table == table && memcmp(low, window->low, sizeof low) == 0 &&
        memcmp(high, window->high, sizeof high) == 0) {
        return;
    }
    window->table = table;
    memcpy(window->low, low, sizeof low);
    memcpy(window->high, high, sizeof high);
    window->row_count = 0;
    for (int32_t k = low[2]; k <= high[2]; ++k) {
        for (int32_t j = low[1]; j <= high[1]; ++j) {
            /* Cells of one row are consecutive in the order, so their particles are one range. */
            int32_t first = -1, last = -1;
            for (int32_t i = low[0]; i <= high[0]; ++i) {
                int32_t cell = wadi_cells_find(&table->cells, i, j, k);
                first = first < 0 ? cell : first;
                last = cell >= 0 ? cell : last;
            }
            if (first >= 0) {
                WADI_ASSERT_ELSE(window->row_count < ROWS_MAX, return );
                window->first[window->row_count] = table->cells.start[first];
                window->end[window->row_count++] = table->cells.start[last + 1];
            }
        }
    }
}

/* Particles of the window within the radius of x, or within their own if the table has radii and it is
 * larger. */
static int64_t count_window(const Window *window, const double x[3], double radius)
{
    const Table *table = window->table;
    int64_t count = 0;
    for (int row = 0; row < window->row_count; ++row) {
        int32_t found = 0;
        for (int32_t n = window->first[row]; n < window->end[row]; ++n) {
            double dx = x[0] - table->x[n], dy = x[1] - table->y[n], dz = x[2] - table->z[n];
            double r = table->radius != NULL && table->radius[n] > radius ? table->radius[n] : radius;
            found += dx * dx + dy * dy + dz * dz <= r * r;
        }
        count += found;
    }
    return count;
}

static int64_t write_window(const Window *window, const double x[3], double radius, int32_t self,
                            int32_t *out)
{
    const Table *table = window->table;
    int64_t count = 0;
    for (int row = 0; row < window->row_count; ++row) {
        for (int32_t n = window->first[row]; n < window->end[row]; ++n) {
            double dx = x[0] - table->x[n], dy = x[1] - table->y[n], dz = x[2] - table->z[n];
            double r = table->radius != NULL && table->radius[n] > radius ? table->radius[n] : radius;
            if (dx * dx + dy * dy + dz * dz <= r * r && table->cells.order[n] != self) {
                out[count++] = table->cells.order[n];
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
            move_window(&windows[w], table, x, search_radius);
            count += search->is_counting ? count_window(&windows[w], x, radius)
                                         : write_window(&windows[w], x, radius, self, list + count);
        }
        if (search->is_counting) {
            neighbours->start[self] = count - 1; /* without itself */
        } else {
            sort_list(list, count);
        }
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
    wadi_parallel_for(made.count, QUERY_BLOCK, search_block, &search);
    WADI_TRY(allocate_lists(&made, arena, error));
    search.is_counting = false;
    wadi_parallel_for(made.count, QUERY_BLOCK, search_block, &search);
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
