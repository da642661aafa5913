/* Gaps of columns between the solids of a scene, along the axis of each column [ON03]. */
#include "dem/columns/dem_columns_build.h"
#include "dem/columns/dem_columns_flow.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"

/* Gaps of one column: more are left out, the lowest are kept. */
enum { GAPS_MAX = WADI_DEM_LINKS_MAX, SCAN_BLOCK = 64, BISECTIONS = 40 };

typedef struct Gaps {
    double floor[GAPS_MAX], ceiling[GAPS_MAX];
    int count;
    bool is_bottomless; /* the first one */
} Gaps;

typedef struct Scan {
    const WadiDemColumnsIn *in;
    const WadiDemColumns *columns;
    Gaps *gaps; /* an item a column */
} Scan;

static double distance(const Scan *scan, WadiVec3 x)
{
    return wadi_solids_distance(scan->in->solids, x, scan->in->time, (double)INFINITY);
}

/* The surface between z = a, on one side of it, and z = b, on the other. */
static double surface_between(const Scan *scan, WadiVec3 x, double a, double b, bool is_free_at_a)
{
    for (int k = 0; k < BISECTIONS; ++k) {
        x.z = 0.5 * (a + b);
        if ((distance(scan, x) >= 0.0) == is_free_at_a) {
            a = x.z;
        } else {
            b = x.z;
        }
    }
    return 0.5 * (a + b);
}

static void add_gap(const Scan *scan, Gaps *gaps, double floor, double ceiling)
{
    if (ceiling - floor >= scan->in->least && gaps->count < GAPS_MAX) {
        gaps->floor[gaps->count] = floor;
        gaps->ceiling[gaps->count++] = ceiling;
    }
}

/* Climbs along the axis of a column by the distances, which never pass a surface, and at least by a quarter
 * of the smallest gap. */
static void scan_column(const Scan *scan, double x, double y, Gaps *gaps)
{
    const WadiBox box = scan->in->box;
    const bool has_bottom = (scan->in->solids->closed_sides & WADI_SIDE_Z_MIN) != 0;
    const double shortest = 0.25 * scan->in->least;
    /* Just above the bottom, which is a wall if it is closed. */
    WadiVec3 at = { x, y, box.min.z + 1e-3 * scan->in->least };
    double d = distance(scan, at);
    bool is_free = d >= 0.0;
    double floor = box.min.z, z = at.z;
    bool is_bottomless = is_free && !has_bottom;
    while (z < box.max.z) {
        const double next = fmin(z + fmax(fabs(d), shortest), box.max.z);
        at.z = next < box.max.z ? next : next - 1e-3 * scan->in->least;
        d = distance(scan, at);
        if ((d >= 0.0) != is_free) {
            const double surface = surface_between(scan, at, z, at.z, is_free);
            if (is_free) {
                gaps->is_bottomless |= is_bottomless && surface - floor >= scan->in->least;
                add_gap(scan, gaps, floor, surface);
            }
            is_bottomless = false;
            floor = surface;
            is_free = !is_free;
        }
        z = next;
    }
    if (is_free) {
        gaps->is_bottomless |= is_bottomless;
        add_gap(scan, gaps, floor, (double)INFINITY);
    }
}

static void scan_block(void *context, int64_t first, int64_t end)
{
    const Scan *scan = context;
    const WadiDemColumns *c = scan->columns;
    for (int64_t i = first; i < end; ++i) {
        double begin[2], end_of[2];
        for (int a = 0; a < 2; ++a) {
            wadi_dem_columns_span(c, (int32_t)i, a, &begin[a], &end_of[a]);
        }
        scan->gaps[i] = (Gaps){ .count = 0 };
        scan_column(scan, 0.5 * (begin[0] + end_of[0]), 0.5 * (begin[1] + end_of[1]), &scan->gaps[i]);
    }
}

/* Columns over the range of the box along an axis, with one more beyond each open side. Aligned columns end
 * beyond an open side, and nearest to a closed wall, so that the outermost is never a sliver. */
static int divide(const WadiDemColumnsIn *in, WadiDemColumns *c, int axis, double low, double high,
                  double *start, double *width)
{
    const int sides = in->solids->closed_sides >> 2 * axis;
    const bool is_low_open = (sides & WADI_SIDE_X_MIN) == 0, is_high_open = (sides & WADI_SIDE_X_MAX) == 0;
    double rounded = fmax(1.0, floor((high - low) / in->width + 0.5));
    *width = (high - low) / rounded;
    *start = low;
    if (in->is_aligned) {
        *width = in->width;
        *start = floor(low / in->width + (is_low_open ? 1e-6 : 0.5)) * in->width;
        const double columns = (high - *start) / in->width;
        rounded = fmax(1.0, is_high_open ? ceil(columns - 1e-6) : floor(columns + 0.5));
    }
    if (in->is_aligned && rounded < 1.5 && !is_low_open && !is_high_open) {
        *start = low;
        *width = high - low; /* a slot of one column has the sand of its own width */
    }
    *start -= is_low_open ? *width : 0.0;
    const int count = (int)fmin(rounded, 1e8) + (is_low_open ? 1 : 0) + (is_high_open ? 1 : 0);
    c->low[axis] = is_low_open ? *start : low;
    c->high[axis] = is_high_open ? *start + count * *width : high;
    return count;
}

