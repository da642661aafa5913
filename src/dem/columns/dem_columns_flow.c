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
    if (!c->is_single) {
        return c->link_face[c->link_first[4 * i + side] + n];
    }
    const bool is_owner = side == WADI_DEM_EAST || side == WADI_DEM_NORTH;
    return 2 * (is_owner ? i : single_neighbour(c, i, side)) + (side >= WADI_DEM_SOUTH);
}

void wadi_dem_drops(const WadiDemColumns *c, int32_t gap, WadiDemDrops *drops)
{
    drops->lowest = (double)INFINITY;
    for (int s = 0; s < WADI_DEM_SIDES; ++s) {
        const double inverse = s < WADI_DEM_SOUTH ? 1.0 / c->wx : 1.0 / c->wy;
        int32_t gaps[WADI_DEM_LINKS_MAX];
        const int links = wadi_dem_neighbours(c, gap, s, gaps);
        drops->most[s] = drops->sum[s] = 0.0;
        for (int n = 0; n < links; ++n) {
            const double drop = drop_to(c, gap, gaps[n], inverse);
            drops->most[s] = drop > drops->most[s] ? drop : drops->most[s];
            drops->sum[s] += drop;
            drops->lowest = c->height[gaps[n]] < drops->lowest ? c->height[gaps[n]] : drops->lowest;
        }
    }
}

/* Flow from a gap with height h, surface t and mobility m to one with hj, tj, mj, as a height; negative: the
 * other way. */
static inline double flow(double h, double t, double m, double hj, double tj, double mj, double inverse_width)
{
    const double drop = (h - hj) * inverse_width;
    const double full = (drop > 0.0 ? m : mj) * drop * inverse_width;
    const double most = 0.25 * (t - tj); /* of the sign of `full`, or nothing flows */
    const double down = full < most ? full : most, up = full > most ? full : most;
    return drop > 0.0 ? (down > 0.0 ? down : 0.0) : (up < 0.0 ? up : 0.0);
}

static double gap_flow(const WadiDemColumns *c, int32_t i, int32_t j, double inverse)
{
    return flow(c->height[i], c->next[i] + c->rolling[i], c->mobility[i], c->height[j],
                c->next[j] + c->rolling[j], c->mobility[j], inverse);
}

/* The same, limited by the room of the gap that it enters. */
static double link_flow(const WadiDemColumns *c, int32_t i, int32_t j, double inverse)
{
    const int32_t receiver = c->height[i] > c->height[j] ? j : i;
    const double f = gap_flow(c, i, j, inverse);
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
                inflow -= fmin(0.0, gap_flow(c, i, gaps[n], inverse));
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
    c->next_rolling[i] = c->rolling[i] - ((out[WADI_DEM_WEST] + out[WADI_DEM_EAST]) +
                                          (out[WADI_DEM_SOUTH] + out[WADI_DEM_NORTH]));
}

static void spread_gaps(void *context, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; ++i) {
        spread_gap(context, (int32_t)i);
    }
}

/* The inner columns of an inner row of single gaps without ceilings, as one vectorised loop. */
static void spread_row(WadiDemColumns *c, int y)
{
    const int nx = c->nx;
    const size_t row = (size_t)y * (size_t)nx;
    const double *h = c->height + row, *m = c->mobility + row, *n = c->next + row, *r = c->rolling + row;
    double *restrict next_rolling = c->next_rolling + row;
    const double ix = 1.0 / c->wx, iy = 1.0 / c->wy;
#define FLOW(x, by, inverse)                                                                                 \
    flow(h[x], n[x] + r[x], m[x], h[(x) + (by)], n[(x) + (by)] + r[(x) + (by)], m[(x) + (by)], inverse)
#pragma omp simd
    for (int x = 1; x < nx - 1; ++x) {
        next_rolling[x] = r[x] - ((FLOW(x, -1, ix) + FLOW(x, 1, ix)) + (FLOW(x, -nx, iy) + FLOW(x, nx, iy)));
    }
    if (c->crossed != NULL) {
        double *restrict crossed = c->crossed + 2 * row;
        for (int x = 1; x < nx - 1; ++x) {
            crossed[2 * x] += FLOW(x, 1, ix);
            crossed[2 * x + 1] += FLOW(x, nx, iy);
        }
    }
#undef FLOW
}

static void spread_rows(void *context, int64_t first, int64_t end)
{
    WadiDemColumns *c = context;
    for (int64_t y = first; y < end; ++y) {
        const int64_t row = y * c->nx;
        if (y == 0 || y == c->ny - 1 || c->nx == 1) {
            spread_gaps(c, row, row + c->nx);
            continue;
        }
        spread_gap(c, (int32_t)row);
        spread_row(c, (int)y);
        spread_gap(c, (int32_t)row + c->nx - 1);
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
