/* A step of the BCRE equations: exchange between static and rolling sand, and transport of the rolling layer.
 *
 *     dh/dt = -G,   dR/dt + div(R v) = G,
 *     G = gamma min(R, xi_s) (theta - theta_0),   v = -v_d grad h / |grad h|
 *
 * [BCRE94; ZY10 eq. 1, eq. 2, eq. 3]
 * Differs: the slope of a column is that to its lower neighbours only, so that a column at the foot of a step
 * is not eroded by it; the exchange is bounded for thick layers; sand at rest starts to roll beyond theta_0 +
 * delta, for without rolling sand the published exchange is zero; a step of h is at most a quarter of what
 * would change its slope to theta_0; rolling sand fills a pit at once, and does not roll up its own surface.
 * docs/dem-surface-flow.md has the reasons. */
#include "core/parallel.h"
#include "dem/columns/dem_columns_flow.h"

WadiDemBcre wadi_dem_bcre_default(double d, double repose, double g)
{
    return (WadiDemBcre){ .repose = repose,
                          .hysteresis = 1.0 * 3.14159265358979 / 180.0,
                          .rate = sqrt(g / d),
                          .speed = 2.0 * sqrt(g * d),
                          .saturation = 5.0 * d,
                          .deposition = 1.0,
                          .seed = 0.2 * d,
                          .settle = 0.02 * d };
}

double wadi_dem_bcre_largest_dt(const WadiDemColumns *columns, const WadiDemBcre *law)
{
    const double width = fmin(columns->wx, columns->wy);
    /* The second keeps the exchange of a thick layer below the bound of a step of h. */
    return fmin(0.5 * width / law->speed, 0.25 * width / (law->rate * law->saturation));
}

/* Constants of a step. */
typedef struct Law {
    double repose, start, tan_repose; /* theta_0, theta_0 + delta, tan theta_0 */
    double rate_dt, saturation, deposition, seed, settle;
    double quarter;  /* of a column's width, m */
    double speed_dt; /* m */
} Law;

typedef struct Pass {
    WadiDemColumns *columns;
    Law law;
} Pass;

/* atan of s >= 0 with an error below 3e-10: a polynomial in the square of s, or of 1 / s, fitted at the
 * Chebyshev points. Its operations are the same in every build, and it vectorises. */
static inline double arc_tangent(double s)
{
    const double t = s > 1.0 ? 1.0 / s : s;
    const double u = t * t;
    double p = 0.001057607357242;
    p = p * u - 0.007030669119558;
    p = p * u + 0.02191294523139;
    p = p * u - 0.04392841011552;
    p = p * u + 0.06685281482833;
    p = p * u - 0.08785043270815;
    p = p * u + 0.1105077127387;
    p = p * u - 0.1427857602473;
    p = p * u + 0.1999955810039;
    p = p * u - 0.3333332248891;
    p = p * u + 0.9999999995535;
    return s > 1.0 ? 1.5707963267948966 - p * t : p * t;
}

static inline double least(double a, double b)
{
    return a < b ? a : b;
}

static inline double most(double a, double b)
{
    return a > b ? a : b;
}

/* Exchange of one gap: its static height, rolling layer and mobility after it. `slope`: tan theta; `norm`: by
 * which the drops are divided for a direction; `pit`: depth below the lowest neighbour, negative if there
 * is a lower one. */
static inline void exchange(const Law *law, double floor, double slope, double norm, double pit,
                            double *height, double *rolling, double *mobility)
{
    const double theta = arc_tangent(slope);
    const double lack = most(law->seed - *rolling, 0.0);
    const double seed = theta > law->start ? least(lack, *height - floor) : 0.0;
    const double r = *rolling + seed;
    const double h = *height - seed;
    const double bound = law->quarter * fabs(slope - law->tan_repose);
    double eroded = law->rate_dt * least(r, law->saturation) * (theta - law->repose);
    eroded = eroded < 0.0 ? law->deposition * eroded : eroded;
    eroded = most(least(eroded, bound), -bound);
    eroded = most(least(least(eroded, h - floor), -pit), -r);
    eroded = ((r + eroded < law->settle) & (theta <= law->start)) ? -r : eroded;
    *height = h - eroded;
    *rolling = r + eroded;
    *mobility = norm > 0.0 ? *rolling * law->speed_dt / norm : 0.0;
}

