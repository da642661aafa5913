#include "surface/cloud/bins.h"

#include <string.h>

#include "core/check.h"
#include "core/parallel.h"

enum { PARTICLE_BLOCK = 16384 };

/* Leaves space for a tile's margin around any bin. */
static const double COORDINATE_LIMIT = 2147483000.0;

typedef struct BinFill {
    WadiBins *bins;
    const WadiCloud *cloud;
    double support; /* spacings */
    int level;
    double *x, *y, *z;
} BinFill;

static void split_columns(void *context, int64_t first, int64_t end)
{
    BinFill *fill = context;
    for (int64_t i = first; i < end; ++i) {
        fill->x[i] = fill->cloud->position[i].x;
        fill->y[i] = fill->cloud->position[i].y;
        fill->z[i] = fill->cloud->position[i].z;
    }
}

static void fill_bins(void *context, int64_t first, int64_t end)
{
    BinFill *fill = context;
    const WadiCells *cells = &fill->bins->level[fill->level];
    int32_t base = fill->bins->first[fill->level];
    for (int64_t bin = first; bin < end; ++bin) {
        const int32_t *at = cells->coordinate[bin];
        double corner[3] = { at[0] * cells->cell_size, at[1] * cells->cell_size, at[2] * cells->cell_size };
        for (int32_t n = cells->start[bin]; n < cells->start[bin + 1]; ++n) {
            int32_t i = cells->order[n];
            float *point = fill->bins->point[base + n];
            point[0] = (float)(fill->x[i] - corner[0]);
            point[1] = (float)(fill->y[i] - corner[1]);
            point[2] = (float)(fill->z[i] - corner[2]);
            point[3] = (float)(fill->support * (double)fill->cloud->spacing[i]);
        }
    }
}

/* The finest level whose bins are as wide as the support radius; smaller particles share the last level. */
static int level_of(double spacing, double widest)
{
    int level = 0;
    for (double half = 0.5 * widest; spacing <= half && level < WADI_BINS_LEVEL_MAX - 1; half *= 0.5) {
        ++level;
    }
    return level;
}

/* Particle indices level by level, each in the order of the cloud. */
static WadiStatus split_levels(WadiBins *bins, const WadiCloud *cloud, int32_t **split, WadiArena *arena,
                               WadiError *error)
{
    bins->level_count = level_of(cloud->spacing_min, cloud->spacing_max) + 1;
    bins->first[bins->level_count] = cloud->count;
    *split = NULL;
    if (bins->level_count == 1) {
        return WADI_OK;
    }
    int32_t counts[WADI_BINS_LEVEL_MAX + 1] = { 0 };
    for (int32_t i = 0; i < cloud->count; ++i) {
        counts[level_of((double)cloud->spacing[i], cloud->spacing_max)] += 1;
    }
    wadi_prefix_sum(counts, bins->level_count);
    memcpy(bins->first, counts, sizeof counts);
    WADI_TRY(WADI_ARENA_NEW(arena, split, (size_t)cloud->count, "particle levels", error));
    for (int32_t i = 0; i < cloud->count; ++i) {
        (*split)[counts[level_of((double)cloud->spacing[i], cloud->spacing_max)]++] = i;
    }
    return WADI_OK;
}

static WadiStatus check_range(const WadiCloud *cloud, double finest, WadiError *error)
{
    for (int32_t i = 0; i < cloud->count; ++i) {
        WadiVec3 at = wadi_abs(cloud->position[i]);
        if (!(fmax(at.x, fmax(at.y, at.z)) < COORDINATE_LIMIT * finest)) {
            WadiVec3 p = cloud->position[i];
            return wadi_fail(error, WADI_ERR_NUMERIC,
                             "particle %d of the cloud is at (%g, %g, %g): too far from the origin for a "
                             "surface at a spacing of %g m",
                             i, p.x, p.y, p.z, cloud->spacing_min);
        }
    }
    return WADI_OK;
}

static WadiStatus build(WadiBins *bins, const WadiCloud *cloud, double support, WadiArena *arena,
                        WadiError *error)
{
    int32_t *split;
    WADI_TRY(split_levels(bins, cloud, &split, arena, error));
    double widest = support * cloud->spacing_max;
    WADI_TRY(check_range(cloud, ldexp(widest, 1 - bins->level_count), error));
    size_t count = (size_t)cloud->count;
    BinFill fill = { .bins = bins, .cloud = cloud, .support = support };
    WADI_TRY(WADI_ARENA_NEW(arena, &bins->point, count, "particle bins", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &fill.x, count, "particle bins", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &fill.y, count, "particle bins", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &fill.z, count, "particle bins", error));
    wadi_parallel_for(cloud->count, PARTICLE_BLOCK, split_columns, &fill);
    WadiParticles columns = { .count = cloud->count, .x = fill.x, .y = fill.y, .z = fill.z, .id = cloud->id };
    if (split != NULL) {
        WADI_TRY(WADI_ARENA_NEW(arena, &bins->order, count, "particle bins", error));
    }
    for (int l = 0; l < bins->level_count; ++l) {
        WadiCells *cells = &bins->level[l];
        int32_t first = bins->first[l], level_count = bins->first[l + 1] - first;
        double size = ldexp(wadi_bins_size(widest), -l);
        cells->cell_size = size;
        if (level_count == 0) {
            continue;
        }
        WADI_TRY(wadi_cells_build_subset(cells, &columns, split != NULL ? split + first : NULL, level_count,
                                         size, arena, error));
        if (split != NULL) {
            memcpy(bins->order + first, cells->order, (size_t)level_count * sizeof *bins->order);
        } else {
            bins->order = cells->order;
        }
        fill.level = l;
        wadi_parallel_for(cells->cell_count, 1024, fill_bins, &fill);
    }
    bins->count = cloud->count;
    return WADI_OK;
}

