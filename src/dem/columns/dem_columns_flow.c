/* Flow of sand between columns: donor-cell transport along the drops of the static height. */
#include "dem/columns/dem_columns_flow.h"

#include "core/parallel.h"

static void mark_block(void *context, int64_t first, int64_t end)
{
    const WadiDemColumns *c = context;
    for (int64_t i = first; i < end; ++i) {
        c->intake[i] = c->height[i] + c->rolling[i] < c->ceiling[i] ? 1.0 : 0.0;
    }
}

void wadi_dem_columns_mark_full(WadiDemColumns *columns)
{
    if (!columns->is_single) {
        wadi_parallel_for(columns->count, WADI_DEM_GAP_BLOCK, mark_block, columns);
    }
}

/* Slope from gap i down to gap j; 0 upwards, and into a full gap. */
static double drop_to(const WadiDemColumns *c, int32_t i, int32_t j, double inverse_width)
{
    const double drop = (c->height[i] - c->height[j]) * inverse_width;
    return drop > 0.0 && !wadi_dem_gap_is_full(c, j) ? drop : 0.0;
}

/* The neighbour of a single gap at a side; -1: none. */
static int32_t single_neighbour(const WadiDemColumns *c, int32_t i, int side)
{
    const int x = i % c->nx, y = i / c->nx;
    switch (side) {
    case WADI_DEM_WEST: return x > 0 ? i - 1 : -1;
    case WADI_DEM_EAST: return x + 1 < c->nx ? i + 1 : -1;
    case WADI_DEM_SOUTH: return y > 0 ? i - c->nx : -1;
    default: return y + 1 < c->ny ? i + c->nx : -1;
    }
}

int wadi_dem_neighbours(const WadiDemColumns *c, int32_t i, int side, int32_t *gaps)
{
    if (c->is_single) {
        gaps[0] = single_neighbour(c, i, side);
        return gaps[0] >= 0 ? 1 : 0;
    }
    const int32_t first = c->link_first[4 * i + side];
    const int32_t count = c->link_first[4 * i + side + 1] - first;
    for (int32_t k = 0; k < count; ++k) {
        gaps[k] = c->link_gap[first + k];
    }
    return count;
}

int32_t wadi_dem_face(const WadiDemColumns *c, int32_t i, int side, int n)
{
    return c->is_single ? 2 * i + (side == WADI_DEM_NORTH) : c->link_face[c->link_first[4 * i + side] + n];
}

void wadi_dem_drops(const WadiDemColumns *c, int32_t gap, WadiDemDrops *drops)
{
    for (int s = 0; s < WADI_DEM_SIDES; ++s) {
        const double inverse = s < WADI_DEM_SOUTH ? 1.0 / c->wx : 1.0 / c->wy;
        int32_t gaps[WADI_DEM_LINKS_MAX];
        const int links = wadi_dem_neighbours(c, gap, s, gaps);
        drops->most[s] = drops->sum[s] = 0.0;
        for (int n = 0; n < links; ++n) {
            const double drop = drop_to(c, gap, gaps[n], inverse);
            drops->most[s] = drop > drops->most[s] ? drop : drops->most[s];
            drops->sum[s] += drop;
        }
    }
}

/* Flow from a gap with height h and mobility m to one with hj, mj, as a height; negative: the other way. */
static inline double flow(double h, double m, double hj, double mj, double inverse_width)
{
    const double drop = (h - hj) * inverse_width;
    return (drop > 0.0 ? m : mj) * drop * inverse_width;
}

/* The same, limited by the room of the gap that it enters. */
static double link_flow(const WadiDemColumns *c, int32_t i, int32_t j, double inverse)
{
    const int32_t receiver = c->height[i] > c->height[j] ? j : i;
    const double f = flow(c->height[i], c->mobility[i], c->height[j], c->mobility[j], inverse);
    return c->intake != NULL ? f * c->intake[receiver] : f;
}

/* The intake of gaps below a ceiling: their room over all that would flow in. The room is that of the state
 * before the exchange, which does not change height plus rolling layer. */
