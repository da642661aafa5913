/* Sorts awake grains by gap and measures the height of their sand. */
#include "dem/columns/dem_gap_grains.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"

enum { BLOCK = 4096, BINS_MAX = 510 };

/* Grains of a layer, over those of a dense one, that carry the next layer. */
static const double CARRYING = 0.35;
static const double PACKING = 0.6;

static void locate_block(void *context, int64_t first, int64_t end)
{
    const WadiDemGapGrains *g = context;
    const WadiParticles *p = g->particles;
    for (int64_t k = first; k < end; ++k) {
        const int64_t i = k + g->first;
        const int32_t column = wadi_dem_columns_at(g->columns, p->x[i], p->y[i]);
        g->gap[k] = column >= 0 ? wadi_dem_columns_gap(g->columns, column, p->z[i]) : -1;
    }
}

static void count_and_order(const WadiDemGapGrains *grains, int32_t awake)
{
    const int32_t gaps = grains->columns->count;
    memset(grains->start, 0, ((size_t)gaps + 2) * sizeof(*grains->start));
    for (int32_t k = 0; k < awake; ++k) {
        grains->start[grains->gap[k] >= 0 ? grains->gap[k] + 2 : 0] += 1;
    }
    grains->start[0] = 0;
    for (int32_t g = 0; g < gaps; ++g) {
        grains->start[g + 2] += grains->start[g + 1];
    }
    for (int32_t k = 0; k < awake; ++k) {
        if (grains->gap[k] >= 0) {
            grains->order[grains->start[grains->gap[k] + 1]++] = k + grains->first;
        }
    }
}

WadiStatus wadi_dem_gap_grains_sort(WadiDemGapGrains *grains, WadiArena *scratch, WadiError *error)
{
    const int32_t awake = grains->particles->count - grains->first;
    const size_t gaps = (size_t)grains->columns->count;
    WADI_TRY(WADI_ARENA_NEW(scratch, &grains->gap, (size_t)awake, "gaps of grains", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &grains->order, (size_t)awake, "grains of gaps", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &grains->start, gaps + 2, "grains of gaps", error));
    wadi_parallel_for(awake, BLOCK, locate_block, grains);
    count_and_order(grains, awake);
    return WADI_OK;
}

double wadi_dem_dense_layer(const WadiDemColumns *columns, double diameter)
{
    const double d = diameter;
    return columns->wx * columns->wy * d * PACKING / (3.14159265358979324 / 6.0 * d * d * d);
}

/* A layer is climbed while it and its two neighbours hold enough grains to carry more. Falling grains do not
 * count, or a jet would be sand up to its nozzle. */
double wadi_dem_gap_surface(const WadiDemGapGrains *grains, int32_t gap, double base)
{
    const WadiParticles *p = grains->particles;
    const double d = grains->diameter, dense = wadi_dem_dense_layer(grains->columns, d);
    double count[BINS_MAX + 2] = { dense }; /* the first: below the base all is dense */
    const int32_t *items = grains->order + grains->start[gap];
    const int32_t n = grains->start[gap + 1] - grains->start[gap];
    for (int32_t k = 0; k < n; ++k) {
        const double bin = (p->z[items[k]] - base) / d;
        if (bin > 0.0 && bin < BINS_MAX && (double)-p->vz[items[k]] < grains->fall_speed) {
            count[1 + (int)bin] += 1.0;
        }
    }
    int top = 0; /* layers above the base */
    while (top < BINS_MAX && count[top] + count[top + 1] + count[top + 2] >= 3.0 * CARRYING * dense) {
        top += 1;
    }
    double surface = base;
    for (int32_t k = 0; k < n; ++k) {
        const double z = p->z[items[k]];
        if (z < base + top * d && (double)-p->vz[items[k]] < grains->fall_speed) {
            surface = fmax(surface, z + 0.5 * d);
        }
    }
    return fmin(surface, grains->columns->ceiling[gap]);
}