WadiStatus wadi_bins_build(WadiBins *bins, const WadiCloud *cloud, double support, WadiArena *arena,
                           WadiError *error)
{
    WADI_ASSERT_TRY(support > 0.0 && isfinite(support), error);
    *bins = (WadiBins){ 0 };
    if (cloud->count == 0) {
        return WADI_OK;
    }
    WadiStatus status = build(bins, cloud, support, arena, error);
    if (status != WADI_OK) {
        *bins = (WadiBins){ 0 };
    }
    return status;
}

/* Bins of the level that the box, grown by the support radius, touches. */
static void enter_level(WadiBinWalk *walk)
{
    if (walk->level >= walk->bins->level_count) {
        return;
    }
    const WadiCells *cells = &walk->bins->level[walk->level];
    WadiBox grown = wadi_box_grown(walk->box, cells->cell_size);
    double bins = 1.0;
    for (int a = 0; a < 3; ++a) {
        double low = floor(wadi_component(grown.min, a) / cells->cell_size);
        double high = floor(wadi_component(grown.max, a) / cells->cell_size);
        low = fmax(low, -COORDINATE_LIMIT);
        high = fmin(high, COORDINATE_LIMIT);
        bins *= fmax(high - low + 1.0, 0.0);
        walk->low[a] = walk->at[a] = (int64_t)low;
        walk->high[a] = (int64_t)high;
    }
    walk->bin = 0;
    walk->is_scan = !(bins <= cells->cell_count);
}

WadiBinWalk wadi_bins_walk(const WadiBins *bins, WadiBox box)
{
    WadiBinWalk walk = { .bins = bins, .box = box };
    enter_level(&walk);
    return walk;
}

/* The next occupied bin of the level, or -1. */
static int32_t next_in_level(WadiBinWalk *walk)
{
    const WadiCells *cells = &walk->bins->level[walk->level];
    while (walk->is_scan && walk->bin < cells->cell_count) {
        const int32_t *at = cells->coordinate[walk->bin++];
        bool is_inside = true;
        for (int a = 0; a < 3; ++a) {
            is_inside = is_inside && at[a] >= walk->low[a] && at[a] <= walk->high[a];
        }
        if (is_inside) {
            return walk->bin - 1;
        }
    }
    while (!walk->is_scan && walk->at[2] <= walk->high[2]) {
        /* Bins of a line are consecutive: after a hit, test the next bin instead of searching for it. */
        int32_t bin = -1;
        if (walk->bin > 0) {
            if (walk->bin < cells->cell_count) {
                const int32_t *at = cells->coordinate[walk->bin];
                bool is_in_line = at[1] == walk->at[1] && at[2] == walk->at[2] && at[0] <= walk->high[0];
                bin = is_in_line ? walk->bin : -1;
            }
            walk->at[0] = bin >= 0 ? cells->coordinate[bin][0] : walk->high[0];
        } else {
            bin = wadi_cells_find(cells, (int32_t)walk->at[0], (int32_t)walk->at[1], (int32_t)walk->at[2]);
        }
        walk->bin = bin >= 0 ? bin + 1 : walk->bin;
        if (++walk->at[0] > walk->high[0]) {
            walk->bin = 0;
            walk->at[0] = walk->low[0];
            if (++walk->at[1] > walk->high[1]) {
                walk->at[1] = walk->low[1];
                ++walk->at[2];
            }
        }
        if (bin >= 0) {
            return bin;
        }
    }
    return -1;
}

bool wadi_bins_next(WadiBinWalk *walk, WadiBinSpan *span)
{
    for (; walk->level < walk->bins->level_count; ++walk->level, enter_level(walk)) {
        int32_t bin = next_in_level(walk);
        if (bin >= 0) {
            const WadiCells *cells = &walk->bins->level[walk->level];
            const int32_t *at = cells->coordinate[bin];
            int32_t base = walk->bins->first[walk->level];
            *span = (WadiBinSpan){ base + cells->start[bin],
                                   base + cells->start[bin + 1],
                                   { at[0] * cells->cell_size, at[1] * cells->cell_size,
                                     at[2] * cells->cell_size },
                                   walk->level };
            return true;
        }
    }
    return false;
}
