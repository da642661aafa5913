/* The quasi-static limit of an avalanche: wherever a slope exceeds theta_0, sand moves down until it is
 * theta_0 [ON03]. Sand has no inertia here, so the slopes end at theta_0 and not below it.
 *
 * The slope is that at the faces between columns, whose part along the face is the mean of central
 * differences on both sides: with drops to two lower neighbours instead, the flanks of a cone end too flat
 * along the diagonals. */
#include "core/alloc.h"
#include "core/parallel.h"
#include "dem/columns/dem_columns_flow.h"

/* Of the move that would bring the slope of a face to theta_0 if nothing else moved: all faces of a column
 * move in the same pass. */
static const double RELAXATION = 0.5;

typedef struct Topple {
    WadiDemColumns *columns;
    double tan_repose;
} Topple;

/* Mean height of the links of a side that lie within reach: for a slope along a face. */
static double side_height(const WadiDemColumns *c, int32_t i, int side)
{
    double sum = 0.0;
    int count = 0;
    int32_t gaps[WADI_DEM_LINKS_MAX];
    const int links = wadi_dem_neighbours(c, i, side, gaps);
    for (int k = 0; k < links; ++k) {
        sum += c->height[gaps[k]];
        count += 1;
    }
    return count > 0 ? sum / count : c->height[i];
}

/* Central differences of gaps: along x to `mobility`, along y to `next`. */
static void find_gradients(void *context, int64_t first, int64_t end)
{
    const Topple *topple = context;
    WadiDemColumns *c = topple->columns;
    for (int64_t k = first; k < end; ++k) {
        const int32_t i = (int32_t)k;
        c->mobility[i] =
            (side_height(c, i, WADI_DEM_EAST) - side_height(c, i, WADI_DEM_WEST)) / (2.0 * c->wx);
        c->next[i] = (side_height(c, i, WADI_DEM_NORTH) - side_height(c, i, WADI_DEM_SOUTH)) / (2.0 * c->wy);
    }
}

/* What moves from gap i to gap j at one of its sides, as a height; negative: the other way. *slope: that of
 * the face if there is sand that could move. The same operands at both ends: the same number. */
static double face_flow(const Topple *topple, int32_t i, int32_t j, int side, double *slope)
{
    const WadiDemColumns *c = topple->columns;
    const bool is_x = side < WADI_DEM_SOUTH;
    const double width = is_x ? c->wx : c->wy;
    const double *along = is_x ? c->next : c->mobility;
    const double across = (c->height[i] - c->height[j]) / width;
    const int32_t upper = across > 0.0 ? i : j, lower = across > 0.0 ? j : i;
    const double tangent = 0.5 * (along[upper] + along[lower]);
    const double sand = c->height[upper] - c->floor[upper];
    const double s = sqrt(across * across + tangent * tangent);
    *slope = 0.0;
    const double room = c->ceiling[lower] - c->height[lower];
    if (!(sand > 0.0 && room > 0.0)) {
        return 0.0;
    }
    *slope = s;
    if (s <= topple->tan_repose) {
        return 0.0;
    }
    const double most = 0.25 * fmin(sand, room);
    const double moved = RELAXATION * 0.5 * width * across * (s - topple->tan_repose) / s;
    return moved > most ? most : moved < -most ? -most : moved;
}

/* Changes of heights to `rolling`; returns the largest slope. */
static double topple_gaps(void *context, int64_t first, int64_t end)
{
    const Topple *topple = context;
    WadiDemColumns *c = topple->columns;
    double steepest = 0.0;
    for (int64_t k = first; k < end; ++k) {
        const int32_t i = (int32_t)k;
        double out = 0.0;
        for (int s = 0; s < WADI_DEM_SIDES; ++s) {
            int32_t gaps[WADI_DEM_LINKS_MAX];
            const int links = wadi_dem_neighbours(c, i, s, gaps);
            for (int n = 0; n < links; ++n) {
                double slope;
                const double f = face_flow(topple, i, gaps[n], s, &slope);
                out += f;
                steepest = slope > steepest ? slope : steepest;
                if (c->crossed != NULL && (s == WADI_DEM_EAST || s == WADI_DEM_NORTH)) {
                    c->crossed[wadi_dem_face(c, i, s, n)] += f;
                }
            }
        }
        c->rolling[i] -= out;
    }
    return steepest;
}

static void settle(void *context, int64_t first, int64_t end)
{
    const WadiDemColumns *c = context;
    for (int64_t i = first; i < end; ++i) {
        c->height[i] += c->rolling[i];
        c->rolling[i] = 0.0;
    }
}

WadiStatus wadi_dem_topple(WadiDemColumns *columns, double repose, double tolerance, int most,
                           WadiDemToppleReport *report, WadiError *error)
{
    Topple topple = { columns, tan(repose) };
    const double enough = tan(repose + tolerance);
    const int64_t count = columns->count;
    const size_t blocks = (size_t)wadi_parallel_block_count(count, WADI_DEM_GAP_BLOCK);
    double *partials = NULL;
    WADI_TRY(WADI_NEW(&partials, blocks, "slopes of blocks", error));
    wadi_parallel_for(count, WADI_DEM_GAP_BLOCK, settle, columns);
    *report = (WadiDemToppleReport){ 0 };
    double steepest = (double)INFINITY;
    while (report->passes < most && steepest > enough) {
        wadi_parallel_for(count, WADI_DEM_GAP_BLOCK, find_gradients, &topple);
        steepest = wadi_parallel_max(count, WADI_DEM_GAP_BLOCK, topple_gaps, &topple, partials);
        wadi_parallel_for(count, WADI_DEM_GAP_BLOCK, settle, columns);
        wadi_dem_columns_empty_sinks(columns);
        report->passes += 1;
    }
    report->steepest = atan(fmax(steepest, 0.0));
    WADI_DELETE(partials, blocks);
    return WADI_OK;
}