static void limit_intake(void *context, int64_t first, int64_t end)
{
    const WadiDemColumns *c = context;
    for (int64_t k = first; k < end; ++k) {
        const int32_t i = (int32_t)k;
        if (isinf(c->ceiling[i]) || c->intake[i] == 0.0) {
            continue;
        }
        double inflow = 0.0;
        for (int s = 0; s < WADI_DEM_SIDES; ++s) {
            const double inverse = s < WADI_DEM_SOUTH ? 1.0 / c->wx : 1.0 / c->wy;
            int32_t gaps[WADI_DEM_LINKS_MAX];
            const int links = wadi_dem_neighbours(c, i, s, gaps);
            for (int n = 0; n < links; ++n) {
                const int32_t j = gaps[n];
                inflow -=
                    fmin(0.0, flow(c->height[i], c->mobility[i], c->height[j], c->mobility[j], inverse));
            }
        }
        const double room = c->ceiling[i] - (c->next[i] + c->rolling[i]);
        c->intake[i] = inflow > room ? fmax(0.0, room / inflow) : 1.0;
    }
}

static void spread_gap(WadiDemColumns *c, int32_t i)
{
    double out[WADI_DEM_SIDES] = { 0.0 };
    for (int s = 0; s < WADI_DEM_SIDES; ++s) {
        const double inverse = s < WADI_DEM_SOUTH ? 1.0 / c->wx : 1.0 / c->wy;
        const bool is_owner = s == WADI_DEM_EAST || s == WADI_DEM_NORTH;
        int32_t gaps[WADI_DEM_LINKS_MAX];
        const int links = wadi_dem_neighbours(c, i, s, gaps);
        for (int n = 0; n < links; ++n) {
            const double f = link_flow(c, i, gaps[n], inverse);
            out[s] += f;
            if (c->crossed != NULL && is_owner) {
                c->crossed[wadi_dem_face(c, i, s, n)] += f;
            }
        }
    }
    c->rolling[i] -= (out[WADI_DEM_WEST] + out[WADI_DEM_EAST]) + (out[WADI_DEM_SOUTH] + out[WADI_DEM_NORTH]);
}

static void spread_gaps(void *context, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; ++i) {
        spread_gap(context, (int32_t)i);
    }
}

/* The inner columns of a row of single gaps without ceilings, as one vectorised loop. */
static void spread_row(WadiDemColumns *c, int y)
{
    const int nx = c->nx;
    const size_t row = (size_t)y * (size_t)nx;
    const double *h = c->height + row, *m = c->mobility + row;
    const int to_south = y > 0 ? nx : 0, to_north = y + 1 < c->ny ? nx : 0;
    const double *h_south = h - to_south, *m_south = m - to_south;
    const double *h_north = h + to_north, *m_north = m + to_north;
    double *restrict rolling = c->rolling + row;
    const double ix = 1.0 / c->wx, iy = 1.0 / c->wy;
#pragma omp simd
    for (int x = 1; x < nx - 1; ++x) {
        const double west = flow(h[x], m[x], h[x - 1], m[x - 1], ix);
        const double east = flow(h[x], m[x], h[x + 1], m[x + 1], ix);
        const double south = flow(h[x], m[x], h_south[x], m_south[x], iy);
        const double north = flow(h[x], m[x], h_north[x], m_north[x], iy);
        rolling[x] -= (west + east) + (south + north);
    }
    if (c->crossed != NULL) {
        double *restrict crossed = c->crossed + 2 * row;
        for (int x = 1; x < nx - 1; ++x) {
            crossed[2 * x] += flow(h[x], m[x], h[x + 1], m[x + 1], ix);
            crossed[2 * x + 1] += flow(h[x], m[x], h_north[x], m_north[x], iy);
        }
    }
}

static void spread_rows(void *context, int64_t first, int64_t end)
{
    WadiDemColumns *c = context;
    for (int64_t y = first; y < end; ++y) {
        const int32_t row = (int32_t)y * c->nx;
        spread_gap(c, row);
        spread_row(c, (int)y);
        if (c->nx > 1) {
            spread_gap(c, row + c->nx - 1);
        }
    }
}

void wadi_dem_columns_spread(WadiDemColumns *columns)
{
    if (columns->is_single) {
        wadi_parallel_for(columns->ny, WADI_DEM_COLUMN_ROWS, spread_rows, columns);
    } else {
        wadi_parallel_for(columns->count, WADI_DEM_GAP_BLOCK, limit_intake, columns);
        wadi_parallel_for(columns->count, WADI_DEM_GAP_BLOCK, spread_gaps, columns);
    }
}

void wadi_dem_columns_empty_sinks(WadiDemColumns *c)
{
    for (int32_t k = 0; k < c->sink_count; ++k) {
        const int32_t i = c->sinks[k];
        c->drained += (c->height[i] - c->floor[i] + c->rolling[i]) * c->wx * c->wy;
        c->height[i] = c->floor[i];
        c->rolling[i] = 0.0;
    }
}
