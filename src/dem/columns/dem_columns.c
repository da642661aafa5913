/* Columns: memory, links between gaps, and queries. Gaps of solids are found in dem_columns_build.c. */
#include "dem/columns/dem_columns.h"

#include <math.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"
#include "dem/columns/dem_columns_build.h"
#include "dem/columns/dem_columns_flow.h"

enum { COLUMNS_MAX = 100000000 };

WadiStatus wadi_dem_columns_alloc_gaps(WadiDemColumns *c, int32_t count, WadiError *error)
{
    const size_t n = (size_t)count;
    c->count = count;
    WADI_TRY(WADI_NEW(&c->floor, n, "floors of columns", error));
    WADI_TRY(WADI_NEW(&c->ceiling, n, "ceilings of columns", error));
    WADI_TRY(WADI_NEW(&c->height, n, "heights of columns", error));
    WADI_TRY(WADI_NEW(&c->rolling, n, "rolling layers of columns", error));
    WADI_TRY(WADI_NEW(&c->mobility, n, "mobilities of columns", error));
    WADI_TRY(WADI_NEW(&c->next_rolling, n, "next rolling layers of columns", error));
    return WADI_NEW(&c->next, n, "next heights of columns", error);
}

WadiStatus wadi_dem_columns_alloc_faces(WadiDemColumns *c, WadiError *error)
{
    if (c->is_single) {
        c->face_count = 2 * c->count;
    }
    return WADI_NEW(&c->crossed, (size_t)c->face_count, "flows between columns", error);
}

void wadi_dem_columns_destroy(WadiDemColumns *c)
{
    if (c == NULL) {
        return;
    }
    const size_t n = (size_t)c->count;
    WADI_DELETE(c->first, (size_t)c->nx * (size_t)c->ny + 1);
    WADI_DELETE(c->floor, n);
    WADI_DELETE(c->ceiling, n);
    WADI_DELETE(c->height, n);
    WADI_DELETE(c->rolling, n);
    WADI_DELETE(c->mobility, n);
    WADI_DELETE(c->next, n);
    WADI_DELETE(c->next_rolling, n);
    WADI_DELETE(c->intake, n);
    WADI_DELETE(c->link_first, 4 * n + 1);
    WADI_DELETE(c->link_gap, (size_t)c->link_count);
    WADI_DELETE(c->link_face, (size_t)c->link_count);
    WADI_DELETE(c->sinks, (size_t)c->sink_count);
    WADI_DELETE(c->crossed, (size_t)c->face_count);
    WADI_DELETE(c, 1);
}

WadiStatus wadi_dem_columns_create_flat(WadiDemColumns **columns, int nx, int ny, double width,
                                        WadiError *error)
{
    *columns = NULL;
    if (nx < 1 || ny < 1 || (int64_t)nx * ny > COLUMNS_MAX || !(width > 0.0)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "%d by %d columns of %g m: at least one, at most %d in all, with a positive width",
                         nx, ny, width, COLUMNS_MAX);
    }
    WadiDemColumns *c = NULL;
    WADI_TRY(WADI_NEW(&c, 1, "columns", error));
    c->nx = nx;
    c->ny = ny;
    c->wx = c->wy = width;
    c->high[0] = nx * width;
    c->high[1] = ny * width;
    c->is_single = true;
    WadiStatus status = wadi_dem_columns_alloc_gaps(c, nx * ny, error);
    if (status != WADI_OK) {
        wadi_dem_columns_destroy(c);
        return status;
    }
    for (int32_t i = 0; i < c->count; ++i) {
        c->ceiling[i] = (double)INFINITY;
    }
    *columns = c;
    return WADI_OK;
}

/* The column beyond a side; -1: none. */
static int32_t neighbour_column(const WadiDemColumns *c, int32_t column, int side)
{
    const int x = column % c->nx, y = column / c->nx;
    switch (side) {
    case WADI_DEM_WEST: return x > 0 ? column - 1 : -1;
    case WADI_DEM_EAST: return x + 1 < c->nx ? column + 1 : -1;
    case WADI_DEM_SOUTH: return y > 0 ? column - c->nx : -1;
    default: return y + 1 < c->ny ? column + c->nx : -1;
    }
}

/* Calls for every link of gap i, in order; with gaps NULL only counts. */
static int32_t list_links(const WadiDemColumns *c, int32_t column, int32_t i, int side, double least,
                          int32_t *gaps)
{
    const int32_t other = neighbour_column(c, column, side);
    int32_t count = 0;
    for (int32_t j = other >= 0 ? c->first[other] : 0; other >= 0 && j < c->first[other + 1]; ++j) {
        if (fmin(c->ceiling[i], c->ceiling[j]) - fmax(c->floor[i], c->floor[j]) > least) {
            if (gaps != NULL) {
                gaps[count] = j;
            }
            count += 1;
        }
    }
    return count;
}