static bool is_beyond_open_side(const WadiDemColumns *c, int closed_sides, int32_t column)
{
    const int x = column % c->nx, y = column / c->nx;
    return (x == 0 && (closed_sides & WADI_SIDE_X_MIN) == 0) ||
           (x == c->nx - 1 && (closed_sides & WADI_SIDE_X_MAX) == 0) ||
           (y == 0 && (closed_sides & WADI_SIDE_Y_MIN) == 0) ||
           (y == c->ny - 1 && (closed_sides & WADI_SIDE_Y_MAX) == 0);
}

static WadiStatus list_sinks(WadiDemColumns *c, const Scan *scan, WadiError *error)
{
    for (int round = 0; round < 2; ++round) {
        int32_t count = 0;
        for (int32_t column = 0; column < c->nx * c->ny; ++column) {
            const bool is_outside = is_beyond_open_side(c, scan->in->solids->closed_sides, column);
            for (int k = 0; k < scan->gaps[column].count; ++k) {
                if (is_outside || (k == 0 && scan->gaps[column].is_bottomless)) {
                    if (round > 0) {
                        c->sinks[count] = (c->is_single ? column : c->first[column]) + k;
                    }
                    count += 1;
                }
            }
        }
        if (round == 0) {
            c->sink_count = count;
            WADI_TRY(WADI_NEW(&c->sinks, (size_t)count, "sinks of columns", error));
        }
    }
    return WADI_OK;
}

/* Gaps, links, sinks and faces of a scanned field. */
static WadiStatus assemble(WadiDemColumns *c, const Scan *scan, WadiError *error)
{
    const int32_t columns = c->nx * c->ny;
    int64_t count = 0;
    c->is_single = true;
    for (int32_t i = 0; i < columns; ++i) {
        count += scan->gaps[i].count;
        c->is_single &= scan->gaps[i].count == 1 && scan->gaps[i].ceiling[0] > scan->in->box.max.z;
    }
    if (count == 0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "no room for sand: solids fill the whole domain");
    }
    WADI_TRY(wadi_dem_columns_alloc_gaps(c, (int32_t)count, error));
    if (!c->is_single) {
        WADI_TRY(WADI_NEW(&c->first, (size_t)columns + 1, "gaps of columns", error));
    }
    int32_t at = 0;
    for (int32_t i = 0; i < columns; ++i) {
        for (int k = 0; k < scan->gaps[i].count; ++k, ++at) {
            c->floor[at] = c->height[at] = scan->gaps[i].floor[k];
            c->ceiling[at] = scan->gaps[i].ceiling[k];
        }
        if (!c->is_single) {
            c->first[i + 1] = at;
        }
    }
    if (!c->is_single) {
        WADI_TRY(wadi_dem_columns_link(c, scan->in->least, error));
    }
    WADI_TRY(list_sinks(c, scan, error));
    return scan->in->has_faces ? wadi_dem_columns_alloc_faces(c, error) : WADI_OK;
}

WadiStatus wadi_dem_columns_create(WadiDemColumns **columns, const WadiDemColumnsIn *in, WadiError *error)
{
    *columns = NULL;
    WadiDemColumns *c = NULL;
    WADI_TRY(WADI_NEW(&c, 1, "columns", error));
    c->nx = divide(in, c, 0, in->box.min.x, in->box.max.x, &c->x0, &c->wx);
    c->ny = divide(in, c, 1, in->box.min.y, in->box.max.y, &c->y0, &c->wy);
    const int64_t n = (int64_t)c->nx * c->ny;
    WadiStatus status = n <= 100000000 ? WADI_OK
                                       : wadi_fail(error, WADI_ERR_ARGUMENT,
                                                   "%d by %d columns of %g m are too many: make them wider",
                                                   c->nx, c->ny, in->width);
    Scan scan = { .in = in, .columns = c };
    if (status == WADI_OK) {
        status = WADI_NEW(&scan.gaps, (size_t)n, "scan of columns", error);
    }
    if (status == WADI_OK) {
        wadi_parallel_for(n, SCAN_BLOCK, scan_block, &scan);
        status = assemble(c, &scan, error);
        WADI_DELETE(scan.gaps, (size_t)n);
    }
    if (status != WADI_OK) {
        wadi_dem_columns_destroy(c);
        return status;
    }
    *columns = c;
    return WADI_OK;
}
