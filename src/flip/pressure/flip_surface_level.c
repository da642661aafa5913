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

#include <math.h>

/* Of 4 t (1 - t), t the part of the space below the level of the cells beside: from here on only the fill of
 * the cell counts. */
static const float enough_spread = 0.12f;
/* Cells beside are those whose centres are less than this above or below, in cells. */
static const float same_height = 0.6f;
/* Weight of cells without a level of their own, used where there are no others: those whose depth is cut off,
 * and those above and below. */
static const float weak = 1e-3f;

/* The space under the hats of a row's cells: volumes, multiplied by the weights of the hat, and the heights
 * between which they lie, as the lowest one and their difference. */
typedef struct Space {
    WadiF8 part[WADI_FLIP_AROUND], low[WADI_FLIP_AROUND], height[WADI_FLIP_AROUND];
} Space;

/* Facts of the 27 cells around each cell of a row. */
typedef struct Around {
    WadiF8 level;       /* mean of those beside it, over its centre, in cells */
    WadiI8 has_surface; /* the surface passes between them */
} Around;

static void find_around(const WadiFlipLevelIn *in, int32_t row, const WadiF8 open[WADI_FLIP_AROUND],
                        Around *around)
{
    const WadiF8 zero = { 0 }, one = zero + 1.0f;
    WadiF8 distance[WADI_FLIP_AROUND], sum = zero, weights = zero, shallowest = one, deepest = -one;
    wadi_flip_load_around(in->surface->rows, in->distance, row, distance);
    for (int n = 0; n < WADI_FLIP_AROUND; ++n) {
        if (n == WADI_FLIP_CENTRE) {
            continue;
        }
        const WadiI8 is_open = open[n] > zero;
        const WadiF8 depth = -distance[n] / (float)in->surface->cell_size;
        const float height = wadi_flip_height_around(in->surface, n);
        const WadiI8 is_inside = WADI_MAX8(depth, -depth) < 0.98f;
        WadiF8 weight = open[n] * open[n];
        weight *= WADI_ROW_SELECT(is_inside, one, zero + weak);
        weight *= fabsf(height) < same_height ? 1.0f : weak;
        sum += weight * (depth + height);
        weights += weight;
        shallowest = WADI_MIN8(shallowest, WADI_ROW_SELECT(is_open, depth, shallowest));
        deepest = WADI_MAX8(deepest, WADI_ROW_SELECT(is_open, depth, deepest));
    }
    const WadiI8 has_any = weights > zero;
    around->level = sum / WADI_ROW_SELECT(has_any, weights, one);
    around->has_surface = has_any & (shallowest < zero) & (deepest > zero);
}

/* A cut cell is cut by a plane across the change of the open parts beside it. By its second moment a cell is
 * as high along any direction as along its edges. */
static void find_space(const WadiFlipLevelIn *in, int32_t row, const WadiF8 open[WADI_FLIP_AROUND],
                       Space *space)
{
    const WadiF8 least = (WadiF8){ 0 } + 0.025f;
    WadiF8 middle[WADI_FLIP_AROUND];
    wadi_flip_load_around(in->surface->rows, in->space->middle, row, middle);
    for (int n = 0; n < WADI_FLIP_AROUND; ++n) {
        const float height = wadi_flip_height_around(in->surface, n);
        const WadiF8 rest = 0.5f - WADI_MAX8(middle[n], -middle[n]), half = WADI_MAX8(rest, least);
        space->part[n] = wadi_flip_hat_around(n) * open[n];
        space->low[n] = middle[n] - half + height;
        space->height[n] = middle[n] + half + height - space->low[n];
    }
}

static inline void space_below(const Space *space, const WadiF8 *s, WadiF8 *below)
{
    const WadiF8 zero = { 0 }, one = zero + 1.0f;
    WadiF8 sum = zero;
    for (int n = 0; n < WADI_FLIP_AROUND; ++n) {
        const WadiF8 t = (*s - space->low[n]) / space->height[n], above_zero = WADI_MAX8(t, zero);
        sum += space->part[n] * WADI_MIN8(above_zero, one);
    }
    *below = sum;
}

/* The height with this much space below it; the hat ends at 1.5 cells. */
static void level_of_fill(const Space *space, const WadiF8 *fill, WadiF8 *level)
{
    WadiF8 low = (WadiF8){ 0 } - 1.5f, high = (WadiF8){ 0 } + 1.5f;
    for (int n = 0; n < 12; ++n) {
        const WadiF8 middle = 0.5f * (low + high);
        WadiF8 below;
        space_below(space, &middle, &below);
        const WadiI8 is_less = below < *fill;
        low = WADI_ROW_SELECT(is_less, middle, low);
        high = WADI_ROW_SELECT(is_less, high, middle);
    }
    *level = 0.5f * (low + high);
}

/* What the hat has below height s where there are no walls. */
static float open_space_below(float s)
{
    const float inner = wadi_minf(fabsf(s), 0.5f), outer = wadi_minf(fabsf(s) - inner, 1.0f);
    return 0.5f + copysignf(0.75f * inner + 0.125f * outer, s);
}

void wadi_flip_level_depths(const WadiFlipLevelIn *in, int32_t row, float depths[WADI_ROW_CELLS])
{
    WadiF8 open[WADI_FLIP_AROUND];
    Around around;
    WADI_ROW_OUT(depths, 0) = -WADI_ROW(in->distance, row) / (float)in->surface->cell_size;
    wadi_flip_load_around(in->surface->rows, in->space->open, row, open);
    find_around(in, row, open, &around);
    const unsigned found = wadi_row_bits(&around.has_surface) & in->space->cut_around[row];
    if (found == 0) {
        return;
    }
    Space space;
    const WadiF8 high = (WadiF8){ 0 } + 2.0f, fill = WADI_ROW(in->fill, row);
    WadiF8 all, below, own_level;
    find_space(in, row, open, &space);
    space_below(&space, &high, &all);
    space_below(&space, &around.level, &below);
    level_of_fill(&space, &fill, &own_level);
    for (unsigned left = found; left != 0; left &= left - 1) {
        const int l = __builtin_ctz(left);
        const float level = around.level[l], part = below[l] / wadi_maxf(all[l], 1e-6f);
        const float own_weight = wadi_minf(4.0f * part * (1.0f - part) / enough_spread, 1.0f);
        const float by_fill = wadi_flip_depth_of(open_space_below(own_level[l]));
        depths[l] = wadi_minf(wadi_maxf(level + own_weight * (by_fill - level), -1.0f), 1.0f);
    }
}