/* Numbers the faces: an eastern or northern link gives its face a number, its mate finds it. */
static void number_faces(WadiDemColumns *c)
{
    c->face_count = 0;
    for (int32_t i = 0; i < c->count; ++i) {
        for (int s = 0; s < WADI_DEM_SIDES; ++s) {
            const bool is_owner = s == WADI_DEM_EAST || s == WADI_DEM_NORTH;
            for (int32_t k = c->link_first[4 * i + s]; is_owner && k < c->link_first[4 * i + s + 1]; ++k) {
                const int32_t j = c->link_gap[k];
                int32_t mate = c->link_first[4 * j + s - 1];
                while (mate < c->link_first[4 * j + s] && c->link_gap[mate] != i) {
                    mate += 1;
                }
                c->link_face[k] = c->link_face[mate] = c->face_count++;
            }
        }
    }
}

WadiStatus wadi_dem_columns_link(WadiDemColumns *c, double least, WadiError *error)
{
    const size_t n = (size_t)c->count;
    WADI_TRY(WADI_NEW(&c->intake, n, "room of columns", error));
    WADI_TRY(WADI_NEW(&c->link_first, 4 * n + 1, "links of columns", error));
    int64_t links = 0;
    for (int round = 0; round < 2; ++round) {
        int32_t at = 0;
        for (int32_t column = 0; column < c->nx * c->ny; ++column) {
            for (int32_t i = c->first[column]; i < c->first[column + 1]; ++i) {
                for (int s = 0; s < WADI_DEM_SIDES; ++s) {
                    c->link_first[4 * i + s] = at;
                    at += list_links(c, column, i, s, least, round > 0 ? c->link_gap + at : NULL);
                }
            }
        }
        c->link_first[4 * n] = at;
        links = at;
        if (round == 0) {
            c->link_count = (int32_t)links;
            WADI_TRY(WADI_NEW(&c->link_gap, (size_t)links, "links of columns", error));
            WADI_TRY(WADI_NEW(&c->link_face, (size_t)links, "faces of columns", error));
        }
    }
    number_faces(c);
    return WADI_OK;
}

WadiStatus wadi_dem_columns_add_links(WadiDemColumns *c, bool has_faces, double least, WadiError *error)
{
    const int32_t columns = c->nx * c->ny;
    WADI_ASSERT_TRY(c->is_single, error);
    WADI_TRY(WADI_NEW(&c->first, (size_t)columns + 1, "gaps of columns", error));
    for (int32_t i = 0; i <= columns; ++i) {
        c->first[i] = i;
    }
    c->is_single = false;
    WADI_TRY(wadi_dem_columns_link(c, least, error));
    return has_faces ? wadi_dem_columns_alloc_faces(c, error) : WADI_OK;
}

int32_t wadi_dem_columns_at(const WadiDemColumns *c, double x, double y)
{
    if (!(x >= c->low[0] && x <= c->high[0] && y >= c->low[1] && y <= c->high[1])) {
        return -1;
    }
    const double i = fmin(fmax(floor((x - c->x0) / c->wx), 0.0), c->nx - 1);
    const double j = fmin(fmax(floor((y - c->y0) / c->wy), 0.0), c->ny - 1);
    return (int32_t)j * c->nx + (int32_t)i;
}

void wadi_dem_columns_span(const WadiDemColumns *c, int32_t column, int axis, double *begin, double *end)
{
    const int i = axis == 0 ? column % c->nx : column / c->nx, last = (axis == 0 ? c->nx : c->ny) - 1;
    const double start = axis == 0 ? c->x0 : c->y0, width = axis == 0 ? c->wx : c->wy;
    *begin = i > 0 ? start + i * width : c->low[axis];
    *end = i < last ? start + (i + 1) * width : c->high[axis];
}

int32_t wadi_dem_columns_gap(const WadiDemColumns *c, int32_t column, double z)
{
    if (c->is_single) {
        return column;
    }
    int32_t best = -1;
    double nearest = (double)INFINITY;
    for (int32_t i = c->first[column]; i < c->first[column + 1]; ++i) {
        const double away = fmax(0.0, fmax(c->floor[i] - z, z - c->ceiling[i]));
        if (away < nearest) {
            nearest = away;
            best = i;
        }
    }
    return best;
}

int32_t wadi_dem_columns_of_gap(const WadiDemColumns *c, int32_t gap)
{
    if (c->is_single) {
        return gap;
    }
    int32_t low = 0, high = c->nx * c->ny; /* first[low] <= gap < first[high] */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (c->first[middle] <= gap) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

bool wadi_dem_columns_is_sink(const WadiDemColumns *c, int32_t gap)
{
    int32_t low = 0, high = c->sink_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (c->sinks[middle] < gap) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < c->sink_count && c->sinks[low] == gap;
}

double wadi_dem_columns_volume(const WadiDemColumns *c)
{
    double sum = 0.0;
    for (int32_t i = 0; i < c->count; ++i) {
        sum += (c->height[i] - c->floor[i]) + c->rolling[i];
    }
    return sum * c->wx * c->wy;
}

double wadi_dem_columns_steepest(const WadiDemColumns *c)
{
    double steepest = 0.0;
    for (int32_t i = 0; i < c->count; ++i) {
        WadiDemDrops drops;
        wadi_dem_drops(c, i, &drops);
        const double a = fmax(drops.most[WADI_DEM_WEST], drops.most[WADI_DEM_EAST]);
        const double b = fmax(drops.most[WADI_DEM_SOUTH], drops.most[WADI_DEM_NORTH]);
        if (c->height[i] > c->floor[i]) {
            steepest = fmax(steepest, sqrt(a * a + b * b));
        }
    }
    return steepest;
}
