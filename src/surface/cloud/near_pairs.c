#include "surface/cloud/near_pairs.h"

#include <string.h>

#include "core/parallel.h"

enum { BIN_BLOCK = 16 };

/* Outside every support; its square is still a finite float. */
static const float FAR_POSITION = 1e15f;

typedef struct PairWalk {
    const WadiBins *of;        /* whose points get sums */
    const WadiBins *bins;      /* where their neighbours are; the same for sums over each other */
    const uint8_t *is_skipped; /* of this level */
    WadiPairFn body;
    void *context;
    int level;
} PairWalk;

static void flush(const PairWalk *walk, int32_t first, int32_t end, WadiPairChunk *chunk)
{
    if (chunk->count == 0) {
        return;
    }
    for (; chunk->count % 8 != 0; ++chunk->count) {
        int32_t n = chunk->count;
        chunk->x[n] = chunk->y[n] = chunk->z[n] = FAR_POSITION;
        chunk->inverse[n] = 1.0f;
        chunk->cube[n] = 0.0f;
        chunk->slot[n] = 0;
    }
    walk->body(walk->context, walk->of, first, end, chunk);
    chunk->count = 0;
}

/* Distance from x to [0, width]. */
static inline float outside(float x, float width)
{
    const float below = -x, above = x - width, beyond = below > above ? below : above;
    return beyond > 0.0f ? beyond : 0.0f;
}

static void visit_bin(const PairWalk *walk, int32_t bin)
{
    const WadiBins *of = walk->of, *bins = walk->bins;
    const WadiCells *cells = &of->level[walk->level];
    int32_t base = of->first[walk->level];
    int32_t first = base + cells->start[bin], end = base + cells->start[bin + 1];
    const int32_t *at = cells->coordinate[bin];
    double size = cells->cell_size;
    WadiBox box = { { at[0] * size, at[1] * size, at[2] * size },
                    { (at[0] + 1) * size, (at[1] + 1) * size, (at[2] + 1) * size } };
    WadiVec3 corner = box.min;
    /* with a margin for rounding; an upper bound of the level's support radii */
    const float width = 1.0001f * (float)size;
    /* Slightly smaller, or the walk would visit one more bin on the high side. With several levels larger,
     * since finer bins must be found from as far as this bin's support radius. */
    box = wadi_box_grown(box, of == bins && bins->level_count > 1 ? size : -1e-9 * size);

    WadiPairChunk chunk;
    chunk.count = 0;
    float radius = 0.0f, inverse = 0.0f, cube = 0.0f, reach = 0.0f; /* of the last particle */
    WadiBinWalk near = wadi_bins_walk(bins, box);
    for (WadiBinSpan span; wadi_bins_next(&near, &span);) {
        float shift[3] = { (float)(span.corner.x - corner.x), (float)(span.corner.y - corner.y),
                           (float)(span.corner.z - corner.z) };
        for (int32_t j = span.first; j < span.end; ++j) {
            const float *point = bins->point[j];
            const int32_t n = chunk.count;
            if (point[3] != radius) {
                radius = point[3];
                inverse = 1.0f / (radius * radius);
                cube = radius * radius * radius;
                reach = radius > width ? radius * radius : width * width;
            }
            chunk.x[n] = point[0] + shift[0];
            chunk.y[n] = point[1] + shift[1];
            chunk.z[n] = point[2] + shift[2];
            chunk.inverse[n] = inverse;
            chunk.cube[n] = cube;
            chunk.slot[n] = j;
            /* Farther from the bin than both support radii: no neighbour of its particles. */
            float dx = outside(chunk.x[n], width), dy = outside(chunk.y[n], width);
            float dz = outside(chunk.z[n], width);
            chunk.count += dx * dx + dy * dy + dz * dz <= reach; /* no branch: it would be a guess */
            if (chunk.count == WADI_PAIR_CHUNK) {
                flush(walk, first, end, &chunk);
            }
        }
    }
    flush(walk, first, end, &chunk);
}

static void visit_bins(void *context, int64_t first, int64_t end)
{
    const PairWalk *walk = context;
    for (int64_t bin = first; bin < end; ++bin) {
        if (walk->is_skipped == NULL || !walk->is_skipped[bin]) {
            visit_bin(walk, (int32_t)bin);
        }
    }
}

void wadi_pairs_between(const WadiBins *of, const WadiBins *bins, WadiPairFn body, void *context)
{
    for (int l = 0; l < of->level_count; ++l) {
        PairWalk walk = { of, bins, NULL, body, context, l };
        wadi_parallel_for(of->level[l].cell_count, BIN_BLOCK, visit_bins, &walk);
    }
}

void wadi_near_pairs(const WadiBins *bins, const uint8_t *is_skipped, WadiPairFn body, void *context)
{
    int32_t bins_before = 0;
    for (int l = 0; l < bins->level_count; ++l) {
        PairWalk walk = {
            bins, bins, is_skipped != NULL ? is_skipped + bins_before : NULL, body, context, l
        };
        wadi_parallel_for(bins->level[l].cell_count, BIN_BLOCK, visit_bins, &walk);
        bins_before += bins->level[l].cell_count;
    }
}

int32_t wadi_bins_bin_count(const WadiBins *bins)
{
    int32_t count = 0;
    for (int l = 0; l < bins->level_count; ++l) {
        count += bins->level[l].cell_count;
    }
    return count;
}

typedef struct DeepMarks {
    const WadiBins *bins;
    const WadiCloud *cloud;
    int level;
    const uint8_t *from;
    uint8_t *to;
} DeepMarks;

static void mark_filled(void *context, int64_t first, int64_t end)
{
    DeepMarks *marks = context;
    const WadiCells *cells = &marks->bins->level[marks->level];
    const int32_t *order = marks->bins->order + marks->bins->first[marks->level];
    double half = 0.5 * cells->cell_size * cells->cell_size * cells->cell_size;
    for (int64_t bin = first; bin < end; ++bin) {
        double filled = 0.0;
        for (int32_t n = cells->start[bin]; n < cells->start[bin + 1]; ++n) {
            double spacing = (double)marks->cloud->spacing[order[n]];
            filled += spacing * spacing * spacing;
        }
        marks->to[bin] = filled >= half;
    }
}

static void erode(void *context, int64_t first, int64_t end)
{
    DeepMarks *marks = context;
    const WadiCells *cells = &marks->bins->level[marks->level];
    for (int64_t bin = first; bin < end; ++bin) {
        const int32_t *at = cells->coordinate[bin];
        bool is_deep = marks->from[bin];
        for (int n = 0; n < 27 && is_deep; ++n) {
            int32_t other =
                wadi_cells_find(cells, at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1);
            is_deep = other >= 0 && marks->from[other];
        }
        marks->to[bin] = is_deep;
    }
}

void wadi_bins_mark_deep(const WadiBins *bins, const WadiCloud *cloud, uint8_t *is_deep, uint8_t *scratch)
{
    for (int l = 0; l < bins->level_count; ++l) {
        int32_t count = bins->level[l].cell_count;
        DeepMarks marks = { .bins = bins, .cloud = cloud, .level = l, .to = is_deep };
        wadi_parallel_for(count, 256, mark_filled, &marks);
        marks.from = is_deep;
        marks.to = scratch;
        wadi_parallel_for(count, 256, erode, &marks);
        marks.from = scratch;
        marks.to = is_deep;
        wadi_parallel_for(count, 256, erode, &marks);
        is_deep += count;
        scratch += count;
    }
}