/* Any gap. */
static void exchange_gap(const Pass *pass, int32_t i)
{
    WadiDemColumns *c = pass->columns;
    WadiDemDrops drops;
    wadi_dem_drops(c, i, &drops);
    const double a = most(drops.most[WADI_DEM_WEST], drops.most[WADI_DEM_EAST]);
    const double b = most(drops.most[WADI_DEM_SOUTH], drops.most[WADI_DEM_NORTH]);
    const double ax = drops.sum[WADI_DEM_WEST] + drops.sum[WADI_DEM_EAST];
    const double by = drops.sum[WADI_DEM_SOUTH] + drops.sum[WADI_DEM_NORTH];
    double height = c->height[i];
    /* Nothing is filled to a level that no neighbour gives. */
    const double pit = isinf(drops.lowest) ? -(double)INFINITY : drops.lowest - height;
    exchange(&pass->law, c->floor[i], sqrt(a * a + b * b), sqrt(ax * ax + by * by), pit, &height,
             &c->rolling[i], &c->mobility[i]);
    c->next[i] = height;
}

static void exchange_gaps(void *context, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; ++i) {
        exchange_gap(context, (int32_t)i);
    }
}

/* The inner columns of an inner row of single gaps, as one vectorised loop. */
static void exchange_row(const Pass *pass, int y)
{
    WadiDemColumns *c = pass->columns;
    const Law law = pass->law;
    const int nx = c->nx;
    const size_t row = (size_t)y * (size_t)nx;
    const double *h = c->height + row, *floor = c->floor + row;
    const double *south = h - nx, *north = h + nx;
    double *restrict rolling = c->rolling + row;
    double *restrict mobility = c->mobility + row;
    double *restrict next = c->next + row;
    const double ix = 1.0 / c->wx, iy = 1.0 / c->wy;
#pragma omp simd
    for (int x = 1; x < nx - 1; ++x) {
        const double west = most((h[x] - h[x - 1]) * ix, 0.0), east = most((h[x] - h[x + 1]) * ix, 0.0);
        const double down = most((h[x] - south[x]) * iy, 0.0), up = most((h[x] - north[x]) * iy, 0.0);
        const double a = most(west, east), b = most(down, up);
        const double ax = west + east, by = down + up;
        double height = h[x], r = rolling[x], m;
        const double lowest = least(least(h[x - 1], h[x + 1]), least(south[x], north[x]));
        exchange(&law, floor[x], sqrt(a * a + b * b), sqrt(ax * ax + by * by), lowest - h[x], &height, &r,
                 &m);
        rolling[x] = r;
        mobility[x] = m;
        next[x] = height;
    }
}

static void exchange_rows(void *context, int64_t first, int64_t end)
{
    const Pass *pass = context;
    const int nx = pass->columns->nx;
    for (int64_t y = first; y < end; ++y) {
        const int64_t row = y * nx;
        if (y == 0 || y == pass->columns->ny - 1 || nx == 1) {
            exchange_gaps(context, row, row + nx);
            continue;
        }
        exchange_gap(pass, (int32_t)row);
        exchange_row(pass, (int)y);
        exchange_gap(pass, (int32_t)row + nx - 1);
    }
}

/* Leaves the new static heights in `next`. */
static void exchange_all(WadiDemColumns *columns, const WadiDemBcre *law, double dt)
{
    Pass pass = { .columns = columns,
                  .law = { .repose = law->repose,
                           .start = law->repose + law->hysteresis,
                           .tan_repose = tan(law->repose),
                           .rate_dt = law->rate * dt,
                           .saturation = law->saturation,
                           .deposition = law->deposition,
                           .seed = law->seed,
                           .settle = law->settle,
                           .quarter = 0.25 * fmin(columns->wx, columns->wy),
                           .speed_dt = law->speed * dt } };
    wadi_dem_columns_mark_full(columns);
    if (columns->is_single) {
        wadi_parallel_for(columns->ny, WADI_DEM_COLUMN_ROWS, exchange_rows, &pass);
    } else {
        wadi_parallel_for(columns->count, WADI_DEM_GAP_BLOCK, exchange_gaps, &pass);
    }
}

static void swap(double **a, double **b)
{
    double *old = *a;
    *a = *b;
    *b = old;
}

void wadi_dem_bcre_exchange(WadiDemColumns *columns, const WadiDemBcre *law, double dt)
{
    exchange_all(columns, law, dt);
    swap(&columns->height, &columns->next);
}

WadiStatus wadi_dem_bcre_step(WadiDemColumns *columns, const WadiDemBcre *law, double dt, WadiError *error)
{
    if (!(dt > 0.0 && dt <= 1.0000001 * wadi_dem_bcre_largest_dt(columns, law))) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "a step of %g s of a height field: at most %g s is stable",
                         dt, wadi_dem_bcre_largest_dt(columns, law));
    }
    exchange_all(columns, law, dt);
    wadi_dem_columns_spread(columns);
    swap(&columns->height, &columns->next);
    swap(&columns->rolling, &columns->next_rolling);
    wadi_dem_columns_empty_sinks(columns);
    return WADI_OK;
}
