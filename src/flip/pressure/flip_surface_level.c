/* Depth of cells near walls by the level of the cells around them. [theory 4.2]
 * The open space under the hat of a cell near walls is no cube. Its fill gives the height s of a level
 * surface that has as much of this space below it:
 *   sum_i w_i V_i clamp((s - low_i) / (high_i - low_i), 0, 1) = smoothed fill,
 * i the 27 cells under the hat, V_i their open parts, between the heights low_i and high_i.
 * If almost all of this space lies below the surface, or above it, the fill hardly depends on s: under a
 * ceiling just over the water the space is full whatever the level. There the level of the cells beside
 * counts.
 * Source: none. */
#include "flip/pressure/flip_surface_level.h"

#include "flip/pressure/flip_surface_centroid.h"

/* Of 4 t (1 - t), t the part of the space below the level of the cells beside: from here on only the fill of
 * the cell counts. */
static const float enough_spread = 0.12f;
/* Cells beside are those whose centres are less than this above or below, in cells. */
static const float same_height = 0.6f;
/* Weight of cells without a level of their own, used where there are no others: those whose depth is cut off,
 * and those above and below. */
static const float weak = 1e-3f;

/* Open part of a cell: its volume, and the heights between which it lies over a cell's centre, in cells. */
typedef struct OpenPart {
    float space, low, high;
} OpenPart;

typedef struct Space {
    OpenPart part[27];
} Space;

/* Facts of the 27 cells around a cell. */
typedef struct Around {
    float level;      /* mean of those beside it, over its centre, in cells */
    bool is_cut;      /* walls cut one of them or the cell */
    bool has_surface; /* the surface passes between them */
} Around;

static float height_of(const WadiFlipSurfaceIn *in, const int step[3])
{
    return in->up[0] * (float)step[0] + in->up[1] * (float)step[1] + in->up[2] * (float)step[2];
}

static Around find_around(const WadiFlipLevelIn *in, WadiRowCell cell)
{
    const WadiFlipSurfaceIn *surface = in->surface;
    float sum = 0.0f, weights = 0.0f, shallowest = 1.0f, deepest = -1.0f;
    bool is_cut = false;
    for (int n = 0; n < 27; ++n) {
        int step[3];
        const WadiRowCell there = wadi_row_cell_around(surface->rows, cell, n, step);
        const float open = wadi_flip_open_of(surface, there);
        is_cut = is_cut || (open > 0.0f && open < 1.0f);
        if (n == 13 || open <= 0.0f) {
            continue;
        }
        const float depth = -in->distance[wadi_row_cell_index(there)] / (float)surface->cell_size;
        const float height = height_of(surface, step);
        float weight = open * open;
        weight *= fabsf(depth) < 0.98f ? 1.0f : weak;
        weight *= fabsf(height) < same_height ? 1.0f : weak;
        sum += weight * (depth + height);
        weights += weight;
        shallowest = wadi_minf(shallowest, depth);
        deepest = wadi_maxf(deepest, depth);
    }
    return (Around){ .level = weights > 0.0f ? sum / weights : 0.0f,
                     .is_cut = is_cut,
                     .has_surface = weights > 0.0f && shallowest < 0.0f && deepest > 0.0f };
}

/* A cut cell is cut by a plane across the change of the open parts beside it. By its second moment a cell is
 * as high along any direction as along its edges. */
static OpenPart open_part(const WadiFlipSurfaceIn *in, WadiRowCell cell)
{
    const float open = wadi_flip_open_of(in, cell);
    if (open <= 0.0f || open >= 1.0f) {
        return (OpenPart){ open, -0.5f, 0.5f };
    }
    const WadiFlipOpening opening = wadi_flip_opening(in, cell);
    const float middle = 0.5f * (1.0f - open) * opening.along / opening.sum;
    const float half = wadi_maxf(0.5f - fabsf(middle), 0.025f);
    return (OpenPart){ open, middle - half, middle + half };
}

/* The space under the hat of a cell; volumes are multiplied by the hat's weights. */
static void find_space(const WadiFlipSurfaceIn *in, WadiRowCell cell, Space *space)
{
    static const float hat[3] = { 0.125f, 0.75f, 0.125f };
    for (int n = 0; n < 27; ++n) {
        int step[3];
        const WadiRowCell there = wadi_row_cell_around(in->rows, cell, n, step);
        const float height = height_of(in, step);
        OpenPart *part = &space->part[n];
        *part = open_part(in, there);
        part->space *= hat[step[0] + 1] * hat[step[1] + 1] * hat[step[2] + 1];
        part->low += height;
        part->high += height;
    }
}

static float space_below(const Space *space, float s)
{
    float sum = 0.0f;
    for (int n = 0; n < 27; ++n) {
        const OpenPart *part = &space->part[n];
        const float t = (s - part->low) / (part->high - part->low);
        sum += part->space * wadi_minf(wadi_maxf(t, 0.0f), 1.0f);
    }
    return sum;
}

/* The height with this much space below it; the hat ends at 1.5 cells. */
static float level_of_fill(const Space *space, float fill)
{
    float low = -1.5f, high = 1.5f;
    for (int n = 0; n < 12; ++n) {
        const float middle = 0.5f * (low + high);
        if (space_below(space, middle) < fill) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5f * (low + high);
}

/* What the hat has below height s where there are no walls. */
static float open_space_below(float s)
{
    const float inner = wadi_minf(fabsf(s), 0.5f), outer = wadi_minf(fabsf(s) - inner, 1.0f);
    return 0.5f + copysignf(0.75f * inner + 0.125f * outer, s);
}

float wadi_flip_level_depth(const WadiFlipLevelIn *in, WadiRowCell cell)
{
    const size_t own = wadi_row_cell_index(cell);
    const float depth = -in->distance[own] / (float)in->surface->cell_size;
    const Around around = find_around(in, cell);
    if (!around.is_cut || !around.has_surface) {
        return depth;
    }
    Space space;
    find_space(in->surface, cell, &space);
    const float all = wadi_maxf(space_below(&space, 2.0f), 1e-6f);
    const float part = space_below(&space, around.level) / all;
    const float own_weight = wadi_minf(4.0f * part * (1.0f - part) / enough_spread, 1.0f);
    const float by_fill = wadi_flip_depth_of(open_space_below(level_of_fill(&space, in->fill[own])));
    return wadi_minf(wadi_maxf(around.level + own_weight * (by_fill - around.level), -1.0f), 1.0f);
}
